//! Parts of pages as HTML.

use leptos::{prelude::*, tachys::html::InertElement};

/// Renders a view as [`Html`].
macro_rules! html {
    ($($view:tt)*) => {
        $crate::html::IntoHtml::into_html(leptos::prelude::view! { $($view)* })
    };
}

pub(crate) use html;

/// A rendered part of a page: static HTML.
pub type Html = InertElement;

/// The conversion of views to HTML.
///
/// Pages use it instead of Leptos' `into_any`, which compiles functions that stream, await and mount each type of view:
/// a quarter of the binary, never called. Only [`page`](crate::components::page) awaits, and only islands react.
pub trait IntoHtml {
    /// Renders the view at once, without the parts that it would have to await.
    fn into_html(self) -> Html;
}

/// Renders a hidden field.
pub(crate) fn hidden(name: &str, value: impl Into<String>) -> Html {
    html! { <input type="hidden" name=name.to_owned() value=value.into()/> }
}

/// Renders a text in which backticks enclose code.
pub(crate) fn with_code(text: &str) -> Html {
    let pieces = text.split('`').enumerate().map(|(index, piece)| {
        let piece = piece.to_owned();
        if index.is_multiple_of(2) {
            piece.into_html()
        } else {
            html! { <code>{piece}</code> }
        }
    });
    pieces.collect_view().into_html()
}

impl<V: IntoView> IntoHtml for V {
    fn into_html(self) -> Html {
        Html::new(self.to_html())
    }
}
