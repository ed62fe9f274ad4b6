//! Something to copy.

use std::time::Duration;

use leptos::{prelude::*, task::spawn_local, web_sys};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;

use crate::components::icon::{Drawing, Icon};

/// Copies a text. Without scripts there is nothing that it could do, and it stays out of sight.
#[island]
pub fn CopyButton(
    /// What is copied.
    text: String,
    /// What the button does, in words.
    label: String,
    /// Whether the words are shown, or only read aloud.
    worded: bool,
) -> impl IntoView {
    let ready = RwSignal::new(false);
    let copied = RwSignal::new(false);
    Effect::new(move || ready.set(true));
    let on_click = move |_| {
        let text = text.clone();
        spawn_local(async move {
            copied.set(copy(&text).await);
            set_timeout(move || copied.set(false), Duration::from_secs(2));
        });
    };
    let class = if worded {
        "button primary copy"
    } else {
        "icon-button copy"
    };
    let words = worded.then(|| label.clone());
    let words = move || {
        words.clone().map(|words| {
            if copied.get() {
                "Copied".to_owned()
            } else {
                words
            }
        })
    };
    view! {
        <button
            class=class
            type="button"
            title=label.clone()
            aria-label=label.clone()
            data-ready=move || ready.get().to_string()
            on:click=on_click
        >
            {move || view! { <Drawing icon=if copied.get() { Icon::Check } else { Icon::Copy }/> }}
            {words}
            <span class="visually-hidden" role="status">
                {move || copied.get().then_some("Copied")}
            </span>
        </button>
    }
}

/// Puts a text on the clipboard and says whether that was possible.
///
/// The clipboard's own interface exists on secure origins only; a dashboard at `http://flags.internal` has to select
/// the text and have the browser copy what is selected.
pub(super) async fn copy(text: &str) -> bool {
    let navigator = window().navigator();
    let clipboard = js_sys::Reflect::get(&navigator, &JsValue::from_str("clipboard"));
    if clipboard.is_ok_and(|clipboard| !clipboard.is_undefined()) {
        let written = JsFuture::from(navigator.clipboard().write_text(text));
        return written.await.is_ok();
    }
    copy_selected(text).unwrap_or(false)
}

fn copy_selected(text: &str) -> Option<bool> {
    let document = document().dyn_into::<web_sys::HtmlDocument>().ok()?;
    let area = document
        .create_element("textarea")
        .ok()?
        .dyn_into::<web_sys::HtmlTextAreaElement>()
        .ok()?;
    area.set_value(text);
    area.set_class_name("visually-hidden");
    document.body()?.append_child(&area).ok()?;
    area.select();
    let copied = document.exec_command("copy").ok();
    area.remove();
    copied
}
