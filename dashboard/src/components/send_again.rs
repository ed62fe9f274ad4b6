//! A form that could not be taken.

use leptos::prelude::*;

use super::{empty::Empty, page_head::PageHead, refusal::RefusalNotice, title::Title};
use crate::{error::AdminError, form::Form, port::visit};

/// Stands in for a page that cannot be drawn now, and holds what was sent to it: it can be sent again as it was.
#[component]
pub fn SendAgain(
    /// Why it could not be taken.
    error: AdminError,
    /// What was sent.
    form: Form,
) -> impl IntoView {
    if let Ok(visit) = visit() {
        visit.set_status(error.status());
    }
    // The form may have come by way of the sign-in.
    let fields = form.fields_to_keep().map(|(name, value)| {
        view! { <input type="hidden" name=name.to_owned() value=value.to_owned()/> }
    });
    let fields = fields.collect_view();
    view! {
        <Title text="Not saved"/>
        <PageHead title="Not saved"/>
        <RefusalNotice error=Some(error)/>
        <Empty>
            <p>"What you sent is kept on this page, and nothing was changed."</p>
            <form method="post">
                {fields} <button class="button primary">"Send again"</button>
            </form>
        </Empty>
    }
}
