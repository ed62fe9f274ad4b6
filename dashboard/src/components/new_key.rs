//! A new SDK key, shown once.

use leptos::prelude::*;
use pennon_model::environment::{CreatedEnvironment, Visibility};

use super::{
    frame::Section,
    page_head::PageHead,
    shown_once::Secret,
    snippets::Snippets,
    time::{Clock, Date},
    title::Title,
};
use crate::{
    error::AdminError,
    html::{Html, IntoHtml as _, html},
    port::{environments::EnvironmentAdmin, signed_in},
    routes,
    scope::scoped,
};

/// Renders the key of an environment that was just created or whose key was rotated, and the next steps. `replaced` is
/// the prefix of the key that this one replaces.
pub(crate) async fn new_key(
    created: CreatedEnvironment,
    replaced: Option<String>,
) -> Result<Html, AdminError> {
    let CreatedEnvironment {
        environment,
        sdk_key,
    } = created;
    let sdk_key = sdk_key.expose().to_owned();
    // The key is shown only on this page, so no failure may prevent that.
    let detail = signed_in::<dyn EnvironmentAdmin>()?
        .environment(environment.id)
        .await;
    let flag_key = detail.ok().and_then(|detail| detail.newest_flag);
    let naming = signed_in::<dyn EnvironmentAdmin>()?.naming().await;
    let naming = naming.unwrap_or_default();
    let name = naming.name_of(&environment);
    let heading = match replaced {
        Some(_) => format!("{name} has a new key"),
        None => format!("{name} is ready"),
    };
    let replaced = replaced.map(|prefix| {
        let fate = match &environment.previous_key {
            None => ", no longer works.".into_html(),
            Some(key) => html! {
                ", works until " <Date at=key.ends_at/> ", " <Clock at=key.ends_at/> "."
            },
        };
        view! {
            <p>
                "The old key, " <code>{prefix} "…"</code>
                {fate}
                " Give every application this one."
            </p>
        }
    });
    let (purpose, advice) = texts(environment.visibility);
    let page = view! {
        <Title text=format!("Key of {name} · Environments")/>
        <PageHead above=Section::Environments title=heading/>
        <section class="panel new-key" aria-labelledby="new-key-title">
            <h2 id="new-key-title">"SDK key"</h2>
            <p class="quiet">
                {format!(
                    "Applications in {} / {} use it to fetch their flags.{purpose}",
                    environment.product,
                    environment.name,
                )}
            </p>
            {replaced}
            <Secret
                secret=sdk_key.clone()
                copy="Copy key"
                advice=advice
            />
            <h2>"Evaluate a flag"</h2>
            <Snippets
                sdk_key
                flag_key
                visibility=environment.visibility
                client_rules=environment.client_rules
            />
            <div class="form-actions">
                <a
                    class="button"
                    href=scoped(routes::environment(environment.id))
                    data-stored
                >
                    "I have stored the key"
                </a>
            </div>
        </section>
    };
    Ok(page.into_html())
}

/// Returns the rest of the key's purpose, and the advice to store it.
fn texts(visibility: Visibility) -> (&'static str, &'static str) {
    match visibility {
        Visibility::Server => (
            "",
            "Pennon stores a fingerprint, not the key. Save the key with your application's secrets before you leave this page.",
        ),
        Visibility::Public => (
            " It is public: web pages and apps may contain it.",
            "Pennon stores a fingerprint, not the key. Copy the key to your web page or app before you leave this page.",
        ),
    }
}
