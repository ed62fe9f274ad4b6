//! One user: password reset, tokens, and deletion.

use leptos::prelude::*;
use leptos_router::hooks::use_params_map;
use pennon_model::{id::UserId, token::Token, user::User};

use super::new_person::password_page;
use crate::{
    components::{
        confirm::Confirm,
        field::{Field, Input},
        frame::Section,
        notice::{Notice, Weight},
        page::page,
        page_head::PageHead,
        refusal::{Refusal, RefusalNotice},
        role,
        time::Time,
        title::Title,
        token_table::TokenTable,
    },
    error::AdminError,
    form::{Form, actions},
    form_page::{FormState, handle_form, redirect},
    html::{Html, html},
    port::{
        Expected,
        people::{PeopleAdmin, UserCredentials},
        query, signed_in, signed_in_user,
    },
    routes,
};

/// The fields of the form.
const FIELDS: &[&str] = &["password"];

actions! {
    /// An action of the page's forms.
    enum Action {
        /// Resets the password.
        Reset = "reset",
        /// Revokes a token.
        Revoke = "revoke",
        /// Deletes the account.
        Delete = "delete",
    }
}

/// The actions of an administrator on an account. Each form posts to this page, with its action in the field `do`.
#[component]
pub fn PersonPage() -> impl IntoView {
    let id = use_params_map().read_untracked().get("person");
    page(Section::People, "People", async move {
        let id: UserId = id
            .and_then(|id| id.parse().ok())
            .ok_or(AdminError::NotFound)?;
        let render = async move |state: FormState| {
            let me = signed_in_user()?;
            let (user, tokens) = signed_in::<dyn PeopleAdmin>()?.person(id).await?;
            let own = me.id == user.id;
            let refusal = match state.form.as_ref().and_then(Action::of) {
                Some(Action::Reset) => state.refusal(FIELDS),
                _ => Refusal::of_page(state.error),
            };
            Ok(view! { <Person user tokens own refusal/> })
        };
        handle_form(|form| act(id, form), render).await
    })
}

/// Carries out the action of a form. The response redirects, or is a separate page if it shows a password.
async fn act(id: UserId, form: Form) -> Result<Html, AdminError> {
    let people = signed_in::<dyn PeopleAdmin>()?;
    let revision = form.parsed("revision").unwrap_or_default();
    let expected = Expected { id, revision };
    let here = routes::person(id);
    match Action::of(&form).ok_or(AdminError::NotFound)? {
        Action::Reset => {
            let UserCredentials {
                user,
                generated_password,
            } = people
                .reset_password(expected, form.password("password")?)
                .await?;
            let Some(password) = generated_password else {
                return redirect(&format!("{here}?reset=done"));
            };
            let title = format!("{} has a new password", user.email);
            password_page(title, user.email, password)
        }
        Action::Revoke => {
            let token = form.parsed("token").ok_or(AdminError::NotFound)?;
            people.revoke_token_of(id, token).await?;
            redirect(&here)
        }
        Action::Delete => {
            people.delete_person(expected).await?;
            redirect(routes::PEOPLE)
        }
    }
}

#[component]
fn Person(
    user: User,
    tokens: Vec<Token>,
    /// True if the account is the reader's own.
    own: bool,
    refusal: Refusal,
) -> impl IntoView {
    let other = refusal.other.clone();
    let email = user.email.clone();
    let reset = (query().text("reset") == "done").then(|| {
        view! {
            <Notice weight=Weight::Done>
                "Password changed. All their sessions have ended."
            </Notice>
        }
    });
    let password = if own {
        html! {
            <p>
                "This is your own account: "
                <a href=Section::Account.href()>"change your password on the account page"</a> "."
            </p>
        }
    } else {
        html! {
            <form class="form" method="post">
                <input type="hidden" name="do" value=Action::Reset.as_str()/>
                <input type="hidden" name="revision" value=user.revision/>
                <Field
                    name="password"
                    label="New password"
                    input=Input::NewPassword
                    hint="At least 12 characters. Leave it empty to generate one, which the next page shows once."
                    optional=true
                    max_length=256
                    refusal
                />
                <div class="form-actions">
                    <button class="button">"Reset password"</button>
                </div>
            </form>
        }
    };
    let token_count = tokens.len();
    let no_tokens = tokens.is_empty();
    let fields = vec![
        ("do", Action::Delete.as_str().to_owned()),
        ("revision", user.revision.to_string()),
    ];
    html! {
        <Title text=format!("{email} · People")/>
        <PageHead above=Section::People title=email.clone()/>
        <div class="sections">
            <RefusalNotice error=other/>
            {reset}
            <p>
                <strong>{role::name(user.role)}</strong>
                ". "
                {role::describe_rights(user.role)}
                " "
                {role::describe_grants(&user.grants).map(|grants| format!("{grants} "))}
                <span class="quiet">"Joined " <Time at=user.created_at/> "."</span>
            </p>
            <section aria-labelledby="password-title">
                <h2 id="password-title">"Password"</h2>
                <p class="quiet">
                    "Reset a forgotten password. This ends all their sessions; their tokens keep working."
                </p>
                {password}
            </section>
            <section aria-labelledby="tokens-title">
                <h2 id="tokens-title">"Tokens"</h2>
                {if no_tokens {
                    html! { <p class="quiet">"This user has no tokens."</p> }
                } else {
                    html! {
                        <p class="quiet">"Scripts use these tokens to call the API as this user."</p>
                        <TokenTable tokens revoke=Action::Revoke.as_str()/>
                    }
                }}
            </section>
            <section aria-labelledby="delete-title">
                <h2 id="delete-title">"Delete account"</h2>
                <p class="quiet">
                    {format!(
                        "{email} can no longer sign in{}. Their changes stay in the audit log.",
                        match token_count {
                            0 => String::new(),
                            1 => ", and their token stops working".to_owned(),
                            several => format!(", and their {several} tokens stop working"),
                        },
                    )}
                </p>
                <p>
                    <Confirm
                        id="delete-person".to_owned()
                        label="Delete"
                        action=format!("Delete {email}")
                        fields
                    >
                        <p>
                            {if own {
                                "This is your own account: you are signed out immediately. "
                            } else {
                                ""
                            }}
                            "Sessions and tokens end immediately. This cannot be undone; to restore access, invite them again."
                        </p>
                    </Confirm>
                </p>
            </section>
        </div>
    }
}
