//! Signing in.

use leptos::prelude::*;

use crate::{
    components::{
        field::{Field, Input},
        frame::Room,
        mark::Mark,
        notice::{Notice, Weight},
        title::Title,
    },
    error::{AdminError, FieldError},
    port::{query, visit},
};

/// Two fields and a button. The form posts to this page, which leads on or says what is wrong.
#[component]
pub fn SignIn() -> impl IntoView {
    let next = destination(query().text("next"));
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

/// What was typed, and why it did not do.
#[derive(Default)]
struct Attempt {
    email: String,
    error: Option<AdminError>,
}

async fn attempt(next: &str) -> Attempt {
    let Ok(visit) = visit() else {
        return Attempt::default();
    };
    let Some(form) = visit.form() else {
        return Attempt::default();
    };
    let email = form.text("email");
    let error = visit.sign_in(&email, &form.text("password")).await.err();
    match &error {
        None => visit.redirect(next),
        Some(error) => visit.set_status(error.status()),
    }
    Attempt { email, error }
}

/// Where to go afterwards: a page of the dashboard and nowhere else.
fn destination(next: String) -> String {
    let inside = next.starts_with("/dashboard/") && !next.contains("..");
    if inside && !next.contains(['\\', '\r', '\n']) {
        next
    } else {
        Room::Flags.href().to_owned()
    }
}

#[component]
fn SignInForm(attempt: Attempt) -> impl IntoView {
    let Attempt { email, error } = attempt;
    let (errors, notice) = match error {
        Some(AdminError::WrongCredentials) => {
            let field = "password".to_owned();
            let detail = AdminError::WrongCredentials.to_string();
            (vec![FieldError { field, detail }], None)
        }
        error => (Vec::new(), error),
    };
    let fresh = email.is_empty();
    view! {
        <form method="post">
            {notice.map(|error| view! { <Notice weight=Weight::Danger>{error.to_string()}</Notice> })}
            <Field name="email" label="E-mail" input=Input::Email value=email focus=fresh/>
            <Field name="password" label="Password" input=Input::Password value="" errors/>
            <button class="button primary">"Sign in"</button>
        </form>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signing_in_leads_to_pages_of_the_dashboard_only() {
        let leads = |next: &str| destination(next.to_owned());
        assert_eq!(
            leads("/dashboard/environments?page=2"),
            "/dashboard/environments?page=2"
        );
        for elsewhere in [
            "https://evil.example/dashboard/",
            "//evil.example",
            "/",
            "",
            "/dashboard/\r\nx",
            "/dashboard/../..//evil.example",
        ] {
            assert_eq!(leads(elsewhere), "/dashboard/flags");
        }
    }
}
