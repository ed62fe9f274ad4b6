//! A new secret, shown once.

use leptos::prelude::*;

use super::copy_button::CopyButton;
use super::link_button::LinkButton;
use super::notice::{Notice, Severity};
use crate::html::html;

/// The secret with a button that copies it, and the warning that it is shown once.
#[component]
pub fn Secret(
    /// The secret.
    secret: String,
    /// The label of the button that copies it.
    copy: &'static str,
    /// Where to store it before leaving the page.
    advice: &'static str,
) -> impl IntoView {
    html! {
        <div class="secret">
            <code tabindex="0">{secret.clone()}</code>
            <CopyButton text=secret label=copy.to_owned() show_label=true/>
        </div>
        <Notice severity=Severity::Warning>
            <strong>"It is shown only once. "</strong>
            {advice}
        </Notice>
    }
}

/// A panel with a secret, its purpose, and the link to the next page.
#[component]
pub fn ShownOnce(
    /// The heading above it.
    #[prop(into)]
    title: String,
    /// The secret.
    secret: String,
    /// The label of the button that copies it.
    copy: &'static str,
    /// Where to store it before leaving the page.
    advice: &'static str,
    /// The address of the link.
    href: String,
    /// The label of the link.
    done: &'static str,
    /// The purpose of the secret.
    children: Children,
) -> impl IntoView {
    html! {
        <section class="panel new-key" aria-labelledby="secret-title">
            <h2 id="secret-title">{title}</h2>
            <div class="quiet">{children()}</div>
            <Secret secret copy advice/>
            <div class="form-actions">
                <LinkButton href=href label=done/>
            </div>
        </section>
    }
}
