//! Functions that access the page around an island.

use js_sys::Reflect;
use leptos::{prelude::*, web_sys};
use wasm_bindgen::{JsCast, JsValue, closure::Closure};
use web_sys::{Element, Event, EventInit, FormData, HtmlFormElement};

/// Returns the form that contains an element.
pub(super) fn closest_form(element: &Element) -> Option<HtmlFormElement> {
    element.closest("form").ok()??.dyn_into().ok()
}

/// Returns the target of an event.
pub(super) fn target(event: &Event) -> Option<Element> {
    event.target()?.dyn_into().ok()
}

/// Returns true if the target of an event is a field that the form submits.
pub(super) fn is_within(event: &Event, form: &HtmlFormElement) -> bool {
    target(event).is_some_and(|element| {
        element.has_attribute("name") && closest_form(&element).as_ref() == Some(form)
    })
}

/// Returns the fields of a form as the browser sends them.
pub(super) fn fields(form: &HtmlFormElement) -> Option<String> {
    let data = FormData::new_with_form(form).ok()?;
    let pairs = web_sys::UrlSearchParams::new_with_record_from_str_to_str(&data).ok()?;
    Some(pairs.to_string().into())
}

/// Replaces the content of an element with HTML from the server.
pub(super) fn set_html(id: &str, html: &str) {
    if let Some(element) = document().get_element_by_id(id) {
        element.set_inner_html(html);
    }
}

/// Shows `address` with one more parameter, without a new entry in the history.
pub(super) fn show_address(address: &str, parameter: &str, value: &str) {
    let value = js_sys::encode_uri_component(value);
    let address = format!("{address}&{parameter}={value}");
    if let Ok(history) = window().history() {
        // If the browser refuses, the page works all the same.
        _ = history.replace_state_with_url(&JsValue::NULL, "", Some(&address));
    }
}

/// Returns a text from the session storage of this tab.
pub(super) fn session_text(name: &str) -> Option<String> {
    window().session_storage().ok()??.get_item(name).ok()?
}

/// Stores a text in this tab until it is closed; without session storage, it is lost with the page.
pub(super) fn set_session_text(name: &str, text: &str) {
    if let Ok(Some(storage)) = window().session_storage() {
        _ = storage.set_item(name, text);
    }
}

/// Returns the descendants of an element that match a selector, in document order.
pub(super) fn all(within: &Element, selector: &str) -> Vec<Element> {
    let Ok(found) = within.query_selector_all(selector) else {
        return Vec::new();
    };
    let found = (0..found.length()).filter_map(|index| found.item(index));
    found.filter_map(|node| node.dyn_into().ok()).collect()
}

/// Returns the first descendant of an element that matches a selector.
pub(super) fn first(within: &Element, selector: &str) -> Option<Element> {
    within.query_selector(selector).ok().flatten()
}

/// Returns the element with an id.
pub(super) fn by_id(id: &str) -> Option<Element> {
    document().get_element_by_id(id)
}

/// Returns the target of an event, or its closest ancestor, that matches a selector.
pub(super) fn closest_target(event: &Event, selector: &str) -> Option<Element> {
    target(event)?.closest(selector).ok().flatten()
}

/// Adds a listener for the lifetime of the page. The listener may dispatch the same event again.
pub(super) fn on(element: &Element, event: &str, listener: impl Fn(Event) + 'static) {
    let listener: Box<dyn Fn(Event)> = Box::new(listener);
    let listener = Closure::wrap(listener).into_js_value();
    _ = element.add_event_listener_with_callback(event, listener.unchecked_ref());
}

/// Dispatches an `input` event for a change of this field by code.
pub(super) fn dispatch_input(field: &Element) {
    let bubbling = EventInit::new();
    bubbling.set_bubbles(true);
    if let Ok(event) = Event::new_with_event_init_dict("input", &bubbling) {
        _ = field.dispatch_event(&event);
    }
}

/// Returns the value of a field of any kind.
pub(super) fn value(field: &Element) -> String {
    property(field, "value")
}

/// Matches a choice that differs from the one that the server rendered: a radio button, or an option, of which the first
/// is selected if none is marked.
const CHANGED_CHOICE: &str = "input:checked:not([checked]), \
    select:has([selected]) option:checked:not([selected]), \
    select:not(:has([selected])) option:checked:not(:first-child)";

/// Returns true if a field that the form submits differs from the one that the server rendered.
pub(super) fn is_modified(form: &Element) -> bool {
    let texts = all(form, "input[name], textarea[name]");
    let mut texts = texts.iter();
    first(form, CHANGED_CHOICE).is_some()
        || texts.any(|text| value(text) != property(text, "defaultValue"))
}

fn property(element: &Element, name: &str) -> String {
    let value = Reflect::get(element, &JsValue::from_str(name)).ok();
    value
        .and_then(|value| value.as_string())
        .unwrap_or_default()
}

/// Sets the value of a field of any kind.
pub(super) fn set_value(field: &Element, value: &str) {
    let (name, value) = (JsValue::from_str("value"), JsValue::from_str(value));
    _ = Reflect::set(field, &name, &value);
}

/// Adds or removes a boolean attribute.
pub(super) fn toggle_attribute(element: &Element, attribute: &str, is_present: bool) {
    _ = element.toggle_attribute_with_force(attribute, is_present);
}

/// Returns a function that returns the values which a form submits for a name.
pub(super) fn values(form: &Element) -> impl Fn(&str) -> Vec<String> + use<> {
    let form = form.dyn_ref::<HtmlFormElement>();
    let data = form.and_then(|form| FormData::new_with_form(form).ok());
    move |name| {
        let values = data.as_ref().map(|data| data.get_all(name));
        let values = values.into_iter().flat_map(|values| values.to_vec());
        values.filter_map(|value| value.as_string()).collect()
    }
}
