//! The conditions in a form of a rule.

use leptos::web_sys::{Element, Event, HtmlElement};
use pennon_core::rule::{MAX_CONDITIONS, ValueType};
use wasm_bindgen::JsCast;

use super::dom::{
    all, closest_target, dispatch_input, first, is_modified, on, set_value, toggle_attribute, value,
};

/// Makes the conditions in a form interactive: they are added and removed without a request, and each value has a field
/// of its type. Every change of the fields dispatches an `input` event to the form.
pub(super) fn listen(form: &Element) {
    on(form, "change", |event| {
        if let Some(kind) = closest_target(&event, "[name=valueType]") {
            row_of(&kind).iter().for_each(fit_to_type);
            dispatch_input(&kind);
        }
    });
    let of_form = form.clone();
    on(form, "click", move |event| add_or_remove(&event, &of_form));
    // The user may have typed before this ran, and the browser may have restored earlier values.
    for row in rows(form) {
        fit_to_type(&row);
    }
    if is_modified(form) {
        dispatch_change(form);
    }
}

fn rows(form: &Element) -> Vec<Element> {
    all(form, ".condition")
}

fn row_of(field: &Element) -> Option<Element> {
    field.closest(".condition").ok().flatten()
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
