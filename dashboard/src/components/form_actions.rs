//! The buttons of a form.

use leptos::prelude::*;

use crate::html::html;

/// The button that sends a form, and the link that leads away from it.
#[component]
pub fn FormActions(
    /// What the button does.
    #[prop(into)]
    action: String,
    /// Whether that is dangerous.
    #[prop(optional)]
    danger: bool,
    /// Where the link leads.
    #[prop(into)]
    back: String,
    /// What the link says.
    #[prop(default = "Cancel")]
    keep: &'static str,
    /// Whether the link takes the focus.
    #[prop(optional)]
    focus_back: bool,
) -> impl IntoView {
    html! {
        <div class="form-actions">
            <button class=if danger { "button danger primary" } else { "button primary" }>{action}</button>
            <a class="button" href=back autofocus=focus_back>
                {keep}
            </a>
        </div>
    }
}
