//! The use cases: what callers may do, whoever they are and however they come.
//!
//! A use case that writes opens one transaction, checks, writes, records the change in the audit log of the same
//! transaction and commits through [`changes`], which also brings the snapshots up to date.

pub(crate) mod audit;
pub(crate) mod changes;
pub(crate) mod environments;
mod first_start;
pub(crate) mod flag_table;
pub(crate) mod flags;
mod follow;
pub(crate) mod news;
pub(crate) mod packages;
pub(crate) mod patch;
pub(crate) mod precondition;
pub(crate) mod provisioning;
pub(crate) mod reversal;
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

use axum::extract::FromRef;
use tokio::sync::watch;
use uuid::Uuid;

use self::provisioning::BootstrapFile;

use crate::auth::access_token::AccessTokens;
use crate::auth::password::Passwords;
use crate::auth::secret;
use crate::auth::throttle::Throttle;
use crate::auth::{self, Auth};
use crate::clock::{Clock, Entropy};
use crate::config::{Hidden, Secrets, Settings};
use crate::error::Error;
use crate::evaluation::Serving;
use crate::load::Load;
use crate::metrics::Metrics;
use crate::store::{self, Db, OpenError, OpenMode};

/// How long the connections to the database may take to close.
const CLOSING_TIME: Duration = Duration::from_secs(1);

/// The running service: a handle that is cheap to clone.
#[derive(Clone)]
pub struct Service(Arc<Parts>);

/// What the use cases need.
pub struct Parts {
    pub(crate) db: Db,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Entropy,
    pending_usage: usage::Pending,
    pub(crate) auth: Auth,
    pub(crate) serving: Serving,
    pub(crate) successors: sessions::Successors,
    pub(crate) settings: Settings,
    pub(crate) load: Load,
    /// None if nobody is told.
    pub(crate) metrics: Option<Arc<Metrics>>,
    /// Tells this instance from the others on the same database.
    pub(crate) instance: Uuid,
    pub(crate) newsroom: news::Newsroom,
    pub(crate) tarballs: packages::Tarballs,
    draining: watch::Sender<bool>,
}

impl FromRef<Service> for Auth {
    fn from_ref(service: &Service) -> Self {
        service.auth.clone()
    }
}

impl FromRef<Service> for Serving {
    fn from_ref(service: &Service) -> Self {
        service.serving.clone()
    }
}

impl Deref for Service {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}

/// Why the service cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The database cannot be opened.
    #[error(transparent)]
    Database(#[from] OpenError),
    /// The secret that signs access tokens is too easy to guess.
    #[error("PENNON_JWT_SECRET must have at least 32 bytes")]
    WeakJwtSecret,
    /// The account of the first administrator cannot be created as the settings want it.
    #[error("the first administrator cannot be created: {0}")]
    FirstAdministrator(&'static str),
    /// The bootstrap file is needed and cannot be applied. The text names the file and its faults, and none of its values.
    #[error("the bootstrap file was not applied, and nothing was changed: {0}")]
    BootstrapFile(String),
    /// Something failed on the way.
    #[error(transparent)]
    Failed(#[from] Error),
}

/// The account that the first start created.
pub struct FirstAdministrator {
    /// The address to sign in with.
    pub email: String,
    /// The password, if it was made up and must be told.
    pub generated_password: Option<String>,
}

impl Service {
    /// Opens the database, completes the first start on it, stores the npm packages, and loads what is served.
    pub async fn start(
        settings: Settings,
        secrets: Secrets,
        bootstrap: Option<BootstrapFile>,
        clock: Arc<dyn Clock>,
        entropy: Entropy,
    ) -> Result<(Self, Option<FirstAdministrator>), StartError> {
        let instance = entropy.id(clock.now());
        let db = Db::open(secrets.database_url.expose(), OpenMode::Serve(instance)).await?;
        let secret = jwt_secret(&db, secrets.jwt_secret.as_ref(), &entropy).await?;
        let service = Self::on(db, instance, &secret, settings, clock, entropy)?;
        let password = secrets.admin_password.as_ref();
        let first = first_start::complete(&service, password, bootstrap).await?;
        packages::store(&service).await;
        service.serving.catch_up().await?;
        Ok((service, first))
    }

    /// Opens a database that exists, for the use cases of the command line.
    pub(crate) async fn open(
        database_url: &Hidden,
        settings: Settings,
        mode: OpenMode,
        clock: Arc<dyn Clock>,
        entropy: Entropy,
    ) -> Result<Self, StartError> {
        let instance = entropy.id(clock.now());
        let db = Db::open(database_url.expose(), mode).await?;
        // Nobody signs in on the command line, so no access token is ever made or read.
        let secret = entropy.bytes::<32>();
        Self::on(db, instance, &secret, settings, clock, entropy)
    }

    fn on(
        db: Db,
        instance: Uuid,
        jwt_secret: &[u8],
        settings: Settings,
        clock: Arc<dyn Clock>,
        entropy: Entropy,
    ) -> Result<Self, StartError> {
        let auth = Auth::new(auth::Parts {
            db: db.clone(),
            clock: Arc::clone(&clock),
            access_tokens: AccessTokens::new(jwt_secret),
            passwords: Passwords::new(&entropy)?,
            throttle: Throttle::new(settings.rate_limit_login),
        });
        let rate_limit = settings.rate_limit_evaluate;
        Ok(Self(Arc::new(Parts {
            auth,
            serving: Serving::new(db.clone(), Arc::clone(&clock), rate_limit),
            successors: sessions::Successors::new(clock.now()),
            pending_usage: usage::Pending::default(),
            load: Load::default(),
            metrics: settings
                .metrics_listen
                .as_ref()
                .map(|_| Metrics::new().map(Arc::new))
                .transpose()?,
            instance,
            newsroom: news::Newsroom::default(),
            tarballs: packages::Tarballs::default(),
            draining: watch::Sender::new(false),
            db,
            clock,
            entropy,
            settings,
        })))
    }

    /// Says from now on that no new traffic should come.
    pub fn drain(&self) {
        self.draining.send_replace(true);
    }

    /// Whether the service is about to stop.
    pub(crate) fn is_draining(&self) -> bool {
        *self.draining.borrow()
    }

    /// Resolves when the service is about to stop: whatever would go on for ever ends then.
    pub fn stopping(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut draining = self.draining.subscribe();
        async move {
            // An error means that the service is gone, which is as good.
            let _ = draining.wait_for(|is_draining| *is_draining).await;
        }
    }

    /// Closes the database; to be called when nothing is served any more.
    pub async fn close(&self) {
        self.bring_last_counts().await;
        // Connections on which somebody still waits for an answer end with the process.
        let _ = tokio::time::timeout(CLOSING_TIME, self.db.close()).await;
    }
}

/// The secret that was given, or the one that the database keeps.
async fn jwt_secret(
    db: &Db,
    given: Option<&Hidden>,
    entropy: &Entropy,
) -> Result<Vec<u8>, StartError> {
    match given.map(Hidden::expose) {
        Some(secret) if secret.len() < 32 => Err(StartError::WeakJwtSecret),
        Some(secret) => Ok(secret.as_bytes().to_vec()),
        None => {
            let made_up = secret::generate(entropy);
            let mut tx = db.write().await?;
            let kept =
                store::settings::get_or_insert(&mut tx, "jwt_secret", made_up.expose()).await?;
            tx.commit().await?;
            Ok(kept.into_bytes())
        }
    }
}
