//! The signed-in user's account: password and tokens.

use leptos::{prelude::*, server_fn::ServerFn};
use pennon_model::{
    token::{CreatedToken, Token},
    user::{Role, User},
};

use crate::{
    api::session::SignOut,
    components::{
        field::{Field, Input},
        frame::Section,
        grants::{self, GrantScopes, ScopeField, phrases, read_scope},
        icon::{Drawing, Icon},
        notice::{Notice, Severity},
        page::page,
        page_head::PageHead,
        refusal::{Refusal, RefusalNotice},
        role,
        shown_once::ShownOnce,
        title::Title,
        token_table::TokenTable,
    },
    error::AdminError,
    form::{Form, actions},
    form_page::{FormState, handle_form, redirect},
    html::{Html, hidden, html},
    port::{
        account::{NewToken, OwnAccount, PasswordChange},
        query, signed_in, signed_in_user, visit,
    },
    routes,
};

/// The fields of the two forms. A conflict concerns the first field of its form.
const PASSWORD_FIELDS: &[&str] = &["currentPassword", "newPassword"];
const TOKEN_FIELDS: &[&str] = &["name", "role", "expiresAt", grants::SCOPE];

/// The lifetimes that a new token can have, in days, with their labels.
const PERIODS: &[(&str, &str)] = &[
    ("7", "7 days"),
    ("30", "30 days"),
    ("90", "90 days"),
    ("180", "180 days"),
    ("366", "1 year"),
];

actions! {
    /// An action of the page's forms.
    enum Action {
        /// Changes the password.
        Password = "password",
        /// Creates a token.
        Token = "token",
        /// Revokes a token.
        Revoke = "revoke",
    }
}

/// The account: password and tokens. Each form posts to this page.
#[component]
pub fn Account() -> impl IntoView {
    let render = async |state| {
        let me = signed_in_user()?;
        let tokens = signed_in::<dyn OwnAccount>()?.tokens().await?;
        let scopes = GrantScopes::read().await?;
        Ok(view! { <AccountSections me tokens scopes state/> })
    };
    page(Section::Account, "Account", handle_form(act, render))
}

/// Carries out the action of a form. The response is a separate page if it shows a new token.
async fn act(form: Form) -> Result<Html, AdminError> {
    let account = signed_in::<dyn OwnAccount>()?;
    match Action::of(&form).ok_or(AdminError::NotFound)? {
        Action::Password => {
            let change = PasswordChange {
                current: form.password("currentPassword")?,
                new: form.password("newPassword")?,
            };
            account.change_password(change).await?;
            redirect(&format!("{}?password=changed", routes::ACCOUNT))
        }
        Action::Token => {
            let created = account.create_token(NewToken::try_from(&form)?).await?;
            let base_url = visit()?.base_url();
            Ok(html! { <Created created base_url/> })
        }
        Action::Revoke => {
            let token = form.parsed("token").ok_or(AdminError::NotFound)?;
            account.revoke_token(token).await?;
            redirect(routes::ACCOUNT)
        }
    }
}

impl TryFrom<&Form> for NewToken {
    type Error = AdminError;

    fn try_from(form: &Form) -> Result<Self, AdminError> {
        Ok(Self {
            name: form.text("name"),
            role: form.text("role"),
            scope: read_scope(form)?,
            days: form.text("expiresAt"),
        })
    }
}

#[component]
fn AccountSections(
    me: User,
    tokens: Vec<Token>,
    scopes: GrantScopes,
    state: FormState,
) -> impl IntoView {
    let (password, token) = match state.form.as_ref().and_then(Action::of) {
        Some(Action::Password) => (state.refusal(PASSWORD_FIELDS), Refusal::default()),
        Some(Action::Token) => (Refusal::default(), state.refusal(TOKEN_FIELDS)),
        // The error of any other form belongs to neither of these forms.
        Some(Action::Revoke) | None => (Refusal::default(), Refusal::of_page(state.error)),
    };
    let changed = (query().text("password") == "changed").then(|| {
        view! {
            <Notice severity=Severity::Done>
                "Password changed. All your other sessions have ended."
            </Notice>
        }
    });
    let no_tokens = tokens.is_empty();
    let granted = phrases(&me.grants, &scopes);
    let granted = (!granted.is_empty()).then(|| format!(" {}.", granted.join("; ")));
    html! {
        <PageHead title="Account">
            <form method="post" action=SignOut::url()>
                <button class="button">
                    <Drawing icon=Icon::LEAVE/>
                    "Sign out"
                </button>
            </form>
        </PageHead>
        <div class="sections">
            {changed}
            <p>
                <strong>{me.email.clone()}</strong>
                {format!(", {}. ", role::name(me.role).to_lowercase())}
                <span class="quiet">{role::describe_rights(&me)} {granted}</span>
            </p>
            <section aria-labelledby="password-title">
                <h2 id="password-title">"Password"</h2>
                <PasswordForm email=me.email.clone() refusal=password/>
            </section>
            <section aria-labelledby="tokens-title">
                <h2 id="tokens-title">"Personal access tokens"</h2>
                <p class="quiet">
                    "Scripts use these tokens to call the API as you. A token never has more rights than your current role."
                </p>
                {(!no_tokens).then(|| view! { <TokenTable tokens scopes=scopes.clone() revoke=Action::Revoke.as_str()/> })}
                <TokenForm me scopes refusal=token/>
            </section>
        </div>
    }
}

#[component]
fn PasswordForm(email: String, refusal: Refusal) -> impl IntoView {
    html! {
        <form class="form" method="post">
            <RefusalNotice error=refusal.other.clone()/>
            {hidden("do", Action::Password.as_str())}
            // Password managers need the e-mail address of the account.
            <input type="email" value=email autocomplete="username" hidden/>
            <Field
                name="currentPassword"
                label="Current password"
                input=Input::Password
                refusal=refusal.clone()
            />
            <Field
                name="newPassword"
                label="New password"
                input=Input::NewPassword
                hint="At least 12 characters. Ends all your other sessions; your tokens keep working."
                max_length=256
                refusal
            />
            <div class="form-actions">
                <button class="button">"Change password"</button>
            </div>
        </form>
    }
}

#[component]
fn TokenForm(me: User, scopes: GrantScopes, refusal: Refusal) -> impl IntoView {
    html! {
        <form class="form panel new-token" method="post">
            <h3>"New token"</h3>
            <RefusalNotice error=refusal.other.clone()/>
            {hidden("do", Action::Token.as_str())}
            <Field
                name="name"
                label="Name"
                input=Input::Line
                hint="The script or job that uses it."
                example="deploy"
                max_length=64
                refusal=refusal.clone()
            />
            <Field
                name="role"
                label="Role"
                input=Input::Choice(role::choices(me.highest_role()))
                value=Role::Viewer.as_str()
                refusal=refusal.clone()
            />
            <ScopeField
                scopes
                label="Where"
                hint="Elsewhere, the token can only read."
                none="Everywhere"
                refusal=refusal.clone()
            />
            <Field
                name="expiresAt"
                label="Expires after"
                input=Input::Choice(PERIODS)
                value="90"
                refusal
            />
            <div class="form-actions">
                <button class="button primary">"Create token"</button>
            </div>
        </form>
    }
}

/// A new token, on the only page that shows it.
#[component]
fn Created(created: CreatedToken, base_url: String) -> impl IntoView {
    let CreatedToken { token, secret } = created;
    let name = token.name.to_string();
    html! {
        <Title text=format!("Token {name} · Account")/>
        <PageHead above=Section::Account title=format!("Token {name} is ready")/>
        <ShownOnce
            title="Token"
            secret=secret.expose().to_owned()
            copy="Copy token"
            advice="Pennon stores a fingerprint, not the token. Save the token with your script's secrets before you leave this page."
            href=routes::ACCOUNT.to_owned()
            done="I have stored the token"
        >
            <p>
                {format!("Scripts send it to {base_url} in the header ")}
                <code>"Authorization: Bearer …"</code> "."
            </p>
        </ShownOnce>
    }
}
