//! The dashboard's access to environments.

use std::collections::HashMap;

use async_trait::async_trait;
use pennon_dashboard::error::{AdminError, FieldErrors};
use pennon_dashboard::model::Naming;
use pennon_dashboard::port::Expected;
use pennon_dashboard::port::environments::{
    EnvironmentAdmin, EnvironmentDetail, NewEnvironment, PolledEnvironment, Safeguards,
};
use pennon_dashboard::targeting_form;
use pennon_model::environment::{
    self, ClientRules, CreatedEnvironment, Environment, EnvironmentFilter, EnvironmentName,
    EnvironmentStatus, ProductName, Visibility,
};
use pennon_model::first_steps::FirstSteps;
use pennon_model::flag::{Flag, FlagFilter};
use pennon_model::id::EnvironmentId;
use pennon_model::page::{Page, PageRequest};
use pennon_model::usage::Polling;

use super::{SignedIn, expected};
use crate::admin::cloning::{self, CloneOptions};
use crate::admin::environment_order::{self, EnvironmentOrder};
use crate::admin::environments::{self, EnvironmentPatch};
use crate::admin::first_steps;
use crate::admin::flags;
use crate::admin::previous_keys;
use crate::admin::usage::{self, Period};
use crate::error::{Entity, Error};

/// The number of clients on the page of an environment, most recently seen first.
const CLIENTS_SHOWN: i64 = 10;

#[async_trait]
impl EnvironmentAdmin for SignedIn {
    async fn active_environments(&self) -> Result<Vec<Environment>, AdminError> {
        let mut active = environments::active(&self.admin, &self.actor).await?;
        environment::sort(&mut active);
        Ok(active)
    }

    async fn polled_environments(&self) -> Result<Vec<PolledEnvironment>, AdminError> {
        let active = self.active_environments().await?;
        let polling = self.polling().await?;
        let polled = |environment: Environment| PolledEnvironment {
            polling: polling.get(&environment.id).copied().unwrap_or_default(),
            environment,
        };
        Ok(active.into_iter().map(polled).collect())
    }

    async fn first_steps(&self) -> Result<FirstSteps, AdminError> {
        Ok(first_steps::first_steps(&self.admin, &self.actor).await?)
    }

    async fn naming(&self) -> Result<Naming, AdminError> {
        let active = environments::active(&self.admin, &self.actor).await?;
        let products = active
            .iter()
            .map(|environment| environment.product.as_str());
        Ok(Naming::of(products))
    }

    async fn products(&self) -> Result<Vec<String>, AdminError> {
        let products = environments::products(&self.admin, &self.actor).await?;
        Ok(products.iter().map(ProductName::to_string).collect())
    }

    async fn revoked_environments(
        &self,
        product: Option<&str>,
        page: PageRequest,
    ) -> Result<Page<Environment>, AdminError> {
        let revoked = EnvironmentFilter {
            product: product.map(str::to_owned),
            status: Some(EnvironmentStatus::Revoked),
            ..EnvironmentFilter::default()
        };
        Ok(environments::list(&self.admin, &self.actor, &revoked, page).await?)
    }

    async fn environment(&self, id: EnvironmentId) -> Result<EnvironmentDetail, AdminError> {
        let environment = environments::get(&self.admin, &self.actor, id).await?;
        let flags = self.flags_in(&environment).await?;
        let polling = self.polling().await?;
        let last_used = usage::key_last_used(&self.admin, &self.actor, &environment).await?;
        let few = PageRequest {
            limit: CLIENTS_SHOWN.try_into().unwrap_or_default(),
            ..PageRequest::default()
        };
        let clients = usage::clients(&self.admin, &self.actor, id, few).await?;
        let previous_key = match previous_keys::usage(&self.admin, &self.actor, id).await {
            Ok(usage) => Some(usage),
            Err(Error::NotFound(Entity::PreviousKey)) => None,
            Err(error) => return Err(error.into()),
        };
        Ok(EnvironmentDetail {
            polling: polling.get(&id).copied().unwrap_or_default(),
            environment,
            newest_flag: flags.items.first().map(|flag| flag.key.to_string()),
            flags: flags.pagination.total,
            last_used,
            clients,
            previous_key,
        })
    }

    async fn create_environment(
        &self,
        new: NewEnvironment,
    ) -> Result<CreatedEnvironment, AdminError> {
        let actor = self.actor.any_administrator()?;
        let new = parsed(new)?;
        Ok(environments::create(&self.admin, &actor, new).await?)
    }

    async fn clone_environment(
        &self,
        original: EnvironmentId,
        new: NewEnvironment,
    ) -> Result<CreatedEnvironment, AdminError> {
        let actor = self.actor.any_administrator()?;
        let new = parsed(new)?;
        let options = CloneOptions {
            product: Some(new.product),
            name: new.name,
            visibility: Some(new.visibility),
            client_rules: Some(new.client_rules),
            // The safeguards of the original.
            is_protected: None,
            is_reason_required: None,
        };
        Ok(cloning::clone(&self.admin, &actor, original, options).await?)
    }

    async fn order_environments(
        &self,
        product: String,
        environments: Vec<EnvironmentId>,
    ) -> Result<(), AdminError> {
        let actor = self.actor.any_administrator()?;
        let product = ProductName::try_from(product).map_err(|_| AdminError::NotFound)?;
        let order = EnvironmentOrder {
            product,
            environments,
        };
        environment_order::set(&self.admin, &actor, &order).await?;
        Ok(())
    }

    async fn rename_environment(
        &self,
        which: Expected<EnvironmentId>,
        name: String,
    ) -> Result<(), AdminError> {
        let name =
            EnvironmentName::try_from(name).map_err(|error| AdminError::invalid("name", error))?;
        let patch = EnvironmentPatch {
            name: Some(name),
            ..EnvironmentPatch::default()
        };
        self.change(which, patch).await
    }

    async fn set_client_rules(
        &self,
        which: Expected<EnvironmentId>,
        client_rules: &str,
    ) -> Result<(), AdminError> {
        let client_rules = ClientRules::parse(client_rules)
            .map_err(|error| AdminError::invalid("clientRules", error))?;
        let patch = EnvironmentPatch {
            client_rules: Some(client_rules),
            ..EnvironmentPatch::default()
        };
        self.change(which, patch).await
    }

    async fn set_safeguards(
        &self,
        which: Expected<EnvironmentId>,
        safeguards: Safeguards,
    ) -> Result<(), AdminError> {
        let patch = EnvironmentPatch {
            is_protected: Some(safeguards.is_protected),
            is_reason_required: Some(safeguards.is_reason_required),
            ..EnvironmentPatch::default()
        };
        self.change(which, patch).await
    }

    async fn rotate_key(
        &self,
        which: Expected<EnvironmentId>,
        confirmation: &str,
        overlap: &str,
    ) -> Result<CreatedEnvironment, AdminError> {
        let actor = self.actor.any_administrator()?;
        let overlap = targeting_form::number(overlap)
            .map_err(|error| AdminError::invalid("overlap", error))?;
        self.confirm(which.id, confirmation).await?;
        let expected = expected(which.revision);
        let (admin, id) = (&self.admin, which.id);
        Ok(environments::rotate_key(admin, &actor, id, &expected, overlap).await?)
    }

    async fn end_previous_key(&self, which: Expected<EnvironmentId>) -> Result<(), AdminError> {
        let actor = self.actor.any_administrator()?;
        let expected = expected(which.revision);
        Ok(previous_keys::end(&self.admin, &actor, which.id, &expected).await?)
    }

    async fn revoke_environment(
        &self,
        which: Expected<EnvironmentId>,
        confirmation: &str,
    ) -> Result<(), AdminError> {
        let actor = self.actor.any_administrator()?;
        self.confirm(which.id, confirmation).await?;
        environments::revoke(&self.admin, &actor, which.id, &expected(which.revision)).await?;
        Ok(())
    }
}

/// Parses the members of a new environment. Fails with all faults at once.
fn parsed(new: NewEnvironment) -> Result<environments::NewEnvironment, AdminError> {
    let mut errors = FieldErrors::default();
    let product = errors.keep("product", new.product.try_into());
    let name = errors.keep("name", new.name.clone().try_into());
    let visibility = errors.keep("visibility", Visibility::parse(&new.visibility));
    let client_rules = errors.keep("clientRules", ClientRules::parse(&new.client_rules));
    let (Some(product), Some(name), Some(visibility), Some(client_rules)) =
        (product, name, visibility, client_rules)
    else {
        return Err(errors.into());
    };
    let is_production = environment::looks_like_production(&new.name);
    Ok(environments::NewEnvironment {
        product,
        name,
        visibility,
        client_rules,
        is_protected: new.is_protected.unwrap_or(is_production),
        is_reason_required: new.is_reason_required,
    })
}

impl SignedIn {
    /// Returns the environment that replaced this one after key rotations, or this one if none has. A page that was
    /// rendered before a key rotation still names the old one.
    pub(super) async fn current(&self, id: EnvironmentId) -> Result<EnvironmentId, AdminError> {
        let current = environments::current(&self.admin, &self.actor, id).await?;
        Ok(current.id)
    }

    async fn change(
        &self,
        which: Expected<EnvironmentId>,
        patch: EnvironmentPatch,
    ) -> Result<(), AdminError> {
        let actor = self.actor.any_administrator()?;
        let expected = expected(which.revision);
        environments::update(&self.admin, &actor, which.id, &expected, patch).await?;
        Ok(())
    }

    async fn polling(&self) -> Result<HashMap<EnvironmentId, Polling>, AdminError> {
        Ok(usage::polling(&self.admin, &self.actor, Period::default()).await?)
    }

    /// Returns the newest active flag that exists in an environment, on a page with the number of all of them.
    async fn flags_in(&self, environment: &Environment) -> Result<Page<Flag>, AdminError> {
        let existing = FlagFilter {
            archived: Some(false),
            product: Some(environment.product.to_string()),
            is_public: (environment.visibility == Visibility::Public).then_some(true),
            ..FlagFilter::default()
        };
        let one = PageRequest {
            limit: 1.try_into().unwrap_or_default(),
            ..PageRequest::default()
        };
        Ok(flags::list(&self.admin, &self.actor, &existing, one).await?)
    }

    /// Checks that the user has typed the name of the environment before a destructive action.
    async fn confirm(&self, id: EnvironmentId, confirmation: &str) -> Result<(), AdminError> {
        let environment = environments::get(&self.admin, &self.actor, id).await?;
        if confirmation.trim() == environment.name.as_str().trim() {
            return Ok(());
        }
        let detail = format!("must be `{}`", environment.name);
        Err(AdminError::invalid("confirmation", detail))
    }
}
