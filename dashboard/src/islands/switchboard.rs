//! What makes the switches of a page instant.

use std::time::Duration;

use leptos::{ev, html, prelude::*, task::spawn_local, web_sys};
use pennon_model::id::{EnvironmentId, FlagId};
use wasm_bindgen::JsCast;

use super::fetch::elements;
use crate::{
    api::flags::set_enabled,
    components::icon::{Drawing, Icon},
    error::AdminError,
    model::Switched,
};

/// How long one can undo what one has just switched; longer while the pointer or the focus is on it.
const PATIENCE: Duration = Duration::from_secs(10);

/// A flag in an environment, by what it takes to switch it and to speak of it.
#[derive(Clone, PartialEq, Eq)]
struct Pair {
    flag: FlagId,
    environment: EnvironmentId,
    name: String,
    place: String,
    /// What decides when it is on for some only.
    partly: Option<String>,
    /// What it does while it is on, as a sentence.
    when_on: Option<String>,
}

/// What is told after switching.
#[derive(Clone, PartialEq, Eq)]
enum News {
    Switched { pair: Pair, on: bool },
    Undone { pair: Pair, on: bool },
    Refused(AdminError),
}

/// Switches at once and asks the service meanwhile; a refusal switches back and says why. What was switched can be undone.
/// Before it switches where that looks dangerous it asks, and says what will happen.
///
/// It serves every `FlagSwitch` of the page, also those that come later. Without scripts they are forms with one button.
#[island]
pub fn Switchboard() -> impl IntoView {
    let asked = RwSignal::new(None::<(Pair, bool)>);
    let news = RwSignal::new(None::<News>);
    let toast = NodeRef::<html::Div>::new();
    Effect::new(move || {
        let pressed = window_event_listener(ev::submit, move |event| {
            // The page may have been changed around this island, and another one be there in its place.
            let is_there = toast
                .get_untracked()
                .is_some_and(|toast| toast.is_connected());
            let Some((form, pair)) = pressed(&event).filter(|_| is_there) else {
                return;
            };
            event.prevent_default();
            let on = !is_on(&form);
            if form.has_attribute("data-asks") {
                asked.set(Some((pair, on)));
            } else {
                switch(pair, on, false, news);
            }
        });
        on_cleanup(move || pressed.remove());
    });
    Effect::new(move || {
        if news.with(|news| matches!(news, Some(News::Switched { .. } | News::Undone { .. }))) {
            forget_later(news, toast);
        }
    });
    let confirm = move || {
        if let Some((pair, on)) = asked.get_untracked() {
            let now = forms(&pair).first().and_then(read);
            match now {
                // It stands otherwise by now: that is another question.
                Some(now) if now != pair => asked.set(Some((now, on))),
                _ => {
                    asked.set(None);
                    switch(pair, on, false, news);
                }
            }
        }
    };
    view! {
        <Question asked confirm=Callback::new(move |()| confirm())/>
        <div class="toasts" role="status" node_ref=toast>
            {move || news.get().map(|told| view! { <Toast told news/> })}
        </div>
    }
}

/// The switch that was pressed, if it was one.
fn pressed(event: &ev::SubmitEvent) -> Option<(web_sys::HtmlFormElement, Pair)> {
    let form = event
        .target()?
        .dyn_into::<web_sys::HtmlFormElement>()
        .ok()?;
    if !form.class_list().contains("switch-form") || is_busy(&form) {
        return None;
    }
    let pair = read(&form)?;
    Some((form, pair))
}

/// What a switch says of itself.
fn read(form: &web_sys::HtmlFormElement) -> Option<Pair> {
    let fields = web_sys::FormData::new_with_form(form).ok()?;
    let told = |name: &str| form.get_attribute(name).unwrap_or_default();
    Some(Pair {
        flag: fields.get("flag").as_string()?.parse().ok()?,
        environment: fields.get("environment").as_string()?.parse().ok()?,
        name: told("data-name"),
        place: told("data-place"),
        partly: button(form)?.get_attribute("data-partly"),
        when_on: form.get_attribute("data-when-on"),
    })
}

/// Shows how it will be, asks the service, and shows how it is.
fn switch(pair: Pair, on: bool, undoing: bool, news: RwSignal<Option<News>>) {
    let forms = forms(&pair);
    let seen = forms.first().and_then(revision);
    for form in &forms {
        show(form, on, true);
    }
    news.set(None);
    spawn_local(async move {
        let answer = set_enabled(pair.flag, pair.environment, on, seen).await;
        // Meanwhile the page may show others in their place.
        for form in self::forms(&pair) {
            match &answer {
                Ok(Switched { enabled, revision }) => {
                    show(&form, *enabled, false);
                    set_revision(&form, *revision);
                }
                Err(_) => show(&form, !on, false),
            }
        }
        news.set(Some(match answer {
            Ok(Switched { enabled: on, .. }) if undoing => News::Undone { pair, on },
            Ok(Switched { enabled: on, .. }) => News::Switched { pair, on },
            Err(error) => News::Refused(error),
        }));
    });
}

/// The switches of a flag in an environment; a page may have several.
fn forms(pair: &Pair) -> Vec<web_sys::HtmlFormElement> {
    let all = document().query_selector_all(".switch-form");
    let all = all.map(|all| elements(&all)).unwrap_or_default();
    let value = |form: &web_sys::Element, name: &str| {
        let input = form.query_selector(&format!("[name={name}]")).ok()??;
        input.get_attribute("value")
    };
    all.into_iter()
        .filter(|form| value(form, "flag") == Some(pair.flag.to_string()))
        .filter(|form| value(form, "environment") == Some(pair.environment.to_string()))
        .filter_map(|form| form.dyn_into().ok())
        .collect()
}

fn button(form: &web_sys::HtmlFormElement) -> Option<web_sys::Element> {
    form.query_selector("button").ok()?
}

fn is_on(form: &web_sys::HtmlFormElement) -> bool {
    button(form).and_then(|button| button.get_attribute("aria-checked")) == Some("true".to_owned())
}

fn is_busy(form: &web_sys::HtmlFormElement) -> bool {
    button(form).is_some_and(|button| button.has_attribute("aria-busy"))
}

/// Draws a switch as the server would.
fn show(form: &web_sys::HtmlFormElement, on: bool, busy: bool) {
    let Some(button) = button(form) else {
        return;
    };
    let partly = button.get_attribute("data-partly");
    let (state, word) = match (on, partly) {
        (false, _) => ("off", "Off".to_owned()),
        (true, None) => ("on", "On".to_owned()),
        (true, Some(partly)) => ("partly", partly),
    };
    set(&button, "aria-checked", &on.to_string());
    set(&button, "value", &(!on).to_string());
    set(&button, "data-state", state);
    if busy {
        set(&button, "aria-busy", "true");
    } else {
        _ = button.remove_attribute("aria-busy");
    }
    if let Ok(Some(shown)) = button.query_selector(".switch-word") {
        shown.set_text_content(Some(&word));
    }
}

fn revision(form: &web_sys::HtmlFormElement) -> Option<i64> {
    let input = form.query_selector("[name=revision]").ok()??;
    input.get_attribute("value")?.parse().ok()
}

fn set_revision(form: &web_sys::HtmlFormElement, revision: i64) {
    if let Ok(Some(input)) = form.query_selector("[name=revision]") {
        set(&input, "value", &revision.to_string());
    }
}

/// Sets an attribute; of these names none is refused.
fn set(element: &web_sys::Element, name: &str, value: &str) {
    _ = element.set_attribute(name, value);
}

/// Takes the news away after a while, unless somebody is about to use it.
fn forget_later(news: RwSignal<Option<News>>, toast: NodeRef<html::Div>) {
    let told = news.get_untracked();
    set_timeout(
        move || {
            if news.get_untracked() != told {
                return;
            }
            let in_use = toast
                .get_untracked()
                .and_then(|toast| toast.query_selector(":hover, :focus-visible").ok()?);
            match in_use {
                Some(_) => forget_later(news, toast),
                None => news.set(None),
            }
        },
        PATIENCE,
    );
}

/// Asks before switching where that looks dangerous.
#[component]
fn Question(asked: RwSignal<Option<(Pair, bool)>>, confirm: Callback<()>) -> impl IntoView {
    let dialog = NodeRef::<html::Dialog>::new();
    Effect::new(move || {
        let Some(dialog) = dialog.get() else {
            return;
        };
        if asked.with(Option::is_some) {
            _ = dialog.show_modal();
        } else {
            dialog.close();
        }
    });
    let verb = move || match asked.get() {
        Some((_, false)) => "Turn off",
        _ => "Turn on",
    };
    let title = move || {
        asked
            .get()
            .map(|(pair, _)| format!("{} {} in {}?", verb(), pair.name, pair.place))
    };
    view! {
        <dialog
            class="dialog"
            node_ref=dialog
            aria-labelledby="question-title"
            aria-describedby="question-effect"
            on:close=move |_| asked.set(None)
        >
            <h2 id="question-title">{title}</h2>
            <p id="question-effect">{move || asked.get().map(|(pair, on)| effect(&pair, on))}</p>
            <div class="form-actions">
                <button class="button primary" type="button" on:click=move |_| confirm.run(())>
                    {move || asked.get().map(|(pair, _)| format!("{} in {}", verb(), pair.place))}
                </button>
                <button class="button" type="button" autofocus on:click=move |_| asked.set(None)>
                    "Cancel"
                </button>
            </div>
        </dialog>
    }
}

/// What switching will do.
fn effect(pair: &Pair, on: bool) -> String {
    if let (true, Some(sentence)) = (on, &pair.when_on) {
        return format!("As soon as applications hear of it: {sentence}");
    }
    match (on, &pair.partly) {
        (false, _) => {
            "It will be off for everyone there, as soon as applications hear of it.".to_owned()
        }

        (true, None) => {
            "It will be on for everyone there, as soon as applications hear of it.".to_owned()
        }
        (true, Some(partly)) => {
            format!("It will be on for some there, as soon as applications hear of it: {partly}.")
        }
    }
}

/// What has happened, and the way back.
#[component]
fn Toast(told: News, news: RwSignal<Option<News>>) -> impl IntoView {
    let state = |on: bool| if on { "on" } else { "off" };
    let (class, text, undo) = match told {
        News::Switched { pair, on } => {
            let text = format!("{} is {} in {}.", pair.name, state(on), pair.place);
            let undo = view! {
                <button class="button" type="button" on:click=move |_| switch(pair.clone(), !on, true, news)>
                    "Undo"
                </button>
            };
            ("toast", text.into_any(), Some(undo))
        }
        News::Undone { pair, on } => {
            let text = format!("{} is {} again in {}.", pair.name, state(on), pair.place);
            ("toast", text.into_any(), None)
        }
        News::Refused(error) => {
            let next = match error {
                AdminError::SignedOut => Some(("/dashboard/login", "Sign in")),
                AdminError::Stale => Some(("", "See how it stands")),
                _ => None,
            };
            let next = next.map(|(href, words)| view! { " " <a href=href>{words}</a> });
            let text = view! {
                <strong>"Not switched. "</strong>
                {error.to_string()}
                {next}
            };
            ("toast danger", text.into_any(), None)
        }
    };
    let role = class.ends_with("danger").then_some("alert");
    view! {
        <div class=class role=role>
            <p>{text}</p>
            {undo}
            <button class="icon-button" type="button" aria-label="Close" on:click=move |_| news.set(None)>
                <Drawing icon=Icon::Close/>
            </button>
        </div>
    }
}
