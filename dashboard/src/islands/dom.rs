//! What islands do with the page around them.

use leptos::{ev, prelude::*, web_sys};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Element, HtmlFormElement};

/// The form in which an element stands.
pub(super) fn form_around(element: &Element) -> Option<HtmlFormElement> {
    element.closest("form").ok()??.dyn_into().ok()
}

/// The element on which something happened.
pub(super) fn target(event: &ev::Event) -> Option<Element> {
    event.target()?.dyn_into().ok()
}

/// Whether something happened on a field that a form sends.
pub(super) fn is_within(event: &ev::Event, form: &HtmlFormElement) -> bool {
    target(event).is_some_and(|element| {
        element.has_attribute("name") && form_around(&element).as_ref() == Some(form)
    })
}

/// The fields of a form, as it sends them.
pub(super) fn fields(form: &HtmlFormElement) -> Option<String> {
    let data = web_sys::FormData::new_with_form(form).ok()?;
    let pairs = web_sys::UrlSearchParams::new_with_record_from_str_to_str(&data).ok()?;
    Some(pairs.to_string().into())
}

/// Puts what the server drew in the place of what an element contains.
pub(super) fn set_html(id: &str, html: &str) {
    if let Some(element) = document().get_element_by_id(id) {
        element.set_inner_html(html);
    }
}

/// Shows another address, without a new entry in the history: `address` with one more parameter.
pub(super) fn show_address(address: &str, parameter: &str, value: &str) {
    let value = js_sys::encode_uri_component(value);
    let address = format!("{address}&{parameter}={value}");
    if let Ok(history) = window().history() {
        // An address that cannot be shown is no reason to stop.
        _ = history.replace_state_with_url(&JsValue::NULL, "", Some(&address));
    }
}

/// What this browser was asked to remember, if it remembers anything.
pub(super) fn remembered(name: &str) -> Option<String> {
    window().local_storage().ok()??.get_item(name).ok()?
}

/// Has this browser remember a text; where it cannot, it is forgotten with the page.
pub(super) fn remember(name: &str, text: &str) {
    if let Ok(Some(storage)) = window().local_storage() {
        _ = storage.set_item(name, text);
    }
}
