//! The form of a new rollout.

use leptos::prelude::*;

use super::{
    conditions,
    dom::{by_id, toggle_attribute},
    rollout_editor::listen_to_slider,
};

/// Makes the slider and the conditions of the form `recipe-form` interactive. The preview describes the input.
///
/// The server renders all of it (`components/recipe_fields.rs`).
#[island]
pub fn RecipeEditor() -> impl IntoView {
    Effect::new(|| {
        if let Some(form) = by_id("recipe-form") {
            listen_to_slider(&form);
            conditions::listen(&form);
            toggle_attribute(&form, "data-ready", true);
        }
    });
}
