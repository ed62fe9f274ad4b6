//! The invitation of a user, and the password, which is shown once.

use leptos::prelude::*;
use pennon_model::user::Role;

use super::people::row_id;
use crate::{
    components::{
        field::{Field, Input},
        form_actions::FormActions,
        frame::Section,
        page::page,
        page_head::PageHead,
        refusal::RefusalNotice,
        role,
        shown_once::ShownOnce,
        title::Title,
    },
    error::AdminError,
    form::Form,
    form_page::{FormState, handle_form, redirect},
    html::{Html, IntoHtml as _},
    port::{
        people::{NewPerson, PeopleAdmin, UserCredentials},
        signed_in, signed_in_user, visit,
    },
    routes,
};

/// The fields of the form; a conflict concerns the first.
const FIELDS: &[&str] = &["email", "role", "password"];

/// A form that posts to this page. Only the response shows a generated password.
#[component]
pub fn NewPersonPage() -> impl IntoView {
    let render = async |state: FormState| {
        if state.form.is_none() && !signed_in_user()?.is_administrator() {
            return Err(AdminError::Forbidden);
        }
        Ok(view! { <NewPersonForm state/> })
    };
    page(
        Section::People,
        "Invite · People",
        handle_form(invite, render),
    )
}

async fn invite(form: Form) -> Result<Html, AdminError> {
    form.password("password")?;
    let people = signed_in::<dyn PeopleAdmin>()?;
    let UserCredentials {
        user,
        generated_password,
    } = people.invite(NewPerson::from(&form)).await?;
    match generated_password {
        None => redirect(&format!("{}#{}", routes::PEOPLE, row_id(&user))),
        Some(password) => {
            password_page(format!("{} can sign in", user.email), user.email, password)
        }
    }
}

impl From<&Form> for NewPerson {
    fn from(form: &Form) -> Self {
        Self {
            email: form.text("email"),
            role: form.text("role"),
            password: form.text("password"),
        }
    }
}

#[component]
fn NewPersonForm(state: FormState) -> impl IntoView {
    let refusal = state.refusal(FIELDS);
    let fresh = refusal.fields.is_empty();
    view! {
        <PageHead above=Section::People title="Invite a person"/>
        <form class="form" method="post">
            <RefusalNotice error=refusal.other.clone()/>
            <Field
                name="email"
                label="E-mail"
                input=Input::OtherEmail
                hint="Their address for signing in. Pennon sends no e-mail: tell them yourself."
                example="ana@example.com"
                max_length=254
                focus=fresh
                refusal=refusal.clone()
            />
            <Field
                name="role"
                label="Role"
                input=Input::Choice(role::choices(Role::Admin))
                value=Role::Viewer.as_str()
                refusal=refusal.clone()
            />
            <Field
                name="password"
                label="Initial password"
                input=Input::NewPassword
                hint="At least 12 characters. Leave it empty to generate one, which the next page shows once."
                optional=true
                max_length=256
                refusal
            />
            <FormActions action="Invite" back=Section::People.href()/>
        </form>
    }
}

/// Renders a generated password, on the only page that shows it. The title names the action.
pub(super) fn password_page(
    title: String,
    email: String,
    password: String,
) -> Result<Html, AdminError> {
    let href = format!("{}/dashboard", visit()?.base_url());
    let page = view! {
        <Title text=title.clone()/>
        <PageHead above=Section::People title/>
        <ShownOnce
            title="Password"
            secret=password
            copy="Copy password"
            advice="Send it over a private channel, and ask them to change it on their account page."
            href=routes::PEOPLE.to_owned()
            done="I have sent the password"
        >
            <p>
                {format!("{email} uses it to sign in at ")} <a href=href.clone()>{href.clone()}</a> "."
            </p>
        </ShownOnce>
    };
    Ok(page.into_html())
}
