//! The form of a rollout.

use leptos::{prelude::*, web_sys::Element};

use super::dom::{
    by_id, closest_target, dispatch_input, first, is_modified, on, set_value, value, values,
};
use crate::{describe, targeting_form::RolloutForm};

/// Makes the form `rollout-form` interactive: its slider, and sentences that describe the input.
///
/// The server renders all of it (`components/rollout_fields.rs`).
#[island]
pub fn RolloutEditor() -> impl IntoView {
    Effect::new(|| {
        let Some(form) = by_id("rollout-form") else {
            return;
        };
        let of_form = form.clone();
        on(&form, "input", move |_| update_descriptions(&of_form));
        listen_to_slider(&form);
    });
}

fn update_descriptions(form: &Element) {
    let rollout = RolloutForm::read(values(form)).rollout().ok();
    let (description, meaning) = describe::rollout_or_hint(rollout);
    for (id, sentence) in [("rollout-aloud", description), ("rollout-meaning", meaning)] {
        if let Some(element) = by_id(id) {
            element.set_text_content(Some(&sentence));
        }
    }
}

/// Keeps slider and number of a form equal. The slider is not a field: when it moves, the number changes and dispatches
/// an `input` event to the form.
pub(super) fn listen_to_slider(form: &Element) {
    let (Some(slider), Some(number)) = (first(form, ".slider"), first(form, "[name=percentage]"))
    else {
        return;
    };
    _ = slider.set_attribute("data-ready", "true");
    let number_field = number.clone();
    on(form, "input", move |event| {
        if closest_target(&event, ".slider").is_some() {
            set_value(&number_field, &value(&slider));
            dispatch_input(&number_field);
        } else if closest_target(&event, "[name=percentage]").is_some() {
            set_value(&slider, &value(&number_field));
        }
    });
    // The user may have typed before this ran, and the browser may have restored earlier values.
    if is_modified(form) {
        dispatch_input(&number);
    }
}
