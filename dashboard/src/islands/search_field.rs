//! A field to search in.

use leptos::{ev, prelude::*};

use crate::components::icon::{Drawing, Icon};

/// A field of a form of filters; `/` brings the focus here from anywhere on the page.
#[island]
pub fn SearchField(
    /// What was searched for.
    value: String,
    /// What is searched.
    label: String,
) -> impl IntoView {
    let input = NodeRef::<leptos::html::Input>::new();
    let ready = RwSignal::new(false);
    Effect::new(move || {
        ready.set(true);
        let focus = window_event_listener(ev::keydown, move |event| {
            let Some(input) = input.get_untracked() else {
                return;
            };
            if event.key() == "/" && !event.ctrl_key() && !event.meta_key() && !typing() {
                event.prevent_default();
                _ = input.focus();
                input.select();
            }
        });
        on_cleanup(move || focus.remove());
    });
    view! {
        <span class="search-box">
            <Drawing icon=Icon::Search/>
            <input
                node_ref=input
                class="input"
                type="search"
                name="q"
                value=value
                placeholder=label.clone()
                aria-label=label
                autocomplete="off"
                spellcheck="false"
            />
            <kbd hidden=move || !ready.get() aria-hidden="true">
                "/"
            </kbd>
        </span>
    }
}

/// Whether the focus is where a key is text.
fn typing() -> bool {
    document().active_element().is_some_and(|element| {
        matches!(element.tag_name().as_str(), "INPUT" | "TEXTAREA" | "SELECT")
    })
}
