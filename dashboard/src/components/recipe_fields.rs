//! The fields of a new rollout.

use leptos::prelude::*;

use super::{field::field_error, rollout_fields::share, rule_fields};
use crate::{
    error::FieldError,
    html::html,
    islands::recipe_editor::RecipeEditor,
    recipe_form::{Recipe, RecipeForm},
};

/// The choice of who gets the flag, with the fields that the choice needs. They are the fields of a [`RecipeForm`],
/// within a form `recipe-form`. The style hides the others.
#[component]
pub fn RecipeFields(
    /// The values of the fields.
    input: RecipeForm,
    /// The errors of the fields.
    errors: Vec<FieldError>,
    /// Suggested names of custom attributes.
    suggestions: Vec<String>,
    /// True if rules are tried before.
    is_rest: bool,
) -> impl IntoView {
    let chosen = input.chosen();
    let choices = Recipe::ALL.map(|recipe| {
        let label = match recipe {
            Recipe::Share if is_rest => "A percentage of everyone left",
            Recipe::Share => "A percentage of everyone",
            Recipe::ShareWhere => "A percentage of users where …",
            Recipe::Only => "Only users where …",
            Recipe::Except => "Everyone but users where …",
        };
        view! {
            <label>
                <input
                    type="radio"
                    name="recipe"
                    value=recipe.as_str()
                    checked=recipe == chosen
                />
                {label}
            </label>
        }
    });
    let of_share = |error: &FieldError| ["percentage", "strategy"].contains(&&*error.field);
    let (of_share, of_conditions): (Vec<_>, Vec<_>) = errors.into_iter().partition(of_share);
    let unknown = of_conditions.iter().find(|error| error.field == "recipe");
    let unknown = unknown.map(|error| field_error(format!("The choice {}.", error.detail)));
    let RecipeForm { rollout, rule, .. } = input;
    let logic = rule_fields::logic(&rule);
    let conditions = rule_fields::conditions(rule, &of_conditions, suggestions, false);
    html! {
        <fieldset class="recipes">
            <legend>"Who gets ON"</legend>
            {choices}
            {unknown}
        </fieldset>
        <div class="rollout-fields recipe-share">{share(rollout, of_share, false)}</div>
        <div class="rule-fields recipe-conditions">
            <div class="rule-line">
                <span>"where"</span>
                {logic}
            </div>
            {conditions}
        </div>
        <RecipeEditor/>
    }
}
