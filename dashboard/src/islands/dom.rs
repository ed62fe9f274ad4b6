//! What islands do with the page around them.

use js_sys::Reflect;
use leptos::{prelude::*, web_sys};
use wasm_bindgen::{JsCast, JsValue, closure::Closure};
use web_sys::{Element, Event, EventInit, FormData, HtmlFormElement};

/// The form in which an element stands.
pub(super) fn form_around(element: &Element) -> Option<HtmlFormElement> {
    element.closest("form").ok()??.dyn_into().ok()
}

/// The element on which something happened.
pub(super) fn target(event: &Event) -> Option<Element> {
    event.target()?.dyn_into().ok()
}

/// Whether something happened on a field that a form sends.
pub(super) fn is_within(event: &Event, form: &HtmlFormElement) -> bool {
    target(event).is_some_and(|element| {
        element.has_attribute("name") && form_around(&element).as_ref() == Some(form)
    })
}

/// The fields of a form, as it sends them.
pub(super) fn fields(form: &HtmlFormElement) -> Option<String> {
    let data = FormData::new_with_form(form).ok()?;
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

/// What this tab was asked to remember, if it remembers anything.
pub(super) fn remembered(name: &str) -> Option<String> {
    window().session_storage().ok()??.get_item(name).ok()?
}

/// Has this tab remember a text until it is closed; where it cannot, it is forgotten with the page.
pub(super) fn remember(name: &str, text: &str) {
    if let Ok(Some(storage)) = window().session_storage() {
        _ = storage.set_item(name, text);
    }
}

/// The elements beneath one that a selector names, in the order of the document.
pub(super) fn all(within: &Element, selector: &str) -> Vec<Element> {
    let Ok(found) = within.query_selector_all(selector) else {
        return Vec::new();
    };
    let found = (0..found.length()).filter_map(|index| found.item(index));
    found.filter_map(|node| node.dyn_into().ok()).collect()
}

/// The first of the elements beneath one that a selector names.
pub(super) fn first(within: &Element, selector: &str) -> Option<Element> {
    within.query_selector(selector).ok().flatten()
}

/// The element with an id.
pub(super) fn by_id(id: &str) -> Option<Element> {
    document().get_element_by_id(id)
}

/// The element on which something happened, or the one around it that a selector names.
pub(super) fn target_in(event: &Event, selector: &str) -> Option<Element> {
    target(event)?.closest(selector).ok().flatten()
}

/// Listens for as long as the page is there. What is heard may lead to the same event once more.
pub(super) fn on(element: &Element, event: &str, heard: impl Fn(Event) + 'static) {
    let heard: Box<dyn Fn(Event)> = Box::new(heard);
    let heard = Closure::wrap(heard).into_js_value();
    _ = element.add_event_listener_with_callback(event, heard.unchecked_ref());
}

/// Has everything that follows a form hear of a change that no key or pointer has made in this field.
pub(super) fn tell_of_input(field: &Element) {
    let bubbling = EventInit::new();
    bubbling.set_bubbles(true);
    if let Ok(event) = Event::new_with_event_init_dict("input", &bubbling) {
        _ = field.dispatch_event(&event);
    }
}

/// What a field of any kind holds.
pub(super) fn value(field: &Element) -> String {
    property(field, "value")
}

/// Returns true if the text of a field differs from the one that the server rendered.
pub(super) fn is_typed_into(form: &Element) -> bool {
    let fields = all(form, "input, textarea");
    let mut fields = fields.iter();
    fields.any(|field| value(field) != property(field, "defaultValue"))
}

fn property(element: &Element, name: &str) -> String {
    let value = Reflect::get(element, &JsValue::from_str(name)).ok();
    value
        .and_then(|value| value.as_string())
        .unwrap_or_default()
}

/// Fills in a field of any kind.
pub(super) fn set_value(field: &Element, value: &str) {
    let (name, value) = (JsValue::from_str("value"), JsValue::from_str(value));
    _ = Reflect::set(field, &name, &value);
}

/// Sets or removes an attribute that says something by being there.
pub(super) fn set_flag(element: &Element, attribute: &str, there: bool) {
    _ = element.toggle_attribute_with_force(attribute, there);
}

/// The values that a form sends for the fields with a name.
pub(super) fn values(form: &Element) -> impl Fn(&str) -> Vec<String> + use<> {
    let form = form.dyn_ref::<HtmlFormElement>();
    let data = form.and_then(|form| FormData::new_with_form(form).ok());
    move |name| {
        let values = data.as_ref().map(|data| data.get_all(name));
        let values = values.into_iter().flat_map(|values| values.to_vec());
        values.filter_map(|value| value.as_string()).collect()
    }
}
