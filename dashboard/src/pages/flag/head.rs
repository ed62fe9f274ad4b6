//! The name, the description, the scope and the metadata of a flag, with archiving and restoring.

use std::collections::BTreeSet;

use leptos::prelude::*;
use pennon_model::{
    flag::Flag,
    metadata::{FlagKind, FlagMetadata, FlagTags},
    time::Timestamp,
};

use super::{PageData, actions::Action, address::Edit, metadata::metadata};
use crate::{
    components::{
        copy_button::CopyButton,
        field::{Field, Input},
        form_actions::FormActions,
        frame::Section,
        icon::Icon,
        link_button::LinkButton,
        metadata_fields::{self, MetadataFields},
        notice::{Notice, Severity},
        page_head::Crumbs,
        product_fields::{self, ProductFields, ProductForm},
        public_field::PublicField,
        public_tag::PublicTag,
        refusal::RefusalNotice,
        time::Time,
    },
    describe,
    error::AdminError,
    form::Form,
    html::{Html, IntoHtml as _, html},
    port::{flag_page::FlagDetails, flags::MetadataForm},
};

/// The fields of the form, without those of the metadata.
const FIELDS: &[&str] = &["name", "description", product_fields::FIELD];

/// Renders the head of the page.
pub(super) fn head(page: &PageData) -> Html {
    if page.edit == Edit::Details {
        return editor(page);
    }
    let flag = &page.detail.flag;
    let key = flag.key.to_string();
    let label = format!("Copy the key {key}");
    let copy = view! { <CopyButton text=key label show_label=false/> };
    let description = flag.description.as_ref().map(|text| {
        view! { <p class="flag-description">{text.as_str().to_owned()}</p> }
    });
    let actions = (page.is_flag_editor && !page.is_archived()).then(|| {
        html! {
            <div class="page-actions">
                <LinkButton href=page.address.editing(Edit::Details) icon=Icon::PENCIL label="Edit"/>
                <form method="post" action=page.address.href()>
                    {page.hidden(Action::Archive, Some(flag.revision))}
                    <button class="button">"Archive"</button>
                </form>
            </div>
        }
    });
    html! {
        {names(page, copy, description, actions)}
        {archived(page)}
    }
}

/// Renders the name with the given parts beside its key, beneath it, and at the end.
fn names(
    page: &PageData,
    copy: impl IntoView,
    description: impl IntoView,
    actions: impl IntoView,
) -> Html {
    let flag = &page.detail.flag;
    let public = flag.is_public.then(|| {
        view! { <PublicTag title="Exists in public environments, too"/> }
    });
    let archived = page
        .is_archived()
        .then(|| view! { " " <span class="tag">"Archived"</span> });
    html! {
        <header class="page-head flag-head">
            <Crumbs section=Section::Flags/>
            <div class="flag-names">
                <h1>{flag.name.to_string()} {archived}</h1>
                <div class="flag-key">
                    <code>{flag.key.to_string()}</code>
                    {copy}
                    {public}
                </div>
                {products(page)}
                {description}
                {metadata(&flag.metadata)}
            </div>
            {actions}
        </header>
    }
}

/// Renders the products of the flag, if it is limited to some.
fn products(page: &PageData) -> Option<Html> {
    let products = page.detail.flag.products.as_ref()?.iter();
    let products = products.map(|product| view! { <li class="tag">{product.to_string()}</li> });
    let products = products.collect_view();
    Some(html! { <ul class="flag-products" aria-label="Products">{products}</ul> })
}

/// Renders the notice that the flag is archived, with the button to restore it.
fn archived(page: &PageData) -> Option<Html> {
    let at = page.detail.flag.archived_at?;
    let restore = page.is_flag_editor.then(|| {
        view! {
            <form method="post" action=page.address.href()>
                {page.hidden(Action::Restore, Some(page.detail.flag.revision))}
                <button class="button">"Restore"</button>
            </form>
        }
    });
    let notice = view! {
        <Notice severity=Severity::Warning>
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
pub(super) fn still_on(page: &PageData) -> Html {
    let on = page
        .detail
        .environments
        .iter()
        .filter(|(_, cell)| cell.is_some_and(|cell| cell.enabled));
    let links = on.map(|(environment, _)| {
        let href = page.address.href_in(environment);
        view! {
            <li>
                <a href=href>{page.name_of(environment)}</a>
            </li>
        }
    });
    let links = links.collect_view();
    html! {
        <Notice severity=Severity::Danger>
            <strong>"Not archived. "</strong>
            "Switch the flag off in these environments first:"
            <ul class="inline-list">{links}</ul>
        </Notice>
    }
}

/// Renders the form for the name, the description, the scope and the metadata.
fn editor(page: &PageData) -> Html {
    let flag = &page.detail.flag;
    let archived = page.is_archived().then(|| archived_meanwhile(page));
    let conflict = match page.error() {
        Some(AdminError::Conflict(detail)) if archived.is_none() => {
            Some(still_on_elsewhere(detail.clone()))
        }
        _ => None,
    };
    let mut refusal = page.form_refusal(&[FIELDS, metadata_fields::FIELDS].concat());
    if conflict.is_some() || archived.is_some() {
        refusal.fields.clear();
    }
    let description = flag.description.as_ref();
    let description = description.map(|text| text.as_str().to_owned());
    let current = ProductForm::from(flag.products.as_ref());
    let is_stale = page.is_stale() && archived.is_none();
    let stale = page.posted_form().filter(|_| is_stale);
    let stale = stale.map(|form| changed_meanwhile(flag, &FlagDetails::from(form)));
    let revision = |form: &Form| form.parsed("revision");
    let revision = page.state.expected(revision, flag.revision);
    html! {
        {names(page, (), (), ())}
        <form class="panel form details-form" method="post" action=page.address.editing(Edit::Details)>
            {archived}
            {stale}
            <RefusalNotice error=refusal.other.clone()/>
            {page.hidden(Action::Details, Some(revision))}
            <Field
                name="name"
                label="Name"
                input=Input::Line
                max_length=200
                value=flag.name.to_string()
                focus=refusal.fields.is_empty() && conflict.is_none()
                refusal=refusal.clone()
            />
            <Field
                name="description"
                label="Description"
                input=Input::Text
                hint="What the flag is for, and when to remove it."
                optional=true
                max_length=2000
                value=description.unwrap_or_default()
                refusal=refusal.clone()
            />
            <ProductFields
                products=page.extras.products.clone()
                current
                user=page.user.clone()
                refusal=refusal.clone()
            />
            <PublicField current=flag.is_public refusal=refusal.clone()/>
            <MetadataFields current=flag.metadata.clone() refusal/>
            {conflict}
            <FormActions action="Save" back=page.address.href()/>
        </form>
    }
}

/// Renders the notice that somebody else archived the flag first, with a link to the page that restores it.
fn archived_meanwhile(page: &PageData) -> Html {
    let here = page.address.href();
    html! {
        <Notice severity=Severity::Danger>
            <strong>"Not saved. "</strong>
            "The flag was archived meanwhile. What you typed is still here: "
            <a href=here target="_blank">
                "restore the flag in another tab"
            </a>
            ", then save. The first time, you see the current values; saving again replaces them."
        </Notice>
    }
}

/// Renders the notice that somebody else changed the flag first, with the saved values that differ from the typed ones.
fn changed_meanwhile(flag: &Flag, typed: &FlagDetails) -> Html {
    let typed_products = typed.products.clone().map(BTreeSet::from_iter);
    let typed_products = typed_products.map(|names| Vec::from_iter(names).join(", "));
    let typed_products = typed_products.unwrap_or_else(|| describe::products(None));
    let saved = [
        ("Name", flag.name.to_string(), typed.name.clone()),
        (
            "Description",
            optional(flag.description.as_ref()),
            typed.description.clone(),
        ),
        (
            "Products",
            describe::products(flag.products.as_ref()),
            typed_products,
        ),
        (
            "Public",
            yes_or_no(flag.is_public),
            yes_or_no(typed.is_public),
        ),
    ];
    let differences = saved
        .into_iter()
        .chain(saved_metadata(&flag.metadata, &typed.metadata));
    let differences = differences.filter(|(_, saved, typed)| saved != typed);
    let differences = differences.map(|(label, saved, _)| {
        let saved = Some(saved).filter(|saved| !saved.is_empty());
        let saved = saved.unwrap_or_else(|| "none".to_owned());
        html! { <li>{format!("{label}: ")} <strong>{saved}</strong></li> }
    });
    html! {
        <Notice severity=Severity::Danger>
            {AdminError::Stale.to_string()}
            " What you typed is still here; saving it replaces the current values."
            <ul>{differences.collect_view()}</ul>
        </Notice>
    }
}

/// Returns the labels of the metadata, with the saved and the typed values.
fn saved_metadata(
    saved: &FlagMetadata,
    typed: &MetadataForm,
) -> [(&'static str, String, String); 4] {
    let date = |text: &str| text.get(..10).unwrap_or_default().to_owned();
    let expires_at = saved.expires_at.map(Timestamp::from);
    [
        (
            "Tags",
            saved.tags.to_string(),
            optional(FlagTags::parse_list(&typed.tags).ok()),
        ),
        (
            "Owner",
            optional(saved.owner.as_ref()),
            typed.owner.trim().to_owned(),
        ),
        (
            "Kind",
            optional(saved.kind.map(describe::kind)),
            optional(FlagKind::parse(&typed.kind).ok().map(describe::kind)),
        ),
        (
            "Expires",
            date(&optional(expires_at)),
            date(&typed.expires_at),
        ),
    ]
}

fn optional(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

fn yes_or_no(value: bool) -> String {
    if value { "yes" } else { "no" }.to_owned()
}

/// Renders the refusal to take the flag out of environments in which it is on, with the field that switches it off.
fn still_on_elsewhere(detail: String) -> Html {
    html! {
        <Notice severity=Severity::Danger>
            <p>
                <strong>"Not saved. "</strong>
                {detail}
            </p>
            <label class="check">
                <input type="checkbox" name="disable" value="yes" autofocus=true/>
                "Switch it off there and save"
            </label>
        </Notice>
    }
}
