//! The fields of a rollout.

use leptos::prelude::*;
use pennon_core::rollout::Strategy;

use super::field::field_error;
use crate::{
    describe,
    error::FieldError,
    html::{Html, html},
    islands::rollout_editor::RolloutEditor,
    targeting_form::RolloutForm,
};

/// The percentages to choose with one click.
const PRESETS: [u8; 6] = [1, 5, 10, 25, 50, 100];

/// A percentage and a strategy, and a sentence that describes them. They are the fields of a [`RolloutForm`], within a
/// form `rollout-form`.
#[component]
pub fn RolloutFields(
    /// The values of the fields.
    input: RolloutForm,
    /// The errors of the fields.
    errors: Vec<FieldError>,
) -> impl IntoView {
    let (aloud, meaning) = describe::rollout_or_hint(input.rollout().ok());
    html! {
        <div class="rollout-fields">
            {share(input, errors, true)}
            <p class="aloud" role="status" id="rollout-aloud">
                {aloud}
            </p>
            <p class="hint" id="rollout-meaning">
                {meaning}
            </p>
        </div>
        <RolloutEditor/>
    }
}

/// Renders a percentage and a strategy; with scripts, also a slider and the presets. `is_required` is false if the form
/// may be sent without them.
pub(super) fn share(input: RolloutForm, errors: Vec<FieldError>, is_required: bool) -> Html {
    let strategies = Strategy::ALL.iter().map(|strategy| {
        let label = match strategy {
            Strategy::PerUser => "Users, by userId",
            Strategy::PerTenant => "Tenants, by tenantId",
        };
        view! {
            <label>
                <input
                    type="radio"
                    name="strategy"
                    value=strategy.as_str()
                    checked=strategy.as_str() == input.strategy
                />
                {label}
            </label>
        }
    });
    let strategies = strategies.collect_view();
    let presets = PRESETS.map(|percentage| {
        view! {
            <button class="button small" type="button" data-percentage=percentage.to_string()>
                {format!("{percentage}%")}
            </button>
        }
    });
    let wrong = (!errors.is_empty()).then_some("true");
    let described = wrong.map(|_| "percentage-error");
    let errors = errors.into_iter();
    let errors =
        errors.map(|FieldError { field, detail }| field_error(format!("The {field} {detail}.")));
    // An empty slider would stand in the middle.
    let position = match &*input.percentage {
        "" => "0".to_owned(),
        percentage => percentage.to_owned(),
    };
    html! {
        <div class="share-line">
            <input
                class="slider"
                type="range"
                min="0"
                max="100"
                step="1"
                value=position
                aria-label="Percentage slider"
                data-ready="false"
            />
            <span class="share-number">
                <input
                    class="input"
                    type="number"
                    inputmode="numeric"
                    name="percentage"
                    min="0"
                    max="100"
                    step="1"
                    required=is_required
                    autofocus=true
                    value=input.percentage
                    aria-label="Percentage"
                    aria-invalid=wrong
                    aria-describedby=described
                />
                "%"
            </span>
        </div>
        <div class="presets scripts" role="group" aria-label="Common percentages">
            {presets}
        </div>
        <div id="percentage-error">{errors.collect_view()}</div>
        <fieldset class="choices">
            <legend class="visually-hidden">"Percentage of"</legend>
            {strategies}
        </fieldset>
    }
}
