//! Help without leaving the page.

use leptos::prelude::*;

use super::{
    icon::{Drawing, Icon},
    shortcuts::Shortcuts,
};
use crate::html::html;

/// The dialog that `?` opens; its script is in `dashboard/script`.
#[component]
pub fn HelpDialog() -> impl IntoView {
    html! {
        <dialog class="help-dialog" id="help-dialog" aria-labelledby="help-title">
            <form method="dialog">
                <h2 id="help-title">"Shortcuts"</h2>
                <button class="icon-button" aria-label="Close">
                    <Drawing icon=Icon::CLOSE/>
                </button>
            </form>
            <Shortcuts/>
        </dialog>
    }
}
