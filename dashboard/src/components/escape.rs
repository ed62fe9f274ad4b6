//! Escaping where Leptos writes text as markup.

/// Escapes all characters that HTML could interpret as markup.
///
/// Leptos escapes texts and attributes itself, but neither the content of a `textarea` nor the page's title.
pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// Escapes the text of a `textarea`. HTML drops the first line break in it, so that one is added.
pub(super) fn in_textarea(text: &str) -> String {
    format!("\n{}", escape(text))
}
