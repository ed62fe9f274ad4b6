//! The form of a rollout.

use leptos::prelude::*;

use super::dom::{by_id, first, on, set_value, target_in, tell_of_input, value, values};
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
        let (of_form, of_slider) = (form.clone(), number.clone());
        on(&form, "input", move |event| {
            if target_in(&event, ".slider").is_some() {
                set_value(&of_slider, &value(&slider));
                tell_of_input(&of_slider);
                return;
            }
            set_value(&slider, &value(&of_slider));
            let rollout = RolloutForm::read(values(&of_form)).rollout().ok();
            let (aloud, meaning) = describe::rollout_or_hint(rollout);
            for (id, sentence) in [("rollout-aloud", aloud), ("rollout-meaning", meaning)] {
                if let Some(place) = by_id(id) {
                    place.set_text_content(Some(&sentence));
                }
            }
        });
        // The user may have typed before this ran, and the browser may have restored earlier values.
        tell_of_input(&number);
    });
}
