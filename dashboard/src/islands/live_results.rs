//! A list that follows its filters.

use std::time::Duration;

use leptos::{ev, prelude::*, task::spawn_local, web_sys};
use wasm_bindgen::{JsCast as _, JsValue};

use super::{
    dom::{self, form_around, target},
    fetch::{self, Fetched},
};

/// How long to wait for the next letter before the service is asked.
const PATIENCE: Duration = Duration::from_millis(180);

/// Shows what a form of filters asks for while one types and chooses, and keeps the address to share.
///
/// It takes over the elements with an id and `data-live` from the page that the form leads to, and tells the `data-note` of
/// the one called `results`. Without scripts the form is sent by its button.
#[island]
pub fn LiveResults(
    /// The id of the form.
    form: String,
) -> impl IntoView {
    let note = RwSignal::new(String::new());
    let latest = StoredValue::new(0_u32);
    let waiting = StoredValue::new(None::<TimeoutHandle>);
    let show = move |form: web_sys::HtmlFormElement| {
        latest.update_value(|latest| *latest = latest.wrapping_add(1));
        let asked = latest.get_value();
        let url = address(&form);
        spawn_local(async move {
            let fetched = fetch::get(&url).await;
            if latest.get_value() == asked {
                note.set(take_over(fetched, &url));
            }
        });
    };
    let show_soon = move |form: web_sys::HtmlFormElement| {
        if let Some(waiting) = waiting.get_value() {
            waiting.clear();
        }
        let soon = set_timeout_with_handle(move || show(form.clone()), PATIENCE);
        waiting.set_value(soon.ok());
    };
    Effect::new(move || {
        let ours = {
            let id = form.clone();
            move |event: &ev::Event| form_around(&target(event)?).filter(|form| form.id() == id)
        };
        let typed = window_event_listener(ev::input, {
            let ours = ours.clone();
            move |event| _ = ours(&event).map(show_soon)
        });
        let sent = window_event_listener(ev::submit, move |event| {
            if let Some(form) = ours(&event) {
                event.prevent_default();
                show(form);
            }
        });
        // Input before hydration reached no listener.
        let early = dom::by_id(&form).filter(dom::is_typed_into);
        if let Some(form) = early.and_then(|form| form.dyn_into().ok()) {
            show(form);
        }
        on_cleanup(move || {
            typed.remove();
            sent.remove();
        });
    });
    view! {
        <p class="visually-hidden" role="status">
            {note}
        </p>
    }
}

/// The address that a form leads to, without the fields that are empty.
fn address(form: &web_sys::HtmlFormElement) -> String {
    let path = form.get_attribute("action").unwrap_or_default();
    let fields = dom::fields(form).unwrap_or_default();
    let filled: Vec<_> = fields
        .split('&')
        .filter(|pair| !pair.is_empty() && !pair.ends_with('='))
        .collect();
    if filled.is_empty() {
        path
    } else {
        format!("{path}?{}", filled.join("&"))
    }
}

/// Shows what a page has found, and answers what is to be read aloud.
///
/// A page without results is another page, such as the sign-in: that is where the browser is taken.
fn take_over(fetched: Option<Fetched>, url: &str) -> String {
    let Some(Fetched { document: new, .. }) = fetched else {
        return "The service cannot be reached. The list may be out of date.".to_owned();
    };
    let Some(results) = new.get_element_by_id("results") else {
        _ = window().location().set_href(url);
        return String::new();
    };
    if let Ok(live) = document().query_selector_all("[data-live]") {
        for old in fetch::elements(&live) {
            if let Some(new) = new.get_element_by_id(&old.id()) {
                _ = old.replace_with_with_node_1(&new);
            }
        }
    }
    if let Ok(history) = window().history() {
        _ = history.replace_state_with_url(&JsValue::NULL, "", Some(url));
    }
    results.get_attribute("data-note").unwrap_or_default()
}
