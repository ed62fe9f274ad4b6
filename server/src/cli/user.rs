//! `pennon user`: manages accounts for operators with access to the machine of the database. This includes operators
//! who have lost every password.

use std::error::Error;
use std::fmt::{self, Display, Write as _};
use std::io::Write;

use clap::{Args, Subcommand};
use pennon_model::environment::ProductName;
use pennon_model::grant::{Grant, GrantScope, Grants};
use pennon_model::page::{Limit, PageNumber, PageRequest};
use pennon_model::user::{Email, Role, User, UserFilter};

use super::{environment_at, explained, open};
use crate::admin::Admin;
use crate::admin::precondition::Precondition;
use crate::admin::users::{AccountSelector, NewUser, UserPatch};
use crate::admin::{environments, users};
use crate::auth::actor::Actor;
use crate::auth::authority::Administrator;
use crate::auth::password::NewPassword;
use crate::config::DatabaseSettings;
use crate::error::Error as Failure;
use crate::store::OpenMode;

/// The action and the database.
#[derive(Debug, Args)]
#[command(mut_arg("database_url", |url| url.global(true)))]
pub struct Arguments {
    #[command(subcommand)]
    action: Action,
    #[command(flatten)]
    database: DatabaseSettings,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Create a user with a generated password, which is printed once
    Add {
        /// E-mail address to sign in with
        #[arg(value_parser = email)]
        email: Email,
        /// Role: `viewer`, `editor` or `admin`
        #[arg(long, value_parser = Role::parse)]
        role: Role,
        #[command(flatten)]
        password: PasswordSource,
    },
    /// List all users
    List,
    /// Change the role of a user
    SetRole {
        /// E-mail address of the user
        email: String,
        /// New role: `viewer`, `editor` or `admin`
        #[arg(value_parser = Role::parse)]
        role: Role,
    },
    /// Give a user a role in a product or an environment, beside the role that applies everywhere
    Grant {
        /// E-mail address of the user
        email: String,
        /// Role there: `editor` or `admin`
        #[arg(value_parser = Role::parse)]
        role: Role,
        #[command(flatten)]
        scope: Scope,
    },
    /// Take the role in a product or an environment from a user
    RevokeGrant {
        /// E-mail address of the user
        email: String,
        #[command(flatten)]
        scope: Scope,
    },
    /// Set a generated password, print it once, and end all sessions of the user
    ResetPassword {
        /// E-mail address of the user
        email: String,
        #[command(flatten)]
        password: PasswordSource,
    },
}

/// The product or the environment of a grant.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct Scope {
    /// Product, with all its environments and flags
    #[arg(long, value_parser = product)]
    product: Option<ProductName>,
    /// Active environment, as `product/name`
    #[arg(long)]
    environment: Option<String>,
}

/// The source of a password. It is never an argument, because other users of the machine can see arguments.
#[derive(Clone, Copy, Debug, Args)]
struct PasswordSource {
    /// Read the password from the first line of the standard input, and print none
    #[arg(long)]
    password_stdin: bool,
}

fn product(text: &str) -> Result<ProductName, impl Error + use<>> {
    ProductName::try_from(text.to_owned())
}

fn email(text: &str) -> Result<Email, impl Error + use<>> {
    Email::try_from(text.to_owned())
}

/// Performs the action. The audit log names the command line as the actor.
pub(super) async fn run(Arguments { action, database }: Arguments) -> Result<(), Box<dyn Error>> {
    let mode = match action {
        Action::List => OpenMode::AsIs,
        _ => OpenMode::Upgrade,
    };
    let admin = open(&database, mode).await?;
    let done = apply(&admin, action).await;
    admin.close().await;
    let text = done.map_err(|error| explained(&admin, error))?;
    let printed = std::io::stdout().write_all(text.as_bytes());
    match mode {
        OpenMode::AsIs => Ok(printed?),
        _ => printed.map_err(|error| unprinted(&error).into()),
    }
}

/// Returns the error of a change that was saved, but not printed.
fn unprinted(error: &std::io::Error) -> String {
    format!(
        "the change was saved, but cannot be printed: {error}; to replace a password that was generated, use \
         `pennon user reset-password`"
    )
}

/// Performs the action, and returns the text to print.
async fn apply(admin: &Admin, action: Action) -> Result<String, Box<dyn Error>> {
    let actor = &Actor::command_line().administrator()?;
    match action {
        Action::Add {
            email,
            role,
            password,
        } => {
            let (password, notice) = password.read(admin)?;
            let new = NewUser {
                email,
                password,
                role,
                grants: Grants::default(),
            };
            let user = users::create(admin, actor, new).await?;
            Ok(described(admin, actor, &user).await? + &notice)
        }
        Action::List => list(admin, actor).await,
        Action::SetRole { email, role } => {
            let patch = UserPatch {
                role: Some(role),
                ..UserPatch::default()
            };
            let user = update(admin, actor, &email, patch).await?;
            described(admin, actor, &user).await
        }
        Action::Grant { email, role, scope } => {
            let grant = Grant::new(scope.find(admin, actor).await?, role);
            let grant = grant.map_err(|invalid| format!("the role {}", invalid.detail()))?;
            warn_of_unknown_product(admin, actor, &grant.scope).await?;
            change_grants(admin, actor, &email, |grants| {
                Ok(grants.with(grant.clone())?)
            })
            .await
        }
        Action::RevokeGrant { email, scope } => {
            let name = scope.to_string();
            let scope = scope.find(admin, actor).await?;
            change_grants(admin, actor, &email, |grants| {
                if grants.iter().any(|grant| grant.scope == scope) {
                    Ok(grants.without(&scope))
                } else {
                    Err(format!("{email} has no grant for {name}").into())
                }
            })
            .await
        }
        Action::ResetPassword { email, password } => {
            let (password, notice) = password.read(admin)?;
            let patch = UserPatch {
                password: Some(password),
                ..UserPatch::default()
            };
            let user = update(admin, actor, &email, patch).await?;
            Ok(described(admin, actor, &user).await? + &notice)
        }
    }
}

/// Changes the grants of a user. If they were changed by somebody else since they were read, it starts over, so that
/// neither change is lost.
async fn change_grants(
    admin: &Admin,
    actor: &Administrator,
    email: &str,
    changed: impl Fn(&Grants) -> Result<Grants, Box<dyn Error>>,
) -> Result<String, Box<dyn Error>> {
    loop {
        let user = users::by_email(admin, actor, email).await?;
        let account = AccountSelector::Of(Some(user.id));
        let expected = Precondition::OneOf(vec![user.revision]);
        let patch = UserPatch {
            grants: Some(changed(&user.grants)?),
            ..UserPatch::default()
        };
        match users::update(admin, actor, account, &expected, patch).await {
            Err(Failure::Stale { .. }) => {}
            updated => return described(admin, actor, &updated?).await,
        }
    }
}

/// Warns of a product without active environments, whose name may be misspelled. A grant can precede its product.
async fn warn_of_unknown_product(
    admin: &Admin,
    actor: &Administrator,
    scope: &GrantScope,
) -> Result<(), Failure> {
    let GrantScope::Product(product) = scope else {
        return Ok(());
    };
    let active = environments::active(admin, actor).await?;
    if active.iter().all(|active| active.product != *product) {
        eprintln!("warning: no active environment belongs to the product {product}");
    }
    Ok(())
}

async fn update(
    admin: &Admin,
    actor: &Administrator,
    email: &str,
    patch: UserPatch,
) -> Result<User, Box<dyn Error>> {
    let user = users::by_email(admin, actor, email).await?;
    let account = AccountSelector::Of(Some(user.id));
    Ok(users::update(admin, actor, account, &Precondition::None, patch).await?)
}

/// Returns all users with their grants, newest first, one user per line.
async fn list(admin: &Admin, actor: &Administrator) -> Result<String, Box<dyn Error>> {
    let mut lines = String::new();
    for number in 1.. {
        let page = PageRequest {
            page: PageNumber::try_from(number)?,
            limit: Limit::MAX,
        };
        let users = users::list(admin, actor, &UserFilter::default(), page).await?;
        if users.items.is_empty() {
            break;
        }
        for user in &users.items {
            let (created_at, role, email) = (user.created_at, user.role.as_str(), &user.email);
            write!(lines, "{created_at}  {role:6}  {email}")?;
            for (index, grant) in user.grants.iter().enumerate() {
                lines.push_str(if index == 0 { "  " } else { ", " });
                lines.push_str(&described_grant(admin, actor, grant).await?);
            }
            lines.push('\n');
        }
    }
    Ok(lines)
}

impl Display for Scope {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.product, &self.environment) {
            (Some(product), _) => write!(formatter, "the product {product}"),
            (None, environment) => formatter.write_str(environment.as_deref().unwrap_or_default()),
        }
    }
}

impl Scope {
    async fn find(
        self,
        admin: &Admin,
        actor: &Administrator,
    ) -> Result<GrantScope, Box<dyn Error>> {
        if let Some(product) = self.product {
            return Ok(GrantScope::Product(product));
        }
        let path = self.environment.unwrap_or_default();
        let environment = environment_at(admin, actor, &path).await?;
        Ok(GrantScope::Environment(environment.id))
    }
}

impl PasswordSource {
    /// Returns the password and, if it was generated, the text that shows it.
    fn read(self, admin: &Admin) -> Result<(NewPassword, String), Box<dyn Error>> {
        if !self.password_stdin {
            let password = NewPassword::generate(&admin.entropy);
            let notice = format!("  password  {}   (shown this once)\n", password.expose());
            return Ok((password, notice));
        }
        let mut line = String::new();
        std::io::stdin().read_line(&mut line)?;
        let password = line.trim_end_matches(['\n', '\r']).to_owned();
        let password =
            NewPassword::try_from(password).map_err(|problem| format!("the password {problem}"))?;
        Ok((password, String::new()))
    }
}

async fn described(
    admin: &Admin,
    actor: &Administrator,
    user: &User,
) -> Result<String, Box<dyn Error>> {
    let mut lines = vec![
        format!("  e-mail    {}\n", user.email),
        format!("  role      {}\n", user.role),
    ];
    for grant in user.grants.iter() {
        let grant = described_grant(admin, actor, grant).await?;
        lines.push(format!("  grant     {grant}\n"));
    }
    Ok(lines.concat())
}

/// Describes a grant, as in `editor for shop/production`.
async fn described_grant(
    admin: &Admin,
    actor: &Administrator,
    Grant { scope, role }: &Grant,
) -> Result<String, Box<dyn Error>> {
    Ok(match scope {
        GrantScope::Product(product) => format!("{role} for the product {product}"),
        GrantScope::Environment(id) => {
            let environment = environments::get(admin, actor, *id).await?;
            format!("{role} for {}", environment.path())
        }
    })
}
