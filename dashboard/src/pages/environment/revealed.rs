//! The data to which the SDK key of an environment gives access.

use leptos::prelude::*;
use pennon_model::environment::{ClientRules, Environment, Visibility};

use crate::{
    components::number::counted,
    html::{Html, html},
};

/// Renders the section about the data that the SDK key reveals. `flags` is the number of active flags that exist in the
/// environment.
pub(super) fn section(environment: &Environment, flags: i64) -> Html {
    html! {
        <section class="part" aria-labelledby="revealed">
            <h2 id="revealed">"What its key reveals"</h2>
            <p>{describe(environment, flags)}</p>
        </section>
    }
}

fn describe(environment: &Environment, flags: i64) -> String {
    let public = counted(flags, "public flag", "public flags");
    match (environment.visibility, environment.client_rules) {
        (Visibility::Server, _) if flags == 0 => {
            "Nothing yet, because no flag exists here. It will reveal every flag with its rules and rollout, so keep it secret."
                .to_owned()
        }
        (Visibility::Server, _) => format!(
            "The keys, rules and rollouts of all flags that exist here: {}. Keep it secret.",
            counted(flags, "flag", "flags")
        ),
        (Visibility::Public, _) if flags == 0 => {
            "Nothing yet, because no flag here is public. Everyone can read this key.".to_owned()
        }
        (Visibility::Public, ClientRules::Full) => format!(
            "The keys, rules and rollouts of {public}. Everyone can read this key."
        ),
        (Visibility::Public, ClientRules::Answers) => format!(
            "The keys of {public} and their results for any context, but no rules and no rollouts. Everyone can read this key."
        ),
    }
}
