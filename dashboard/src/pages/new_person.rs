//! Inviting somebody, and the password that is seen once.

use leptos::prelude::*;
use pennon_model::user::Role;

use super::people::row_id;
use crate::{
    components::{
        answer::answer,
        field::{Field, Input},
        frame::{Frame, Section},
        refusal::{Refusal, RefusalNotice},
        role,
        shown_once::ShownOnce,
        title::Title,
    },
    error::AdminError,
    form::Form,
    html::IntoHtml as _,
    port::{
        Visit,
        people::{Admission, NewPerson, PeopleAdmin},
        signed_in, signed_in_user, visit,
    },
};

/// The fields of the form; a conflict is about the first.
const FIELDS: &[&str] = &["email", "role", "password"];

/// A form that posts to this page. A password that was made up is in the answer to that post and nowhere else.
#[component]
pub fn NewPersonPage() -> impl IntoView {
    let page = answer(async move {
        let visit = visit()?;
        let Some(form) = visit.form() else {
            if signed_in_user()?.role < Role::Admin {
                return Err(AdminError::Forbidden);
            }
            let new = NewPerson {
                role: Role::Editor.to_string(),
                ..NewPerson::default()
            };
            return Ok(view! { <NewPersonForm new refusal=Refusal::default()/> }.into_html());
        };
        let new = NewPerson::from(&form);
        Ok(match invite(&form, new.clone()).await {
            Ok(Admission {
                user,
                made_up: None,
            }) => {
                visit.redirect(&format!("{}#{}", Section::People.href(), row_id(&user)));
                ().into_html()
            }
            Ok(Admission {
                user,
                made_up: Some(password),
            }) => {
                let title = format!("{} can sign in", user.email);
                view! { <Password title email=user.email password href=dashboard(visit.as_ref())/> }
                    .into_html()
            }
            Err(error) => {
                visit.set_status(error.status());
                let refusal = Refusal::new(error, FIELDS);
                view! { <NewPersonForm new refusal/> }.into_html()
            }
        })
    });
    view! {
        <Title text="Invite · People"/>
        <Frame section=Section::People>{page}</Frame>
    }
}

async fn invite(form: &Form, new: NewPerson) -> Result<Admission, AdminError> {
    form.password("password")?;
    signed_in::<dyn PeopleAdmin>()?.invite(new).await
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
fn NewPersonForm(new: NewPerson, refusal: Refusal) -> impl IntoView {
    let Refusal { fields, other } = refusal;
    let fresh = fields.is_empty();
    view! {
        <header class="page-head">
            <Crumbs/>
            <h1>"Invite somebody"</h1>
        </header>
        <form class="form" method="post">
            <RefusalNotice error=other/>
            <Field
                name="email"
                label="E-mail"
                input=Input::OtherEmail
                hint="What they sign in with. Pennon sends no mail: you tell them."
                example="ana@example.com"
                longest=254
                value=new.email
                focus=fresh
                errors=fields.clone()
            />
            <Field
                name="role"
                label="Role"
                input=Input::Choice(role::choices(Role::Admin))
                value=new.role
                errors=fields.clone()
            />
            <Field
                name="password"
                label="First password"
                input=Input::NewPassword
                hint="At least 12 characters. Leave it empty to have one made up: you will see it once, on the next page."
                optional=true
                longest=256
                errors=fields
            />
            <div class="form-actions">
                <button class="button primary">"Invite"</button>
                <a class="button" href=Section::People.href()>
                    "Cancel"
                </a>
            </div>
        </form>
    }
}

/// The address at which people sign in.
pub(super) fn dashboard(visit: &dyn Visit) -> String {
    format!("{}/dashboard", visit.base_url())
}

/// The way back to the list.
#[component]
pub(super) fn Crumbs() -> impl IntoView {
    view! {
        <nav class="crumbs" aria-label="Breadcrumbs">
            <a href=Section::People.href()>"People"</a>
        </nav>
    }
}

/// A password that was made up, on the only page that shows it.
#[component]
pub(super) fn Password(
    /// What has come of it.
    title: String,
    /// Whose it is.
    email: String,
    password: String,
    /// Where to sign in.
    href: String,
) -> impl IntoView {
    view! {
        <Title text=title.clone()/>
        <header class="page-head">
            <Crumbs/>
            <h1>{title}</h1>
        </header>
        <ShownOnce
            title="The password"
            secret=password
            copy="Copy password"
            advice="Pass it on where nobody else reads it, and have them change it on their account page."
            href=Section::People.href().to_owned()
            done="I have passed it on"
        >
            <p>
                {format!("{email} signs in with it at ")} <a href=href.clone()>{href.clone()}</a> "."
            </p>
        </ShownOnce>
    }
    .into_html()
}
