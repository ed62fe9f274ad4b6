//! The page of one flag: its configuration in an environment, and the forms that change it.
//!
//! The page shows the configuration. A plain link opens one form at a time, which the address names
//! ([`address::Edit`]). Every form posts to the page, with its action in the field `do` ([`actions`]).

mod actions;
mod address;
pub mod compare;
mod configuration;
mod copying;
mod head;
mod metadata;
mod playground;
mod rollout;
mod rules;
mod steps;
mod tabs;

use leptos::prelude::*;
use leptos_router::hooks::use_params_map;
use pennon_core::{rollout::Rollout, rule::Rule};
use pennon_model::{
    configuration::{FlagConfiguration, FlagOverview},
    environment::{Environment, EnvironmentStatus},
    flag::FlagProducts,
    grant::Resource,
    user::User,
};

use self::{
    actions::{Action, about, act},
    address::{Address, Edit},
};
use crate::{
    components::{
        confirm_change::ConfirmedFields,
        empty::Empty,
        frame::Section,
        icon::{Drawing, Icon},
        not_switched::NotSwitched,
        notice::{Notice, Severity},
        page::page,
        playground::ContextForm,
        refusal::{Refusal, RefusalNotice, split},
        title::Title,
    },
    describe,
    error::{AdminError, FieldError},
    form::Form,
    form_page::{FormState, handle_form},
    html::{Html, hidden, html},
    islands::effect::EffectBeforeSave,
    model::Naming,
    port::{
        flag_page::{ConfigurationCopy, CopyPreview, FlagPageAdmin},
        query, signed_in, signed_in_user,
    },
    preview::ProposedChange,
    routes,
    scope::{known_products, product},
};

/// The page of one flag.
#[component]
pub fn FlagPage() -> impl IntoView {
    let key = use_params_map().read_untracked().get("key");
    let address = Address {
        key: key.unwrap_or_default(),
        environment: query().parsed("environment"),
        context: ContextForm::from(&query()).context_as_json(),
    };
    page(Section::Flags, "Flags", async move {
        let submit = async |form: Form| {
            let done = act(&form, &address).await;
            done.map_err(|error| about(error, &form, &address.key))
        };
        let render = async |state: FormState| {
            // A form that was posted stays open.
            let edit = match &state.form {
                None => Edit::read(&query(), "edit"),
                Some(form) => Edit::read(form, "do"),
            };
            Ok(load(address.clone(), edit, state).await?.render())
        };
        handle_form(submit, render).await
    })
}

/// Returns true if the flag was not archived because it is on somewhere.
fn is_refused_archiving(state: &FormState) -> bool {
    let is_conflict = matches!(state.error, Some(AdminError::Conflict(_)));
    is_conflict && state.form.as_ref().and_then(Action::of) == Some(Action::Archive)
}

/// The data of the page.
struct PageData {
    address: Address,
    detail: FlagOverview,
    edit: Edit,
    state: FormState,
    user: User,
    /// True if the reader may change the flag itself.
    is_flag_editor: bool,
    /// True if the reader may change configurations in the environment.
    is_editor: bool,
    extras: Extras,
}

/// The data that only some forms need.
#[derive(Default)]
struct Extras {
    /// Suggested attribute names, while a rule is being edited.
    suggestions: Vec<String>,
    /// The effect of a copy, once its target is selected.
    preview: Option<CopyPreview>,
    /// The products of the active environments, while the details are being edited, and if there is no environment to
    /// show.
    products: Vec<String>,
}

/// Loads the data of the page. Ignores the open form if the reader may not change anything. Fails with the error of a
/// posted form whose input the page could not show.
async fn load(address: Address, edit: Edit, state: FormState) -> Result<PageData, AdminError> {
    let admin = signed_in::<dyn FlagPageAdmin>()?;
    // The environments that prevent archiving may be those of other products.
    let product = product().filter(|_| !is_refused_archiving(&state));
    let detail = admin
        .flag(&address.key, address.environment, product.as_deref())
        .await?;
    let user = signed_in_user()?;
    let is_flag_editor = Resource::of_flag(detail.flag.products.as_ref())
        .iter()
        .all(|resource| user.may_edit(resource));
    let environment = detail.environment.as_ref();
    let is_editor =
        environment.is_some_and(|environment| user.may_edit(&Resource::of(environment)));
    let environment = environment.map(|environment| environment.id);
    let mut page = PageData {
        address: Address {
            environment,
            ..address
        },
        edit: Edit::None,
        state,
        user,
        is_flag_editor,
        is_editor,
        extras: Extras::default(),
        detail,
    };
    page.edit = page.settled(edit);
    // Without its form, the page would lose the input.
    if page.edit == Edit::None
        && edit.has_input()
        && let Some(error) = page.state.error.take()
    {
        return Err(page.error_without_form(edit, error));
    }
    page.extras = page.extras(&*admin).await?;
    Ok(page)
}

/// Returns the only item; none if there are several or none.
fn exactly_one<T>(mut items: impl Iterator<Item = T>) -> Option<T> {
    let first = items.next();
    first.filter(|_| items.next().is_none())
}

impl PageData {
    fn is_archived(&self) -> bool {
        self.detail.flag.archived_at.is_some()
    }

    fn is_revoked(&self) -> bool {
        let environment = self.detail.environment.as_ref();
        environment.is_some_and(|environment| environment.status == EnvironmentStatus::Revoked)
    }

    /// Returns true if the reader may change the flag's configuration in this environment.
    fn may_edit(&self) -> bool {
        let configured = self.detail.configuration.is_some();
        self.is_editor && configured && !self.is_archived() && !self.is_revoked()
    }

    /// Returns true if the reader may copy the flag's configuration in this environment to another one.
    fn may_copy(&self) -> bool {
        let configured = self.detail.configuration.is_some();
        let from = self.address.environment.into_iter();
        let mut targets = from.flat_map(|from| copying::targets(self, from));
        let is_readable = configured && !self.is_archived() && !self.is_revoked();
        is_readable && targets.next().is_some()
    }

    /// Returns true if the reader may watch the flag's evaluations in this environment.
    fn may_watch(&self) -> bool {
        let is_configured = self.detail.configuration.is_some();
        self.is_editor && is_configured && !self.is_revoked()
    }

    /// Returns the form to open instead of the requested one: none if that has lost its purpose, or if the reader may
    /// not use it.
    fn settled(&self, requested: Edit) -> Edit {
        // If the flag was archived while its details were being edited, they stay visible.
        let is_open = !self.is_archived() || self.error().is_some();
        let is_of_flag = requested == Edit::Details && self.is_flag_editor && is_open;
        let may_use = match requested {
            Edit::Copy(..) => self.may_copy(),
            _ => is_of_flag || self.may_edit(),
        };
        if self.is_obsolete(requested) || !may_use {
            return Edit::None;
        }
        match requested {
            Edit::Rollout if self.has_no_rollout() => Edit::Recipe,
            Edit::Copy(to, part) => {
                let from = self.address.environment.into_iter();
                let targets = from.flat_map(|from| copying::targets(self, from));
                let targets: Vec<_> = targets.map(|target| target.id).collect();
                let chosen = to.filter(|to| targets.contains(to));
                Edit::Copy(chosen.or_else(|| exactly_one(targets.into_iter())), part)
            }
            requested => requested,
        }
    }

    /// Loads the data that the open form needs.
    async fn extras(&self, admin: &dyn FlagPageAdmin) -> Result<Extras, AdminError> {
        let mut extras = Extras::default();
        match (self.edit, self.address.environment) {
            (Edit::Details, _) | (_, None) => extras.products = known_products().await,
            (Edit::NewRule | Edit::Rule(_) | Edit::Recipe, Some(environment)) => {
                extras.suggestions = admin.attributes(environment).await?;
            }
            (Edit::Copy(Some(to), part), Some(from)) => {
                let copy = ConfigurationCopy {
                    flag: self.detail.flag.id,
                    from,
                    to,
                    part,
                };
                extras.preview = Some(admin.preview_copy(copy).await?);
            }
            _ => {}
        }
        Ok(extras)
    }

    /// Returns true if a confirmation has lost its purpose: the object is gone, or already has the requested state.
    fn is_obsolete(&self, edit: Edit) -> bool {
        let Some(current) = &self.detail.configuration else {
            return false;
        };
        match edit {
            Edit::Switch(on) => current.target.configuration.is_enabled == on,
            Edit::DeleteRule(id) => !current.rules.iter().any(|rule| rule.id == id),
            Edit::RemoveRollout => current.rollout.is_none(),
            _ => false,
        }
    }

    /// Returns true if the flag is configured in this environment, but without a rollout.
    fn has_no_rollout(&self) -> bool {
        let current = self.detail.configuration.as_ref();
        current.is_some_and(|current| current.rollout.is_none())
    }

    /// Returns the form that was posted.
    fn posted_form(&self) -> Option<&Form> {
        self.state.form.as_ref()
    }

    /// Returns the reason why the posted form was refused.
    fn error(&self) -> Option<&AdminError> {
        self.state.error.as_ref()
    }

    /// Returns the error of a posted form that the page cannot show, because the flag has left the environment, or the
    /// rule was deleted.
    fn error_without_form(&self, edit: Edit, error: AdminError) -> AdminError {
        if error != AdminError::NotFound {
            return error;
        }
        match (&self.detail.environment, &self.detail.configuration) {
            (_, Some(_)) if matches!(edit, Edit::Rule(_)) => {
                AdminError::Conflict("The rule was deleted meanwhile.".to_owned())
            }
            (Some(environment), None) => {
                let why = describe::absence(&self.detail.flag, environment).unwrap_or_default();
                let name = self.name_of(environment);
                let gone = format!("The flag is no longer configured in {name}. {why}");
                AdminError::Conflict(gone.trim_end().to_owned())
            }
            _ => error,
        }
    }

    /// Returns true if somebody else made a change first.
    fn is_stale(&self) -> bool {
        self.state.is_stale()
    }

    /// Renders the notice that somebody else made a change first, with the current state. A rotation of the key moves
    /// rules to another environment, which raises their revisions.
    fn conflict_notice(&self, current: String) -> Html {
        let posted = self.posted_form();
        let environment = posted.and_then(|form| form.parsed("environment"));
        let lead = if environment == self.address.environment {
            "Somebody else saved first. "
        } else {
            "The key of this environment was rotated. "
        };
        html! {
            <Notice severity=Severity::Danger>
                <strong>{lead}</strong>
                {current}
            </Notice>
        }
    }

    /// Returns the errors of these fields of the open form, and any other error. The form itself shows the current
    /// state if somebody else made a change first.
    fn form_errors(&self, fields: &[&str]) -> (Vec<FieldError>, Option<AdminError>) {
        match self.error() {
            Some(AdminError::Invalid(errors)) => split(errors.clone(), fields),
            Some(AdminError::Stale) | None => (Vec::new(), None),
            other => (Vec::new(), other.cloned()),
        }
    }

    /// Like [`Self::form_errors`], for a form with these fields. A conflict concerns the first of them.
    fn form_refusal(&self, fields: &[&str]) -> Refusal {
        let error = self.error().filter(|_| !self.is_stale()).cloned();
        let state = FormState {
            form: self.state.form.clone(),
            error,
        };
        state.refusal(fields)
    }

    /// Renders the fields with which a form confirms a change in the environment.
    fn confirmed_fields(&self) -> Option<Html> {
        let environment = self.detail.environment.clone()?;
        let posted = self.state.form.clone();
        Some(html! { <ConfirmedFields environment posted id="reason"/> })
    }

    /// Renders the hidden fields for an action and its object.
    fn hidden(&self, action: Action, revision: Option<i64>) -> Html {
        let environment = self.address.environment;
        html! {
            {hidden("do", action.as_str())}
            {hidden("flag", self.detail.flag.id.to_string())}
            {environment.map(|environment| hidden("environment", environment.to_string()))}
            {revision.map(|revision| hidden("revision", revision.to_string()))}
        }
    }

    fn render(self) -> Html {
        let archived = if self.is_archived() {
            " (archived)"
        } else {
            ""
        };
        let title = format!("{}{archived} · Flags", self.detail.flag.key);
        let error = self.error().filter(|_| !self.form_shows_error()).cloned();
        let body = match (&self.detail.environment, &self.detail.configuration) {
            (None, _) => self.no_environment(),
            (Some(environment), None) => self.not_configured(environment),
            (Some(environment), Some(current)) => self.configuration_panel(environment, current),
        };
        html! {
            <Title text=title/>
            {head::head(&self)}
            {error.map(|error| self.refusal(error))}
            <NotSwitched/>
            <div class="flag-ways">{tabs::tabs(&self)} {tabs::more(&self)}</div>
            {body}
        }
    }

    /// Returns true if the open form shows the refusal itself.
    fn form_shows_error(&self) -> bool {
        self.edit != Edit::None
    }

    /// Renders the refusal of an action without an open form.
    fn refusal(&self, error: AdminError) -> Html {
        match error {
            _ if is_refused_archiving(&self.state) => head::still_on(self),
            AdminError::Stale => html! {
                <Notice severity=Severity::Danger>
                    {AdminError::Stale.to_string()} " The page shows the current state."
                </Notice>
            },
            error => html! { <RefusalNotice error=Some(error)/> },
        }
    }

    /// Renders the page of a flag without any environment to show.
    fn no_environment(&self) -> Html {
        let limits = self.detail.flag.products.as_ref();
        let Some(product) = product() else {
            return self.no_environment_anywhere(limits);
        };
        let why = match limits {
            Some(products) if products.iter().all(|each| each.as_str() != product) => {
                describe::limited_to(products)
            }
            _ if self.extras.products.contains(&product) => describe::NOT_PUBLIC.to_owned(),
            _ => format!("{product} has no active environment."),
        };
        let everywhere = routes::flag(&self.address.key);
        html! {
            <Empty title=format!("Not configured in {product}")>
                <p>{why}</p>
                <a class="button" href=everywhere>
                    "Show all products"
                </a>
            </Empty>
        }
    }

    /// Renders the page of a flag that exists in no active environment of any product.
    fn no_environment_anywhere(&self, limits: Option<&FlagProducts>) -> Html {
        let is_limited_to = |product: &String| {
            limits.is_none_or(|products| products.iter().any(|each| each.as_str() == product))
        };
        if self.extras.products.iter().any(is_limited_to) {
            let why = format!("{} There are no others yet.", describe::NOT_PUBLIC);
            return html! { <Empty title="Not configured anywhere"><p>{why}</p></Empty> };
        }
        let why = match limits {
            Some(products) => format!(
                "{} None of them has an active environment yet.",
                describe::limited_to(products)
            ),
            None => "A flag takes effect in an environment, such as production. Create one first."
                .to_owned(),
        };
        html! { <Empty title="No environments yet"><p>{why}</p></Empty> }
    }

    fn not_configured(&self, environment: &Environment) -> Html {
        let name = self.name_of(environment);
        let why = match describe::absence(&self.detail.flag, environment) {
            Some(why) => why,
            None if self.is_revoked() => "This environment was revoked before the flag existed in it.".to_owned(),
            None => "The flag was archived before this environment existed. After restoring, it is off here and can be switched on.".to_owned(),
        };
        html! {
            <Empty title=format!("Not configured in {name}")>
                <p>{why}</p>
            </Empty>
        }
    }

    fn configuration_panel(&self, environment: &Environment, current: &FlagConfiguration) -> Html {
        let revoked = self.is_revoked().then(|| {
            view! {
                <Notice severity=Severity::Warning>
                    "This environment is revoked: it no longer serves flags, and nothing can be changed."
                </Notice>
            }
        });
        html! {
            {revoked}
            <section class="panel flag-panel" aria-labelledby="configuration">
                {configuration::configuration(self, environment, current)}
                {copying::copying(self, environment)}
                {steps::steps(self, environment, current)}
            </section>
            {playground::playground(self, environment, current)}
        }
    }

    /// Returns true if the flag is switched on in this environment. A form tells it in `data-enabled` if its effect
    /// depends on it, so that an update of the page finds that it has changed.
    fn is_enabled(&self) -> bool {
        let current = self.detail.configuration.as_ref();
        current.is_some_and(|current| current.target.configuration.is_enabled)
    }

    /// Renders the preview of a form's change. It arrives late, so it belongs below the buttons.
    fn effect_of(&self, change: ProposedChange) -> Option<Html> {
        let (flag, environment) = (self.detail.flag.id, self.address.environment?);
        Some(html! { <EffectBeforeSave flag environment change/> })
    }

    fn naming(&self) -> Naming {
        let listed = self.detail.environments.iter();
        let listed = listed.map(|(environment, _)| environment);
        Naming::of_environments(listed.chain(&self.detail.environment))
    }

    /// Returns the name of an environment.
    fn name_of(&self, environment: &Environment) -> String {
        self.naming().name_of(environment)
    }
}

/// Renders a link to an action on a rule or the rollout.
fn icon_link(href: String, icon: Icon, label: &'static str) -> Html {
    html! {
        <a class="icon-button" href=href title=label aria-label=label>
            <Drawing icon/>
        </a>
    }
}

/// Renders the current state beside the form that changes it.
fn current_state(text: String) -> Html {
    html! {
        <p class="before no-scripts">
            <span class="quiet">"Now: "</span>
            {text}
        </p>
    }
}

/// Describes the flag in an environment as if it had these rules and this rollout, in whole sentences.
fn describe_effect<'r>(
    current: &FlagConfiguration,
    rules: impl IntoIterator<Item = &'r Rule>,
    rollout: Option<Rollout>,
) -> String {
    let sentence = describe::flag(true, rules, rollout);
    if current.target.configuration.is_enabled {
        format!("Result: {sentence}")
    } else {
        format!("The flag is off here, so nothing changes yet. Once it is on: {sentence}")
    }
}
