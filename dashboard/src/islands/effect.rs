//! The preview of an unsaved change.

use std::{cell::RefCell, time::Duration};

use leptos::{ev, prelude::*, task::spawn_local, web_sys};
use pennon_core::FlagConfig;
use pennon_model::id::{EnvironmentId, FlagId};
use wasm_bindgen_futures::JsFuture;

use crate::{
    api::effect::preview_change,
    error::AdminError,
    evaluated,
    islands::dom,
    preview::{ConfigChange, ProposedChange, SampleEffect},
};

/// The debounce before the server is queried.
const DEBOUNCE: Duration = Duration::from_millis(200);

/// The key in the session storage for the sample of contexts, which never leaves the browser.
const SAMPLE_KEY: &str = "pennon-sample";

/// The event of the window after the script has updated the page.
const PAGE_UPDATED: &str = "page-updated";

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
    let latest_request = StoredValue::new(0_u32);
    let request_preview = move |fields: String| {
        let request = latest_request.get_value().wrapping_add(1);
        latest_request.set_value(request);
        spawn_local(async move {
            let preview = preview_change(flag, environment, change, fields).await;
            if latest_request.get_value() != request {
                return;
            }
            match preview {
                Ok(preview) => {
                    failure.set(None);
                    // Screen readers announce it again each time that it is set.
                    if html.with_untracked(|html| *html != preview.html) {
                        html.set(preview.html);
                    }
                    configs.set(preview.change.as_ref().and_then(read));
                }
                Err(error) => failure.set(Some(error)),
            }
        });
    };
    let show_effect = move |root: &web_sys::Element| {
        if let Some(known) = known_change(root) {
            configs.set(read(&known));
        } else if let Some(form) = dom::closest_form(root) {
            request_preview(dom::fields(&form).unwrap_or_default());
        }
    };
    Effect::new(move || {
        let Some(root) = root.get() else {
            return;
        };
        show_effect(&root);
        let request_later = RefCell::new(debounce(DEBOUNCE, request_preview));
        let input = window_event_listener(ev::input, {
            let root = root.clone();
            move |event| {
                if let Some(form) = dom::closest_form(&root)
                    && dom::is_within(&event, &form)
                    && let Some(fields) = dom::fields(&form)
                {
                    request_later.borrow_mut()(fields);
                }
            }
        });
        // The flag may have changed around a form that an update skipped.
        let update = window_event_listener_untyped(PAGE_UPDATED, move |_| {
            if root.is_connected() {
                show_effect(&root);
            }
        });
        on_cleanup(move || {
            input.remove();
            update.remove();
        });
    });
    view! {
        <div class="effect scripts" node_ref=root role="group" aria-label="Effect of this change">
            <div class="effect-words" role="status" inner_html=html></div>
            <p class="hint">{move || failure.get().map(|error| error.to_string())}</p>
            <Sample configs/>
        </div>
    }
}

/// Returns the flag before and after the change, if the element around the island contains them.
fn known_change(root: &web_sys::Element) -> Option<ConfigChange<String>> {
    let container = root.parent_element()?.parent_element()?;
    Some(ConfigChange {
        before: container.get_attribute("data-before")?,
        after: container.get_attribute("data-after")?,
        strict: None,
    })
}

/// Parses a flag before and after a change.
fn read(change: &ConfigChange<String>) -> Option<ConfigChange<FlagConfig>> {
    let strict = change.strict.as_deref().map(evaluated::read);
    Some(ConfigChange {
        before: evaluated::read(&change.before)?,
        after: evaluated::read(&change.after)?,
        strict: strict.flatten(),
    })
}

/// A sample to type or load, and the effect of a change on it.
#[component]
fn Sample(configs: RwSignal<Option<ConfigChange<FlagConfig>>>) -> impl IntoView {
    // `None` until the fields have been read, so that hydration does not overwrite what the user typed before.
    let sample = RwSignal::new(None::<String>);
    let typed = NodeRef::<leptos::html::Textarea>::new();
    let file = NodeRef::<leptos::html::Input>::new();
    Effect::new(move || match typed.get().map(|field| field.value()) {
        Some(typed) if !typed.is_empty() => remember(sample, typed),
        // Without a value, the property would be the text `undefined`.
        _ => sample.set(Some(dom::session_text(SAMPLE_KEY).unwrap_or_default())),
    });
    Effect::new(move || {
        if let Some(file) = file.get() {
            upload(&file, sample);
        }
    });
    let effect = move || {
        let sample = sample.get().filter(|sample| !sample.trim().is_empty())?;
        configs.with(|configs| Some(SampleEffect::of(configs.as_ref()?, &sample)))
    };
    view! {
        <details>
            <summary>"Try it on sample contexts"</summary>
            <p class="hint">
                "One JSON context per line, or a JSON array. A line that is not JSON is a userId. The sample stays in this browser."
            </p>
            <textarea
                node_ref=typed
                class="input mono"
                rows="5"
                spellcheck="false"
                aria-label="Sample contexts"
                prop:value=sample
                on:input=move |event| remember(sample, event_target_value(&event))
            ></textarea>
            <input
                node_ref=file
                type="file"
                accept=".json,.jsonl,.ndjson,.txt,application/json,text/plain"
                aria-label="Load sample from a file"
                on:change:target=move |event| upload(&event.target(), sample)
            />
            {move || effect().map(|effect| view! { <SampleResult effect/> })}
        </details>
    }
}

fn remember(sample: RwSignal<Option<String>>, text: String) {
    dom::set_session_text(SAMPLE_KEY, &text);
    sample.set(Some(text));
}

/// Reads the sample from the file that is chosen in a field, if any.
fn upload(field: &web_sys::HtmlInputElement, sample: RwSignal<Option<String>>) {
    let Some(file) = field.files().and_then(|files| files.get(0)) else {
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
