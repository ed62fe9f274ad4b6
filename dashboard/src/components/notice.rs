//! Notices about the whole page.

use leptos::prelude::*;

use super::icon::{Drawing, Icon};
use crate::html::html;

/// The severity of a notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// A refusal or a failure.
    Danger,
    /// A warning.
    Warning,
    /// A success.
    Done,
}

/// A sentence or two above the content that they concern.
#[component]
pub fn Notice(
    /// The severity.
    weight: Weight,
    /// The text.
    children: Children,
) -> impl IntoView {
    let (class, role, icon) = match weight {
        Weight::Danger => ("notice danger", Some("alert"), Icon::ALERT),
        Weight::Warning => ("notice warning", None, Icon::ALERT),
        Weight::Done => ("notice done", Some("status"), Icon::CHECK),
    };
    html! {
        <div class=class role=role>
            <Drawing icon/>
            <div>{children()}</div>
        </div>
    }
}
