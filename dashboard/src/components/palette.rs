//! The command palette.

use leptos::prelude::*;

use super::icon::{Drawing, Icon};
use crate::html::html;

/// A dialog, with the button that opens it; Ctrl K and Cmd K open it, too. Its script is in `dashboard/script`; without
/// scripts, the button is hidden.
///
/// The field is a combobox: the focus stays in it while the arrow keys move through the results. The script adds the
/// product of the page to the address of its requests.
#[component]
pub fn Palette() -> impl IntoView {
    html! {
        <button
            class="button jump"
            type="button"
            id="jump"
            aria-keyshortcuts="Control+K Meta+K"
            data-ready="false"
        >
            <Drawing icon=Icon::SEARCH/>
            "Jump to"
            <kbd aria-hidden="true">"Ctrl K"</kbd>
        </button>
        <dialog class="palette" id="palette" aria-label="Jump to">
            <form method="dialog">
                <Drawing icon=Icon::SEARCH/>
                <input
                    class="palette-input"
                    type="text"
                    role="combobox"
                    placeholder="Flag, environment, page, or “turn off …”"
                    aria-label="Jump to"
                    aria-autocomplete="list"
                    aria-controls="palette-list"
                    aria-expanded="false"
                    autocomplete="off"
                    autocapitalize="off"
                    spellcheck="false"
                />
            </form>
            <ul class="palette-list" id="palette-list" role="listbox" aria-label="Results" hidden></ul>
            <p class="palette-note" role="status"></p>
        </dialog>
    }
}
