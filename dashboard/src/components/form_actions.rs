//! The buttons of a form.

use leptos::prelude::*;

use crate::{html::html, scope::scoped};

/// The button that submits a form, and the link that leads away from it. In a dialog, the link closes it.
#[component]
pub fn FormActions(
    /// The label of the button.
    #[prop(into)]
    action: String,
    /// True if the action is destructive.
    #[prop(optional)]
    danger: bool,
    /// The address of the link.
    #[prop(into)]
    back: String,
    /// The label of the link.
    #[prop(default = "Cancel")]
    keep: &'static str,
    /// True if the link takes the focus.
    #[prop(optional)]
    focus_back: bool,
) -> impl IntoView {
    html! {
        <div class="form-actions">
            <button class=if danger { "button danger primary" } else { "button primary" }>{action}</button>
            <a class="button" href=scoped(back) autofocus=focus_back data-cancel>
                {keep}
            </a>
        </div>
    }
}
