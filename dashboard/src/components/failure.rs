//! A page that could not be rendered.

use leptos::prelude::*;

use super::{
    empty::Empty, link_button::LinkButton, mark::icon_url, page_head::PageHead, title::Title,
};
use crate::{error::AdminError, html::html, port::visit, routes};

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

/// Renders the document for a failure outside of the pages, such as of a request that took too long. Scripts that
/// requested a page find the text in it.
pub fn failure_document(stylesheet: String, title: &str, text: &str, is_form: bool) -> String {
    let page_title = format!("{title} · Pennon");
    let (title, text) = (title.to_owned(), text.to_owned());
    let next = if is_form {
        html! { <p>"To send what you typed again, reload this page."</p> }
    } else {
        html! { <a class="button" href="">"Try again"</a> }
    };
    let document = view! {
        <!DOCTYPE html>
        <html lang="en">
            <head>
                <meta charset="utf-8"/>
                <meta name="viewport" content="width=device-width, initial-scale=1"/>
                <meta name="color-scheme" content="light dark"/>
                <link rel="icon" type="image/svg+xml" href=icon_url()/>
                <link rel="stylesheet" href=stylesheet/>
                <title>{page_title}</title>
            </head>
            <body>
                <main class="sign-in" data-rendered-at="">
                    <Empty>
                        <h1>{title}</h1>
                        <p role="alert">{text}</p>
                        {next}
                    </Empty>
                </main>
            </body>
        </html>
    };
    document.to_html()
}
