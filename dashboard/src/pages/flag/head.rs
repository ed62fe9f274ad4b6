//! The name and the description of a flag, with archiving and restoring.

use leptos::prelude::*;

use super::{
    Shown,
    actions::Action,
    address::{Address, Edit},
};
use crate::{
    components::{
        copy_button::CopyButton,
        field::{Field, Input},
        form_actions::FormActions,
        frame::Section,
        icon::Icon,
        link_button::LinkButton,
        notice::{Notice, Weight},
        page_head::Crumbs,
        refusal::{Refusal, RefusalNotice},
        time::Time,
    },
    error::AdminError,
    html::{Html, IntoHtml as _, html},
};

/// Renders the head of the page.
pub(super) fn head(shown: &Shown) -> Html {
    if shown.edit == Edit::Details {
        return editor(shown);
    }
    let flag = &shown.detail.flag;
    let key = flag.key.to_string();
    let label = format!("Copy the key {key}");
    let copy = view! { <CopyButton text=key label worded=false/> };
    let description = flag.description.as_ref().map(|text| {
        view! { <p class="flag-description">{text.as_str().to_owned()}</p> }
    });
    let actions = (shown.editor && !shown.archived()).then(|| {
        html! {
            <div class="page-actions">
                <LinkButton href=shown.address.editing(Edit::Details) icon=Icon::PENCIL label="Edit"/>
                <form method="post" action=shown.address.href()>
                    {shown.hidden(Action::Archive, Some(flag.revision))}
                    <button class="button">"Archive"</button>
                </form>
            </div>
        }
    });
    html! {
        {names(shown, copy, description, actions)}
        {archived(shown)}
    }
}

/// Renders the name with the given parts beside its key, beneath it, and at the end.
fn names(
    shown: &Shown,
    copy: impl IntoView,
    description: impl IntoView,
    actions: impl IntoView,
) -> Html {
    let flag = &shown.detail.flag;
    html! {
        <header class="page-head flag-head">
            <Crumbs section=Section::Flags/>
            <div class="flag-names">
                <h1>{flag.name.to_string()}</h1>
                <div class="flag-key">
                    <code>{flag.key.to_string()}</code>
                    {copy}
                </div>
                {description}
            </div>
            {actions}
        </header>
    }
}

/// Renders the notice that the flag is archived, with the button to restore it.
fn archived(shown: &Shown) -> Option<Html> {
    let at = shown.detail.flag.archived_at?;
    let restore = shown.editor.then(|| {
        view! {
            <form method="post" action=shown.address.href()>
                {shown.hidden(Action::Restore, Some(shown.detail.flag.revision))}
                <button class="button">"Restore"</button>
            </form>
        }
    });
    let notice = view! {
        <Notice weight=Weight::Warning>
            <div class="archived">
                <p>
                    <strong>"Archived "</strong>
                    <Time at/>
                    ". It is OFF everywhere and cannot be changed. After restoring, it stays off until you switch it on."
                </p>
                {restore}
            </div>
        </Notice>
    };
    Some(notice.into_html())
}

/// Lists the environments in which the flag is on, which prevent archiving it.
pub(super) fn still_on(shown: &Shown) -> Html {
    let on = shown
        .detail
        .environments
        .iter()
        .filter(|(_, cell)| cell.is_some_and(|cell| cell.enabled));
    let links = on.map(|(place, _)| {
        let address = Address::within(&shown.address, place.id);
        view! {
            <li>
                <a href=address.href()>{shown.name_of(place)}</a>
            </li>
        }
    });
    let links = links.collect_view();
    html! {
        <Notice weight=Weight::Danger>
            <strong>"Not archived. "</strong>
            "Switch the flag off in these environments first:"
            <ul class="inline-list">{links}</ul>
        </Notice>
    }
}

/// Renders the form for name and description.
fn editor(shown: &Shown) -> Html {
    let flag = &shown.detail.flag;
    let error = shown.error().filter(|error| **error != AdminError::Stale);
    let refusal = error.map(|error| Refusal::new(error.clone(), &["name", "description"]));
    let refusal = Refusal {
        form: shown.typed().cloned(),
        ..refusal.unwrap_or_default()
    };
    let description = flag.description.as_ref();
    let description = description.map(|text| text.as_str().to_owned());
    let called = flag.name.to_string();
    let stale = shown.stale().then(|| {
        view! {
            <Notice weight=Weight::Danger>
                {AdminError::Stale.to_string()} " It is now called " <strong>{called}</strong>
                ". What you typed is still here; saving it replaces that."
            </Notice>
        }
    });
    html! {
        {names(shown, (), (), ())}
        <form class="panel form details-form" method="post" action=shown.address.editing(Edit::Details)>
            {stale}
            <RefusalNotice error=refusal.other.clone()/>
            {shown.hidden(Action::Details, Some(flag.revision))}
            <Field
                name="name"
                label="Name"
                input=Input::Line
                longest=200
                value=flag.name.to_string()
                focus=refusal.fields.is_empty()
                refusal=refusal.clone()
            />
            <Field
                name="description"
                label="Description"
                input=Input::Text
                hint="What the flag is for, and when to remove it."
                optional=true
                longest=2000
                value=description.unwrap_or_default()
                refusal
            />
            <FormActions action="Save" back=shown.address.href()/>
        </form>
    }
}
