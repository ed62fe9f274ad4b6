//! Something that concerns the whole page.

use leptos::prelude::*;

use super::icon::{Drawing, Icon};
use crate::html::html;

/// How much a notice matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// Something was refused or failed.
    Danger,
    /// Something wants attention.
    Warning,
    /// Something was done.
    Done,
}

/// A sentence or two above what they are about.
#[component]
pub fn Notice(
    /// How much it matters.
    weight: Weight,
    /// What it says.
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
