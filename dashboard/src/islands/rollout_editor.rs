//! The form of a rollout.

use leptos::prelude::*;

use super::dom::{by_id, closest_target, dispatch_input, first, on, set_value, value, values};
use crate::{describe, rule_form::RolloutForm};

/// Makes the form `rollout-form` interactive: slider and number stay equal, and sentences describe the input.
///
/// The server renders all of it (`components/rollout_fields.rs`). The slider is not a field: when it moves, the number
/// changes and dispatches an `input` event to the form.
#[island]
pub fn RolloutEditor() -> impl IntoView {
    Effect::new(|| {
        let Some(form) = by_id("rollout-form") else {
            return;
        };
        let (Some(slider), Some(number)) =
            (first(&form, ".slider"), first(&form, "[name=percentage]"))
        else {
            return;
        };
        _ = slider.set_attribute("data-ready", "true");
        let (form_fields, number_field) = (form.clone(), number.clone());
        on(&form, "input", move |event| {
            if closest_target(&event, ".slider").is_some() {
                set_value(&number_field, &value(&slider));
                dispatch_input(&number_field);
                return;
            }
            set_value(&slider, &value(&number_field));
            let rollout = RolloutForm::read(values(&form_fields)).rollout().ok();
            let (description, meaning) = describe::rollout_or_hint(rollout);
            for (id, sentence) in [("rollout-aloud", description), ("rollout-meaning", meaning)] {
                if let Some(element) = by_id(id) {
                    element.set_text_content(Some(&sentence));
                }
            }
        });
        // The user may have typed before this ran, and the browser may have restored earlier values.
        dispatch_input(&number);
    });
}
