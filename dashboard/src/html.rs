//! Parts of pages as HTML.

use leptos::{prelude::*, tachys::html::InertElement};

/// A rendered part of a page: static HTML.
pub type Html = InertElement;

/// The conversion of views to HTML.
///
/// Pages use it instead of Leptos' `into_any`, which compiles functions that stream, await and mount each type of view: a
/// quarter of the binary, never called. Only [`answer`](crate::components::answer) awaits, and only islands react.
pub trait IntoHtml {
    /// Renders the view at once. What it would wait for is left out.
    fn into_html(self) -> Html;
}

impl<V: IntoView> IntoHtml for V {
    fn into_html(self) -> Html {
        Html::new(self.to_html())
    }
}
