//! The creation of a flag.

use leptos::prelude::*;
use pennon_model::user::User;

use crate::{
    components::{
        check_field::is_checked,
        field::{Field, Input},
        form_actions::FormActions,
        frame::Section,
        metadata_fields::{self, MetadataFields},
        page::page,
        page_head::PageHead,
        product_fields::{self, ProductFields, ProductForm},
        public_field::{PUBLIC, PublicField},
        refusal::RefusalNotice,
    },
    error::AdminError,
    form::Form,
    form_page::{FormState, handle_form, redirect},
    html::Html,
    port::{
        flags::{FlagAdmin, MetadataForm, NewFlag},
        signed_in, signed_in_user,
    },
    routes,
    scope::known_products,
};

/// The fields of the form, without those of the metadata; a conflict concerns the first.
const FIELDS: &[&str] = &["key", "name", "description", "type", product_fields::FIELD];

const TYPES: &[(&str, &str)] = &[
    ("boolean", "Boolean"),
    ("string", "String"),
    ("multivariate", "Multivariate"),
];

/// A form that posts to this page. Success redirects to the flag's page; an error keeps the input.
#[component]
pub fn NewFlagPage() -> impl IntoView {
    let render = async |state| {
        let user = signed_in_user()?;
        if !user.may_edit_flags() {
            return Err(AdminError::Forbidden);
        }
        let products = known_products().await;
        let current = ProductForm::of_editor(&user);
        Ok(view! { <NewFlagForm state products current user/> })
    };
    page(
        Section::Flags,
        "New flag · Flags",
        handle_form(create, render),
    )
}

async fn create(form: Form) -> Result<Html, AdminError> {
    let new = NewFlag::from(&form);
    let flag = signed_in::<dyn FlagAdmin>()?.create_flag(new).await;
    let flag = flag.map_err(|error| {
        error.about("with a change in", || {
            format!("Create {}", form.text("key"))
        })
    })?;
    redirect(&routes::flag(flag.key.as_str()))
}

impl From<&Form> for NewFlag {
    fn from(form: &Form) -> Self {
        Self {
            key: form.text("key"),
            name: form.text("name"),
            description: form.text("description"),
            flag_type: form.text("type"),
            products: ProductForm::read(form).and_then(ProductForm::into_products),
            is_public: is_checked(form, PUBLIC),
            metadata: MetadataForm::from(form),
        }
    }
}

#[component]
fn NewFlagForm(
    state: FormState,
    products: Vec<String>,
    current: ProductForm,
    user: User,
) -> impl IntoView {
    let refusal = state.refusal(&[FIELDS, metadata_fields::FIELDS].concat());
    let fresh = refusal.fields.is_empty();
    view! {
        <PageHead above=Section::Flags title="New flag"/>
        <form class="form" method="post" data-form>
            <RefusalNotice error=refusal.other.clone()/>
            <Field
                name="name"
                label="Name"
                input=Input::Line
                hint="Shown in the dashboard."
                example="New checkout"
                max_length=200
                focus=fresh
                refusal=refusal.clone()
            />
            <Field
                name="key"
                label="Key"
                input=Input::Code
                hint="The name of the flag in code. It can never change or be reused, because applications depend on it."
                example="new_checkout"
                max_length=128
                refusal=refusal.clone()
            />
            <p class="key-check" role="status"></p>
            <Field
                name="description"
                label="Description"
                input=Input::Text
                hint="What the flag is for, and when to remove it."
                optional=true
                max_length=2000
                refusal=refusal.clone()
            />
            <Field
                name="type"
                label="Type"
                input=Input::Choice(TYPES)
                hint="For now, flags of every type are on or off. If in doubt, choose Boolean."
                refusal=refusal.clone()
            />
            <ProductFields products current user refusal=refusal.clone()/>
            <PublicField current=false refusal=refusal.clone()/>
            <MetadataFields refusal/>
            <p class="hint">"A new flag is off in every environment."</p>
            <FormActions action="Create flag" back=Section::Flags.href()/>
        </form>
    }
}
