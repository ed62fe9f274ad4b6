//! A secret that has just been made, seen once.

use leptos::prelude::*;

use super::copy_button::CopyButton;
use super::link_button::LinkButton;
use super::notice::{Notice, Weight};
use crate::html::html;

/// The secret with a button that copies it, and the warning that this is the only time.
#[component]
pub fn Secret(
    /// The secret.
    secret: String,
    /// What the button that copies it says.
    copy: &'static str,
    /// Where to put it before one leaves the page.
    advice: &'static str,
) -> impl IntoView {
    html! {
        <div class="secret">
            <code tabindex="0">{secret.clone()}</code>
            <CopyButton text=secret label=copy.to_owned() worded=true/>
        </div>
        <Notice weight=Weight::Warning>
            <strong>"This is the only time you see it. "</strong>
            {advice}
        </Notice>
    }
}

/// A panel with a secret, what it is for, and where to go from here.
#[component]
pub fn ShownOnce(
    /// The heading above it.
    #[prop(into)]
    title: String,
    /// The secret.
    secret: String,
    /// What the button that copies it says.
    copy: &'static str,
    /// Where to put it before one leaves the page.
    advice: &'static str,
    /// Where to go from here.
    href: String,
    /// What that link says.
    done: &'static str,
    /// What the secret is for.
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
