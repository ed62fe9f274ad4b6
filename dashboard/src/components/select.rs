//! Options of selects.

use leptos::prelude::*;
use pennon_core::rule::ValueType;

use crate::html::{Html, IntoHtml as _};

/// Renders the options of a select, each with its value, its label, and whether it is selected.
pub fn options<V: Into<String>, L: Into<String>>(
    choices: impl IntoIterator<Item = (V, L)>,
    chosen: &str,
) -> Html {
    let options = choices.into_iter().map(|(value, label)| {
        let value = value.into();
        let selected = value == chosen;
        view! { <option value=value selected=selected>{label.into()}</option> }
    });
    options.collect_view().into_html()
}

/// Renders the options of a select for the type of a value.
pub(super) fn value_types(chosen: ValueType) -> Html {
    let types = ValueType::ALL.iter().map(|each| {
        let label = match each {
            ValueType::String => "text",
            ValueType::Number => "number",
            ValueType::Boolean => "true or false",
        };
        (each.as_str(), label)
    });
    options(types, chosen.as_str())
}
