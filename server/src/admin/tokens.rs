//! Personal access tokens: creating, listing and revoking them.

use pennon_model::audit::AuditAction;
use pennon_model::id::TokenId;
use pennon_model::secret::{Secret, SecretHash};
use pennon_model::text::NewName;
use pennon_model::time::Timestamp;
use pennon_model::token::{CreatedToken, Token, TokenName};
use pennon_model::user::Role;

use super::users::{self, AccountSelector};
use super::{Admin, audit};
use crate::auth::actor::{Actor, Person};
use crate::auth::secret::PrefixedSecret;
use crate::error::{Conflict, Entity, Error, Fault};
use crate::store::{self, Tx};

/// The maximum number of tokens per user.
const MOST_TOKENS: usize = 50;

/// The default lifetime of a token, in days.
const DEFAULT_DAYS: i64 = 90;

/// The maximum lifetime of a token, in days.
pub(crate) const MOST_DAYS: i64 = 366;

/// The number of days until a token expires, 1 to 366.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TokenDays(i64);

impl TokenDays {
    /// The point in time at which a token of today expires.
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
        let is_allowed = (1..=MOST_DAYS).contains(&days);
        is_allowed.then_some(Self(days)).ok_or("must be 1 to 366")
    }
}

/// Which token a caller means.
pub(crate) struct TokenSelector {
    pub(crate) owner: AccountSelector,
    /// None if what was given is no id.
    pub(crate) token: Option<TokenId>,
}

/// A token to create.
pub(crate) struct NewToken {
    pub(crate) name: NewName<TokenName>,
    pub(crate) role: Role,
    pub(crate) expires_at: Option<Timestamp>,
}

/// Creates a token of the caller's own, with at most the rights of the caller.
pub(crate) async fn create(
    admin: &Admin,
    person: &Person,
    new: NewToken,
) -> Result<CreatedToken, Error> {
    if new.role > person.role() {
        return Err(Error::Forbidden(new.role));
    }
    let now = admin.clock.now();
    let PrefixedSecret { secret, prefix } = PrefixedSecret::token(&admin.entropy);
    let token = Token {
        id: TokenId::new(admin.entropy.id(now)),
        user_id: person.user().id,
        name: new.name.into_inner(),
        role: new.role,
        token_prefix: prefix,
        created_at: now,
        expires_at: expiry(new.expires_at, now)?,
    };
    let mut tx = admin.db.write().await?;
    create_within(admin, &mut tx, person, &token, &secret).await?;
    tx.commit().await?;
    Ok(CreatedToken { token, secret })
}

/// Creates a token, within a transaction.
pub(super) async fn create_within(
    admin: &Admin,
    tx: &mut Tx,
    actor: &Actor,
    token: &Token,
    secret: &Secret,
) -> Result<(), Error> {
    audit::Entry::of(AuditAction::TokenCreated)
        .token(token)
        .to(token)?
        .record(admin, tx, actor)
        .await?;
    if store::tokens::of_user(tx, token.user_id).await?.len() >= MOST_TOKENS {
        return Err(Conflict::TooManyTokens.into());
    }
    if !store::tokens::insert(tx, token, SecretHash::of(secret.expose())).await? {
        return Err(Conflict::TokenNameTaken.into());
    }
    Ok(())
}

/// Returns all tokens of a user, newest first: the caller's own, or anybody's for an administrator.
pub(crate) async fn list(
    admin: &Admin,
    actor: &Actor,
    owner: AccountSelector,
) -> Result<Vec<Token>, Error> {
    let mut tx = admin.db.read().await?;
    let owner = users::find(&mut tx, actor, owner).await?;
    store::tokens::of_user(&mut tx, owner.id).await
}

/// Returns one token of a user: the caller's own, or anybody's for an administrator.
pub(crate) async fn get(
    admin: &Admin,
    actor: &Actor,
    which: TokenSelector,
) -> Result<Token, Error> {
    find(&mut admin.db.read().await?, actor, which).await
}

/// Revokes a token: it is refused from now on. A script can revoke the token that it came by, but no other unless it
/// may do everything.
pub(crate) async fn revoke(
    admin: &Admin,
    actor: &Actor,
    which: TokenSelector,
) -> Result<(), Error> {
    let own = match which.owner {
        AccountSelector::Mine => true,
        AccountSelector::Of(id) => id.is_some() && id == actor.user().map(|user| user.id),
    };
    let by_itself = actor.token().is_none() || actor.token() == which.token;
    let administrator = (!own || !by_itself)
        .then(|| actor.administrator())
        .transpose()?;
    // An actor who needs the role `admin` must still have it when the transaction commits.
    let actor = administrator.as_deref().unwrap_or(actor);
    let mut tx = admin.db.write().await?;
    let token = find(&mut tx, actor, which).await?;
    // Before the revocation, after which a token that revokes itself is none.
    audit::Entry::of(AuditAction::TokenRevoked)
        .token(&token)
        .from(Some(&token))?
        .record(admin, &mut tx, actor)
        .await?;
    store::tokens::delete(&mut tx, token.id).await?;
    tx.commit().await
}

/// When a token is to expire.
fn expiry(wanted: Option<Timestamp>, now: Timestamp) -> Result<Timestamp, Error> {
    let problem = match wanted {
        None => return Ok(TokenDays::default().after(now)),
        Some(time) if time <= now => "must be in the future",
        Some(time) if time > now.plus_days(MOST_DAYS) => "must be at most 366 days ahead",
        Some(time) => return Ok(time),
    };
    Err(Error::Invalid(vec![Fault::pointer("/expiresAt", problem)]))
}

/// One token, within a transaction.
async fn find(tx: &mut Tx, actor: &Actor, which: TokenSelector) -> Result<Token, Error> {
    let owner = users::find(tx, actor, which.owner).await?;
    let tokens = store::tokens::of_user(tx, owner.id).await?;
    tokens
        .into_iter()
        .find(|token| Some(token.id) == which.token)
        .ok_or(Error::NotFound(Entity::Token))
}
