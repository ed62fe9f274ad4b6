//! A fake port, and requests to pages without a browser.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use any_spawner::Executor;
use async_trait::async_trait;
use futures::StreamExt as _;
use leptos::prelude::*;
use leptos_meta::ServerMetaContext;
use pennon_dashboard::app::App;
use pennon_dashboard::error::AdminError;
use pennon_dashboard::form::Form;
use pennon_dashboard::model::{Naming, Theme};
use pennon_dashboard::port::Expected;
use pennon_dashboard::port::account::OwnAccount;
use pennon_dashboard::port::audit::AuditAdmin;
use pennon_dashboard::port::environments::{
    EnvironmentAdmin, EnvironmentDetail, NewEnvironment, PolledEnvironment, Safeguards,
};
use pennon_dashboard::port::flag_page::FlagPageAdmin;
use pennon_dashboard::port::flags::{FlagAdmin, NewFlag};
use pennon_dashboard::port::people::PeopleAdmin;
use pennon_dashboard::port::playground::PlaygroundAdmin;
use pennon_dashboard::port::search::SearchAdmin;
use pennon_dashboard::port::{LocalTime, Npmrc, Visit};
use pennon_model::flag_table::{FlagCell, FlagRow, FlagTable, FlagTableQuery};
use pennon_model::metadata::FlagMetadata;
use pennon_model::{
    bulk::BulkChange,
    environment::{ClientRules, CreatedEnvironment, Environment, EnvironmentStatus, Visibility},
    first_steps::FirstSteps,
    flag::{Flag, FlagType},
    grant::Grants,
    id::{EnvironmentId, FlagId},
    page::{Page, PageRequest},
    plan::Plan,
    previous_key::PreviousKeyUsage,
    secret::Secret,
    time::Timestamp,
    usage::{Polling, Polls},
    user::Role,
};
use uuid::Uuid;

/// The key of every environment that the fake creates.
pub(crate) const KEY: &str = "pnk_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// 2026-03-01 09:30 UTC.
pub(crate) const NOW: Timestamp = Timestamp::from_millis(1_772_357_400_000);

/// The polls of every environment of the fake.
const POLLING: Polling = Polling {
    last_polled_at: Some(NOW),
    last_evaluated_at: None,
    polls: Polls {
        first: 2,
        current: 90,
        outdated: 10,
    },
};

/// The response of a page.
#[derive(Default)]
pub(crate) struct Response {
    pub(crate) html: String,
    pub(crate) status: Option<u16>,
    pub(crate) location: Option<String>,
}

/// A port with these flags and environments.
pub(crate) struct Fake {
    pub(crate) role: Role,
    pub(crate) grants: Grants,
    pub(crate) environments: Vec<Environment>,
    pub(crate) flags: Vec<(Flag, Vec<Option<FlagCell>>)>,
    /// The previous key of every environment.
    pub(crate) previous_key: Option<PreviousKeyUsage>,
    /// The error that every call returns.
    pub(crate) refusal: Option<AdminError>,
    /// The calls of the port, in order.
    pub(crate) calls: Mutex<Vec<String>>,
}

impl Default for Fake {
    fn default() -> Self {
        Self {
            role: Role::Admin,
            grants: Grants::default(),
            environments: Vec::new(),
            flags: Vec::new(),
            previous_key: None,
            refusal: None,
            calls: Mutex::default(),
        }
    }
}

impl Fake {
    /// Returns two environments of one product and a flag that is on in one of them, for a quarter.
    pub(crate) fn shop() -> Self {
        let quarter = FlagCell {
            rollout: Some(25),
            ..cell(true)
        };
        Self {
            environments: vec![
                environment(1, "shop", "staging"),
                environment(2, "shop", "production"),
            ],
            flags: vec![(
                flag("checkout", "New checkout"),
                vec![Some(cell(false)), Some(quarter)],
            )],
            ..Self::default()
        }
    }

    /// Returns two products, each with one environment, and a flag that is off in both.
    pub(crate) fn two_products() -> Self {
        Self {
            environments: vec![
                environment(1, "Blog", "production"),
                environment(2, "Web shop", "production"),
            ],
            flags: vec![(
                flag("checkout", "New checkout"),
                vec![Some(cell(false)), Some(cell(false))],
            )],
            ..Self::default()
        }
    }

    /// Provides a signed-in user with the fake's role in the current context.
    pub(crate) fn sign_in(self: &Arc<Self>) {
        provide_context(self.user());
        provide_context::<Arc<dyn FlagAdmin>>(self.clone());
        provide_context::<Arc<dyn EnvironmentAdmin>>(self.clone());
        provide_context::<Arc<dyn FlagPageAdmin>>(self.clone());
        provide_context::<Arc<dyn AuditAdmin>>(self.clone());
        provide_context::<Arc<dyn PlaygroundAdmin>>(self.clone());
        provide_context::<Arc<dyn SearchAdmin>>(self.clone());
        provide_context::<Arc<dyn PeopleAdmin>>(self.clone());
        provide_context::<Arc<dyn OwnAccount>>(self.clone());
    }

    pub(crate) fn calls(&self) -> MutexGuard<'_, Vec<String>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn record_call(&self, call: String) -> Result<(), AdminError> {
        self.calls().push(call);
        self.refusal.clone().map_or(Ok(()), Err)
    }
}

pub(crate) fn environment(number: u128, product: &str, name: &str) -> Environment {
    Environment {
        id: EnvironmentId::new(Uuid::from_u128(number)),
        product: product.to_owned().try_into().expect("a product's name"),
        name: name.to_owned().try_into().expect("an environment's name"),
        sdk_key_prefix: "pnk_AAAAAAAA".to_owned(),
        visibility: Visibility::Server,
        client_rules: ClientRules::Full,
        is_protected: name == "production",
        is_reason_required: false,
        status: EnvironmentStatus::Active,
        created_at: NOW,
        position: None,
        previous_key: None,
        revision: 1,
    }
}

pub(crate) fn flag(key: &str, name: &str) -> Flag {
    Flag {
        id: FlagId::new(Uuid::nil()),
        key: key.to_owned().try_into().expect("a flag's key"),
        name: name.to_owned().try_into().expect("a flag's name"),
        description: None,
        flag_type: FlagType::Boolean,
        products: None,
        is_public: false,
        metadata: FlagMetadata::default(),
        created_by: "ana@example.com".to_owned(),
        created_at: Timestamp::from_millis(NOW.millis() - 2 * 60 * 60 * 1000),
        archived_at: None,
        revision: 1,
    }
}

/// Returns the state of a flag that is on or off for everyone.
pub(crate) fn cell(enabled: bool) -> FlagCell {
    FlagCell {
        enabled,
        revision: 1,
        rules: 0,
        rollout: None,
        ttl: None,
    }
}

#[async_trait]
impl FlagAdmin for Fake {
    async fn flags(&self, query: FlagTableQuery) -> Result<FlagTable, AdminError> {
        let product = query.product.as_deref();
        let of_product = product.map(|product| format!(" of {product}"));
        self.record_call(format!(
            "flags {:?} {:?}{}",
            query.search,
            query.lifecycle,
            of_product.unwrap_or_default()
        ))?;
        let is_listed =
            |each: &Environment| product.is_none_or(|name| each.product.as_str() == name);
        let rows = self.flags.iter().cloned();
        let row = |(flag, cells): (Flag, Vec<_>)| FlagRow {
            flag,
            cells: cells
                .into_iter()
                .zip(&self.environments)
                .filter_map(|(cell, environment)| is_listed(environment).then_some(cell))
                .collect(),
            last_evaluated_at: None,
            hours: Vec::new(),
            stale: None,
        };
        let rows: Vec<_> = rows.map(row).collect();
        let total = i64::try_from(rows.len()).expect("a few flags");
        Ok(FlagTable {
            environments: self
                .environments
                .iter()
                .filter(|each| is_listed(each))
                .cloned()
                .collect(),
            flags: query.page.page_of(rows, total),
        })
    }

    async fn flags_with_ids(&self, ids: &[FlagId]) -> Result<Vec<Option<Flag>>, AdminError> {
        let find = |id: &FlagId| self.flags.iter().find(|(flag, _)| flag.id == *id);
        let flags = ids.iter().map(|id| find(id).map(|(flag, _)| flag.clone()));
        Ok(flags.collect())
    }

    async fn preview_bulk_change(&self, change: &BulkChange) -> Result<Plan, AdminError> {
        self.record_call(format!("preview {:?}", change.action))?;
        Ok(Plan {
            changes: Vec::new(),
            effects: Vec::new(),
            overwrites: false,
            fingerprint: "f".to_owned(),
        })
    }

    async fn change_flags(&self, change: &BulkChange, fingerprint: &str) -> Result<(), AdminError> {
        self.record_call(format!("change {:?} at {fingerprint}", change.action))
    }

    async fn is_key_free(&self, key: &str) -> Result<bool, AdminError> {
        self.record_call(format!("is {key} free"))?;
        Ok(true)
    }

    async fn create_flag(&self, new: NewFlag) -> Result<Flag, AdminError> {
        let products = new.products.map(|products| format!(" for {products:?}"));
        self.record_call(format!(
            "create flag {} {:?} {}{}{}",
            new.key,
            new.description,
            new.flag_type,
            products.unwrap_or_default(),
            if new.is_public { ", public" } else { "" }
        ))?;
        Ok(flag(&new.key, &new.name))
    }

    async fn set_enabled(
        &self,
        flag: FlagId,
        environment: EnvironmentId,
        enabled: bool,
        expected_revision: Option<i64>,
    ) -> Result<FlagCell, AdminError> {
        self.record_call(format!(
            "switch {flag} in {environment}: {enabled} {expected_revision:?}"
        ))?;
        Ok(FlagCell {
            enabled,
            revision: 2,
            rules: 0,
            rollout: None,
            ttl: None,
        })
    }
}

#[async_trait]
impl EnvironmentAdmin for Fake {
    async fn active_environments(&self) -> Result<Vec<Environment>, AdminError> {
        self.record_call("environments".to_owned())?;
        let all = self.environments.iter().cloned();
        let is_active = |each: &Environment| each.status == EnvironmentStatus::Active;
        Ok(all.filter(is_active).collect())
    }

    async fn polled_environments(&self) -> Result<Vec<PolledEnvironment>, AdminError> {
        let active = self.active_environments().await?;
        let polled = |environment| PolledEnvironment {
            environment,
            polling: POLLING,
        };
        Ok(active.into_iter().map(polled).collect())
    }

    async fn first_steps(&self) -> Result<FirstSteps, AdminError> {
        let flags = self.flags.first();
        Ok(FirstSteps {
            environment: self.environments.first().map(|each| each.id),
            started_at: None,
            flag_key: flags.map(|(flag, _)| flag.key.to_string()),
            has_request: false,
            is_flag_on: false,
        })
    }

    async fn naming(&self) -> Result<Naming, AdminError> {
        let products = self.environments.iter();
        Ok(Naming::of(products.map(|each| each.product.as_str())))
    }

    async fn products(&self) -> Result<Vec<String>, AdminError> {
        if self.refusal == Some(AdminError::Unavailable) {
            return Err(AdminError::Unavailable);
        }
        let products = self.environments.iter();
        let mut products: Vec<_> = products.map(|each| each.product.to_string()).collect();
        products.sort();
        products.dedup();
        Ok(products)
    }

    async fn revoked_environments(
        &self,
        product: Option<&str>,
        page: PageRequest,
    ) -> Result<Page<Environment>, AdminError> {
        self.record_call(format!("revoked environments {product:?}"))?;
        Ok(page.page_of(Vec::new(), 0))
    }

    async fn environment(&self, id: EnvironmentId) -> Result<EnvironmentDetail, AdminError> {
        let mut environments = self.environments.iter();
        let environment = environments.find(|environment| environment.id == id);
        let environment = environment.ok_or(AdminError::NotFound)?.clone();
        let flags = self.flags.iter();
        let existing = flags.filter(|(flag, _)| flag.exists_in(&environment));
        Ok(EnvironmentDetail {
            flags: i64::try_from(existing.count()).expect("a few flags"),
            environment,
            polling: POLLING,
            newest_flag: None,
            last_used: POLLING.last_polled_at,
            clients: PageRequest::default().page_of(Vec::new(), 0),
            previous_key: self.previous_key.clone(),
        })
    }

    async fn create_environment(
        &self,
        new: NewEnvironment,
    ) -> Result<CreatedEnvironment, AdminError> {
        self.record_call(format!(
            "create environment {} / {}: {}, {}",
            new.product, new.name, new.visibility, new.client_rules
        ))?;
        Ok(CreatedEnvironment {
            environment: Environment {
                visibility: Visibility::parse(&new.visibility).expect("a visibility"),
                client_rules: ClientRules::parse(&new.client_rules).expect("client rules"),
                ..environment(3, &new.product, &new.name)
            },
            sdk_key: Secret::new(KEY.to_owned()),
        })
    }

    async fn clone_environment(
        &self,
        original: EnvironmentId,
        new: NewEnvironment,
    ) -> Result<CreatedEnvironment, AdminError> {
        self.record_call(format!(
            "clone {original} to {} / {}: {}, {}",
            new.product, new.name, new.visibility, new.client_rules
        ))?;
        Ok(CreatedEnvironment {
            environment: environment(3, &new.product, &new.name),
            sdk_key: Secret::new(KEY.to_owned()),
        })
    }

    async fn order_environments(
        &self,
        product: String,
        environments: Vec<EnvironmentId>,
    ) -> Result<(), AdminError> {
        let ids: Vec<_> = environments.iter().map(ToString::to_string).collect();
        self.record_call(format!("order {product}: {}", ids.join(" ")))
    }

    async fn rename_environment(
        &self,
        expected: Expected<EnvironmentId>,
        name: String,
    ) -> Result<(), AdminError> {
        self.record_call(format!(
            "rename {} at {}: {name}",
            expected.id, expected.revision
        ))
    }

    async fn set_client_rules(
        &self,
        expected: Expected<EnvironmentId>,
        client_rules: &str,
    ) -> Result<(), AdminError> {
        self.record_call(format!(
            "set client rules {} at {}: {client_rules}",
            expected.id, expected.revision
        ))
    }

    async fn set_safeguards(
        &self,
        expected: Expected<EnvironmentId>,
        safeguards: Safeguards,
    ) -> Result<(), AdminError> {
        self.record_call(format!(
            "set safeguards {} at {}: {safeguards:?}",
            expected.id, expected.revision
        ))
    }

    async fn rotate_key(
        &self,
        expected: Expected<EnvironmentId>,
        confirmation: &str,
        overlap: &str,
    ) -> Result<CreatedEnvironment, AdminError> {
        self.record_call(format!(
            "rotate {} at {} with {overlap}: {confirmation}",
            expected.id, expected.revision
        ))?;
        Ok(CreatedEnvironment {
            environment: environment(3, "shop", confirmation),
            sdk_key: Secret::new(KEY.to_owned()),
        })
    }

    async fn end_previous_key(&self, expected: Expected<EnvironmentId>) -> Result<(), AdminError> {
        self.record_call(format!(
            "end previous key {} at {}",
            expected.id, expected.revision
        ))
    }

    async fn revoke_environment(
        &self,
        expected: Expected<EnvironmentId>,
        confirmation: &str,
    ) -> Result<(), AdminError> {
        self.record_call(format!(
            "revoke {} at {}: {confirmation}",
            expected.id, expected.revision
        ))
    }
}

/// One request and its response.
struct Request {
    form: Option<Form>,
    query: Form,
    response: Arc<Mutex<Response>>,
}

impl Request {
    fn response(&self) -> MutexGuard<'_, Response> {
        self.response.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Visit for Request {
    fn form(&self) -> Option<Form> {
        self.form.clone()
    }

    fn query(&self) -> Form {
        self.query.clone()
    }

    async fn sign_in(&self, email: &str, password: &str) -> Result<(), AdminError> {
        match (email, password) {
            ("ana@example.com", "correct horse") => Ok(()),
            _ => Err(AdminError::WrongCredentials),
        }
    }

    async fn sign_out(&self) -> Result<(), AdminError> {
        Ok(())
    }

    fn theme(&self) -> Theme {
        Theme::Dark
    }

    fn set_theme(&self, _: Theme) {}

    fn redirect(&self, path: &str) {
        self.response().location = Some(path.to_owned());
    }

    fn offer_undo(&self) {}

    fn has_stored_key(&self) -> bool {
        false
    }

    fn offers_undo(&self) -> bool {
        false
    }

    fn prefer_environment(&self, _: EnvironmentId) {}

    fn preferred_environment(&self) -> Option<EnvironmentId> {
        None
    }

    fn forward_form(&self, path: &str) {
        self.redirect(path);
    }

    fn set_error(&self, error: &AdminError) {
        self.response().status = Some(error.status());
    }

    fn base_url(&self) -> String {
        "https://flags.example.com".to_owned()
    }

    fn npmrc(&self) -> Option<Npmrc> {
        None
    }

    fn now(&self) -> Timestamp {
        NOW
    }

    fn zone(&self) -> &'static str {
        "UTC"
    }

    fn local(&self, at: Timestamp) -> LocalTime {
        LocalTime::in_utc(at)
    }

    fn day(&self, date: &str) -> Option<(Timestamp, Timestamp)> {
        let moment = |clock: &str| format!("{date}T{clock}Z").parse().ok();
        Some((moment("00:00:00")?, moment("23:59:59.999")?))
    }

    fn minute(&self, minute: &str) -> Option<(Timestamp, Timestamp)> {
        let moment = |seconds: &str| format!("{minute}:{seconds}Z").parse().ok();
        Some((moment("00")?, moment("59.999")?))
    }
}

/// Returns the visit of a request for this address.
pub(crate) fn visit(
    url: &str,
    form: Option<&str>,
    response: Arc<Mutex<Response>>,
) -> Arc<dyn Visit> {
    let query = url.split_once('?').map_or("", |(_, query)| query);
    Arc::new(Request {
        form: form.map(|form| Form::parse(form.as_bytes())),
        query: Form::parse(query.as_bytes()),
        response,
    })
}

/// Requests a page as a signed-in user.
pub(crate) async fn get(fake: &Arc<Fake>, url: &str) -> Response {
    render(Some(fake), url, None).await
}

/// Posts a form to a page as a signed-in user.
pub(crate) async fn post(fake: &Arc<Fake>, url: &str, form: &str) -> Response {
    render(Some(fake), url, Some(form)).await
}

/// Renders a page, without a session if `fake` is none.
pub(crate) async fn render(fake: Option<&Arc<Fake>>, url: &str, form: Option<&str>) -> Response {
    // Every test initializes it; the first one wins.
    _ = Executor::init_tokio();
    let response = Arc::new(Mutex::new(Response::default()));
    let visit = visit(url, form, response.clone());
    let (meta, output) = ServerMetaContext::new();
    let owner = Owner::new_root(None);
    let page = owner.with(|| {
        provide_context(leptos_router::location::RequestUrl::new(url));
        provide_context(meta);
        provide_context(visit);
        if let Some(fake) = fake {
            fake.sign_in();
        }
        view! {
            <head>
                <leptos_meta::MetaTags/>
            </head>
            <App/>
        }
        .to_html_stream_in_order()
    });
    let page = output.inject_meta_context(page).await;
    let html = page.collect::<Vec<_>>().await.concat();
    let mut response = response.lock().unwrap_or_else(PoisonError::into_inner);
    response.html = html;
    std::mem::take(&mut response)
}
