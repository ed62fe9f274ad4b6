//! A change of several flags: its options, a preview, and a button.

pub mod outcome;
mod request;

use leptos::prelude::*;
use pennon_core::turns_on::may_turn_on;
use pennon_model::{
    bulk::{BulkActionName, BulkChange},
    environment::Environment,
    flag::Flag,
    grant::Resource,
    plan::Plan,
};

use self::outcome::{Outcomes, Planned};
pub(super) use self::request::{ACTION, LIST};
use self::request::{ADD, ENVIRONMENT, REMOVE, Request};
use crate::{
    components::{
        confirm_change::ConfirmedFields,
        empty::Empty,
        field::{Field, Input},
        frame::Section,
        link_button::LinkButton,
        notice::{Notice, Severity},
        number::counted,
        page::page,
        page_head::PageHead,
        refusal::{Refusal, RefusalNotice},
        select::options,
        title::Title,
    },
    error::{AdminError, UnchangeableFlag},
    form::Form,
    form_page::{FormState, handle_form, redirect},
    html::{Html, hidden, html},
    model::Naming,
    port::{environments::EnvironmentAdmin, flags::FlagAdmin, query, signed_in, signed_in_user},
    routes, scope,
};

/// The page that previews a change of several flags, with a form that posts to it.
#[component]
pub fn ChangeFlags() -> impl IntoView {
    let request = Request::of(&query());
    page(Section::Flags, "Change flags · Flags", async move {
        let request = request.ok_or(AdminError::NotFound)?;
        if !signed_in_user()?.may_edit_something() {
            return Err(AdminError::Forbidden);
        }
        let submitted = request.clone();
        let render = async move |state: FormState| {
            let preview = Preview::of(request, state).await?;
            Ok(view! { <Content preview/> })
        };
        handle_form(|form| apply(submitted, form), render).await
    })
}

async fn apply(request: Request, form: Form) -> Result<Html, AdminError> {
    let change = request.change().map_err(AdminError::Invalid)?;
    let change = change.ok_or(AdminError::NotFound)?;
    let flags = signed_in::<dyn FlagAdmin>()?;
    let changed = flags.change_flags(&change, &form.text("fingerprint")).await;
    let about = || title(request.action, request.flags.len());
    changed.map_err(|error| error.about("in", about))?;
    redirect(&request.list())
}

/// A request, the objects that it is about, and its effect as far as it is known.
struct Preview {
    request: Request,
    flags: Vec<Option<Flag>>,
    /// The environments to choose from; none if the action has no environment.
    environments: Vec<Environment>,
    planned: Option<Planned>,
    /// The errors of the options.
    refusal: Refusal,
    /// The form as it was posted, with the error of the change or of its preview.
    state: FormState,
}

impl Preview {
    async fn of(request: Request, state: FormState) -> Result<Self, AdminError> {
        let admin = signed_in::<dyn FlagAdmin>()?;
        let flags = admin.flags_with_ids(&request.flags).await?;
        let environments = match request.action {
            BulkActionName::Enable | BulkActionName::Disable => {
                let environments = signed_in::<dyn EnvironmentAdmin>()?;
                let mut active = environments.active_environments().await?;
                // The address may name one of another product.
                let is_named = |each: &Environment| request.environment == Some(each.id);
                let user = signed_in_user()?;
                active.retain(|each| {
                    let is_offered = scope::contains(each) && user.may_edit(&Resource::of(each));
                    is_offered || is_named(each)
                });
                active
            }
            BulkActionName::Tag | BulkActionName::Archive => Vec::new(),
        };
        let mut preview = Self {
            request,
            flags,
            environments,
            planned: None,
            refusal: Refusal::default(),
            state,
        };
        // The preview shows which flags cannot change.
        let is_shown = |error: &mut AdminError| matches!(error, AdminError::UnchangeableFlags(_));
        preview.state.error.take_if(is_shown);
        match preview.request.change() {
            Err(errors) => {
                preview.refusal = Refusal::new(AdminError::Invalid(errors), &[ADD, REMOVE]);
            }
            Ok(Some(change)) if !preview.flags.is_empty() => {
                let plan = admin.preview_bulk_change(&change).await;
                preview.add(change, plan);
            }
            Ok(_) => {}
        }
        Ok(preview)
    }

    fn add(&mut self, change: BulkChange, plan: Result<Plan, AdminError>) {
        let plan = match plan {
            Ok(plan) => Ok(plan),
            Err(AdminError::UnchangeableFlags(flags)) => Err(flags),
            Err(error) => {
                self.state.error = Some(error);
                return;
            }
        };
        self.planned = Some(Planned { change, plan });
    }

    /// Returns the chosen environment.
    fn environment(&self) -> Option<&Environment> {
        let mut environments = self.environments.iter();
        environments.find(|environment| Some(environment.id) == self.request.environment)
    }
}

/// Returns the verb of an action.
pub(super) fn verb(action: BulkActionName) -> &'static str {
    match action {
        BulkActionName::Tag => "Tag",
        BulkActionName::Archive => "Archive",
        BulkActionName::Enable => "Turn on",
        BulkActionName::Disable => "Turn off",
    }
}

/// Describes an action on so many flags, such as `Turn on 3 flags`.
fn title(action: BulkActionName, count: usize) -> String {
    format!("{} {}", verb(action), counted(count, "flag", "flags"))
}

#[component]
fn Content(preview: Preview) -> impl IntoView {
    let title = title(preview.request.action, preview.flags.len());
    let back = preview.request.list();
    if preview.flags.is_empty() {
        return html! {
            <PageHead above=Section::Flags title="Change flags"/>
            <Empty title="No flags are selected">
                <p>"Select flags in the list, then choose what to do with them."</p>
                <LinkButton href=back label="Back to the flags" primary=true/>
            </Empty>
        };
    }
    let naming = Naming::of_environments(&preview.environments);
    let place = preview
        .environment()
        .map(|environment| naming.name_of(environment));
    let is_archive = preview.request.action == BulkActionName::Archive;
    let hint = is_archive.then(|| {
        view! {
            <p class="hint">
                "Archived flags are kept, and are false for every user. Their keys stay taken. You can restore them."
            </p>
        }
    });
    let options = options_form(&preview, naming);
    let confirmation = preview
        .planned
        .as_ref()
        .map(|planned| confirmation(planned, &preview, place, &back));
    let confirmation = confirmation.unwrap_or_else(|| {
        html! {
            <div class="form-actions">
                <LinkButton href=back.clone() label="Cancel"/>
            </div>
        }
    });
    html! {
        <Title text=format!("{title} · Flags")/>
        <PageHead above=Section::Flags title/>
        <div class="bulk">
            <RefusalNotice error=preview.state.error/>
            {options}
            {hint}
            <Outcomes flags=preview.flags planned=preview.planned/>
            {confirmation}
        </div>
    }
}

/// Renders the form with the options of the action, if it has any.
fn options_form(preview: &Preview, naming: Naming) -> Option<Html> {
    let request = &preview.request;
    let fields = match request.action {
        BulkActionName::Archive => return None,
        BulkActionName::Tag => tag_fields(request, &preview.refusal),
        BulkActionName::Enable | BulkActionName::Disable => {
            let choices = preview.environments.iter();
            let choices = choices.map(|each| (each.id.to_string(), naming.name_of(each)));
            let chosen = request.environment.map(|id| id.to_string());
            let is_open = chosen.is_none();
            html! {
                <div class="field">
                    <label for=ENVIRONMENT>"Environment"</label>
                    <select class="input" id=ENVIRONMENT name=ENVIRONMENT required autofocus=is_open>
                        <option value="">"Choose one"</option>
                        {options(choices, &chosen.unwrap_or_default())}
                    </select>
                </div>
            }
        }
    };
    let is_primary = preview.planned.is_none();
    Some(html! {
        <form class="form" method="get" action=routes::CHANGE_FLAGS>
            {request.hidden_fields()}
            {fields}
            <div>
                <button class="button" class:primary=is_primary>
                    "Preview"
                </button>
            </div>
        </form>
    })
}

fn tag_fields(request: &Request, refusal: &Refusal) -> Html {
    let is_open = request.add.is_empty() && request.remove.is_empty();
    html! {
        <Field
            name=ADD
            label="Tags to add"
            input=Input::Line
            hint="Separate several with commas."
            example="checkout, q3"
            optional=true
            value=request.add.clone()
            focus=is_open
            refusal=refusal.clone()
        />
        <Field
            name=REMOVE
            label="Tags to remove"
            input=Input::Line
            optional=true
            value=request.remove.clone()
            refusal=refusal.clone()
        />
    }
}

/// Renders the form that makes the change, or the way out if some flags cannot change.
fn confirmation(planned: &Planned, preview: &Preview, place: Option<String>, back: &str) -> Html {
    let plan = match &planned.plan {
        Ok(plan) => plan,
        Err(refused) => return without_refused(refused, preview, back),
    };
    let count = plan.changes.len();
    if count == 0 {
        return html! {
            <p>"All of these flags are already as you want them."</p>
            <div class="form-actions">
                <LinkButton href=back.to_owned() label="Back to the flags"/>
            </div>
        };
    }
    let place = place.map(|name| format!(" in {name}")).unwrap_or_default();
    let label = format!("{}{place}", title(preview.request.action, count));
    let effects = &plan.effects;
    let is_danger = preview.request.action == BulkActionName::Archive
        || effects
            .iter()
            .any(|each| may_turn_on(&each.before, &each.after));
    let safeguarded = preview.environment().filter(|each| each.has_safeguards());
    let confirmed = safeguarded.cloned().map(|environment| {
        let posted = preview.state.form.clone();
        view! { <ConfirmedFields environment posted id="reason"/> }
    });
    html! {
        <form class="form" method="post">
            {hidden("fingerprint", plan.fingerprint.clone())}
            {confirmed}
            <div class="form-actions">
                <button class="button primary" class:danger=is_danger>
                    {label}
                </button>
                <LinkButton href=back.to_owned() label="Cancel"/>
            </div>
        </form>
    }
}

/// Renders the way out if some flags cannot change: to leave them out.
fn without_refused(refused: &[UnchangeableFlag], preview: &Preview, back: &str) -> Html {
    let excluded: Vec<usize> = refused.iter().map(|each| each.index).collect();
    let left = preview.flags.len().saturating_sub(excluded.len());
    let text = format!(
        "{} cannot be changed, so nothing will be. All flags change, or none.",
        describe_count(refused.len(), preview.flags.len())
    );
    let label = match left {
        1 => "Continue with the other flag".to_owned(),
        left => format!("Continue with the other {}", counted(left, "flag", "flags")),
    };
    let rest = (left > 0).then(|| {
        view! { <LinkButton href=preview.request.without(&excluded) label primary=true/> }
    });
    html! {
        <Notice severity=Severity::Warning>{text}</Notice>
        <div class="form-actions">
            {rest}
            <LinkButton href=back.to_owned() label="Cancel"/>
        </div>
    }
}

/// Describes a number of flags of all selected ones: `2 of the 5 flags`.
fn describe_count(count: usize, all: usize) -> String {
    match (count, all) {
        (1, 1) => "This flag".to_owned(),
        (count, all) if count == all => "These flags".to_owned(),
        (count, all) => format!("{count} of the {all} flags"),
    }
}
