//! Users: creating, listing, changing and deleting them, and the password of one's own.

use std::net::IpAddr;
use std::ops::Not;

use pennon_core::model::audit::AuditAction;
use pennon_core::model::id::UserId;
use pennon_core::model::page::{Page, PageRequest};
use pennon_core::model::time::Timestamp;
use pennon_core::model::user::{Email, Role, User};
use serde::Serialize;

use super::precondition::Precondition;
use super::{Service, audit};
use crate::auth::actor::{Actor, Administrator, Person};
use crate::auth::password::NewPassword;
use crate::auth::queue::Class;
use crate::error::{Conflict, Entity, Error, Fault};
use crate::store::users::UserFilter;
use crate::store::{self, Tx};

/// Whose account a caller means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    /// The caller's own.
    Mine,
    /// The account with this id; none if what was given is no id.
    Of(Option<UserId>),
}

/// A user to create.
pub(crate) struct NewUser {
    pub(crate) email: Email,
    pub(crate) password: NewPassword,
    pub(crate) role: Role,
}

/// What to change of a user.
pub(crate) struct UserPatch {
    pub(crate) role: Option<Role>,
    /// A password to sign in with from now on, in the place of a forgotten one.
    pub(crate) password: Option<NewPassword>,
}

/// A password of one's own to change.
pub(crate) struct PasswordChange {
    pub(crate) current: String,
    pub(crate) new: NewPassword,
}

/// What the audit log shows of a user after a change.
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
    service: &Service,
    actor: &Administrator,
    new: NewUser,
) -> Result<User, Error> {
    let hash = service
        .passwords
        .hash(&new.password, &service.entropy)
        .await?;
    let now = service.clock.now();
    let user = User {
        id: UserId::new(service.entropy.id(now)),
        email: new.email.into(),
        role: new.role,
        created_at: now,
        revision: 1,
    };
    let mut tx = service.db.write().await?;
    if !store::users::insert(&mut tx, &user, &hash).await? {
        return Err(Conflict::EmailTaken.into());
    }
    audit::Entry::of(AuditAction::UserCreated)
        .user(user.id)
        .to(&user)?
        .record(service, &mut tx, actor)
        .await?;
    tx.commit().await?;
    Ok(user)
}

/// One page of users, newest first.
pub(crate) async fn list(
    service: &Service,
    _actor: &Administrator,
    filter: &UserFilter,
    page: PageRequest,
) -> Result<Page<User>, Error> {
    store::users::list(&mut service.db.read().await?, filter, page).await
}

/// One page of users, newest first, each with the time of the last sign-in as long as a session tells of it.
pub(crate) async fn with_sign_ins(
    service: &Service,
    _actor: &Administrator,
    page: PageRequest,
) -> Result<Page<(User, Option<Timestamp>)>, Error> {
    let mut tx = service.db.read().await?;
    let users = store::users::list(&mut tx, &UserFilter::default(), page).await?;
    let sign_ins = store::sessions::last_begun(&mut tx, page).await?;
    Ok(users.map(|user| {
        let signed_in_at = sign_ins.get(&user.id).copied();
        (user, signed_in_at)
    }))
}

/// One user: oneself, or anybody for an administrator.
pub(crate) async fn get(service: &Service, actor: &Actor, whose: Whose) -> Result<User, Error> {
    find(&mut service.db.read().await?, actor, whose).await
}

/// The user with an e-mail address.
pub(crate) async fn by_email(
    service: &Service,
    _actor: &Administrator,
    email: &str,
) -> Result<User, Error> {
    let account = store::users::by_email(&mut service.db.read().await?, email).await?;
    account
        .map(|account| account.user)
        .ok_or(Error::NotFound(Entity::User))
}

/// Gives a user another role or password. A role counts from the next request on; a password ends all sessions.
pub(crate) async fn update(
    service: &Service,
    actor: &Administrator,
    whose: Whose,
    precondition: &Precondition,
    patch: UserPatch,
) -> Result<User, Error> {
    if patch.password.is_some() && actor.token().is_some() {
        // A token that leaked and then expired must not have opened a way in that stays.
        return Err(Error::WrongCredential);
    }
    let hash = match &patch.password {
        Some(password) => Some(service.passwords.hash(password, &service.entropy).await?),
        None => None,
    };
    let mut tx = service.db.write().await?;
    let old = find(&mut tx, actor, whose).await?;
    precondition.check(old.revision)?;
    let role = patch.role.unwrap_or(old.role);
    if role == old.role && hash.is_none() {
        return Ok(old);
    }
    if role != Role::Admin {
        keep_an_administrator(&mut tx, &old).await?;
    }
    let new = User {
        role,
        revision: old.revision + 1,
        ..old.clone()
    };
    let updated = Updated {
        user: &new,
        password_reset: hash.is_some(),
    };
    // Before the change, after which those who change themselves may not be allowed to.
    audit::Entry::of(AuditAction::UserUpdated)
        .user(new.id)
        .from(Some(&old))?
        .to(&updated)?
        .record(service, &mut tx, actor)
        .await?;
    store::users::update(&mut tx, &new, hash.as_deref()).await?;
    if hash.is_some() {
        store::sessions::end_all(&mut tx, new.id, None, service.clock.now()).await?;
    }
    tx.commit().await?;
    Ok(new)
}

/// Deletes a user, with all sessions and tokens. What the audit log says of them stays.
pub(crate) async fn delete(
    service: &Service,
    actor: &Administrator,
    whose: Whose,
    precondition: &Precondition,
) -> Result<(), Error> {
    let mut tx = service.db.write().await?;
    let user = find(&mut tx, actor, whose).await?;
    precondition.check(user.revision)?;
    keep_an_administrator(&mut tx, &user).await?;
    // Before the deletion, after which those who delete themselves are nobody.
    audit::Entry::of(AuditAction::UserDeleted)
        .user(user.id)
        .from(Some(&user))?
        .record(service, &mut tx, actor)
        .await?;
    store::users::delete(&mut tx, user.id).await?;
    tx.commit().await
}

/// Changes the person's own password and ends all their other sessions. To guess the current password is as hard as it
/// is when signing in.
pub(crate) async fn change_password(
    service: &Service,
    person: &Person,
    address: IpAddr,
    change: PasswordChange,
) -> Result<(), Error> {
    let (id, now) = (person.user().id, service.clock.now());
    let email = &person.user().email;
    let attempt = service.throttle.attempt(email, address, now);
    service.throttle.check(&attempt, now)?;
    let place = service.passwords.enter(Class::Authenticated)?;
    let account = store::users::account(&mut service.db.read().await?, id).await?;
    let old_hash = account.ok_or(Error::Unauthenticated)?.password_hash;
    let turn = place.turn().await?;
    let now = service.clock.now();
    let admitted = service.throttle.admit(&attempt, now)?;
    if !service
        .passwords
        .verify(turn, &change.current, Some(&old_hash))
        .await?
    {
        return Err(wrong_password());
    }
    admitted.succeed();
    let hash = service
        .passwords
        .hash(&change.new, &service.entropy)
        .await?;
    let mut tx = service.db.write().await?;
    audit::Entry::of(AuditAction::PasswordChanged)
        .user(id)
        .record(service, &mut tx, person)
        .await?;
    if !store::users::replace_password(&mut tx, id, &old_hash, &hash).await? {
        return Err(wrong_password());
    }
    store::sessions::end_all(&mut tx, id, Some(person.session()), now).await?;
    tx.commit().await
}

/// The user meant, within a transaction, if the actor may know of them. Nobody else learns which ids there are.
pub(super) async fn find(tx: &mut Tx, actor: &Actor, whose: Whose) -> Result<User, Error> {
    let id = match whose {
        Whose::Mine => actor.user().map(|user| user.id),
        Whose::Of(id) => id,
    };
    if !id.is_some_and(|id| actor.is(id)) {
        actor.administrator()?;
    }
    let user = match id {
        Some(id) => store::users::find(tx, id).await?,
        None => None,
    };
    user.ok_or(Error::NotFound(Entity::User))
}

/// Refuses to take away the last administrator. Writers take turns, so two cannot each rely on the other.
async fn keep_an_administrator(tx: &mut Tx, user: &User) -> Result<(), Error> {
    if user.role == Role::Admin && store::users::count(tx, Role::Admin).await? == 1 {
        return Err(Conflict::LastAdmin.into());
    }
    Ok(())
}

fn wrong_password() -> Error {
    let fault = Fault::pointer("/currentPassword", "is not the current password");
    Error::Invalid(vec![fault])
}
