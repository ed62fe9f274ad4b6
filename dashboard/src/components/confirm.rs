//! A step between a dangerous button and what it does.

use leptos::prelude::*;

use crate::html::html;

/// A button that opens a panel; in the panel, what would stop working, and the button that does it. Both work without
/// scripts: the panel is a popover.
#[component]
pub fn Confirm(
    /// An id that nothing else on the page has.
    id: String,
    /// The word on the button that opens the panel.
    word: &'static str,
    /// What would be done, as a question's worth of words: `Revoke deploy`. It stands on the button that does it.
    action: String,
    /// The fields that are posted to the page.
    fields: Vec<(&'static str, String)>,
    /// What it means.
    children: Children,
) -> impl IntoView {
    let title = format!("{id}-title");
    let fields = fields
        .into_iter()
        .map(|(name, value)| view! { <input type="hidden" name=name value=value/> })
        .collect_view();
    html! {
        <button
            class="button danger"
            type="button"
            popovertarget=id.clone()
            aria-label=action.clone()
            aria-haspopup="dialog"
        >
            {word}
        </button>
        <div class="confirm" id=id.clone() popover role="dialog" aria-labelledby=title.clone()>
            <h2 id=title.clone()>{action.clone()}</h2>
            <div class="confirm-text">{children()}</div>
            <form method="post" class="form-actions">
                {fields}
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
