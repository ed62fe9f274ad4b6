//! The sign-in page.

use leptos::prelude::*;

use crate::{
    components::{
        field::{Field, Input},
        mark::Mark,
        notice::{Notice, Severity},
        refusal::Refusal,
        title::Title,
    },
    error::{AdminError, FieldError},
    form::is_password,
    html::hidden,
    port::{query, visit},
    routes,
};

/// The fields. Their names differ from those of all other forms, because this page also receives forms that were
/// submitted after their session had ended.
const EMAIL: &str = "sign-in-email";
const PASSWORD: &str = "sign-in-password";

/// The maximum number of fields of a forwarded form, so that the page is not much larger than the form. The largest
/// form of the dashboard has a few hundred.
const MAX_FORWARDED_FIELDS: usize = 1_000;

/// A form with two fields and a button. It posts to this page, which redirects or shows the error.
///
/// The server forwards a form to this page if it was submitted after the session had ended. Hidden fields keep its
/// input. After the sign-in, the browser submits it to its original address.
#[component]
pub fn SignIn() -> impl IntoView {
    let next = routes::own_page(query().text("next")).unwrap_or_else(|| routes::HOME.to_owned());
    let form = Suspend::new(async move {
        let attempt = attempt(&next).await;
        view! { <SignInForm attempt/> }
    });
    view! {
        <Title text="Sign in"/>
        <main class="sign-in">
            <section class="sign-in-panel">
                <header class="sign-in-head">
                    <Mark/>
                    <h1>"Sign in to Pennon"</h1>
                </header>
                <Suspense>{form}</Suspense>
            </section>
        </main>
    }
}

/// The input, and the error.
#[derive(Default)]
struct Attempt {
    email: String,
    error: Option<AdminError>,
    /// The fields of the forwarded form.
    forwarded_fields: Vec<(String, String)>,
    /// True if the forwarded form had a password, which is not kept.
    lost_password: bool,
    /// True if the forwarded form had too many fields to be kept.
    lost_form: bool,
}

async fn attempt(next: &str) -> Attempt {
    let Ok(visit) = visit() else {
        return Attempt::default();
    };
    let Some(form) = visit.form() else {
        return Attempt::default();
    };
    if form.fields().count() > MAX_FORWARDED_FIELDS {
        visit.set_error(&AdminError::SignedOut);
        return Attempt {
            lost_form: true,
            ..Attempt::default()
        };
    }
    let own = |name: &str| name == EMAIL || name == PASSWORD;
    let (mine, forwarded_fields): (Vec<_>, Vec<_>) = form
        .fields()
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .partition(|(name, _)| own(name));
    let (lost, forwarded_fields): (Vec<_>, Vec<_>) = forwarded_fields
        .into_iter()
        .partition(|(name, value)| is_password(name) && !value.is_empty());
    let lost_password = !lost.is_empty();
    if mine.is_empty() {
        visit.set_error(&AdminError::SignedOut);
        return Attempt {
            forwarded_fields,
            lost_password,
            ..Attempt::default()
        };
    }
    let email = form.text(EMAIL);
    let error = visit.sign_in(&email, &form.text(PASSWORD)).await.err();
    match &error {
        None if forwarded_fields.is_empty() => visit.redirect(next),
        None => visit.forward_form(next),
        Some(error) => visit.set_error(error),
    }
    Attempt {
        email,
        error,
        forwarded_fields,
        lost_password,
        lost_form: false,
    }
}

#[component]
fn SignInForm(attempt: Attempt) -> impl IntoView {
    let Attempt {
        email,
        error,
        forwarded_fields,
        lost_password,
        lost_form,
    } = attempt;
    let (refusal, notice) = match error {
        Some(AdminError::WrongCredentials) => {
            let field = PASSWORD.to_owned();
            let detail = AdminError::WrongCredentials.to_string();
            let refusal = Refusal {
                fields: vec![FieldError { field, detail }],
                ..Refusal::default()
            };
            (refusal, None)
        }
        error => (Refusal::default(), error),
    };
    let fresh = email.is_empty();
    let interrupted = (!forwarded_fields.is_empty()).then(|| {
        view! {
            <Notice severity=Severity::Warning>
                "Your session has ended. What you typed is kept, and submitted after you sign in."
                {lost_password.then_some(" The password is not kept: you will be asked for it again.")}
            </Notice>
        }
    });
    let lost = lost_form.then(|| {
        view! {
            <Notice severity=Severity::Danger>
                "Your session has ended. The form was too large to be kept: sign in, and fill it in again."
            </Notice>
        }
    });
    let forwarded_fields = forwarded_fields
        .into_iter()
        .map(|(name, value)| hidden(&name, value));
    view! {
        <form method="post">
            {interrupted}
            {lost}
            {notice.map(|error| view! { <Notice severity=Severity::Danger>{error.to_string()}</Notice> })}
            {forwarded_fields.collect_view()}
            <Field name=EMAIL label="E-mail" input=Input::Email value=email focus=fresh/>
            <Field name=PASSWORD label="Password" input=Input::Password refusal/>
            <button class="button primary">"Sign in"</button>
        </form>
    }
}
