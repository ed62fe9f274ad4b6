//! Creating an environment, and its key, which is seen once.

use leptos::prelude::*;

use crate::{
    components::{
        answer::answer,
        field::{Field, Input},
        frame::{Frame, Section},
        new_key::NewKey,
        refusal::{Refusal, RefusalNotice},
        title::Title,
    },
    error::AdminError,
    form::Form,
    html::IntoHtml as _,
    port::{
        environments::{CreatedEnvironment, EnvironmentAdmin, NewEnvironment},
        signed_in, signed_in_user, visit,
    },
};

/// The fields of the form; a conflict is about the first.
const FIELDS: &[&str] = &["name", "product"];

/// A form that posts to this page.
///
/// The answer to that post is the only thing that ever shows the new key: it is not kept for a later page, so there is
/// nothing to lose between two instances and nothing in a URL, a cookie or a log.
#[component]
pub fn NewEnvironmentPage() -> impl IntoView {
    let page = answer(async move {
        let visit = visit()?;
        let Some(new) = visit.form().map(|form| NewEnvironment::from(&form)) else {
            signed_in_user()?;
            let new = NewEnvironment::default();
            return Ok(view! { <NewEnvironmentForm new refusal=Refusal::default()/> }.into_html());
        };
        Ok(match create(new.clone()).await {
            Ok(created) => {
                let naming = signed_in::<dyn EnvironmentAdmin>()?.naming().await;
                // The key is seen here or never.
                let naming = naming.unwrap_or_default();
                view! { <NewKey created naming base_url=visit.base_url() npmrc=visit.npmrc()/> }
                    .into_html()
            }
            Err(error) => {
                visit.set_status(error.status());
                let refusal = Refusal::new(error, FIELDS);
                view! { <NewEnvironmentForm new refusal/> }.into_html()
            }
        })
    });
    view! {
        <Title text="New environment · Environments"/>
        <Frame section=Section::Environments>{page}</Frame>
    }
}

async fn create(new: NewEnvironment) -> Result<CreatedEnvironment, AdminError> {
    signed_in::<dyn EnvironmentAdmin>()?
        .create_environment(new)
        .await
}

impl From<&Form> for NewEnvironment {
    fn from(form: &Form) -> Self {
        Self {
            product: form.text("product"),
            name: form.text("name"),
        }
    }
}

#[component]
fn NewEnvironmentForm(new: NewEnvironment, refusal: Refusal) -> impl IntoView {
    let Refusal { fields, other } = refusal;
    let fresh = fields.is_empty();
    view! {
        <header class="page-head">
            <nav class="crumbs" aria-label="Breadcrumbs">
                <a href=Section::Environments.href()>"Environments"</a>
            </nav>
            <h1>"New environment"</h1>
        </header>
        <form class="form" method="post">
            <RefusalNotice error=other/>
            <Field
                name="product"
                label="Product"
                input=Input::Line
                hint="The application or group of services that it belongs to."
                example="Web shop"
                longest=64
                value=new.product
                focus=fresh
                errors=fields.clone()
            />
            <Field
                name="name"
                label="Name"
                input=Input::Line
                hint="The place where it runs."
                example="production"
                longest=64
                value=new.name
                errors=fields
            />
            <p class="hint">
                "You will see its key once, on the next page. Every active flag is there from the start, switched off."
            </p>
            <div class="form-actions">
                <button class="button primary">"Create environment"</button>
                <a class="button" href=Section::Environments.href()>
                    "Cancel"
                </a>
            </div>
        </form>
    }
}
