//! The page for unknown addresses.

use leptos::prelude::*;

use crate::{
    components::{
        empty::Empty,
        frame::{Frame, Section},
        link_button::LinkButton,
        page_head::PageHead,
        title::Title,
    },
    error::AdminError,
    port::visit,
};

/// A message with a link back.
#[component]
pub fn NotFound() -> impl IntoView {
    if let Ok(visit) = visit() {
        visit.set_error(&AdminError::NotFound);
    }
    view! {
        <Title text="Not found"/>
        <Frame>
            <PageHead title="Not found"/>
            <Empty title="This page does not exist">
                <p>"It may have moved, or the address may be incomplete."</p>
                <LinkButton href=Section::Flags.href() label="Go to the flags"/>
            </Empty>
        </Frame>
    }
}
