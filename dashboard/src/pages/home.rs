//! The dashboard's front door.

use leptos::prelude::*;

use crate::{components::frame::Room, port::visit};

/// Leads to the flags.
#[component]
pub fn Home() -> impl IntoView {
    if let Ok(visit) = visit() {
        visit.redirect(Room::Flags.href());
    }
}
