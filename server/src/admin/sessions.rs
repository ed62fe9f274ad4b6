//! Signing in and out.

use std::net::IpAddr;
use std::sync::atomic::AtomicI64;
use std::sync::atomic::Ordering::Relaxed;

use pennon_model::id::SessionId;
use pennon_model::secret::{Secret, SecretHash};
use pennon_model::time::Timestamp;
use pennon_model::user::{Account, User};

use super::Admin;
use crate::auth::actor::Person;
use crate::auth::secret;
use crate::error::Error;
use crate::store::sessions::{NewSession, RefreshToken};
use crate::store::{self, Tx};

/// The lifetime of a session, in days.
pub(crate) const SESSION_DAYS: i64 = 30;

/// The number of days for which an expired session is kept.
const KEEP_EXPIRED_DAYS: i64 = 7;

/// The period in which a spent refresh token is accepted once more, in case its response was lost, in milliseconds.
const LOST_ANSWER_MILLIS: i64 = 10_000;

/// A session that has just begun.
pub(crate) struct SignedIn {
    pub(crate) user: User,
    pub(crate) session: SessionId,
    /// The refresh token of the API, or the dashboard's cookie; it is returned only here.
    pub(crate) secret: Secret,
}

/// The purpose of a session, which decides its credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SessionKind {
    /// The Admin API, by access tokens that a refresh token renews.
    Api,
    /// The dashboard, by a cookie.
    Dashboard,
}

/// The input of the sign-in form.
pub(crate) struct Credentials {
    pub(crate) email: String,
    pub(crate) password: String,
}

/// Begins a session, if the password belongs to the e-mail address. An unknown address takes as long to be refused as
/// a wrong password.
pub(crate) async fn sign_in(
    admin: &Admin,
    credentials: Credentials,
    address: IpAddr,
    kind: SessionKind,
) -> Result<SignedIn, Error> {
    let Credentials { email, password } = credentials;
    let now = admin.clock.now();
    let attempt = admin.auth.throttle.attempt(&email, address, now);
    // Before it takes a place in the queue, and once more when its turn has come.
    admin.auth.throttle.check(&attempt, now)?;
    let queued = admin.auth.passwords.enter(attempt.class())?;
    let account = if email.contains('\0') {
        None
    } else {
        store::users::by_email(&mut admin.db.read().await?, &email).await?
    };
    let hash = account
        .as_ref()
        .map(|account| account.password_hash.as_str());
    let turn = queued.turn().await?;
    let now = admin.clock.now();
    let admitted = admin.auth.throttle.admit(&attempt, now)?;
    let right = admin.auth.passwords.verify(turn, &password, hash).await?;
    let Some(account) = account.filter(|_| right) else {
        return Err(Error::WrongPassword);
    };
    admitted.succeed();
    let signed_in = begin(admin, account, kind, now).await?;
    admin.auth.throttle.remember(&attempt, now);
    Ok(signed_in)
}

async fn begin(
    admin: &Admin,
    verified: Account,
    kind: SessionKind,
    now: Timestamp,
) -> Result<SignedIn, Error> {
    let mut tx = admin.db.write().await?;
    // While the password was being verified, it may have been changed, or the account deleted.
    let account = store::users::account(&mut tx, verified.user.id).await?;
    let Account { user, .. } = account
        .filter(|account| account.password_hash == verified.password_hash)
        .ok_or(Error::WrongPassword)?;
    let secret = secret::generate(&admin.entropy);
    let hash = SecretHash::of(secret.expose());
    let session = NewSession {
        id: SessionId::new(admin.entropy.id(now)),
        user: &user,
        cookie: (kind == SessionKind::Dashboard).then_some(hash),
        created_at: now,
        expires_at: now.plus_days(SESSION_DAYS),
    };
    store::sessions::insert(&mut tx, &session).await?;
    if kind == SessionKind::Api {
        let expires_at = session.expires_at;
        store::sessions::insert_refresh_token(&mut tx, session.id, hash, now, expires_at).await?;
    }
    let expired = now.plus_days(-KEEP_EXPIRED_DAYS);
    let oldest = expired.plus_days(-SESSION_DAYS);
    store::sessions::forget_expired(&mut tx, expired, oldest).await?;
    tx.commit().await?;
    Ok(SignedIn {
        session: session.id,
        user,
        secret,
    })
}

/// Continues a session of the API: spends a refresh token and returns the next one.
///
/// A client that lost the response may retry for a moment, and gets the same token. A spent token that comes back
/// later, or after its successor was used, is in the hands of two parties, one of them a thief: the session ends.
pub(crate) async fn refresh(admin: &Admin, token: &str) -> Result<SignedIn, Error> {
    let (hash, now) = (SecretHash::of(token), admin.clock.now());
    let oldest = now.plus_days(-SESSION_DAYS);
    // Looked up twice, so that nobody without a token can take the writers' turn.
    let mut reading = admin.db.read().await?;
    if store::sessions::refresh_token(&mut reading, hash, now, oldest)
        .await?
        .is_none()
    {
        return Err(Error::Unauthenticated);
    }
    drop(reading);
    let mut tx = admin.db.write().await?;
    let found = store::sessions::refresh_token(&mut tx, hash, now, oldest).await?;
    let RefreshToken {
        session,
        user,
        spent,
    } = found.ok_or(Error::Unauthenticated)?;
    let secret = match spent {
        None => replace_refresh_token(admin, tx, session, token, now).await?,
        Some(spent) => {
            let successor = spent.successor.filter(|_| spent.at >= grace_begins(now));
            let Some(successor) = successor else {
                tracing::warn!(user = %user.id, "a spent refresh token was reused; its session has ended");
                store::sessions::end(&mut tx, session, now).await?;
                tx.commit().await?;
                return Err(Error::Unauthenticated);
            };
            secret::reveal(successor, token)
        }
    };
    Ok(SignedIn {
        user,
        session,
        secret,
    })
}

/// Spends a refresh token and returns its successor.
async fn replace_refresh_token(
    admin: &Admin,
    mut tx: Tx,
    session: SessionId,
    token: &str,
    now: Timestamp,
) -> Result<Secret, Error> {
    let (masked, secret) = secret::generate_masked(token, &admin.entropy);
    let (spent, next) = (SecretHash::of(token), SecretHash::of(secret.expose()));
    let expires_at = now.plus_days(SESSION_DAYS);
    store::sessions::spend(&mut tx, session, spent, masked, now).await?;
    store::sessions::insert_refresh_token(&mut tx, session, next, now, expires_at).await?;
    tx.commit().await?;
    admin.successors.expect_erasure(now);
    Ok(secret)
}

/// The time after which a token must have been spent for its successor to be repeated.
fn grace_begins(now: Timestamp) -> Timestamp {
    now.plus_millis(-LOST_ANSWER_MILLIS)
}

/// The time at which this instance next erases the successors of spent refresh tokens, in milliseconds since 1970; 0 if
/// none exist.
pub(crate) struct Successors(AtomicI64);

impl Successors {
    /// Expects successors that an earlier run may have left behind.
    pub(super) fn new(now: Timestamp) -> Self {
        Self(AtomicI64::new(now.millis()))
    }

    fn expect_erasure(&self, now: Timestamp) {
        let due = now.plus_millis(LOST_ANSWER_MILLIS).millis();
        let _already_expected = self.0.compare_exchange(0, due, Relaxed, Relaxed);
    }
}

impl Admin {
    /// Erases expired successors: a copy of the database must not reveal them to the holder of a spent token.
    pub(crate) async fn erase_successors(&self) {
        let (now, due) = (self.clock.now(), self.successors.0.load(Relaxed));
        if due == 0 || now.millis() <= due {
            return;
        }
        self.successors.0.store(0, Relaxed);
        let erased = async {
            let mut tx = self.db.write().await?;
            let rest = store::sessions::erase_successors(&mut tx, grace_begins(now)).await?;
            tx.commit().await.map(|()| rest)
        };
        // After a failure the next attempt follows.
        if !matches!(erased.await, Ok::<i64, Error>(0)) {
            self.successors.expect_erasure(now);
        }
    }
}

/// Ends the person's session; its credentials are refused from now on.
pub(crate) async fn sign_out(admin: &Admin, actor: &Person) -> Result<(), Error> {
    let mut tx = admin.db.write().await?;
    store::sessions::end(&mut tx, actor.session(), admin.clock.now()).await?;
    tx.commit().await?;
    admin.feed.signed_out();
    Ok(())
}
