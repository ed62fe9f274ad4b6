//! The way to anywhere, by a few letters.

use leptos::prelude::*;

use super::icon::{Drawing, Icon};
use crate::html::html;

/// A button and the dialog that it opens, as Ctrl K or Cmd K does too. The script behind it is `dashboard/script`; without it
/// the button is out of sight.
///
/// The field is a combobox: the focus stays in it while the arrows move through what was found.
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
                    placeholder="A flag, an environment, a page"
                    aria-label="Jump to"
                    aria-autocomplete="list"
                    aria-controls="palette-list"
                    aria-expanded="false"
                    autocomplete="off"
                    autocapitalize="off"
                    spellcheck="false"
                />
            </form>
            <ul class="palette-list" id="palette-list" role="listbox" aria-label="Places" hidden></ul>
            <p class="palette-note" role="status"></p>
        </dialog>
    }
}
