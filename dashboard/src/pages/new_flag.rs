//! Creating a flag.

use leptos::prelude::*;
use pennon_model::flag::Flag;

use crate::{
    components::{
        answer::answer,
        field::{Field, Input},
        frame::{Frame, Section},
        refusal::{Refusal, RefusalNotice},
        title::Title,
    },
    error::AdminError,
    form::Form,
    port::{
        flags::{FlagAdmin, NewFlag},
        signed_in, signed_in_user, visit,
    },
    routes,
};

/// The fields of the form; a conflict is about the first.
const FIELDS: &[&str] = &["key", "name", "description", "type"];

const TYPES: &[(&str, &str)] = &[
    ("boolean", "Boolean"),
    ("string", "String"),
    ("multivariate", "Multivariate"),
];

/// A form that posts to this page. A created flag leads to its page; a refused one stays as it was typed.
#[component]
pub fn NewFlagPage() -> impl IntoView {
    let page = answer(async move {
        let visit = visit()?;
        let Some(new) = visit.form().map(|form| NewFlag::from(&form)) else {
            signed_in_user()?;
            return Ok(view! { <NewFlagForm new=NewFlag::default() refusal=Refusal::default()/> });
        };
        let refusal = match create(new.clone()).await {
            Ok(flag) => {
                visit.redirect(&routes::flag(flag.key.as_str()));
                Refusal::default()
            }
            Err(error) => {
                visit.set_status(error.status());
                Refusal::new(error, FIELDS)
            }
        };
        Ok(view! { <NewFlagForm new refusal/> })
    });
    view! {
        <Title text="New flag · Flags"/>
        <Frame section=Section::Flags>{page}</Frame>
    }
}

async fn create(new: NewFlag) -> Result<Flag, AdminError> {
    signed_in::<dyn FlagAdmin>()?.create_flag(new).await
}

impl From<&Form> for NewFlag {
    fn from(form: &Form) -> Self {
        Self {
            key: form.text("key"),
            name: form.text("name"),
            description: form.text("description"),
            kind: form.text("type"),
        }
    }
}

#[component]
fn NewFlagForm(new: NewFlag, refusal: Refusal) -> impl IntoView {
    let Refusal { fields, other } = refusal;
    let fresh = fields.is_empty();
    view! {
        <header class="page-head">
            <nav class="crumbs" aria-label="Breadcrumbs">
                <a href=Section::Flags.href()>"Flags"</a>
            </nav>
            <h1>"New flag"</h1>
        </header>
        <form class="form" method="post" data-form>
            <RefusalNotice error=other/>
            <Field
                name="name"
                label="Name"
                input=Input::Line
                hint="What people call it."
                example="New checkout"
                longest=200
                value=new.name
                focus=fresh
                errors=fields.clone()
            />
            <Field
                name="key"
                label="Key"
                input=Input::Code
                hint="What code asks for. It can never be changed or used again, so that no application is taken by surprise."
                example="new_checkout"
                longest=128
                value=new.key
                errors=fields.clone()
            />
            <p class="key-check" role="status"></p>
            <Field
                name="description"
                label="Description"
                input=Input::Text
                hint="What it is for, and when it can go."
                optional=true
                longest=2000
                value=new.description
                errors=fields.clone()
            />
            <Field
                name="type"
                label="Type"
                input=Input::Choice(TYPES)
                hint="Every type answers on or off today; Boolean is almost always the one."
                value=new.kind
                errors=fields
            />
            <p class="hint">"A new flag is off in every environment."</p>
            <div class="form-actions">
                <button class="button primary">"Create flag"</button>
                <a class="button" href=Section::Flags.href() data-cancel>
                    "Cancel"
                </a>
            </div>
        </form>
    }
}
