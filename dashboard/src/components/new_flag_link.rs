//! The link to the form of a new flag.

use leptos::prelude::*;

use super::icon::{Drawing, Icon};
use crate::{html::html, routes, scope::scoped};

/// A link to the page of a new flag, and the dialog in which the script opens its form instead.
///
/// The page marks the form with `data-form`. The dialog must follow the link.
#[component]
pub fn NewFlagLink() -> impl IntoView {
    html! {
        <a class="button primary" href=scoped(routes::NEW_FLAG) data-dialog>
            <Drawing icon=Icon::PLUS/>
            "New flag"
        </a>
        <dialog class="dialog form-dialog" aria-label="New flag" data-unit>
            <div class="dialog-head">
                <h2>"New flag"</h2>
                <button class="icon-button" type="button" aria-label="Close" data-cancel>
                    <Drawing icon=Icon::CLOSE/>
                </button>
            </div>
            <p class="hint" role="alert"></p>
            <div class="dialog-content"></div>
        </dialog>
    }
}
