//! The question before a change in a protected environment, and for the reason of a change.

use leptos::prelude::*;
use pennon_model::environment::Environment;

use super::{escape::escape, title::Title};
use crate::{
    error::UnconfirmedChange,
    form::Form,
    html::{Html, hidden, html},
};

/// The name of the field that confirms a change.
pub const CONFIRMED: &str = "confirmed";

/// The value of the field that confirms a change.
const YES: &str = "yes";

/// The name of the field with the reason.
pub const REASON: &str = "reason";

/// Returns true if the user was asked to confirm the changes of a form.
pub fn is_confirmed(form: &Form) -> bool {
    form.text(CONFIRMED) == YES
}

/// A question about a form that was posted to the current page, in place of the page. The answer posts the form again.
#[component]
pub fn ConfirmChange(
    /// The form.
    form: Form,
    /// Its change.
    change: UnconfirmedChange,
) -> impl IntoView {
    let UnconfirmedChange {
        environments,
        is_protected,
        needs_reason,
    } = change;
    let names = environments.join(", ");
    let (title, text, action) = if is_protected {
        let text = if environments.len() == 1 {
            "This environment is protected. Nothing has been changed yet."
        } else {
            "These environments are protected. Nothing has been changed yet."
        };
        (format!("Change {names}?"), text, "Confirm change")
    } else {
        let text = "A change here requires a reason. Nothing has been changed yet.";
        (format!("Reason for the change in {names}"), text, "Save")
    };
    let kept = form
        .fields_to_keep()
        .filter(|(name, _)| ![CONFIRMED, REASON].contains(name))
        .map(|(name, value)| hidden(name, value))
        .collect_view();
    html! {
        <Title text=title.clone()/>
        <form class="form panel confirm-change" method="post" data-form aria-labelledby="confirm-change">
            <h1 id="confirm-change">{title}</h1>
            <p>{text}</p>
            {kept}
            {hidden(CONFIRMED, YES)}
            <ReasonField id="reason" required=needs_reason value=form.text(REASON) focus=needs_reason/>
            <div class="form-actions">
                <button class="button primary">{action}</button>
                <a class="button" href="" data-cancel autofocus=!needs_reason>
                    "Cancel"
                </a>
            </div>
        </form>
    }
}

/// The fields of a form that itself asks to confirm a change in an environment: they say so, and take the reason.
#[component]
pub fn ConfirmedFields(
    /// The environment.
    environment: Environment,
    /// The id of the field with the reason, unique on the page.
    id: &'static str,
) -> impl IntoView {
    let required = environment.is_reason_required;
    let has_reason = required || environment.is_protected;
    html! {
        {hidden(CONFIRMED, YES)}
        {has_reason.then(|| html! { <ReasonField id required/> })}
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
) -> impl IntoView {
    let hint_id = format!("{id}-hint");
    let optional: Option<Html> =
        (!required).then(|| html! { <span class="optional">" (optional)"</span> });
    html! {
        <div class="field reason-field">
            <label for=id>"Reason" {optional}</label>
            <p class="hint" id=hint_id.clone()>"Shown in the audit log."</p>
            <textarea
                class="input"
                id=id
                name=REASON
                rows="2"
                maxlength="500"
                required=required
                autofocus=focus
                aria-describedby=hint_id
            >
                {escape(&value)}
            </textarea>
        </div>
    }
}
