//! Notices about the whole page.

use leptos::prelude::*;

use super::icon::{Drawing, Icon};
use crate::html::html;

/// The severity of a notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
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
    severity: Severity,
    /// The text.
    children: Children,
) -> impl IntoView {
    let (class, role, icon) = match severity {
        Severity::Danger => ("notice danger", Some("alert"), Icon::ALERT),
        Severity::Warning => ("notice warning", None, Icon::ALERT),
        Severity::Done => ("notice done", Some("status"), Icon::CHECK),
    };
    html! {
        <div class=class role=role>
            <Drawing icon/>
            <div>{children()}</div>
        </div>
    }
}
