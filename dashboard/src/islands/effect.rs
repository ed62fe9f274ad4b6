//! The preview of an unsaved change.

use std::{cell::RefCell, time::Duration};

use leptos::{ev, prelude::*, task::spawn_local, web_sys};
use pennon_core::FlagConfig;
use pennon_model::id::{EnvironmentId, FlagId};
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::JsFuture;

use crate::{
    api::effect::preview_change,
    effect::{ConfigChange, ProposedChange, SampleEffect},
    error::AdminError,
    islands::dom,
    playground,
};

/// The debounce before the server is queried.
const DEBOUNCE: Duration = Duration::from_millis(200);

/// The key in the session storage for the sample of contexts, which never leaves the browser.
const SAMPLE_KEY: &str = "pennon-sample";

/// The descriptions before and after, lint findings, and the number of affected contexts of a sample.
///
/// The preview follows the form that contains the island. For a known change, the island is in an element with the flag
/// before and after, as entries of the config document, in `data-before` and `data-after`. Without scripts, the island
/// is empty.
#[island]
pub fn EffectBeforeSave(
    /// The flag.
    flag: FlagId,
    /// The environment.
    environment: EnvironmentId,
    /// The change that the form makes.
    change: ProposedChange,
) -> impl IntoView {
    let root = NodeRef::<leptos::html::Div>::new();
    let html = RwSignal::new(String::new());
    let configs = RwSignal::new(None);
    let failure = RwSignal::new(None::<AdminError>);
    let latest = StoredValue::new(String::new());
    let request_preview = move |fields: String| {
        latest.set_value(fields.clone());
        spawn_local(async move {
            let preview = preview_change(flag, environment, change, fields.clone()).await;
            if latest.get_value() != fields {
                return;
            }
            match preview {
                Ok(preview) => {
                    failure.set(None);
                    html.set(preview.html);
                    configs.set(preview.change.as_ref().and_then(read));
                }
                Err(error) => failure.set(Some(error)),
            }
        });
    };
    Effect::new(move || {
        let Some(root) = root.get() else {
            return;
        };
        let container = root
            .parent_element()
            .and_then(|island| island.parent_element());
        let attribute = |name| container.as_ref()?.get_attribute(name);
        if let Some((before, after)) = attribute("data-before").zip(attribute("data-after")) {
            let strict = None;
            configs.set(read(&ConfigChange {
                before,
                after,
                strict,
            }));
            return;
        }
        let Some(form) = dom::closest_form(&root) else {
            return;
        };
        request_preview(dom::fields(&form).unwrap_or_default());
        let request_later = RefCell::new(debounce(DEBOUNCE, request_preview));
        let listener = window_event_listener(ev::input, move |event| {
            if dom::is_within(&event, &form)
                && let Some(fields) = dom::fields(&form)
            {
                request_later.borrow_mut()(fields);
            }
        });
        on_cleanup(move || listener.remove());
    });
    view! {
        <div class="effect scripts" node_ref=root role="group" aria-label="Effect of this change">
            <div class="effect-words" role="status" inner_html=html></div>
            <p class="hint">{move || failure.get().map(|error| error.to_string())}</p>
            <Sample configs/>
        </div>
    }
}

/// Parses a flag before and after a change.
fn read(change: &ConfigChange<String>) -> Option<ConfigChange<FlagConfig>> {
    let strict = change.strict.as_deref().map(playground::read);
    Some(ConfigChange {
        before: playground::read(&change.before)?,
        after: playground::read(&change.after)?,
        strict: strict.flatten(),
    })
}

/// A sample to type or load, and the effect of a change on it.
#[component]
fn Sample(configs: RwSignal<Option<ConfigChange<FlagConfig>>>) -> impl IntoView {
    let sample = RwSignal::new(String::new());
    Effect::new(move || sample.set(dom::session_text(SAMPLE_KEY).unwrap_or_default()));
    let effect = move || {
        let sample = sample.get();
        configs.with(|configs| {
            let change = configs.as_ref().filter(|_| !sample.trim().is_empty())?;
            Some(SampleEffect::of(change, &sample))
        })
    };
    view! {
        <details>
            <summary>"Try it on sample contexts"</summary>
            <p class="hint">
                "One JSON context per line, or a JSON array. A line that is not JSON is a userId. The sample stays in this browser."
            </p>
            <textarea
                class="input mono"
                rows="5"
                spellcheck="false"
                aria-label="Sample contexts"
                prop:value=sample
                on:input=move |event| remember(sample, event_target_value(&event))
            ></textarea>
            <input
                type="file"
                accept=".json,.jsonl,.ndjson,.txt,application/json,text/plain"
                aria-label="Load sample from a file"
                on:change=move |event| upload(&event, sample)
            />
            {move || effect().map(|effect| view! { <SampleResult effect/> })}
        </details>
    }
}

fn remember(sample: RwSignal<String>, text: String) {
    dom::set_session_text(SAMPLE_KEY, &text);
    sample.set(text);
}

/// Reads the sample from a file.
fn upload(event: &ev::Event, sample: RwSignal<String>) {
    let file = event
        .target()
        .and_then(|target| target.dyn_into::<web_sys::HtmlInputElement>().ok())
        .and_then(|input| input.files())
        .and_then(|files| files.get(0));
    let Some(file) = file else {
        return;
    };
    spawn_local(async move {
        let text = JsFuture::from(file.text()).await.ok();
        if let Some(text) = text.and_then(|text| text.as_string()) {
            remember(sample, text);
        }
    });
}

#[component]
fn SampleResult(effect: SampleEffect) -> impl IntoView {
    let SampleEffect {
        total,
        invalid,
        enabled,
        joined,
        on,
        off,
        affected,
    } = effect;
    let joined = if joined > 0 {
        format!(", {joined} of them only because an attribute is missing")
    } else {
        String::new()
    };
    let same = total.saturating_sub(on).saturating_sub(off);
    let invalid = (invalid > 0).then(|| format!(" {invalid} could not be read as a context."));
    let more = on.saturating_add(off).saturating_sub(affected.len());
    let more = (more > 0).then(|| view! { <li class="quiet">{format!("and {more} more")}</li> });
    let affected = affected.into_iter().map(|(context, on)| {
        let turned = if on { "OFF → ON " } else { "ON → OFF " };
        view! {
            <li>
                <strong>{turned}</strong>
                <code>{context}</code>
            </li>
        }
    });
    view! {
        <p class="effect-told" role="status">
            {format!("{enabled} of {total} get ON{joined}: ")}
            {format!("{on} turn on, {off} turn off, {same} stay the same.")}
            {invalid}
        </p>
        <ul class="effect-named">{affected.collect_view()} {more}</ul>
    }
}
