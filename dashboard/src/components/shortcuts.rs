//! Keyboard shortcuts.

use leptos::prelude::*;

use crate::html::html;

/// The keys and the effect of each.
const SHORTCUTS: [(&[&str], &str); 10] = [
    (
        &["Ctrl", "K"],
        "Jump to any flag, environment or page, or type an action",
    ),
    (&["/"], "Search the flag list"),
    (&["G", "F"], "Go to the flags"),
    (&["G", "E"], "Go to the environments"),
    (&["J", "K"], "Go to the next or the previous row"),
    (&["O"], "Open the row"),
    (
        &["Ctrl", "Z"],
        "Undo your last change, unless it was changed again",
    ),
    (&["?"], "Show all shortcuts"),
    (&["Tab"], "Go to the next control"),
    (&["Esc"], "Close the open dialog or menu"),
];

/// The list of keys that work everywhere, and a checkbox that turns off those without Ctrl. On a Mac, Cmd replaces
/// Ctrl.
#[component]
pub fn Shortcuts() -> impl IntoView {
    let rows = SHORTCUTS.map(|(keys, does)| {
        let keys = keys
            .iter()
            .map(|key| view! { <kbd>{*key}</kbd> })
            .collect_view();
        view! {
            <div>
                <dt>{keys}</dt>
                <dd>{does}</dd>
            </div>
        }
    });
    html! {
        <dl class="shortcuts">{rows.collect_view()}</dl>
        <label class="check single-keys">
            <input type="checkbox" data-single-keys="" checked/>
            "Use shortcuts without Ctrl"
        </label>
    }
}
