//! Search among the flags.

use leptos::{ev, prelude::*, web_sys};
use wasm_bindgen::JsCast;

use crate::components::icon::{Drawing, Icon};

/// Narrows the rows on the page while one types; with Enter, or without scripts, the form asks the server.
///
/// `/` brings the focus here from anywhere on the page.
#[island]
pub fn SearchField(
    /// What was searched for.
    value: String,
    /// Whether the list has more flags than are on the page.
    more: bool,
) -> impl IntoView {
    let input = NodeRef::<leptos::html::Input>::new();
    let note = RwSignal::new(String::new());
    let ready = RwSignal::new(false);
    let filter = move |event: ev::Event| note.set(narrow(&event_target_value(&event), more));
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
                placeholder="Search name or key"
                aria-label="Search name or key"
                autocomplete="off"
                spellcheck="false"
                on:input=filter
            />
            <kbd hidden=move || !ready.get() aria-hidden="true">
                "/"
            </kbd>
        </span>
        <span class="search-note" role="status">
            {note}
        </span>
    }
}

/// Hides the rows that do not contain the text and says what came of it.
fn narrow(text: &str, more: bool) -> String {
    let text = text.to_lowercase();
    let Ok(rows) = document().query_selector_all("#flags tbody tr") else {
        return String::new();
    };
    let mut shown = 0_u32;
    for index in 0..rows.length() {
        let Some(row) = rows
            .item(index)
            .and_then(|row| row.dyn_into::<web_sys::HtmlElement>().ok())
        else {
            continue;
        };
        let named = row.query_selector(".flag-name").ok().flatten();
        let found = named
            .and_then(|named| named.text_content())
            .is_some_and(|named| named.to_lowercase().contains(&text));
        row.set_hidden(!found);
        shown = shown.saturating_add(u32::from(found));
    }
    match (text.is_empty(), more) {
        (true, _) => String::new(),
        (false, true) => format!("{shown} on this page. Press Enter to search all."),
        (false, false) => format!("{shown} of {}", rows.length()),
    }
}

/// Whether the focus is where a key is text.
fn typing() -> bool {
    document().active_element().is_some_and(|element| {
        matches!(element.tag_name().as_str(), "INPUT" | "TEXTAREA" | "SELECT")
    })
}
