//! Personal access tokens: creating, listing and revoking them.

use pennon_model::audit::AuditAction;
use pennon_model::grant::Grants;
use pennon_model::id::TokenId;
use pennon_model::secret::{Secret, SecretHash};
use pennon_model::text::NewName;
use pennon_model::time::Timestamp;
use pennon_model::token::{CreatedToken, Token, TokenName};
use pennon_model::user::Role;

use super::users::{self, AccountSelector};
use super::{Admin, Existence, audit, grants};
use crate::auth::actor::{Actor, Person};
use crate::auth::authority::Authorized;
use crate::auth::secret::PrefixedSecret;
use crate::error::{Conflict, Entity, Error, Fault};
use crate::store::{self, Tx};

/// The maximum number of tokens per user.
const MAX_TOKENS: usize = 50;

/// The default lifetime of a token, in days.
const DEFAULT_DAYS: i64 = 90;

/// The maximum lifetime of a token, in days.
pub(crate) const MAX_DAYS: i64 = 366;

/// The number of days until a token expires, 1 to 366.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TokenDays(i64);

impl TokenDays {
    /// Returns the expiry time of a token that is created at `now`.
    pub(super) fn after(self, now: Timestamp) -> Timestamp {
        now.plus_days(self.0)
    }
}

impl Default for TokenDays {
    fn default() -> Self {
        Self(DEFAULT_DAYS)
    }
}

impl TryFrom<i64> for TokenDays {
    type Error = &'static str;

    fn try_from(days: i64) -> Result<Self, Self::Error> {
        let is_allowed = (1..=MAX_DAYS).contains(&days);
        is_allowed.then_some(Self(days)).ok_or("must be 1 to 366")
    }
}

/// The token that a caller refers to.
#[derive(Clone, Copy)]
pub(crate) struct TokenSelector {
    pub(crate) owner: AccountSelector,
    /// The ID of the token; none if the text is not an ID.
    pub(crate) token: Option<TokenId>,
}

/// A token to create.
pub(crate) struct NewToken {
    pub(crate) name: NewName<TokenName>,
    /// The role, which applies everywhere.
    pub(crate) role: Role,
    /// The roles in single products and environments.
    pub(crate) grants: Grants,
    pub(crate) expires_at: Option<Timestamp>,
}

/// Creates a token for the caller, with at most the caller's rights.
pub(crate) async fn create(
    admin: &Admin,
    person: &Person,
    new: NewToken,
) -> Result<CreatedToken, Error> {
    if new.role > person.user().role {
        return Err(Error::Forbidden(new.role));
    }
    let now = admin.clock.now();
    let PrefixedSecret { secret, prefix } = PrefixedSecret::token(&admin.entropy);
    let token = Token {
        id: TokenId::new(admin.entropy.id(now)),
        user_id: person.user().id,
        name: new.name.into_inner(),
        role: new.role,
        grants: new.grants,
        token_prefix: prefix,
        created_at: now,
        expires_at: expiry(new.expires_at, now)?,
    };
    let mut tx = admin.db.write().await?;
    grants::check(&mut tx, &Grants::default(), &token.grants).await?;
    grants::check_limit(&mut tx, person, &token.grants).await?;
    create_within(admin, &mut tx, person, &token, &secret).await?;
    tx.commit().await?;
    Ok(CreatedToken { token, secret })
}

/// Creates a token, within a transaction.
pub(super) async fn create_within(
    admin: &Admin,
    tx: &mut Tx,
    actor: &Authorized,
    token: &Token,
    secret: &Secret,
) -> Result<(), Error> {
    audit::Entry::of(AuditAction::TokenCreated)
        .token(token)
        .to(token)?
        .record(admin, tx, actor)
        .await?;
    if store::tokens::of_user(tx, token.user_id).await?.len() >= MAX_TOKENS {
        return Err(Conflict::TooManyTokens.into());
    }
    if !store::tokens::insert(tx, token, SecretHash::of(secret.expose())).await? {
        return Err(Conflict::TokenNameTaken.into());
    }
    Ok(())
}

/// Returns all tokens of a user, newest first: the caller, or any user if the caller is an administrator.
pub(crate) async fn list(
    admin: &Admin,
    actor: &Actor,
    owner: AccountSelector,
) -> Result<Vec<Token>, Error> {
    let mut tx = admin.db.read().await?;
    let owner = users::find(&mut tx, actor, owner).await?;
    store::tokens::of_user(&mut tx, owner.id).await
}

/// Returns one token of a user: the caller, or any user if the caller is an administrator.
pub(crate) async fn get(
    admin: &Admin,
    actor: &Actor,
    which: TokenSelector,
) -> Result<Token, Error> {
    find(&mut admin.db.read().await?, actor, which).await
}

impl Existence for TokenSelector {
    async fn check(&self, admin: &Admin, actor: &Actor) -> Result<(), Error> {
        get(admin, actor, *self).await.map(drop)
    }
}

/// Revokes a token, which stops working at once. A script can revoke its own token, and other tokens only with the role
/// `admin`.
pub(crate) async fn revoke(
    admin: &Admin,
    actor: &Actor,
    which: TokenSelector,
) -> Result<(), Error> {
    let by_itself = actor.token().is_none() || actor.token() == which.token;
    let authorized: &Authorized = if which.owner.is_own(actor) && by_itself {
        &actor.clone().on_own_behalf()
    } else {
        &*actor.administrator()?
    };
    let mut tx = admin.db.write().await?;
    let token = find(&mut tx, actor, which).await?;
    // Recorded before the revocation, because a token that revokes itself is invalid afterward.
    audit::Entry::of(AuditAction::TokenRevoked)
        .token(&token)
        .from(Some(&token))?
        .record(admin, &mut tx, authorized)
        .await?;
    store::tokens::delete(&mut tx, token.id).await?;
    tx.commit().await
}

/// Returns the expiry time of a token.
fn expiry(wanted: Option<Timestamp>, now: Timestamp) -> Result<Timestamp, Error> {
    let problem = match wanted {
        None => return Ok(TokenDays::default().after(now)),
        Some(time) if time <= now => "must be in the future",
        Some(time) if time > now.plus_days(MAX_DAYS) => "must be at most 366 days ahead",
        Some(time) => return Ok(time),
    };
    Err(Fault::pointer("/expiresAt", problem).into())
}

/// Returns one token, within a transaction.
async fn find(tx: &mut Tx, actor: &Actor, which: TokenSelector) -> Result<Token, Error> {
    let owner = users::find(tx, actor, which.owner).await?;
    let tokens = store::tokens::of_user(tx, owner.id).await?;
    tokens
        .into_iter()
        .find(|token| Some(token.id) == which.token)
        .ok_or(Error::NotFound(Entity::Token))
}
