//! The clone of an environment, and its key, which is shown once.

use leptos::prelude::*;
use pennon_model::{
    environment::{Environment, EnvironmentStatus},
    id::EnvironmentId,
};

use super::new_environment::check_product;
use super::path_id;
use crate::{
    components::{
        field::{Field, Input},
        form_actions::FormActions,
        frame::Section,
        new_key::new_key,
        page::page,
        page_head::PageHead,
        refusal::RefusalNotice,
        title::Title,
        visibility_fields::VisibilityFields,
    },
    error::AdminError,
    form::Form,
    form_page::{FormState, handle_form},
    html::{Html, html},
    port::{
        environments::{EnvironmentAdmin, NewEnvironment},
        signed_in, signed_in_user,
    },
    routes,
    scope::known_products,
};

/// The fields of the form; a conflict concerns the first.
const FIELDS: &[&str] = &["name", "product", "clientRules"];

/// A form that posts to this page. Only the response shows the new key.
#[component]
pub fn CloneEnvironmentPage() -> impl IntoView {
    let id = path_id::<EnvironmentId>("id");
    page(Section::Environments, "Environments", async move {
        let id = id?;
        let render = async move |state: FormState| {
            if state.form.is_none() && !signed_in_user()?.may_create_environments() {
                return Err(AdminError::Forbidden);
            }
            let environments = signed_in::<dyn EnvironmentAdmin>()?;
            let original = environments.environment(id).await?.environment;
            if original.status == EnvironmentStatus::Revoked {
                return Err(AdminError::NotFound);
            }
            let name = environments.naming().await?.name_of(&original);
            let products = known_products().await;
            Ok(view! { <CloneForm original name products state/> })
        };
        handle_form(|form| clone(id, form), render).await
    })
}

async fn clone(id: EnvironmentId, form: Form) -> Result<Html, AdminError> {
    let environments = signed_in::<dyn EnvironmentAdmin>()?;
    check_product(&form).await?;
    let cloned = environments.clone_environment(id, NewEnvironment::from(&form));
    new_key(cloned.await?, None).await
}

#[component]
fn CloneForm(
    original: Environment,
    /// The name of the original, with its product if there are several.
    name: String,
    products: Vec<String>,
    state: FormState,
) -> impl IntoView {
    let refusal = state.refusal(FIELDS);
    let fresh = refusal.fields.is_empty();
    let back = routes::environment(original.id);
    html! {
        <Title text=format!("Clone {name} · Environments")/>
        <PageHead
            above=Section::Environments
            between=(back.clone(), name.clone())
            title=format!("Clone {name}")
        />
        <form class="form" method="post">
            <RefusalNotice error=refusal.other.clone()/>
            <p>
                "The clone gets the switches, rules and rollouts of every flag, and its own key. Usage is not cloned."
            </p>
            <Field
                name="name"
                label="Name"
                input=Input::Line
                hint="The place where the product runs."
                example="load test"
                max_length=64
                focus=fresh
                refusal=refusal.clone()
            />
            <Field
                name="product"
                label="Product"
                input=Input::Line
                hint="In another product, flags that are limited to other products do not exist."
                max_length=64
                value=original.product.to_string()
                suggestions=products
                refusal=refusal.clone()
            />
            <VisibilityFields
                visibility=original.visibility
                client_rules=original.client_rules
                refusal
            />
            <p class="hint">"The next page shows the SDK key once."</p>
            <FormActions action="Clone environment" back/>
        </form>
    }
}
