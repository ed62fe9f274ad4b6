//! The dashboard's front door.

use leptos::prelude::*;

use crate::{components::frame::Section, port::visit};

/// Leads to the flags.
#[component]
pub fn Home() -> impl IntoView {
    if let Ok(visit) = visit() {
        visit.redirect(Section::Flags.href());
    }
}
