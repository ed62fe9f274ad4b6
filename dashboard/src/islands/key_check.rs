//! The key of a new flag, while one types.

use std::time::Duration;

use leptos::{ev, html, prelude::*, task::spawn_local, web_sys};
use pennon_model::flag::FlagKey;
use wasm_bindgen::JsCast;

use super::dom::{form_around, target};
use crate::api::flags::is_key_free;

/// How long to wait for the next letter before the service is asked.
const PATIENCE: Duration = Duration::from_millis(250);

/// The longest key.
const LONGEST: usize = 128;

/// What is known of a key.
#[derive(Clone, PartialEq, Eq)]
enum Known {
    Nothing,
    /// No flag can have it.
    Wrong(&'static str),
    Free,
    Taken,
}

/// Makes the key from the name until somebody edits the key, and says whether a new flag can have it.
///
/// It belongs into the form whose fields are called `name` and `key`. Without scripts the form says it once it is sent.
#[island]
pub fn KeyCheck() -> impl IntoView {
    let known = RwSignal::new(Known::Nothing);
    let waiting = StoredValue::new(None::<TimeoutHandle>);
    let made = StoredValue::new(String::new());
    let place = NodeRef::<html::P>::new();
    let check = move |key: String| {
        if let Some(waiting) = waiting.get_value() {
            waiting.clear();
        }
        if key.is_empty() {
            known.set(Known::Nothing);
        } else if let Err(invalid) = FlagKey::try_from(key.clone()) {
            known.set(Known::Wrong(invalid.detail()));
        } else {
            known.set(Known::Nothing);
            let ask = move || {
                spawn_local(async move {
                    let free = is_key_free(key.clone()).await;
                    if value(place, "key") == key {
                        known.set(free.map_or(Known::Nothing, |free| {
                            if free { Known::Free } else { Known::Taken }
                        }));
                    }
                });
            };
            waiting.set_value(set_timeout_with_handle(ask, PATIENCE).ok());
        }
    };
    Effect::new(move || {
        let typed = window_event_listener(ev::input, move |event| {
            let input = target(&event).filter(|input| form_around(input) == form(place));
            let input = input.and_then(|input| input.dyn_into::<web_sys::HtmlInputElement>().ok());
            let Some(input) = input else {
                return;
            };
            match input.name().as_str() {
                "key" => check(input.value()),
                "name" if value(place, "key") == made.get_value() => {
                    let key = key_of(&input.value());
                    made.set_value(key.clone());
                    if let Some(input) = field(place, "key") {
                        input.set_value(&key);
                    }
                    check(key);
                }
                _ => {}
            }
        });
        on_cleanup(move || typed.remove());
    });
    let class = move || match known.get() {
        Known::Nothing => "key-check",
        Known::Free => "key-check free",
        Known::Wrong(_) | Known::Taken => "key-check wrong",
    };
    let words = move || match known.get() {
        Known::Nothing => String::new(),
        Known::Wrong(detail) => format!("A key {detail}."),
        Known::Free => "This key is free.".to_owned(),
        Known::Taken => "A flag has this key already, or had it before it was archived.".to_owned(),
    };
    view! {
        <p class=class role="status" node_ref=place>
            {words}
        </p>
    }
}

fn form(place: NodeRef<html::P>) -> Option<web_sys::HtmlFormElement> {
    form_around(place.get_untracked()?.as_ref())
}

fn field(place: NodeRef<html::P>, name: &str) -> Option<web_sys::HtmlInputElement> {
    let field = form(place)?
        .query_selector(&format!("[name={name}]"))
        .ok()??;
    field.dyn_into().ok()
}

fn value(place: NodeRef<html::P>, name: &str) -> String {
    field(place, name)
        .map(|field| field.value())
        .unwrap_or_default()
}

/// A key that reads like the name: `New checkout (fast!)` is `new_checkout_fast`.
fn key_of(name: &str) -> String {
    // Taken apart, letters stand without their accents, which are then left out.
    let apart = js_sys::JsString::from(name).normalize("NFKD");
    let mut key = String::new();
    for character in String::from(apart).chars().flat_map(char::to_lowercase) {
        if character.is_ascii_alphanumeric() {
            key.push(character);
        } else if !matches!(character, '\u{300}'..='\u{36f}' | '\'' | '’')
            && !key.ends_with('_')
            && !key.is_empty()
        {
            key.push('_');
        }
    }
    key.truncate(LONGEST);
    key.trim_end_matches('_').to_owned()
}
