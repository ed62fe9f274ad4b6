//! A new SDK key, seen once.

use leptos::prelude::*;

use super::{
    frame::Room,
    notice::{Notice, Weight},
    snippet::Snippet,
    title::Title,
};
use crate::{islands::copy_button::CopyButton, port::environments::CreatedEnvironment};

/// The key of an environment that has just been created, and what to do with it.
#[component]
pub fn NewKey(
    /// The environment and its key.
    created: CreatedEnvironment,
    /// Where applications reach the service.
    base_url: String,
) -> impl IntoView {
    let CreatedEnvironment {
        environment,
        sdk_key,
    } = created;
    let name = environment.name.to_string();
    let node = format!(
        r#"import {{ FeatureFlagsClient }} from "@pennon/core";

const flags = new FeatureFlagsClient({{
  sdkKey: process.env.PENNON_SDK_KEY,
  baseUrl: "{base_url}",
}});
await flags.initialize();

if (flags.isEnabled("new_checkout")) {{
  // …
}}"#
    );
    let curl = format!(
        r#"curl {base_url}/sdk/v1/config \
  --header "Authorization: Bearer {sdk_key}""#
    );
    view! {
        <Title text=format!("Key of {name} · Environments")/>
        <header class="page-head">
            <nav class="crumbs" aria-label="Breadcrumbs">
                <a href=Room::Environments.href()>"Environments"</a>
            </nav>
            <h1>{format!("{name} is ready")}</h1>
        </header>
        <section class="panel new-key" aria-labelledby="new-key-title">
            <h2 id="new-key-title">"Its SDK key"</h2>
            <p class="quiet">
                {format!("Applications in {} / {name} send it to get their flags.", environment.product)}
            </p>
            <div class="secret">
                <code tabindex="0">{sdk_key.clone()}</code>
                <CopyButton text=sdk_key label="Copy key".to_owned() worded=true/>
            </div>
            <Notice weight=Weight::Warning>
                <strong>"This is the only time you see it. "</strong>
                "Pennon keeps a fingerprint, not the key. Put it where your application finds its secrets before you leave this page."
            </Notice>
            <h2>"Try it"</h2>
            <Snippet title="Shell" code=curl/>
            <Snippet title="Node.js" code=node/>
            <div class="form-actions">
                <a class="button" href=Room::Environments.href()>
                    "I have stored the key"
                </a>
            </div>
        </section>
    }
}
