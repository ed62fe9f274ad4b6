//! The form of a targeting rule.

use leptos::{
    prelude::*,
    web_sys::{Element, Event, HtmlElement},
};
use pennon_core::rule::{MAX_CONDITIONS, Priority, ValueType};
use wasm_bindgen::JsCast;

use super::dom::{
    all, by_id, closest_target, dispatch_input, first, on, set_value, toggle_attribute, value,
    values,
};
use crate::{describe, rule_form::RuleForm};

/// Makes the form `rule-form` interactive: conditions are added and removed without a request, each value has a field
/// of its type, and a sentence describes the rule while the user types.
///
/// The server renders all of it (`components/rule_fields.rs`). Every change of the fields dispatches an `input` event
/// to the form.
#[island]
pub fn RuleEditor() -> impl IntoView {
    Effect::new(|| {
        let Some(form) = by_id("rule-form") else {
            return;
        };
        let of_form = form.clone();
        on(&form, "input", move |_| update_description(&of_form));
        on(&form, "change", |event| {
            if let Some(kind) = closest_target(&event, "[name=valueType]") {
                row_of(&kind).iter().for_each(fit_to_type);
                dispatch_input(&kind);
            }
        });
        let of_form = form.clone();
        on(&form, "click", move |event| add_or_remove(&event, &of_form));
        // The user may have typed before this ran, and the browser may have restored earlier values.
        for row in rows(&form) {
            fit_to_type(&row);
        }
        dispatch_change(&form);
        toggle_attribute(&form, "data-ready", true);
    });
}

fn rows(form: &Element) -> Vec<Element> {
    all(form, ".condition")
}

fn row_of(field: &Element) -> Option<Element> {
    field.closest(".condition").ok().flatten()
}

fn update_description(form: &Element) {
    let rule = RuleForm::read(values(form)).rule(Priority::FIRST).ok();
    if let Some(element) = by_id("rule-aloud") {
        element.set_text_content(Some(&describe::rule_or_hint(rule.as_ref())));
    }
}

/// Enables the field for values of the selected type. Keeps the input where it fits.
fn fit_to_type(row: &Element) {
    let Some(kind) = first(row, "[name=valueType]").map(|kind| value(&kind)) else {
        return;
    };
    let operands = all(row, "[name=operand]");
    let input = operands
        .iter()
        .find(|field| !field.has_attribute("disabled"));
    let input = input.map(value).unwrap_or_default();
    for operand in &operands {
        let fits = operand.get_attribute("data-type").as_deref() == Some(&kind);
        let was_enabled = !operand.has_attribute("disabled");
        toggle_attribute(operand, "hidden", !fits);
        toggle_attribute(operand, "disabled", !fits);
        if fits && !was_enabled {
            let is_boolean = kind == ValueType::Boolean.as_str();
            let input = if is_boolean && input != "false" {
                "true"
            } else {
                &input
            };
            set_value(operand, input);
        }
    }
    let label_attribute = if kind == ValueType::Number.as_str() {
        "data-number"
    } else {
        "data-other"
    };
    for operator in all(row, "[name=operator] option") {
        operator.set_text_content(operator.get_attribute(label_attribute).as_deref());
    }
}

fn add_or_remove(event: &Event, form: &Element) {
    let rows = rows(form);
    let focus = if let Some(row) =
        closest_target(event, "[name=remove]").and_then(|button| row_of(&button))
    {
        let neighbor = row
            .next_element_sibling()
            .or(row.previous_element_sibling());
        row.remove();
        neighbor
    } else if closest_target(event, "[name=add]").is_some() {
        rows.last().and_then(add_after)
    } else {
        return;
    };
    event.prevent_default();
    number_conditions(form);
    let field = focus.and_then(|row| first(&row, "[name=attribute]")?.dyn_into().ok());
    if let Some(field) = field {
        let field: HtmlElement = field;
        _ = field.focus();
    }
    dispatch_change(form);
}

/// Dispatches an `input` event after the fields have changed.
fn dispatch_change(form: &Element) {
    if let Some(field) = first(form, "[name=logic]") {
        dispatch_input(&field);
    }
}

/// Adds an empty condition: a copy of the previous one without its values.
fn add_after(row: &Element) -> Option<Element> {
    let new: Element = row.clone_node_with_deep(true).ok()?.dyn_into().ok()?;
    for error in all(&new, ".field-error") {
        error.remove();
    }
    for (selector, value) in [
        ("[name=attribute]", ""),
        ("[name=operator]", "=="),
        ("[name=valueType]", "string"),
        ("[name=operand]", ""),
    ] {
        for field in all(&new, selector) {
            set_value(&field, value);
            toggle_attribute(&field, "aria-invalid", false);
        }
    }
    fit_to_type(&new);
    row.insert_adjacent_element("afterend", &new).ok().flatten()
}

/// Numbers the conditions, and shows the buttons that add and remove them within the limits.
fn number_conditions(form: &Element) {
    let rows = rows(form);
    for (index, row) in rows.iter().enumerate() {
        let number = index.saturating_add(1);
        _ = row.set_attribute("aria-label", &format!("Condition {number}"));
        if let Some(remove) = first(row, "[name=remove]") {
            _ = remove.set_attribute("aria-label", &format!("Remove condition {number}"));
            toggle_attribute(&remove, "hidden", rows.len() == 1);
        }
    }
    if let Some(add) = first(form, "[name=add]") {
        toggle_attribute(&add, "hidden", rows.len() >= MAX_CONDITIONS);
    }
}
