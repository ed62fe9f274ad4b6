//! The order of rules.

use leptos::{
    html,
    prelude::*,
    web_sys::{Element, Event, HtmlElement, PointerEvent},
};
use wasm_bindgen::JsCast;

use super::dom::{all, by_id, first, on, set_flag, set_value, target_in};

/// Lets rules be dragged, or moved by their buttons without a new page each time; one button then saves the order.
///
/// The list, its buttons and the form `rule-order` are the page's: without scripts each button sends that form. The rules
/// are the elements of `#rules` with a `data-rule`.
#[island]
pub fn RuleOrder() -> impl IntoView {
    let bar = NodeRef::<html::Div>::new();
    let changed = RwSignal::new(false);
    let said = RwSignal::new(String::new());
    let original = StoredValue::new(Vec::<String>::new());
    let set_changed = move |is: bool| {
        changed.set(is);
        // What others change meanwhile must not undo it.
        for element in [list(), by_id("rule-order")].into_iter().flatten() {
            set_flag(&element, "data-unsaved", is);
        }
    };
    let moved = move |rule: &Element| {
        let order = order();
        said.set(place(rule, &order));
        set_changed(order != original.get_value());
    };
    let begin = move || {
        if !changed.get_untracked() {
            original.set_value(order());
        }
    };
    Effect::new(move || {
        let Some(list) = list() else {
            return;
        };
        // The page may be changed around this island, and another one be there in its place.
        let is_there = move || bar.get_untracked().is_some_and(|bar| bar.is_connected());
        let heard = move |event: Event| {
            if !is_there() {
                return;
            }
            match event.type_().as_str() {
                "click" => {
                    begin();
                    step(event, &moved);
                }
                "pointerdown" => {
                    begin();
                    grab(event);
                }
                "pointermove" => drag(event, &moved),
                _ => drop_dragged(event),
            }
        };
        for event in [
            "click",
            "pointerdown",
            "pointermove",
            "pointerup",
            "pointercancel",
        ] {
            on(&list, event, heard);
        }
        _ = list.set_attribute("data-ready", "true");
    });
    let save = move |_| {
        let form = by_id("rule-order");
        if let Some(field) = form.and_then(|form| first(&form, "[name=order]")) {
            set_value(&field, &order().join(" "));
        }
    };
    let put_back = move |_| {
        let Some(list) = list() else {
            return;
        };
        let rules = rules();
        for id in original.get_value().iter().rev() {
            let rule = rules
                .iter()
                .find(|rule| rule.get_attribute("data-rule").as_ref() == Some(id));
            if let Some(rule) = rule {
                _ = list.insert_adjacent_element("afterbegin", rule);
            }
        }
        said.set("The order is as it was.".to_owned());
        set_changed(false);
    };
    view! {
        <div class="order-bar" node_ref=bar hidden=move || !changed.get()>
            <p>"The order has changed, here only."</p>
            <button class="button primary" form="rule-order" on:click=save>
                "Save order"
            </button>
            <button class="button" type="button" on:click=put_back>
                "Put back"
            </button>
        </div>
        <span class="visually-hidden" role="status">
            {said}
        </span>
    }
}

fn list() -> Option<Element> {
    by_id("rules")
}

fn rules() -> Vec<Element> {
    list()
        .map(|list| all(&list, "[data-rule]"))
        .unwrap_or_default()
}

/// The ids of the rules, in the order in which they stand.
fn order() -> Vec<String> {
    let ids = rules().into_iter();
    ids.filter_map(|rule| rule.get_attribute("data-rule"))
        .collect()
}

/// Where a rule stands, in words.
fn place(rule: &Element, order: &[String]) -> String {
    let id = rule.get_attribute("data-rule");
    let place = order.iter().position(|each| Some(each) == id.as_ref());
    let place = place.map_or(0, |place| place.saturating_add(1));
    format!("Now rule {place} of {}.", order.len())
}

/// The rule that an element belongs to.
fn rule_of(element: &Element) -> Option<Element> {
    element.closest("[data-rule]").ok().flatten()
}

/// Moves a rule by one place when its button is pressed. The button keeps the focus.
fn step(event: Event, moved: &impl Fn(&Element)) {
    let Some(button) = target_in(&event, "[name=up], [name=down]") else {
        return;
    };
    event.prevent_default();
    let Some(rule) = rule_of(&button) else {
        return;
    };
    let up = button.get_attribute("name").as_deref() == Some("up");
    let neighbour = if up {
        rule.previous_element_sibling()
    } else {
        rule.next_element_sibling()
    };
    let Some(neighbour) = neighbour.filter(|each| each.has_attribute("data-rule")) else {
        return;
    };
    let way = if up { "beforebegin" } else { "afterend" };
    _ = neighbour.insert_adjacent_element(way, &rule);
    if let Ok(button) = button.dyn_into::<HtmlElement>() {
        _ = button.focus();
    }
    moved(&rule);
}

/// Takes hold of a rule by its handle.
fn grab(event: Event) {
    let handle = target_in(&event, ".handle");
    let (Some(handle), Ok(pointer)) = (handle, event.dyn_into::<PointerEvent>()) else {
        return;
    };
    pointer.prevent_default();
    _ = handle.set_pointer_capture(pointer.pointer_id());
    if let Some(rule) = rule_of(&handle) {
        _ = rule.set_attribute("data-dragged", "true");
    }
}

/// Lets a rule that is held change places with its neighbour as soon as the pointer is past the neighbour's middle.
fn drag(event: Event, moved: &impl Fn(&Element)) {
    let Some(rule) = dragged() else {
        return;
    };
    let Ok(pointer) = event.dyn_into::<PointerEvent>() else {
        return;
    };
    let y = f64::from(pointer.client_y());
    let middle = |element: &Element| {
        let place = element.get_bounding_client_rect();
        place.top() + place.height() / 2.0
    };
    let is_rule = |element: &Element| element.has_attribute("data-rule");
    let above = rule.previous_element_sibling().filter(is_rule);
    let below = rule.next_element_sibling().filter(is_rule);
    if let Some(above) = above.filter(|above| y < middle(above)) {
        _ = above.insert_adjacent_element("beforebegin", &rule);
    } else if let Some(below) = below.filter(|below| y > middle(below)) {
        _ = below.insert_adjacent_element("afterend", &rule);
    } else {
        return;
    }
    moved(&rule);
}

fn drop_dragged(_: Event) {
    if let Some(rule) = dragged() {
        _ = rule.remove_attribute("data-dragged");
    }
}

/// The rule that is held.
fn dragged() -> Option<Element> {
    list().and_then(|list| first(&list, "[data-dragged]"))
}
