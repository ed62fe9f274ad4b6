//! One user: password reset, tokens, and deletion.

use leptos::prelude::*;
use pennon_model::{
    id::UserId,
    token::Token,
    user::{Role, User},
};

use super::new_person::password_page;
use super::path_id;
use crate::{
    components::{
        confirm::Confirm,
        field::{Field, Input},
        frame::Section,
        grants::{self, GrantList, GrantScopes, ScopeField, read_scope, scope_refused},
        notice::{Notice, Severity},
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
    html::{Html, hidden, html},
    port::{
        Expected,
        people::{NewGrant, PeopleAdmin, UserCredentials},
        query, signed_in, signed_in_user,
    },
    routes,
};

/// The fields of the two forms. A conflict concerns the first field of its form.
const PASSWORD_FIELDS: &[&str] = &["password"];
const GRANT_FIELDS: &[&str] = &[grants::SCOPE, "role"];

actions! {
    /// An action of the page's forms.
    enum Action {
        /// Gives a role in a product or environment.
        Grant = "grant",
        /// Removes such a role.
        RemoveGrant = "remove-grant",
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
    let id = path_id::<UserId>("person");
    page(Section::People, "People", async move {
        let id = id?;
        let render = async move |state: FormState| {
            let me = signed_in_user()?;
            let (user, tokens) = signed_in::<dyn PeopleAdmin>()?.person(id).await?;
            let own = me.id == user.id;
            let scopes = GrantScopes::read().await?;
            Ok(view! { <Person user tokens own scopes state/> })
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
        Action::Grant => {
            let scope = read_scope(&form)?.ok_or_else(scope_refused)?;
            let role = form.text("role");
            people.grant(expected, NewGrant { scope, role }).await?;
            redirect(&here)
        }
        Action::RemoveGrant => {
            let scope = read_scope(&form)?.ok_or(AdminError::NotFound)?;
            people.remove_grant(expected, scope).await?;
            redirect(&here)
        }
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
    scopes: GrantScopes,
    state: FormState,
) -> impl IntoView {
    let (password, grant) = match state.form.as_ref().and_then(Action::of) {
        Some(Action::Reset) => (state.refusal(PASSWORD_FIELDS), Refusal::default()),
        Some(Action::Grant) => (Refusal::default(), state.refusal(GRANT_FIELDS)),
        // The error of any other form belongs to neither of these forms.
        _ => (Refusal::of_page(state.error), Refusal::default()),
    };
    let other = password.other.clone().or_else(|| grant.other.clone());
    let email = user.email.clone();
    let reset = (query().text("reset") == "done").then(|| {
        view! {
            <Notice severity=Severity::Done>
                "Password changed. All their sessions have ended."
            </Notice>
        }
    });
    let token_count = tokens.len();
    let no_tokens = tokens.is_empty();
    html! {
        <Title text=format!("{email} · People")/>
        <PageHead above=Section::People title=email.clone()/>
        <div class="sections">
            <RefusalNotice error=other/>
            {reset}
            <p>
                <strong>{role::name(user.role)}</strong>
                ". "
                {role::describe_rights(&user)}
                " "
                {role::describe_grants(&user).map(|grants| format!("{grants} "))}
                <span class="quiet">"Joined " <Time at=user.created_at/> "."</span>
            </p>
            <GrantSection user=user.clone() scopes=scopes.clone() refusal=grant/>
            <section aria-labelledby="password-title">
                <h2 id="password-title">"Password"</h2>
                <p class="quiet">
                    "Reset a forgotten password. This ends all their sessions; their tokens keep working."
                </p>
                <PasswordForm own revision=user.revision refusal=password/>
            </section>
            <section aria-labelledby="tokens-title">
                <h2 id="tokens-title">"Tokens"</h2>
                {if no_tokens {
                    html! { <p class="quiet">"This user has no tokens."</p> }
                } else {
                    html! {
                        <p class="quiet">"Scripts use these tokens to call the API as this user."</p>
                        <TokenTable tokens scopes revoke=Action::Revoke.as_str()/>
                    }
                }}
            </section>
            <Deletion user own token_count/>
        </div>
    }
}

/// The roles of a user in single products and environments, and the form that adds one.
#[component]
fn GrantSection(user: User, scopes: GrantScopes, refusal: Refusal) -> impl IntoView {
    let revision = user.revision;
    let list = if user.grants.is_empty() {
        html! { <p class="quiet">"This user has the same role everywhere."</p> }
    } else {
        html! {
            <GrantList
                grants=user.grants
                scopes=scopes.clone()
                remove=Action::RemoveGrant.as_str()
                revision
            />
        }
    };
    let form = if scopes.is_empty() {
        html! { <p class="quiet">"To give a role in one, create an environment first."</p> }
    } else {
        html! {
            <form class="form panel new-grant" method="post">
                <h3>"Add a role"</h3>
                {hidden("do", Action::Grant.as_str())}
                {hidden("revision", revision.to_string())}
                <ScopeField
                    scopes
                    label="Where"
                    hint="A role there replaces the one that they had there."
                    none="Select a product or environment"
                    refusal=refusal.clone()
                />
                <Field
                    name="role"
                    label="Role"
                    input=Input::Choice(grants::ROLES)
                    value=Role::Editor.as_str()
                    refusal
                />
                <div class="form-actions">
                    <button class="button">"Add role"</button>
                </div>
            </form>
        }
    };
    html! {
        <section aria-labelledby="grants-title">
            <h2 id="grants-title">"Roles in products and environments"</h2>
            <p class="quiet">
                "The highest role that applies counts: everywhere, in a product, or in an environment."
            </p>
            {list}
            {form}
        </section>
    }
}

/// The form that resets the password of another user.
#[component]
fn PasswordForm(
    /// True if the account is the reader's own.
    own: bool,
    revision: i64,
    refusal: Refusal,
) -> impl IntoView {
    if own {
        html! {
            <p>
                "This is your own account: "
                <a href=Section::Account.href()>"change your password on the account page"</a> "."
            </p>
        }
    } else {
        html! {
            <form class="form" method="post">
                {hidden("do", Action::Reset.as_str())}
                {hidden("revision", revision.to_string())}
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
    }
}

/// The deletion of an account.
#[component]
fn Deletion(
    user: User,
    /// True if the account is the reader's own.
    own: bool,
    /// The number of the user's tokens.
    token_count: usize,
) -> impl IntoView {
    let email = user.email;
    let fields = vec![
        ("do", Action::Delete.as_str().to_owned()),
        ("revision", user.revision.to_string()),
    ];
    html! {
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
    }
}
