//! Icons, drawn inline so that they take the color of the text around them.

use leptos::prelude::*;

/// The path of an icon on a 16 × 16 grid, drawn in strokes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Icon(&'static str);

impl Icon {
    /// A flag on its pole.
    pub const FLAG: Self = Self("M3.5 14V2.5m0 .5h8.6L9.8 6l2.3 3H3.5");
    /// Layers: environments.
    pub const LAYERS: Self = Self("M8 2 2 5l6 3 6-3-6-3ZM2 8l6 3 6-3M2 11l6 3 6-3");
    /// A triangle: try it.
    pub const PLAY: Self = Self("M4.5 2.5v11l9-5.5-9-5.5Z");
    /// A clock: history.
    pub const CLOCK: Self = Self("M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12Zm0-9.5V8l2.5 1.5");
    /// An arrow that turns back: undo.
    pub const BACK: Self = Self("M5.5 3 2.5 6l3 3m-3-3h7a4 4 0 0 1 0 8H7");
    /// An arrow down onto a line: download.
    pub const DOWNLOAD: Self = Self("M8 2.5v7.5m-3-3 3 3 3-3M3 13.5h10");
    /// Two people.
    pub const PEOPLE: Self = Self(
        "M6 8a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5Zm-4.5 5.5a4.5 4.5 0 0 1 9 0M11 8a2.5 2.5 0 0 0 0-5m1 6.3a4.5 4.5 0 0 1 2.5 4.2",
    );
    /// One person.
    pub const PERSON: Self =
        Self("M8 8a2.75 2.75 0 1 0 0-5.5A2.75 2.75 0 0 0 8 8Zm-5 6a5 5 0 0 1 10 0");
    /// A question mark.
    pub const HELP: Self = Self(
        "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM6.3 6.4a1.75 1.75 0 1 1 2.6 1.5c-.6.35-.9.7-.9 1.3m0 2v.1",
    );
    /// A globe: public.
    pub const GLOBE: Self = Self(
        "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM2 8h12M8 2c3.4 3.4 3.4 8.6 0 12C4.6 10.6 4.6 5.4 8 2Z",
    );
    /// A plus sign: new.
    pub const PLUS: Self = Self("M8 3v10M3 8h10");
    /// A magnifying glass.
    pub const SEARCH: Self = Self("M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10Zm3.6-1.4L14 14");
    /// Two sheets: copy.
    pub const COPY: Self = Self(
        "M5.5 5.5v-2a1 1 0 0 1 1-1h6a1 1 0 0 1 1 1v6a1 1 0 0 1-1 1h-2m-7-5h6a1 1 0 0 1 1 1v6a1 1 0 0 1-1 1h-6a1 1 0 0 1-1-1v-6a1 1 0 0 1 1-1Z",
    );
    /// A check mark: success.
    pub const CHECK: Self = Self("m3 8.5 3.3 3.3L13 4.5");
    /// An exclamation mark in a circle: attention.
    pub const ALERT: Self = Self("M8 5v3.5m0 2.6v.1M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12Z");
    /// A cross: close.
    pub const CLOSE: Self = Self("m4 4 8 8m0-8-8 8");
    /// Three lines: menu.
    pub const MENU: Self = Self("M2.5 4.5h11M2.5 8h11m-11 3.5h11");
    /// An arrow out of a frame: sign out.
    pub const LEAVE: Self =
        Self("M6 2.5H3.5a1 1 0 0 0-1 1v9a1 1 0 0 0 1 1H6m4.5-2.5 3-3-3-3m3 3H6");
    /// An arrow to the left: back.
    pub const LEFT: Self = Self("M9.5 3.5 5 8l4.5 4.5");
    /// A screen: the system's theme.
    pub const SCREEN: Self = Self("M2.5 3h11v8h-11V3ZM6 13.5h4m-2-2.5v2.5");
    /// A sun: the light theme.
    pub const SUN: Self = Self(
        "M8 10.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5Zm0-8.5v1m0 10v1M2 8h1m10 0h1M3.8 3.8l.7.7m7 7 .7.7m0-8.4-.7.7m-7 7-.7.7",
    );
    /// A moon: the dark theme.
    pub const MOON: Self = Self("M13.3 9.6A5.5 5.5 0 0 1 6.4 2.7a5.5 5.5 0 1 0 6.9 6.9Z");
    /// A pencil: edit.
    pub const PENCIL: Self = Self("M10.5 3 13 5.5 5.5 13H3v-2.5L10.5 3ZM9 4.5 11.5 7");
    /// An arrow up.
    pub const UP: Self = Self("m4 10 4-4 4 4");
    /// An arrow down, or more below.
    pub const DOWN: Self = Self("m4 6 4 4 4-4");
    /// A bin: delete.
    pub const BIN: Self = Self("M3 4.5h10m-8 0 .5 8.5h5l.5-8.5M6.5 4.5V3h3v1.5");
    /// Six dots: a handle to drag.
    pub const GRIP: Self = Self("M6 4v.01M10 4v.01M6 8v.01M10 8v.01M6 12v.01M10 12v.01");
}

/// Draws an [`Icon`]. Screen readers ignore it: the word beside it conveys the meaning.
#[component]
pub fn Drawing(
    /// The icon.
    icon: Icon,
) -> impl IntoView {
    view! {
        <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
            <path d=icon.0></path>
        </svg>
    }
}
