//! A page with a form, opened over the page at hand.

use leptos::prelude::*;

use super::icon::{Drawing, Icon};
use crate::html::html;

/// A link to a page with a form, and the dialog in which the script opens that form instead.
///
/// The form is the one that the page marks with `data-form`. The dialog comes right after the link.
#[component]
pub fn FormDialog(
    /// The address of the page.
    href: &'static str,
    /// The text of the link, and the dialog's title.
    title: &'static str,
) -> impl IntoView {
    html! {
        <a class="button primary" href=href data-dialog>
            <Drawing icon=Icon::PLUS/>
            {title}
        </a>
        <dialog class="dialog form-dialog" aria-label=title data-unit>
            <div class="dialog-head">
                <h2>{title}</h2>
                <button class="icon-button" type="button" aria-label="Close" data-cancel>
                    <Drawing icon=Icon::CLOSE/>
                </button>
            </div>
            <p class="hint" role="alert"></p>
            <div class="dialog-place"></div>
        </dialog>
    }
}
