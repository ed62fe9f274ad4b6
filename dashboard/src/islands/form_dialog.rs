//! A page with a form, opened over the page at hand.

use leptos::{ev, html, prelude::*, task::spawn_local, web_sys};
use wasm_bindgen::JsCast;

use super::{
    dom::target,
    fetch::{self, Fetched},
};
use crate::components::icon::{Drawing, Icon};

/// Where the service leads who is not signed in any more.
const SIGN_IN: &str = "/dashboard/login";

/// A link to a page with a form, which opens that form in a dialog instead.
///
/// The form is the one that the page marks with `data-form`. It is sent where the page would send it; what comes back is
/// either the same form with what was wrong, or the page to go on to. Without scripts it is a link.
#[island]
pub fn FormDialog(
    /// The address of the page.
    href: String,
    /// What the link says, and the dialog's title.
    title: String,
) -> impl IntoView {
    let dialog = NodeRef::<html::Dialog>::new();
    let place = NodeRef::<html::Div>::new();
    let lost = RwSignal::new(false);
    let opening = StoredValue::new(false);
    let open = {
        let href = href.clone();
        move |event: ev::MouseEvent| {
            if event.ctrl_key() || event.meta_key() || event.shift_key() {
                return;
            }
            event.prevent_default();
            if opening.get_value() {
                return;
            }
            opening.set_value(true);
            let href = href.clone();
            spawn_local(async move {
                let shown = match fetch::get(&href).await {
                    Some(fetched) => show(fetched, place).await,
                    None => false,
                };
                opening.set_value(false);
                match dialog.get_untracked() {
                    Some(dialog) if shown => _ = dialog.show_modal(),
                    // The page itself says what is the matter.
                    _ => go_to(&href),
                }
            });
        }
    };
    let send = {
        let href = href.clone();
        move |event: ev::SubmitEvent| {
            let form = target(&event)
                .and_then(|target| target.dyn_into::<web_sys::HtmlFormElement>().ok());
            let Some(form) = form.filter(|form| form.has_attribute("data-form")) else {
                return;
            };
            event.prevent_default();
            let href = href.clone();
            spawn_local(async move {
                set_busy(&form, true);
                lost.set(false);
                let Some(fetched) = fetch::post(&href, &form).await else {
                    set_busy(&form, false);
                    lost.set(true);
                    return;
                };
                let url = fetched.url.clone();
                if show(fetched, place).await {
                    return;
                }
                if url.contains(SIGN_IN) {
                    // Sent by the browser itself, it comes along to the sign-in and is sent on from there.
                    form.set_action(&href);
                    form.set_method("post");
                    _ = form.submit();
                } else if url.ends_with(&href) {
                    // Something on the way has answered, not the page.
                    set_busy(&form, false);
                    lost.set(true);
                } else {
                    go_to(&url);
                }
            });
        }
    };
    let close = move || {
        if let Some(dialog) = dialog.get_untracked() {
            dialog.close();
        }
    };
    let cancel = move |event: ev::MouseEvent| {
        let pressed = target(&event).map(|target| target.closest("[data-cancel]"));
        if matches!(pressed, Some(Ok(Some(_)))) {
            event.prevent_default();
            close();
        }
    };
    let words = title.clone();
    view! {
        <a class="button primary" href=href on:click=open>
            <Drawing icon=Icon::Plus/>
            {words}
        </a>
        <dialog class="dialog" node_ref=dialog aria-label=title.clone() on:submit=send on:click=cancel>
            <div class="dialog-head">
                <h2>{title.clone()}</h2>
                <button class="icon-button" type="button" aria-label="Close" on:click=move |_| close()>
                    <Drawing icon=Icon::Close/>
                </button>
            </div>
            <p class="hint" role="alert">
                {move || {
                    lost.get().then_some("The service cannot be reached. What you typed is still here; try again.")
                }}
            </p>
            <div node_ref=place></div>
        </dialog>
    }
}

/// Shows the form of a page, alive, with the focus where the page wants it. False if the page has none.
async fn show(fetched: Fetched, place: NodeRef<html::Div>) -> bool {
    let form = fetched
        .document
        .query_selector("form[data-form]")
        .ok()
        .flatten();
    let (Some(form), Some(place)) = (form, place.get_untracked()) else {
        return false;
    };
    place.replace_children_with_node_1(&form);
    fetch::hydrate(&form).await;
    let first = form.query_selector("[autofocus]").ok().flatten();
    if let Some(first) = first.and_then(|first| first.dyn_into::<web_sys::HtmlElement>().ok()) {
        _ = first.focus();
    }
    true
}

/// Has the form wait for an answer, so that nobody sends it twice.
fn set_busy(form: &web_sys::HtmlFormElement, busy: bool) {
    if let Ok(Some(button)) = form.query_selector("button:not([type=button])") {
        _ = button.toggle_attribute_with_force("disabled", busy);
    }
}

fn go_to(url: &str) {
    _ = window().location().set_href(url);
}
