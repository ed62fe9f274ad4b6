//! A page that could not be rendered.

use leptos::prelude::*;

use super::{empty::Empty, link_button::LinkButton, page_head::PageHead, title::Title};
use crate::{error::AdminError, port::visit, routes};

/// A message in place of a page: the error, what is still safe, and what to do next.
#[component]
pub fn Failure(
    /// The error.
    error: AdminError,
) -> impl IntoView {
    if let Ok(visit) = visit() {
        visit.set_error(&error);
    }
    let (title, next) = match error {
        AdminError::SignedOut => ("Signed out", (routes::SIGN_IN, "Sign in")),
        AdminError::Forbidden => ("Not allowed", (routes::FLAGS, "Go to the flags")),
        AdminError::NotFound => ("Not found", (routes::FLAGS, "Go to the flags")),
        _ => ("Something went wrong", ("", "Try again")),
    };
    let (href, action) = next;
    view! {
        <Title text=title/>
        <PageHead title/>
        <Empty>
            <p role="alert">{error.to_string()}</p>
            <LinkButton href=href label=action/>
        </Empty>
    }
}
