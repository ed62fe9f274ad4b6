//! Sign-in and sign-out.

use std::net::IpAddr;
use std::ops::RangeInclusive;
use std::sync::atomic::AtomicI64;
use std::sync::atomic::Ordering::Relaxed;

use pennon_model::id::{SessionId, UserId};
use pennon_model::secret::{Secret, SecretHash};
use pennon_model::time::Timestamp;
use pennon_model::user::{Account, User};

use super::Admin;
use crate::auth::actor::Person;
use crate::auth::{SESSION_DAYS, secret};
use crate::error::Error;
use crate::store::sessions::{NewSession, RefreshToken};
use crate::store::{self, Tx};

/// The number of days for which an expired session is kept.
const KEEP_EXPIRED_DAYS: i64 = 7;

/// The period for which a spent refresh token is accepted again, in case its response was lost, in milliseconds.
const LOST_ANSWER_MILLIS: i64 = 10_000;

/// The maximum time by which the clock of another instance may be ahead, in milliseconds.
const MAX_CLOCK_DIFFERENCE_MILLIS: i64 = 60_000;

/// A session that has just begun.
pub(crate) struct SignedIn {
    pub(crate) user: User,
    pub(crate) session: SessionId,
    /// The refresh token of the API, or the dashboard's cookie. It is returned only once.
    pub(crate) secret: Secret,
}

/// The purpose of a session, which determines its credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SessionKind {
    /// The Admin API, with access tokens that a refresh token renews.
    Api,
    /// The dashboard, with a cookie.
    Dashboard,
}

/// The input of the sign-in form.
pub(crate) struct Credentials {
    pub(crate) email: String,
    pub(crate) password: String,
}

/// Begins a session, if the password belongs to the e-mail address. Refusing an unknown address takes as long as
/// refusing a wrong password.
pub(crate) async fn sign_in(
    admin: &Admin,
    credentials: Credentials,
    address: IpAddr,
    kind: SessionKind,
) -> Result<SignedIn, Error> {
    let Credentials { email, password } = credentials;
    let now = admin.clock.now();
    let attempt = admin.auth.throttle.attempt(&email, address, now);
    // Checked before the attempt enters the queue, and again when it leaves the queue.
    admin.auth.throttle.check(&attempt, now)?;
    let queued = admin.auth.passwords.enter(attempt.class())?;
    let account = if email.contains('\0') {
        None
    } else {
        store::users::password_by_email(&mut admin.db.authenticate().await?, &email).await?
    };
    let hash = account.as_ref().map(|(_, hash)| hash.as_str());
    let turn = queued.turn().await?;
    let now = admin.clock.now();
    let admitted = admin.auth.throttle.admit(&attempt, now)?;
    let verifying = admin.auth.passwords.verify(turn, &password, hash);
    let (is_right, turn) = verifying.await?;
    let Some(account) = account.filter(|_| is_right) else {
        return Err(Error::WrongPassword);
    };
    admitted.succeed();
    drop(turn);
    let signed_in = begin(admin, account, kind, now).await?;
    admin.auth.throttle.remember(&attempt, now);
    Ok(signed_in)
}

async fn begin(
    admin: &Admin,
    (user, verified): (UserId, String),
    kind: SessionKind,
    now: Timestamp,
) -> Result<SignedIn, Error> {
    let mut tx = admin.db.write().await?;
    // The password may have been changed, or the account deleted, while the password was being verified.
    let account = store::users::account(&mut tx, user).await?;
    let Account { user, .. } = account
        .filter(|account| account.password_hash == verified)
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
    tx.commit().await?;
    Ok(SignedIn {
        session: session.id,
        user,
        secret,
    })
}

/// Continues an API session: spends a refresh token and returns the next one.
///
/// A client that lost the response may retry within `LOST_ANSWER_MILLIS`, and gets the same token. If a spent token
/// comes back later, or after its successor was used, two parties hold it, and one of them stole it: the session ends.
pub(crate) async fn refresh(admin: &Admin, token: &str) -> Result<SignedIn, Error> {
    let (hash, now) = (SecretHash::of(token), admin.clock.now());
    let oldest = now.plus_days(-SESSION_DAYS);
    // Looked up twice, so that a caller without a valid token cannot take the write lock.
    let mut reading = admin.db.authenticate().await?;
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
            let successor = spent.successor.filter(|_| grace(now).contains(&spent.at));
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

/// Returns the times at which a token must have been spent for its successor to be returned again. They end in the
/// future, because another instance may have spent it by its own clock, but if this one was set back, not at any time.
fn grace(now: Timestamp) -> RangeInclusive<Timestamp> {
    now.plus_millis(-LOST_ANSWER_MILLIS)..=now.plus_millis(MAX_CLOCK_DIFFERENCE_MILLIS)
}

/// The next time at which this instance erases the successors of spent refresh tokens, in milliseconds since 1970; 0 if
/// none exist.
pub(crate) struct Successors(AtomicI64);

impl Successors {
    /// Schedules an erasure, because an earlier run may have left successors.
    pub(super) fn new(now: Timestamp) -> Self {
        Self(AtomicI64::new(now.millis()))
    }

    fn expect_erasure(&self, now: Timestamp) {
        let due = now.plus_millis(LOST_ANSWER_MILLIS).millis();
        let _already_expected = self.0.compare_exchange(0, due, Relaxed, Relaxed);
    }
}

impl Admin {
    /// Erases expired successors, so that a copy of the database does not reveal them to the holder of a spent token.
    pub(crate) async fn erase_successors(&self) {
        let (now, due) = (self.clock.now(), self.successors.0.load(Relaxed));
        // After the clock was set back, `due` may be far ahead.
        let not_yet = now.millis()..=now.plus_millis(LOST_ANSWER_MILLIS).millis();
        if due == 0 || not_yet.contains(&due) {
            return;
        }
        self.successors.0.store(0, Relaxed);
        let erased = async {
            let mut tx = self.db.write().await?;
            let rest = store::sessions::erase_successors(&mut tx, &grace(now)).await?;
            tx.commit().await.map(|()| rest)
        };
        // Retried after a failure.
        if !matches!(erased.await, Ok::<i64, Error>(0)) {
            self.successors.expect_erasure(now);
        }
    }

    /// Deletes the sessions that expired a week ago, and refresh tokens that have been too old to work for as long.
    /// Canceling it keeps the rest for the next call.
    pub(super) async fn forget_sessions(&self) -> Result<(), Error> {
        let expired_before = self.clock.now().plus_days(-KEEP_EXPIRED_DAYS);
        let tokens_before = expired_before.plus_days(-SESSION_DAYS);
        store::retention::forget_sessions(&self.db, expired_before, tokens_before).await
    }
}

/// Ends the person's session. Its credentials stop working at once.
pub(crate) async fn sign_out(admin: &Admin, actor: &Person) -> Result<(), Error> {
    let mut tx = admin.db.write().await?;
    store::sessions::end(&mut tx, actor.session(), admin.clock.now()).await?;
    tx.commit().await?;
    admin.feed.signed_out();
    Ok(())
}
