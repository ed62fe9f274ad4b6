//! The creation of an environment, and its key, which is shown once.

use leptos::prelude::*;
use pennon_model::environment::{ClientRules, Visibility};

use crate::{
    components::{
        check_field::is_checked,
        field::{Field, Input},
        form_actions::FormActions,
        frame::Section,
        new_key::new_key,
        page::page,
        page_head::PageHead,
        refusal::RefusalNotice,
        safeguard_fields::{PROTECTED, REASON_REQUIRED, ReasonRequiredField},
        visibility_fields::{CLIENT_RULES, VISIBILITY, VisibilityFields},
    },
    error::AdminError,
    form::Form,
    form_page::{FormState, handle_form},
    html::Html,
    port::{
        environments::{EnvironmentAdmin, NewEnvironment},
        signed_in, signed_in_user,
    },
    scope::{known_products, product},
};

/// The choices for the protection of the environment.
const PROTECTION: &[(&str, &str)] = &[
    ("", "If its name suggests production"),
    ("yes", "Yes, protect it"),
    ("no", "No"),
];

/// The fields of the form; a conflict concerns the first.
const FIELDS: &[&str] = &["name", "product"];

/// A form that posts to this page.
///
/// Only the response shows the new key. The server does not keep it for a later page, so instances need no shared
/// state, and no URL, cookie or log contains it.
#[component]
pub fn NewEnvironmentPage() -> impl IntoView {
    let render = async |state: FormState| {
        if state.form.is_none() && !signed_in_user()?.may_create_environments() {
            return Err(AdminError::Forbidden);
        }
        let products = known_products().await;
        Ok(view! { <NewEnvironmentForm products state/> })
    };
    let title = "New environment · Environments";
    page(Section::Environments, title, handle_form(create, render))
}

async fn create(form: Form) -> Result<Html, AdminError> {
    let environments = signed_in::<dyn EnvironmentAdmin>()?;
    check_product(&form).await?;
    let created = environments.create_environment(NewEnvironment::from(&form));
    new_key(created.await?, None).await
}

/// Refuses a product whose name differs from that of an existing one only in case, which is probably a mistake.
pub(super) async fn check_product(form: &Form) -> Result<(), AdminError> {
    let typed = form.text("product");
    let known = known_products().await;
    let lower = typed.to_lowercase();
    let similar = known.iter().find(|each| each.to_lowercase() == lower);
    match similar.filter(|_| !known.contains(&typed)) {
        None => Ok(()),
        Some(product) => Err(AdminError::invalid(
            "product",
            format!(
                "the product “{product}” exists: spell it the same way, or choose another name"
            ),
        )),
    }
}

impl From<&Form> for NewEnvironment {
    fn from(form: &Form) -> Self {
        let visibility = text_or(form, VISIBILITY, Visibility::default().as_str());
        // The fields are hidden, but not empty, if the environment is not public.
        let client_rules = if visibility == Visibility::Public.as_str() {
            text_or(form, CLIENT_RULES, ClientRules::default().as_str())
        } else {
            ClientRules::default().to_string()
        };
        Self {
            product: form.text("product"),
            name: form.text("name"),
            visibility,
            client_rules,
            is_protected: match form.text(PROTECTED).as_str() {
                "yes" => Some(true),
                "no" => Some(false),
                _ => None,
            },
            is_reason_required: is_checked(form, REASON_REQUIRED),
        }
    }
}

/// Returns the value of a field, or the default if the form has no such field.
fn text_or(form: &Form, field: &str, default: &str) -> String {
    let text = Some(form.text(field)).filter(|text| !text.is_empty());
    text.unwrap_or_else(|| default.to_owned())
}

#[component]
fn NewEnvironmentForm(products: Vec<String>, state: FormState) -> impl IntoView {
    let refusal = state.refusal(FIELDS);
    let fresh = refusal.fields.is_empty();
    view! {
        <PageHead above=Section::Environments title="New environment"/>
        <form class="form" method="post">
            <RefusalNotice error=refusal.other.clone()/>
            <Field
                name="product"
                label="Product"
                input=Input::Line
                hint="The application or group of services it belongs to."
                example="Web shop"
                max_length=64
                value=product().unwrap_or_default()
                suggestions=products
                focus=fresh
                refusal=refusal.clone()
            />
            <Field
                name="name"
                label="Name"
                input=Input::Line
                hint="The place where the product runs."
                example="production"
                max_length=64
                refusal=refusal.clone()
            />
            <VisibilityFields refusal=refusal.clone()/>
            <Field
                name=PROTECTED
                label="Ask before changes"
                input=Input::Choice(PROTECTION)
                hint="The dashboard asks before each change in a protected environment. Scripts are not asked."
                refusal=refusal.clone()
            />
            <ReasonRequiredField refusal/>
            <p class="hint">"The next page shows the SDK key once. Every flag is off at first."</p>
            <FormActions action="Create environment" back=Section::Environments.href()/>
        </form>
    }
}
