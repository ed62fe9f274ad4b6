//! The first start on a database: the first administrator, and the bootstrap file.

use std::path::Path;

use pennon_model::audit::AuditAction;
use pennon_model::email::is_email;
use pennon_model::secret::Secret;
use pennon_model::user::{Role, User};

use super::changes::EnvironmentChange;
use super::provisioning::{BootstrapFile, Provisioning};
use super::{Admin, StartError, audit, changes, provisioning, users};
use crate::auth::actor::Actor;
use crate::auth::password::NewPassword;
use crate::database_error::{Failure, classify};
use crate::error::{Error, on_one_line};
use crate::store::{self, Tx};

/// The account that the first start created.
pub struct FirstAdministrator {
    /// The address to sign in with.
    pub email: String,
    /// The generated password, which must be shown; none if the settings contain a password.
    pub generated_password: Option<String>,
}

/// An account to create.
struct NewAdministrator {
    user: User,
    password_hash: String,
    /// The password, if it is generated.
    generated: Option<String>,
}

/// Creates the first administrator if none exists, and applies the file if the database has never held an environment.
/// Both happen in one transaction, so a rejected file does not leave an account whose password nobody has seen. If
/// several instances start together, only one of them does this.
pub(crate) async fn complete(
    admin: &Admin,
    email: &str,
    password: Option<&Secret>,
    file: Option<BootstrapFile>,
) -> Result<Option<FirstAdministrator>, StartError> {
    let mut tx = admin.db.read().await?;
    let has_administrator = store::users::count(&mut tx, Role::Admin).await? > 0;
    let has_environment = store::environments::any(&mut tx).await?;
    drop(tx);
    let administrator = if has_administrator {
        None
    } else {
        Some(NewAdministrator::make(admin, email, password).await?)
    };
    let file = match file {
        Some(file) if has_environment => {
            log_ignored(&file.path);
            None
        }
        Some(BootstrapFile { path, content }) => {
            Some((path, content.map_err(StartError::BootstrapFile)?))
        }
        None => None,
    };
    if administrator.is_none() && file.is_none() {
        return Ok(None);
    }
    let mut tx = begin(admin).await?;
    let first = match administrator {
        Some(administrator) => administrator.create(admin, &mut tx).await?,
        None => None,
    };
    let changes = match &file {
        Some((path, file)) => apply(admin, &mut tx, path, file).await?,
        None => None,
    };
    let is_applied = changes.is_some();
    // All environments are new.
    let changes = changes.unwrap_or_default().into_iter();
    let changes = changes.map(EnvironmentChange::without_safeguards).collect();
    changes::commit(admin, tx, &Actor::command_line(), changes).await?;
    match &file {
        Some((path, file)) if is_applied => tracing::info!(
            file = %path.display(),
            environments = file.environments.len(),
            flags = file.document.flags.len(),
            tokens = usize::from(file.token.is_some()),
            "applied the bootstrap file"
        ),
        Some((path, _)) => log_ignored(path),
        None => {}
    }
    Ok(first)
}

/// Begins to write, for which it waits as long as another instance sets up the database.
async fn begin(admin: &Admin) -> Result<Tx, Error> {
    let mut has_waited = false;
    loop {
        match admin.db.write().await {
            Err(Error::Unavailable(Some(error)))
                if matches!(classify(&error), Failure::Busy | Failure::Canceled) => {}
            begun => return begun,
        }
        if !has_waited {
            tracing::info!(
                "waiting for another instance, which sets up the database or makes a change"
            );
            has_waited = true;
        }
    }
}

/// Applies the file, unless another instance has just applied it.
async fn apply(
    admin: &Admin,
    tx: &mut Tx,
    path: &Path,
    file: &Provisioning,
) -> Result<Option<Vec<EnvironmentChange>>, StartError> {
    if store::environments::any(tx).await? {
        return Ok(None);
    }
    // A reader of one entry may read its whole group, and only administrators may read about accounts, so the entries
    // of the file form a separate group.
    tx.begin_action();
    match provisioning::apply(admin, tx, file).await {
        Ok(changes) => Ok(Some(changes)),
        Err(Error::Invalid(faults)) => {
            let problem = format!("{}: {}", path.display(), on_one_line(&faults));
            Err(StartError::BootstrapFile(problem))
        }
        Err(error) => Err(error.into()),
    }
}

fn given_password(password: &Secret) -> Result<NewPassword, StartError> {
    NewPassword::try_from(password.expose().to_owned()).map_err(|problem| {
        StartError::FirstAdministrator(format!("PENNON_ADMIN_PASSWORD {problem}"))
    })
}

fn log_ignored(path: &Path) {
    tracing::info!(
        file = %path.display(),
        "ignored the bootstrap file, because this database has had environments before"
    );
}

impl NewAdministrator {
    async fn make(
        admin: &Admin,
        email: &str,
        password: Option<&Secret>,
    ) -> Result<Self, StartError> {
        if !is_email(email) {
            return Err(StartError::FirstAdministrator(
                "PENNON_ADMIN_EMAIL is not an e-mail address".to_owned(),
            ));
        }
        let given = password.map(given_password).transpose()?;
        let is_generated = given.is_none();
        let password = given.unwrap_or_else(|| NewPassword::generate(&admin.entropy));
        Ok(Self {
            user: users::created(admin, email, Role::Admin),
            password_hash: users::hash(admin, &password).await?,
            generated: is_generated.then(|| password.expose().to_owned()),
        })
    }

    /// Creates the account, unless another instance has just created one. Fails if the address is that of an account
    /// which is no administrator.
    async fn create(
        self,
        admin: &Admin,
        tx: &mut Tx,
    ) -> Result<Option<FirstAdministrator>, StartError> {
        let Self {
            user,
            password_hash,
            generated,
        } = self;
        if store::users::count(tx, Role::Admin).await? > 0 {
            return Ok(None);
        }
        if !store::users::insert(tx, &user, &password_hash).await? {
            return Err(StartError::FirstAdministrator(format!(
                "{0} has an account, which is no administrator; make it one with `pennon user set-role {0} admin`",
                user.email
            )));
        }
        audit::Entry::of(AuditAction::UserCreated)
            .user(user.id)
            .to(&user)?
            .record(admin, tx, &Actor::command_line().on_own_behalf())
            .await?;
        Ok(Some(FirstAdministrator {
            email: user.email,
            generated_password: generated,
        }))
    }
}
