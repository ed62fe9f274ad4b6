//! A new SDK key, seen once.

use leptos::prelude::*;

use super::{
    copy_button::CopyButton,
    frame::Section,
    notice::{Notice, Weight},
    snippets::Snippets,
    title::Title,
};
use crate::{
    html::IntoHtml as _,
    model::Naming,
    port::{Npmrc, environments::CreatedEnvironment},
    routes,
};

/// The key of an environment that has just been created or got another one, and what to do with it.
#[component]
pub fn NewKey(
    /// The environment and its key.
    created: CreatedEnvironment,
    /// The naming scheme of environments.
    naming: Naming,
    /// Where applications reach the service.
    base_url: String,
    /// The settings of npm with which packages are installed from the service; none if it offers none.
    npmrc: Option<Npmrc>,
    /// The beginning of the key that this one replaces.
    #[prop(optional)]
    replaced: Option<String>,
) -> impl IntoView {
    let CreatedEnvironment {
        environment,
        sdk_key,
    } = created;
    let name = naming.name(environment.product.as_str(), environment.name.as_str());
    let heading = match replaced {
        Some(_) => format!("{name} has a new key"),
        None => format!("{name} is ready"),
    };
    let replaced = replaced.map(|prefix| {
        view! {
            <p>
                "The old key, " <code>{prefix} "…"</code>
                ", is refused from now on. Give every application this one."
            </p>
        }
    });
    view! {
        <Title text=format!("Key of {name} · Environments")/>
        <header class="page-head">
            <nav class="crumbs" aria-label="Breadcrumbs">
                <a href=Section::Environments.href()>"Environments"</a>
            </nav>
            <h1>{heading}</h1>
        </header>
        <section class="panel new-key" aria-labelledby="new-key-title">
            <h2 id="new-key-title">"Its SDK key"</h2>
            <p class="quiet">
                {format!(
                    "Applications in {} / {} send it to get their flags.",
                    environment.product,
                    environment.name,
                )}
            </p>
            {replaced}
            <div class="secret">
                <code tabindex="0">{sdk_key.clone()}</code>
                <CopyButton text=sdk_key.clone() label="Copy key".to_owned() worded=true/>
            </div>
            <Notice weight=Weight::Warning>
                <strong>"This is the only time you see it. "</strong>
                "Pennon keeps a fingerprint, not the key. Put it where your application finds its secrets before you leave this page."
            </Notice>
            <h2>"Ask for a flag"</h2>
            <Snippets base_url npmrc sdk_key/>
            <div class="form-actions">
                <a
                    class="button"
                    href=routes::environment(environment.id)
                    data-stored
                >
                    "I have stored the key"
                </a>
            </div>
        </section>
    }
    .into_html()
}
