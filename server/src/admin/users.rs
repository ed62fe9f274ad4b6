//! Users: creating, listing, changing and deleting them, and changing one's own password.

use std::net::IpAddr;
use std::ops::Not;

use pennon_model::audit::AuditAction;
use pennon_model::grant::Grants;
use pennon_model::id::UserId;
use pennon_model::page::{Page, PageRequest};
use pennon_model::time::Timestamp;
use pennon_model::user::{Email, Role, User, UserFilter};
use serde::Serialize;

use super::precondition::Precondition;
use super::{Admin, Existence, audit, grants};
use crate::auth::actor::{Actor, Person};
use crate::auth::authority::Administrator;
use crate::auth::password::NewPassword;
use crate::auth::queue::Class;
use crate::error::{Conflict, Entity, Error, Fault};
use crate::store::{self, Tx};

/// The account that a caller refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AccountSelector {
    /// The caller's own account.
    Mine,
    /// The account with this ID; none if the text is not an ID.
    Of(Option<UserId>),
}

impl AccountSelector {
    /// Returns the ID of the account.
    fn id(self, actor: &Actor) -> Option<UserId> {
        match self {
            Self::Mine => actor.user().map(|user| user.id),
            Self::Of(id) => id,
        }
    }

    /// Returns true if the account is the actor's own.
    pub(super) fn is_own(self, actor: &Actor) -> bool {
        self.id(actor).is_some_and(|id| actor.is(id))
    }
}

/// A user to create.
pub(crate) struct NewUser {
    pub(crate) email: Email,
    pub(crate) password: NewPassword,
    /// The role, which applies everywhere.
    pub(crate) role: Role,
    /// The roles in single products and environments.
    pub(crate) grants: Grants,
}

/// The changes to a user.
#[derive(Default)]
pub(crate) struct UserPatch {
    pub(crate) role: Option<Role>,
    /// All grants, which replace the present ones.
    pub(crate) grants: Option<Grants>,
    /// The new password: a reset for another user, or a change of the caller's own.
    pub(crate) password: Option<NewPassword>,
    /// The current password, required to change the caller's own.
    pub(crate) current: Option<CurrentPassword>,
}

/// The role of a user that applies everywhere, and those in single products and environments.
pub(super) struct Rights {
    pub(super) role: Role,
    pub(super) grants: Grants,
}

impl Rights {
    /// Returns the rights of a user.
    pub(super) fn of(user: User) -> Self {
        Self {
            role: user.role,
            grants: user.grants,
        }
    }
}

/// A change of the caller's own password.
pub(crate) struct PasswordChange {
    pub(crate) current: CurrentPassword,
    pub(crate) new: NewPassword,
}

/// The caller's current password, as typed.
pub(crate) struct CurrentPassword {
    pub(crate) text: String,
    /// The client's IP address, for the rate limit.
    pub(crate) from: IpAddr,
}

/// The value of a changed user in the audit log.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Updated<'a> {
    #[serde(flatten)]
    user: &'a User,
    #[serde(skip_serializing_if = "Not::not")]
    password_reset: bool,
}

/// Creates a user.
pub(crate) async fn create(
    admin: &Admin,
    actor: &Administrator,
    new: NewUser,
) -> Result<User, Error> {
    needs_session(actor)?;
    let hash = hash(admin, &new.password).await?;
    let user = User {
        grants: new.grants,
        ..created(admin, new.email.as_str(), new.role)
    };
    let mut tx = admin.db.write().await?;
    grants::check(&mut tx, &Grants::default(), &user.grants).await?;
    if !store::users::insert(&mut tx, &user, &hash).await? {
        return Err(Conflict::EmailTaken.into());
    }
    audit::Entry::of(AuditAction::UserCreated)
        .user(user.id)
        .to(&user)?
        .record(admin, &mut tx, actor)
        .await?;
    tx.commit().await?;
    Ok(user)
}

/// Builds a new user. The caller stores it.
pub(super) fn created(admin: &Admin, email: &str, role: Role) -> User {
    let now = admin.clock.now();
    User {
        id: UserId::new(admin.entropy.id(now)),
        email: email.to_owned(),
        role,
        grants: Grants::default(),
        created_at: now,
        revision: 1,
    }
}

pub(super) async fn hash(admin: &Admin, password: &NewPassword) -> Result<String, Error> {
    admin.auth.passwords.hash(password, &admin.entropy).await
}

/// Returns one page of users, newest first.
pub(crate) async fn list(
    admin: &Admin,
    _actor: &Administrator,
    filter: &UserFilter,
    page: PageRequest,
) -> Result<Page<User>, Error> {
    store::users::list(&mut admin.db.read().await?, filter, page).await
}

/// Returns the newest users whose e-mail addresses contain a text, ignoring case.
pub(crate) async fn search(
    admin: &Admin,
    _actor: &Administrator,
    text: &str,
    limit: i64,
) -> Result<Vec<User>, Error> {
    store::users::search(&mut admin.db.read().await?, text, limit).await
}

/// Returns one page of users, newest first, each with the time of the last sign-in, for as long as that session is
/// stored.
pub(crate) async fn with_sign_ins(
    admin: &Admin,
    _actor: &Administrator,
    page: PageRequest,
) -> Result<Page<(User, Option<Timestamp>)>, Error> {
    let mut tx = admin.db.read().await?;
    let users = store::users::list(&mut tx, &UserFilter::default(), page).await?;
    let sign_ins = store::sessions::last_begun(&mut tx, &users.items).await?;
    Ok(users.map(|user| {
        let signed_in_at = sign_ins.get(&user.id).copied();
        (user, signed_in_at)
    }))
}

/// Returns one user: the caller, or any user if the caller is an administrator.
pub(crate) async fn get(
    admin: &Admin,
    actor: &Actor,
    account: AccountSelector,
) -> Result<User, Error> {
    find(&mut admin.db.read().await?, actor, account).await
}

impl Existence<Administrator> for AccountSelector {
    async fn check(&self, admin: &Admin, actor: &Administrator) -> Result<(), Error> {
        get(admin, actor, *self).await.map(drop)
    }
}

impl Existence for AccountSelector {
    async fn check(&self, admin: &Admin, actor: &Actor) -> Result<(), Error> {
        get(admin, actor, *self).await.map(drop)
    }
}

/// Returns the user with an e-mail address.
pub(crate) async fn by_email(
    admin: &Admin,
    _actor: &Administrator,
    email: &str,
) -> Result<User, Error> {
    let user = store::users::by_email(&mut admin.db.read().await?, email).await?;
    user.ok_or(Error::NotFound(Entity::User))
}

/// Changes the role, the grants or the password of a user. New rights apply from the next request; a new password ends
/// all sessions.
pub(crate) async fn update(
    admin: &Admin,
    actor: &Administrator,
    account: AccountSelector,
    precondition: &Precondition,
    patch: UserPatch,
) -> Result<User, Error> {
    let proven = prove_own_password(admin, actor, account, &patch).await?;
    let hash = match &patch.password {
        Some(password) => Some(hash(admin, password).await?),
        None => None,
    };
    let mut tx = admin.db.write().await?;
    let old = find(&mut tx, actor, account).await?;
    precondition.check(old.revision)?;
    if let Some(proven) = proven {
        // The password may have been changed while the old one was being verified.
        let account = store::users::account(&mut tx, old.id).await?;
        account
            .filter(|account| account.password_hash == proven)
            .ok_or_else(wrong_password)?;
    }
    let role = patch.role.unwrap_or(old.role);
    let grants = patch.grants.unwrap_or_else(|| old.grants.clone());
    if role == old.role && grants == old.grants && hash.is_none() {
        return Ok(old);
    }
    let rights = Rights { role, grants };
    let new = rewrite(admin, &mut tx, actor, &old, rights, hash.as_deref()).await?;
    tx.commit().await?;
    Ok(new)
}

/// Stores other rights of a user, and the hash of a new password if there is one, within a transaction.
pub(super) async fn rewrite(
    admin: &Admin,
    tx: &mut Tx,
    actor: &Administrator,
    old: &User,
    Rights { role, grants }: Rights,
    hash: Option<&str>,
) -> Result<User, Error> {
    grants::check(tx, &old.grants, &grants).await?;
    if role != Role::Admin {
        keep_an_administrator(tx, old).await?;
    }
    let new = User {
        role,
        grants,
        revision: old.revision + 1,
        ..old.clone()
    };
    let updated = Updated {
        user: &new,
        password_reset: hash.is_some(),
    };
    // Recorded before the change, because callers who change their own account may lose the right to change it.
    audit::Entry::of(AuditAction::UserUpdated)
        .user(new.id)
        .from(Some(old))?
        .to(&updated)?
        .record(admin, tx, actor)
        .await?;
    store::users::update(tx, &new, hash).await?;
    if hash.is_some() {
        store::sessions::end_all(tx, new.id, None, admin.clock.now()).await?;
    }
    Ok(new)
}

/// Deletes a user with all sessions and tokens. The user's audit entries remain.
pub(crate) async fn delete(
    admin: &Admin,
    actor: &Administrator,
    account: AccountSelector,
    precondition: &Precondition,
) -> Result<(), Error> {
    let mut tx = admin.db.write().await?;
    let user = find(&mut tx, actor, account).await?;
    precondition.check(user.revision)?;
    keep_an_administrator(&mut tx, &user).await?;
    // Recorded before the deletion, because callers who delete themselves no longer exist.
    audit::Entry::of(AuditAction::UserDeleted)
        .user(user.id)
        .from(Some(&user))?
        .record(admin, &mut tx, actor)
        .await?;
    store::users::delete(&mut tx, user.id).await?;
    tx.commit().await
}

/// Changes the person's own password, and ends all their other sessions.
pub(crate) async fn change_password(
    admin: &Admin,
    person: &Person,
    precondition: &Precondition,
    change: PasswordChange,
) -> Result<(), Error> {
    let id = person.user().id;
    let old_hash = verify_current(admin, person.user(), &change.current).await?;
    let hash = hash(admin, &change.new).await?;
    let mut tx = admin.db.write().await?;
    let user = find(&mut tx, person, AccountSelector::Mine).await?;
    precondition.check(user.revision)?;
    audit::Entry::of(AuditAction::PasswordChanged)
        .user(id)
        .record(admin, &mut tx, person)
        .await?;
    if !store::users::replace_password(&mut tx, id, &old_hash, &hash).await? {
        return Err(wrong_password());
    }
    let now = admin.clock.now();
    store::sessions::end_all(&mut tx, id, Some(person.session()), now).await?;
    tx.commit().await
}

/// Checks that a patch with a password comes from a session, and that callers who change their own password know the
/// current one. Returns the hash of that current password.
async fn prove_own_password(
    admin: &Admin,
    actor: &Actor,
    account: AccountSelector,
    patch: &UserPatch,
) -> Result<Option<String>, Error> {
    if patch.password.is_some() {
        needs_session(actor)?;
    }
    let own = actor.user().filter(|_| account.is_own(actor));
    match (own, &patch.password, &patch.current) {
        (Some(user), Some(_), Some(current)) => {
            verify_current(admin, user, current).await.map(Some)
        }
        (Some(_), Some(_), None) => {
            Err(current_password("is required to change your own password"))
        }
        (_, _, Some(_)) => Err(current_password(
            "is only accepted with a new password of your own",
        )),
        (_, _, None) => Ok(None),
    }
}

/// Refuses personal access tokens: a leaked one must not give access that outlives it.
fn needs_session(actor: &Actor) -> Result<(), Error> {
    match actor.token() {
        Some(_) => Err(Error::SessionRequired),
        None => Ok(()),
    }
}

/// Verifies a user's current password, and returns its hash. Wrong guesses count as failed sign-ins.
async fn verify_current(
    admin: &Admin,
    user: &User,
    current: &CurrentPassword,
) -> Result<String, Error> {
    let now = admin.clock.now();
    let attempt = admin.auth.throttle.attempt(&user.email, current.from, now);
    admin.auth.throttle.check(&attempt, now)?;
    let queued = admin.auth.passwords.enter(Class::Authenticated)?;
    let account = store::users::account(&mut admin.db.read().await?, user.id).await?;
    let hash = account.ok_or(Error::Unauthenticated)?.password_hash;
    let turn = queued.turn().await?;
    let admitted = admin.auth.throttle.admit(&attempt, admin.clock.now())?;
    let verified = admin
        .auth
        .passwords
        .verify(turn, &current.text, Some(&hash));
    let (is_right, turn) = verified.await?;
    if !is_right {
        return Err(wrong_password());
    }
    admitted.succeed();
    drop(turn);
    Ok(hash)
}

/// Returns the selected user, within a transaction, if the actor may see them. For other actors, the error never
/// reveals whether an ID exists.
pub(super) async fn find(
    tx: &mut Tx,
    actor: &Actor,
    account: AccountSelector,
) -> Result<User, Error> {
    if !account.is_own(actor) {
        actor.administrator()?;
    }
    let user = match account.id(actor) {
        Some(id) => store::users::find(tx, id).await?,
        None => None,
    };
    user.ok_or(Error::NotFound(Entity::User))
}

/// Refuses to remove the last administrator. Because writers take turns, two concurrent removals cannot both succeed.
async fn keep_an_administrator(tx: &mut Tx, user: &User) -> Result<(), Error> {
    if user.is_administrator() && store::users::count(tx, Role::Admin).await? == 1 {
        return Err(Conflict::LastAdmin.into());
    }
    Ok(())
}

fn wrong_password() -> Error {
    current_password("is not the current password")
}

fn current_password(detail: &str) -> Error {
    Fault::pointer("/currentPassword", detail).into()
}
