//! Leaving the only page that ever shows a key.

use leptos::prelude::*;

/// The link that leaves the page. By any other way the browser asks first.
#[island]
pub fn StoredKeyLink(
    /// Where it leads.
    href: String,
) -> impl IntoView {
    let stored = RwSignal::new(false);
    Effect::new(move || {
        let ask = window_event_listener(leptos::ev::beforeunload, move |event| {
            if !stored.get_untracked() {
                event.prevent_default();
            }
        });
        on_cleanup(move || ask.remove());
    });
    view! {
        <a class="button" href=href on:click=move |_| stored.set(true)>
            "I have stored the key"
        </a>
    }
}
