//! The start page.

use leptos::prelude::*;

use crate::{components::frame::Section, port::visit};

/// Redirects to the flags.
#[component]
pub fn Home() -> impl IntoView {
    if let Ok(visit) = visit() {
        visit.redirect(&Section::Flags.href());
    }
}
