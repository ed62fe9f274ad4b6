//! The use cases of administration, independent of the interface.
//!
//! A use case that writes opens one transaction, checks the request, writes the change and its audit entry, and commits
//! through [`changes`], which also updates the snapshots.

pub(crate) mod audit;
mod audit_total;
pub(crate) mod bulk;
pub(crate) mod changes;
pub(crate) mod cloning;
pub(crate) mod desired;
pub(crate) mod environment_order;
pub(crate) mod environments;
pub(crate) mod first_start;
pub(crate) mod first_steps;
pub(crate) mod flag_table;
pub(crate) mod flags;
pub(crate) mod grants;
pub(crate) mod lint;
pub(crate) mod live_evaluations;
pub(crate) mod packages;
pub(crate) mod patch;
pub(crate) mod precondition;
pub(crate) mod preferences;
pub(crate) mod previous_keys;
pub(crate) mod provisioning;
pub(crate) mod reversal;
pub(crate) mod scope;
pub(crate) mod sessions;
pub(crate) mod targeting;
pub(crate) mod tokens;
pub(crate) mod transfer;
pub(crate) mod usage;
pub(crate) mod users;
pub(crate) mod warnings;

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use pennon_model::secret::Secret;
use uuid::Uuid;

use crate::auth::access_token::AccessTokens;
use crate::auth::actor::Actor;
use crate::auth::password::Passwords;
use crate::auth::throttle::Throttle;
use crate::auth::{Auth, AuthParts};
use crate::clock::{Clock, Entropy};
use crate::config::Settings;
use crate::error::Error;
use crate::evaluation::Serving;
use crate::feed::ChangeFeed;
use crate::snapshot::TagSecret;
use crate::store::{Db, OpenError, OpenMode};

/// The time limit for closing the database connections.
const CLOSING_TIMEOUT: Duration = Duration::from_secs(1);

/// An ID of an object that may not exist, in a request of this type of actor.
pub(crate) trait Existence<By = Actor> {
    /// Fails if the object does not exist, or the actor has no right to it.
    fn check(&self, admin: &Admin, actor: &By) -> impl Future<Output = Result<(), Error>> + Send;
}

/// The state of administration. It is cheap to clone.
#[derive(Clone)]
pub(crate) struct Admin(Arc<AdminParts>);

/// The database, and the parts of the server that follow changes.
pub(crate) struct AdminParts {
    pub(crate) db: Db,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Entropy,
    /// The ID that distinguishes this instance from others on the same database.
    pub(crate) instance: Uuid,
    /// The products that environments may belong to; if empty, any product.
    products: Vec<String>,
    pub(crate) auth: Auth,
    pub(crate) serving: Serving,
    pub(crate) feed: ChangeFeed,
    tarballs: packages::Tarballs,
    successors: sessions::Successors,
    pending_usage: usage::Pending,
    counted_days: audit_total::CountedDays,
}

impl Deref for Admin {
    type Target = AdminParts;

    fn deref(&self) -> &AdminParts {
        &self.0
    }
}

/// An error that keeps the server from starting.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The database cannot be opened.
    #[error(transparent)]
    Database(#[from] OpenError),
    /// The secret that signs access tokens is too easy to guess.
    #[error("PENNON_JWT_SECRET must have at least 32 bytes")]
    WeakJwtSecret,
    /// The settings for the account of the first administrator are invalid.
    #[error("the first administrator cannot be created: {0}")]
    FirstAdministrator(String),
    /// The bootstrap file is needed, but cannot be applied. The text contains the name of the file and its faults, but
    /// none of its values.
    #[error("the bootstrap file was not applied, and nothing was changed: {0}")]
    BootstrapFile(String),
    /// Another failure during the start.
    #[error(transparent)]
    Failed(#[from] Error),
}

impl Admin {
    /// Creates the state for an open database. No flags are served yet.
    pub(crate) fn new(
        db: Db,
        instance: Uuid,
        jwt_secret: &[u8],
        settings: &Settings,
        clock: Arc<dyn Clock>,
        entropy: Entropy,
    ) -> Result<Self, Error> {
        let auth = Auth::new(AuthParts {
            db: db.clone(),
            clock: Arc::clone(&clock),
            access_tokens: AccessTokens::new(jwt_secret),
            passwords: Passwords::new(&entropy)?,
            throttle: Throttle::new(settings.rate_limit_login),
        });
        let rate_limit = settings.rate_limit_evaluate;
        let tag_secret = TagSecret::derived_from(jwt_secret);
        Ok(Self(Arc::new(AdminParts {
            products: settings.products.clone(),
            auth,
            serving: Serving::new(db.clone(), Arc::clone(&clock), rate_limit, tag_secret),
            feed: ChangeFeed::new(db.clone(), Arc::clone(&clock)),
            tarballs: packages::Tarballs::default(),
            successors: sessions::Successors::new(clock.now()),
            pending_usage: usage::Pending::default(),
            counted_days: audit_total::CountedDays::default(),
            instance,
            db,
            clock,
            entropy,
        })))
    }

    /// Opens an existing database for a use case of the command line.
    pub(crate) async fn open(
        database_url: &Secret,
        settings: &Settings,
        mode: OpenMode,
        clock: Arc<dyn Clock>,
        entropy: Entropy,
    ) -> Result<Self, StartError> {
        let instance = entropy.id(clock.now());
        let db = Db::open(database_url.expose(), mode).await?;
        // The command line has no sign-in, so it never issues or reads access tokens.
        let secret = entropy.bytes::<32>();
        Ok(Self::new(db, instance, &secret, settings, clock, entropy)?)
    }

    /// Closes the database. Call it after the server has answered its last request.
    pub(crate) async fn close(&self) {
        self.flush_usage_at_shutdown().await;
        // Connections that are still in use end with the process.
        let _ = tokio::time::timeout(CLOSING_TIMEOUT, self.db.close()).await;
    }
}
