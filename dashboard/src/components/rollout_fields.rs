//! The fields of a rollout.

use leptos::prelude::*;
use pennon_core::rollout::Strategy;

use super::field::field_error;
use crate::{
    describe, error::FieldError, html::html, islands::rollout_editor::RolloutEditor,
    rule_form::RolloutForm,
};

/// A percentage and a strategy; with scripts, also a slider. They are the fields of a [`RolloutForm`], within a form
/// `rollout-form`.
#[component]
pub fn RolloutFields(
    /// The values of the fields.
    input: RolloutForm,
    /// The errors of the fields.
    errors: Vec<FieldError>,
) -> impl IntoView {
    let (aloud, meaning) = describe::rollout_or_hint(input.rollout().ok());
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
    let wrong = (!errors.is_empty()).then_some("true");
    let described = wrong.map(|_| "percentage-error");
    let errors = errors.into_iter();
    let errors =
        errors.map(|FieldError { field, detail }| field_error(format!("The {field} {detail}.")));
    html! {
        <div class="rollout-fields">
            <div class="share-line">
                <input
                    class="slider"
                    type="range"
                    min="0"
                    max="100"
                    step="1"
                    value=input.percentage.clone()
                    aria-label="Percentage slider"
                    data-ready="false"
                />
                <span class="share-number">
                    <input
                        class="input"
                        type="number"
                        name="percentage"
                        min="0"
                        max="100"
                        step="1"
                        required=true
                        autofocus=true
                        value=input.percentage
                        aria-label="Percentage"
                        aria-invalid=wrong
                        aria-describedby=described
                    />
                    "%"
                </span>
            </div>
            <div id="percentage-error">{errors.collect_view()}</div>
            <fieldset class="choices">
                <legend class="visually-hidden">"Percentage of"</legend>
                {strategies}
            </fieldset>
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
