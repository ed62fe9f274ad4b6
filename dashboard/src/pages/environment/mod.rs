//! The page of one environment: its usage, code for applications, and the actions of administrators.

mod client_rules;
mod danger;
mod previous_key;
mod revealed;
mod revoked;
mod safeguards;

use leptos::prelude::*;
use pennon_model::{
    environment::{Environment, EnvironmentStatus, Visibility},
    grant::Resource,
    id::EnvironmentId,
    time::Timestamp,
    usage::Polling,
    user::User,
};

use self::danger::{REVOCATION, ROTATION};
use super::path_id;
use crate::{
    components::{
        check_field::is_checked,
        client_table::ClientTable,
        fact::Fact,
        field::{Field, Input},
        frame::Section,
        link_button::LinkButton,
        new_key::new_key,
        newest::Newest,
        page::page,
        page_head::PageHead,
        public_tag::PublicTag,
        refusal::{Refusal, RefusalNotice},
        safeguard_fields::{PROTECTED, REASON_REQUIRED},
        snippets::{Snippets, example_key},
        time::{Time, time_or},
        title::Title,
        visibility_fields::CLIENT_RULES,
    },
    error::{AdminError, FieldError},
    form::{Form, actions},
    form_page::{FormState, handle_form, redirect},
    html::{Html, IntoHtml as _, hidden, html},
    model::Naming,
    port::{
        Expected,
        environments::{EnvironmentAdmin, EnvironmentDetail, Safeguards},
        signed_in, signed_in_user,
    },
    routes,
};

actions! {
    /// An action of the page's forms.
    enum Action {
        /// Renames the environment.
        Rename = "rename",
        /// Changes the client rules.
        ClientRules = "client-rules",
        /// Changes the safeguards.
        Safeguards = "safeguards",
        /// Rotates the SDK key.
        Rotate = "rotate",
        /// Ends the previous key.
        EndPreviousKey = "end-previous-key",
        /// Revokes the environment.
        Revoke = "revoke",
    }
}

/// The page of one environment. Only the response to a rotation shows the new key.
#[component]
pub fn EnvironmentPage() -> impl IntoView {
    let id = path_id::<EnvironmentId>("id");
    page(Section::Environments, "Environments", async move {
        let id = id?;
        let render = async move |state: FormState| {
            if state.error == Some(AdminError::NotFound) {
                return Err(AdminError::NotFound);
            }
            let environments = signed_in::<dyn EnvironmentAdmin>()?;
            let detail = environments.environment(id).await?;
            let user = signed_in_user()?;
            let naming = environments.naming().await?;
            let revoked = revoked::notice(&detail.environment).await?;
            Ok(view! { <Page detail naming user revoked state/> })
        };
        handle_form(|form| act(id, form), render).await
    })
}

/// Carries out the action of a form.
async fn act(id: EnvironmentId, form: Form) -> Result<Html, AdminError> {
    let action = Action::of(&form).ok_or(AdminError::NotFound)?;
    let page = carry_out(action, id, form).await;
    let (text, preposition) = action.describe();
    page.map_err(|error| error.about(preposition, || text.to_owned()))
}

async fn carry_out(action: Action, id: EnvironmentId, form: Form) -> Result<Html, AdminError> {
    let value = action.field().map(|field| form.text(field));
    let value = value.unwrap_or_default();
    let environments = signed_in::<dyn EnvironmentAdmin>()?;
    let revision = form.parsed("revision").unwrap_or_default();
    let expected = Expected { id, revision };
    match action {
        Action::Rename => environments.rename_environment(expected, value).await?,
        Action::ClientRules => environments.set_client_rules(expected, &value).await?,
        Action::Safeguards => {
            let safeguards = Safeguards {
                is_protected: is_checked(&form, PROTECTED),
                is_reason_required: is_checked(&form, REASON_REQUIRED),
            };
            environments.set_safeguards(expected, safeguards).await?;
        }
        Action::Rotate => {
            let before = environments.environment(id).await?.environment;
            let overlap = form.text(previous_key::OVERLAP);
            let created = environments.rotate_key(expected, &value, &overlap);
            return new_key(created.await?, Some(before.sdk_key_prefix)).await;
        }
        Action::EndPreviousKey => match environments.end_previous_key(expected).await {
            // Its time has run out since the page was shown.
            Err(AdminError::NotFound) => {}
            ended => ended?,
        },
        Action::Revoke => environments.revoke_environment(expected, &value).await?,
    }
    redirect(&routes::environment(id))
}

impl Action {
    /// Describes the action in the imperative, with the preposition before the environment.
    fn describe(self) -> (&'static str, &'static str) {
        match self {
            Self::Rename => ("Rename", ""),
            Self::ClientRules => ("Change what clients receive", "in"),
            Self::Safeguards => ("Change the safeguards", "of"),
            Self::Rotate => ("Rotate the SDK key", "of"),
            Self::EndPreviousKey => ("End the previous SDK key", "of"),
            Self::Revoke => ("Revoke", ""),
        }
    }

    /// Returns the field that shows the faults of its form; none if the form has no field of its own.
    fn field(self) -> Option<&'static str> {
        match self {
            Self::Rename => Some("name"),
            Self::ClientRules => Some(CLIENT_RULES),
            Self::Safeguards => Some(PROTECTED),
            Self::Rotate => Some(ROTATION.name_field),
            Self::EndPreviousKey => None,
            Self::Revoke => Some(REVOCATION.name_field),
        }
    }

    /// Returns the revision of the environment that its form expects.
    fn expected(self, state: &FormState, environment: &Environment) -> i64 {
        let of_form = |form: &Form| {
            form.parsed("revision")
                .filter(|_| Self::of(form) == Some(self))
        };
        state.expected(of_form, environment.revision)
    }

    /// Renders its form, with the fields that `fields` renders for the refused input.
    fn form(
        self,
        environment: &Environment,
        state: &FormState,
        button: &'static str,
        fields: impl FnOnce(Refusal) -> Html,
    ) -> Html {
        let refusal = self.refusal(state);
        let revision = self.expected(state, environment);
        html! {
            <form class="form" method="post">
                <RefusalNotice error=refusal.other.clone()/>
                {hidden("do", self.as_str())}
                {hidden("revision", revision.to_string())}
                {fields(refusal)}
                <div class="form-actions">
                    <button class="button">{button}</button>
                </div>
            </form>
        }
    }

    /// Returns the input of its form, with the errors.
    fn refusal(self, state: &FormState) -> Refusal {
        let form = state.form.clone();
        let Some(form) = form.filter(|form| Self::of(form) == Some(self)) else {
            return Refusal::default();
        };
        let refusal = match (state.error.clone(), self.field()) {
            (Some(AdminError::Invalid(errors)), Some(field)) => {
                let here = |error| FieldError {
                    field: field.to_owned(),
                    ..error
                };
                let errors = errors.into_iter().map(here).collect();
                Refusal::new(AdminError::Invalid(errors), &[field])
            }
            (Some(error @ AdminError::Conflict(_)), Some(field)) if self == Self::Rename => {
                Refusal::new(error, &[field])
            }
            (error, _) => Refusal::of_page(error),
        };
        Refusal {
            form: Some(form),
            ..refusal
        }
    }
}

#[component]
fn Page(
    detail: EnvironmentDetail,
    naming: Naming,
    user: User,
    /// The notice of a revoked environment.
    revoked: Option<Html>,
    state: FormState,
) -> impl IntoView {
    let EnvironmentDetail {
        environment,
        flags,
        newest_flag,
        polling,
        last_used,
        clients,
        previous_key,
    } = detail;
    let name = naming.name_of(&environment);
    let active = environment.status == EnvironmentStatus::Active;
    let resource = Resource::of(&environment);
    let manages = active && user.may_administer(&resource);
    let previous_key =
        previous_key.map(|usage| previous_key::section(&environment, usage, manages, &state));
    // A form that is no longer shown cannot show why it was refused.
    let error = state.error.clone().filter(|_| !manages);
    let manage = manages.then(|| {
        view! { <Manage environment=environment.clone() polling last_used state/> }
    });
    let clone = (active && user.may_create_environments()).then(|| {
        view! { <LinkButton href=routes::clone_environment(environment.id) label="Clone"/> }
    });
    let live = (active && user.may_edit(&resource)).then(|| {
        view! { <LinkButton href=routes::live_evaluations(environment.id) label="Live evaluations"/> }
    });
    let rest = if active {
        html! {
            {previous_key}
            {revealed::section(&environment, flags)}
            <section class="part" aria-labelledby="clients">
                <h2 id="clients">"Clients"</h2>
                <ClientTable clients/>
            </section>
            <section class="part" aria-labelledby="ask">
                <h2 id="ask">"Evaluate a flag"</h2>
                <p class="quiet">
                    "Replace " <code>{example_key(environment.visibility)}</code>
                    " with the SDK key, which was shown once, when it was created."
                </p>
                <Snippets
                    flag_key=newest_flag
                    visibility=environment.visibility
                    client_rules=environment.client_rules
                />
            </section>
            {manage}
        }
    } else {
        ().into_html()
    };
    let title = format!("{name} · Environments");
    let heading = html! { {name} " " {tags(&environment, active)} };
    html! {
        <Title text=title/>
        <PageHead above=Section::Environments title=heading>
            <div class="page-actions">{live} {clone}</div>
        </PageHead>
        {revoked}
        <RefusalNotice error/>
        <Facts environment polling active/>
        {rest}
    }
}

/// Renders the status and the kind of the environment, beside its name.
fn tags(environment: &Environment, active: bool) -> Html {
    let (class, status) = if active {
        ("tag active", "Active")
    } else {
        ("tag", "Revoked")
    };
    let public = (environment.visibility == Visibility::Public).then(|| {
        view! { <PublicTag title="Everyone can read its SDK key"/> }
    });
    let protected = (active && environment.is_protected).then(|| {
        view! { <span class="tag" title="The dashboard asks before each change">"Protected"</span> }
    });
    html! {
        <span class=class>{status}</span>
        " "
        {public}
        " "
        {protected}
    }
}

#[component]
fn Facts(environment: Environment, polling: Polling, active: bool) -> impl IntoView {
    let usage = active.then(|| {
        view! {
            <Fact name="Last request">{time_or(polling.last_request_at(), "Never")}</Fact>
            <div>
                <dt title="Share of the polls in the last 24 hours">"On the newest revision"</dt>
                <dd>
                    <Newest polls=polling.polls/>
                </dd>
            </div>
        }
    });
    html! {
        <dl class="facts panel">
            <Fact name="Product">{environment.product.to_string()}</Fact>
            <Fact name="Key">
                <code>{environment.sdk_key_prefix} "…"</code>
            </Fact>
            <Fact name="Created">
                <Time at=environment.created_at/>
            </Fact>
            {usage}
        </dl>
    }
}

/// The actions of administrators, the destructive ones last.
#[component]
fn Manage(
    environment: Environment,
    polling: Polling,
    last_used: Option<Timestamp>,
    state: FormState,
) -> impl IntoView {
    let rename = Action::Rename.form(&environment, &state, "Rename", |refusal| {
        html! {
            <Field
                name="name"
                label="Name"
                input=Input::Line
                hint="Applications are not affected: they use the key."
                max_length=64
                value=environment.name.to_string()
                refusal
            />
        }
    });
    let safeguards = safeguards::form(&environment, &state);
    let client_rules = (environment.visibility == Visibility::Public)
        .then(|| client_rules::form(&environment, &state));
    let last_used = || danger::last_used(&environment, polling, last_used);
    let overlap = Some(danger::overlap_field(&state));
    let rotate = ROTATION.form(&environment, &state, last_used(), overlap);
    let revoke = REVOCATION.form(&environment, &state, last_used(), None);
    html! {
        <section class="part" aria-labelledby="manage">
            <h2 id="manage">"Manage"</h2>
            {rename}
            {safeguards}
            {client_rules}
            {rotate}
            {revoke}
        </section>
    }
}
