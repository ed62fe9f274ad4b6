//! A form that the server could not process.

use leptos::prelude::*;

use super::{empty::Empty, page_head::PageHead, refusal::RefusalNotice, title::Title};
use crate::{error::AdminError, form::Form, html::hidden, port::visit};

/// A page in place of one that cannot be rendered now. It keeps the submitted fields, so that the user can submit them
/// again.
#[component]
pub fn SendAgain(
    /// The error.
    error: AdminError,
    /// The submitted fields.
    form: Form,
) -> impl IntoView {
    if let Ok(visit) = visit() {
        visit.set_error(&error);
    }
    // The sign-in page may have forwarded the form.
    let fields = form.fields_to_keep();
    let fields = fields.map(|(name, value)| hidden(name, value));
    let fields = fields.collect_view();
    let (title, text) = if error == AdminError::OutcomeUnknown {
        let text = "Look at the current state in another tab before you send it again. This page keeps what you typed.";
        ("Maybe not saved", text)
    } else {
        let text = "Nothing was changed, and this page keeps what you typed.";
        ("Not saved", text)
    };
    view! {
        <Title text=title/>
        <PageHead title/>
        <RefusalNotice error=Some(error)/>
        <Empty>
            <p>{text}</p>
            <form method="post">
                {fields} <button class="button primary">"Send again"</button>
            </form>
        </Empty>
    }
}
