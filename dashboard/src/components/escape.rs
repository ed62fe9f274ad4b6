//! Text where Leptos writes what it is given as markup.

/// The text, with nothing left in it that HTML could take for markup.
///
/// Leptos escapes texts and attributes itself, but neither the content of a `textarea` nor the page's title.
pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
