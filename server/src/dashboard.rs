//! The dashboard's port, over the same use cases as the API.

use std::collections::HashMap;

use async_trait::async_trait;
use pennon_core::model::Invalid;
use pennon_core::model::environment::Environment;
use pennon_core::model::flag::{Flag, FlagType};
use pennon_core::model::id::{EnvironmentId, FlagId};
use pennon_core::model::page::{Page, PageRequest};
use pennon_core::model::user::User;
use pennon_dashboard::error::{AdminError, FieldError};
use pennon_dashboard::port::{
    Admin, Cell, CreatedEnvironment, EnvironmentColumn, FlagQuery, FlagRow, FlagState, FlagTable,
    NewEnvironment, NewFlag,
};

use crate::auth::actor::Person;
use crate::error::{Error, Fault, Place};
use crate::service::patch::Patch;
use crate::service::precondition::Precondition;
use crate::service::targeting::{ConfigurationPatch, PairId};
use crate::service::{Service, environments, flags, targeting};
use crate::store::configurations::CellRow;
use crate::store::environments::EnvironmentFilter;
use crate::store::flags::FlagSelection;

/// The service, for the person who is signed in to the dashboard.
pub(crate) struct SignedInAdmin {
    pub(crate) service: Service,
    pub(crate) actor: Person,
}

#[async_trait]
impl Admin for SignedInAdmin {
    fn user(&self) -> &User {
        self.actor.user()
    }

    async fn flags(&self, query: FlagQuery) -> Result<FlagTable, AdminError> {
        let archived = match query.state {
            FlagState::Active => Some(false),
            FlagState::Archived => Some(true),
            FlagState::All => None,
        };
        let search = Some(query.search).filter(|text| !text.is_empty());
        let filter = FlagSelection {
            archived,
            search,
            ..FlagSelection::default()
        };
        let table = flags::table(&self.service, &self.actor, &filter, query.page)
            .await
            .map_err(told)?;
        let cells = cells(table.cells);
        let row = |flag: Flag| FlagRow {
            cells: table
                .environments
                .iter()
                .map(|environment| cells.get(&(flag.id, environment.id)).copied())
                .collect(),
            flag,
        };
        Ok(FlagTable {
            flags: table.flags.map(row),
            environments: table.environments.iter().map(column).collect(),
        })
    }

    async fn create_flag(&self, new: NewFlag) -> Result<Flag, AdminError> {
        let actor = self.actor.editor().map_err(told)?;
        let mut form = Form::default();
        let key = form.field("key", new.key.try_into());
        let name = form.field("name", new.name.try_into());
        let description = Some(new.description).filter(|text| !text.is_empty());
        let description = form.field(
            "description",
            description.map(TryInto::try_into).transpose(),
        );
        let kind = form.field("type", FlagType::parse(&new.kind));
        let (Some(key), Some(name), Some(description), Some(kind)) = (key, name, description, kind)
        else {
            return Err(form.refused());
        };
        let new = flags::NewFlag {
            key,
            name,
            description,
            kind,
        };
        flags::create(&self.service, &actor, new)
            .await
            .map_err(told)
    }

    async fn set_enabled(
        &self,
        flag: FlagId,
        environment: EnvironmentId,
        enabled: bool,
    ) -> Result<bool, AdminError> {
        let actor = self.actor.editor().map_err(told)?;
        let pair = PairId { flag, environment };
        let patch = ConfigurationPatch {
            is_enabled: Some(enabled),
            ttl: Patch::Keep,
        };
        let configuration =
            targeting::configure(&self.service, &actor, pair, &Precondition::None, patch).await;
        configuration
            .map(|configuration| configuration.is_enabled)
            .map_err(told)
    }

    async fn environments(&self, page: PageRequest) -> Result<Page<Environment>, AdminError> {
        let all = EnvironmentFilter::default();
        environments::list(&self.service, &self.actor, &all, page)
            .await
            .map_err(told)
    }

    async fn create_environment(
        &self,
        new: NewEnvironment,
    ) -> Result<CreatedEnvironment, AdminError> {
        let actor = self.actor.administrator().map_err(told)?;
        let mut form = Form::default();
        let product = form.field("product", new.product.try_into());
        let name = form.field("name", new.name.try_into());
        let (Some(product), Some(name)) = (product, name) else {
            return Err(form.refused());
        };
        let new = environments::NewEnvironment { product, name };
        let created = environments::create(&self.service, &actor, new)
            .await
            .map_err(told)?;
        Ok(CreatedEnvironment {
            environment: created.environment,
            sdk_key: created.sdk_key.expose().to_owned(),
        })
    }
}

/// The faults of a form, all of them.
#[derive(Default)]
struct Form(Vec<FieldError>);

impl Form {
    fn field<T>(&mut self, name: &str, parsed: Result<T, Invalid>) -> Option<T> {
        let record = |invalid: Invalid| {
            self.0.push(FieldError {
                field: name.to_owned(),
                detail: invalid.detail().to_owned(),
            });
        };
        parsed.map_err(record).ok()
    }

    fn refused(self) -> AdminError {
        AdminError::Invalid(self.0)
    }
}

/// The one place that says in the dashboard's words what went wrong.
pub(crate) fn told(error: Error) -> AdminError {
    match error {
        Error::Unauthenticated | Error::WrongCredential => AdminError::SignedOut,
        Error::WrongPassword => AdminError::WrongCredentials,
        Error::TooManyAttempts {
            retry_after_seconds,
        } => AdminError::TooManyAttempts(retry_after_seconds),
        Error::Forbidden(_) => AdminError::Forbidden,
        Error::NotFound(_) | Error::NoSuchPath | Error::MethodNotAllowed => AdminError::NotFound,
        Error::Conflict(conflict) => AdminError::Conflict(sentence(&conflict.to_string())),
        Error::Stale { .. } => AdminError::Conflict(
            "Somebody else has changed this meanwhile. Reload the page to see how it stands."
                .to_owned(),
        ),
        Error::Invalid(faults) => {
            AdminError::Invalid(faults.into_iter().map(field_error).collect())
        }
        Error::Unavailable(_)
        | Error::Unconfirmed(_)
        | Error::Overloaded
        | Error::TimedOut
        | Error::TooManyRequests => AdminError::Unavailable,
        Error::Malformed(detail) => AdminError::Transport(detail),
        error @ (Error::UnsupportedMediaType | Error::TooLarge(_) | Error::TooSlow(_)) => {
            AdminError::Transport(error.to_string())
        }
        Error::Internal(detail) => {
            tracing::error!(detail, "internal error");
            AdminError::Internal
        }
    }
}

/// A clause of the API as a sentence for the screen.
fn sentence(clause: &str) -> String {
    let mut characters = clause.chars();
    let first = characters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(characters).chain(['.']).collect()
}

fn field_error(fault: Fault) -> FieldError {
    let field = match fault.place {
        Place::Pointer(pointer) => pointer.trim_start_matches('/').to_owned(),
        Place::Parameter(name) => name,
    };
    FieldError {
        field,
        detail: fault.detail,
    }
}

fn column(environment: &Environment) -> EnvironmentColumn {
    EnvironmentColumn {
        id: environment.id,
        product: environment.product.to_string(),
        name: environment.name.to_string(),
    }
}

fn cells(rows: Vec<CellRow>) -> HashMap<(FlagId, EnvironmentId), Cell> {
    let cell = |row: CellRow| {
        let cell = Cell {
            enabled: row.is_enabled,
            rules: u32::try_from(row.rules).unwrap_or(u32::MAX),
            rollout: row
                .percentage
                .and_then(|percentage| u8::try_from(percentage).ok()),
        };
        (
            (
                FlagId::new(row.flag_id),
                EnvironmentId::new(row.environment_id),
            ),
            cell,
        )
    };
    rows.into_iter().map(cell).collect()
}
