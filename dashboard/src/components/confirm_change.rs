//! The question before a change in a protected environment, and for the reason of a change.

use leptos::prelude::*;
use pennon_model::environment::Environment;

use super::{
    escape::in_textarea,
    field::{described_by, field_error},
    title::Title,
};
use crate::{
    error::{AdminError, UnconfirmedChange},
    form::Form,
    html::{Html, hidden, html},
    port::{environments::EnvironmentAdmin, signed_in},
};

/// The name of the field that confirms a change.
pub const CONFIRMED: &str = "confirmed";

/// The value of [`CONFIRMED`] that confirms the change.
const YES: &str = "yes";

/// The value of [`CONFIRMED`] that cancels the change.
const NO: &str = "no";

/// The name of the field with the reason.
pub const REASON: &str = "reason";

/// Returns true if the user was asked to confirm the changes of a form.
pub fn is_confirmed(form: &Form) -> bool {
    form.text(CONFIRMED) == YES
}

/// Returns true if the user was asked to confirm the changes of a form, and canceled them.
pub fn is_canceled(form: &Form) -> bool {
    form.text(CONFIRMED) == NO
}

/// Renders the question about a form that was posted to the current page, in place of the page. The answer posts the
/// form again, also to cancel, so that the page keeps the input.
pub async fn confirm_change(form: Form, change: UnconfirmedChange) -> Result<Html, AdminError> {
    let naming = signed_in::<dyn EnvironmentAdmin>()?.naming().await?;
    let environments = change.environments.iter();
    let names: Vec<_> = environments
        .map(|path| naming.name(&path.product, &path.name))
        .collect();
    let (several, names) = (names.len() > 1, names.join(", "));
    let text = if change.is_protected {
        let are = if several { "are" } else { "is" };
        format!("{names} {are} protected.")
    } else {
        format!("A change in {names} requires a reason.")
    };
    let change_names = || ("Change".to_owned(), String::new());
    let (action, preposition) = change.action.unwrap_or_else(change_names);
    let words = [action.as_str(), &preposition, &names].into_iter();
    let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
    let title = format!("{}?", words.join(" "));
    let needs_reason = change.needs_reason;
    let is_missing = needs_reason && is_confirmed(&form);
    let kept = form
        .fields_to_keep()
        .filter(|(name, _)| ![CONFIRMED, REASON].contains(name))
        .map(|(name, value)| hidden(name, value))
        .collect_view();
    Ok(html! {
        <Title text=title.clone()/>
        <form class="form panel confirm-change" method="post" data-form aria-labelledby="confirm-change">
            <h1 id="confirm-change">{title}</h1>
            <p>{text} " Nothing has been changed yet."</p>
            {kept}
            <ReasonField
                id="reason"
                required=needs_reason
                value=form.text(REASON)
                focus=needs_reason
                is_missing
            />
            <div class="form-actions">
                <button class="button primary" name=CONFIRMED value=YES>
                    {action}
                </button>
                <button
                    class="button"
                    name=CONFIRMED
                    value=NO
                    formnovalidate
                    autofocus=!needs_reason
                >
                    "Cancel"
                </button>
            </div>
        </form>
    })
}

/// The fields of a form that itself asks to confirm a change in an environment: they say so, and take the reason.
#[component]
pub fn ConfirmedFields(
    /// The environment.
    environment: Environment,
    /// The form that was posted before, with its reason.
    posted: Option<Form>,
    /// The id of the field with the reason, unique on the page.
    id: &'static str,
) -> impl IntoView {
    let value = posted.map(|form| form.text(REASON)).unwrap_or_default();
    let required = environment.is_reason_required;
    let has_reason = required || environment.is_protected;
    html! {
        {hidden(CONFIRMED, YES)}
        {has_reason.then(|| html! { <ReasonField id required value/> })}
    }
}

/// The field with the reason for a change.
#[component]
pub fn ReasonField(
    /// The id, unique on the page.
    id: &'static str,
    /// True if the field must not stay empty.
    required: bool,
    /// The initial value.
    #[prop(optional)]
    value: String,
    /// True if the field takes the focus.
    #[prop(optional)]
    focus: bool,
    /// True if the form was refused because the field is blank.
    #[prop(optional)]
    is_missing: bool,
) -> impl IntoView {
    let error = is_missing
        .then(|| html! { <div id=format!("{id}-error")>{field_error("Enter a reason.")}</div> });
    let optional: Option<Html> =
        (!required).then(|| html! { <span class="optional">" (optional)"</span> });
    html! {
        <div class="field">
            <label for=id>"Reason" {optional}</label>
            <p class="hint" id=format!("{id}-hint")>"Shown in the audit log."</p>
            <textarea
                class="input"
                id=id
                name=REASON
                rows="2"
                maxlength="500"
                required=required
                autofocus=focus
                aria-invalid=is_missing.then_some("true")
                aria-describedby=described_by(id, true, is_missing)
            >
                {in_textarea(&value)}
            </textarea>
            {error}
        </div>
    }
}
