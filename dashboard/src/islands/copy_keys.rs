//! Keys to copy, many on a page.

use std::time::Duration;

use leptos::{ev, prelude::*, task::spawn_local};

use super::{copy_button::copy, dom::target};

/// Copies what the buttons with `data-copy` hold, also those that come later. Without scripts they stay out of sight.
#[island]
pub fn CopyKeys() -> impl IntoView {
    let told = RwSignal::new(String::new());
    Effect::new(move || {
        if let Some(root) = document().document_element() {
            // Nothing can be done about an attribute that cannot be set; the buttons then stay out of sight.
            _ = root.set_attribute("data-copies", "");
        }
        let pressed = window_event_listener(ev::click, move |event| {
            let button = target(&event).and_then(|target| target.closest("[data-copy]").ok()?);
            let Some(button) = button else {
                return;
            };
            let text = button.get_attribute("data-copy").unwrap_or_default();
            spawn_local(async move {
                if copy(&text).await {
                    _ = button.set_attribute("data-copied", "");
                    told.set(format!("Copied {text}"));
                    set_timeout(
                        move || {
                            _ = button.remove_attribute("data-copied");
                            told.set(String::new());
                        },
                        Duration::from_secs(2),
                    );
                }
            });
        });
        on_cleanup(move || pressed.remove());
    });
    view! {
        <span class="visually-hidden" role="status">
            {told}
        </span>
    }
}
