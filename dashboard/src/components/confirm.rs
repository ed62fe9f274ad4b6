//! A confirmation between a destructive button and its action.

use leptos::prelude::*;
use pennon_model::environment::Environment;

use super::confirm_change::ConfirmedFields;
use crate::form::Form;
use crate::html::{hidden, html};

/// A button that opens a panel with the consequences and the button that confirms. Both work without scripts: the panel
/// is a popover.
#[component]
pub fn Confirm(
    /// An id that is unique on the page.
    id: String,
    /// The label of the button that opens the panel.
    label: &'static str,
    /// The label of the button that confirms: `Revoke deploy`.
    action: String,
    /// The fields to post to the page.
    fields: Vec<(&'static str, String)>,
    /// The environment that changes, if it may require a reason.
    #[prop(optional)]
    environment: Option<Environment>,
    /// The form that was posted before, if it is this one.
    #[prop(optional_no_strip)]
    posted: Option<Form>,
    /// The consequences.
    children: Children,
) -> impl IntoView {
    let title = format!("{id}-title");
    let fields = fields
        .into_iter()
        .map(|(name, value)| hidden(name, value))
        .collect_view();
    let confirmed = environment.map(|environment| {
        view! { <ConfirmedFields environment posted id="confirm-reason"/> }
    });
    html! {
        <button
            class="button danger"
            type="button"
            popovertarget=id.clone()
            aria-label=action.clone()
            aria-haspopup="dialog"
        >
            {label}
        </button>
        <div class="confirm" id=id.clone() popover role="dialog" aria-labelledby=title.clone()>
            <h2 id=title.clone()>{action.clone()}</h2>
            <div class="confirm-text">{children()}</div>
            <form method="post" class="form-actions">
                {fields}
                {confirmed}
                <button class="button danger primary">{action.clone()}</button>
                <button
                    class="button"
                    type="button"
                    popovertarget=id.clone()
                    popovertargetaction="hide"
                    autofocus
                >
                    "Cancel"
                </button>
            </form>
        </div>
    }
}
