//! The state of a running server, in four parts. Handlers, extractors and tasks take only the part that they need.

use std::ops::Deref;
use std::sync::Arc;

use axum::extract::FromRef;
use pennon_model::secret::Secret;
use tokio::sync::watch;

use crate::admin::provisioning::BootstrapFile;
use crate::admin::{Admin, StartError, first_start, packages};
use crate::auth::{Auth, secret};
use crate::clock::{Clock, Entropy};
use crate::config::{NpmAccess, Secrets, Settings};
use crate::error::Error;
use crate::evaluation::Serving;
use crate::in_flight::InFlightLimits;
use crate::metrics::Metrics;
use crate::store::{self, Db, OpenMode};

pub use crate::admin::first_start::FirstAdministrator;

/// The running server. Every request clones this handle, so all parts share one reference count.
#[derive(Clone)]
pub struct AppState(Arc<AppStateParts>);

/// The parts of the state.
pub struct AppStateParts {
    pub(crate) auth: Auth,
    pub(crate) admin: Admin,
    pub(crate) serving: Serving,
    pub(crate) runtime: Runtime,
}

/// The state of the process, without its data. It is cheap to clone.
#[derive(Clone)]
pub(crate) struct Runtime(Arc<RuntimeParts>);

/// The settings, limits and metrics.
pub(crate) struct RuntimeParts {
    pub(crate) settings: Settings,
    pub(crate) in_flight: InFlightLimits,
    /// None if metrics are disabled.
    pub(crate) metrics: Option<Arc<Metrics>>,
    draining: watch::Sender<bool>,
}

impl AppState {
    /// Opens the database, completes the first start, stores the npm packages, and loads the snapshots.
    pub async fn start(
        settings: Settings,
        secrets: Secrets,
        bootstrap: Option<BootstrapFile>,
        clock: Arc<dyn Clock>,
        entropy: Entropy,
    ) -> Result<(Self, Option<FirstAdministrator>), StartError> {
        let instance = entropy.id(clock.now());
        let db = Db::open(secrets.database_url.expose(), OpenMode::Serve(instance)).await?;
        let clock = db.shared_clock(clock);
        let secret = jwt_secret(&db, secrets.jwt_secret.as_ref(), &entropy).await?;
        let admin = Admin::new(db, instance, &secret, &settings, clock, entropy)?;
        let (email, password) = (&settings.admin_email, secrets.admin_password.as_ref());
        let first = first_start::complete(&admin, email, password, bootstrap).await?;
        let failure = match settings.npm {
            NpmAccess::Off => None,
            _ => packages::store(&admin, None).await,
        };
        admin.serving.catch_up().await?;
        let parts = AppStateParts {
            auth: admin.auth.clone(),
            serving: admin.serving.clone(),
            runtime: Runtime::new(settings)?,
            admin,
        };
        let state = Self(Arc::new(parts));
        if failure.is_some() {
            state.store_packages_later(failure);
        }
        Ok((state, first))
    }

    /// Stores the npm packages in the background, until the server shuts down.
    fn store_packages_later(&self, failure: Option<String>) {
        let (admin, stopping) = (self.admin.clone(), self.runtime.stopping());
        tokio::spawn(async move {
            tokio::select! {
                () = packages::store_later(&admin, failure) => {}
                () = stopping => {}
            }
        });
    }

    /// Makes readiness checks report that the server accepts no new traffic.
    pub fn drain(&self) {
        self.runtime.drain();
    }

    /// Writes the usage counts to the database now, and deletes old data. If that fails, the counts are kept for the
    /// next write.
    pub async fn flush_usage(&self) -> Result<(), Error> {
        self.admin.flush_usage().await?;
        self.admin.forget_old().await
    }

    /// Closes the database. Call this only after all requests have ended.
    pub async fn close(&self) {
        self.admin.close().await;
    }
}

impl Runtime {
    fn new(settings: Settings) -> Result<Self, Error> {
        let is_measured = settings.metrics_listen.is_some();
        let metrics = is_measured.then(Metrics::new).transpose()?;
        Ok(Self(Arc::new(RuntimeParts {
            settings,
            in_flight: InFlightLimits::default(),
            metrics: metrics.map(Arc::new),
            draining: watch::Sender::new(false),
        })))
    }

    /// Makes readiness checks report that the server accepts no new traffic.
    pub(crate) fn drain(&self) {
        self.draining.send_replace(true);
    }

    /// Returns true if the server is shutting down.
    pub(crate) fn is_draining(&self) -> bool {
        *self.draining.borrow()
    }

    /// Resolves when the server shuts down, so that endless streams and tasks can end.
    pub(crate) fn stopping(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut draining = self.draining.subscribe();
        async move {
            // An error means that the server was dropped, which has the same effect.
            let _ = draining.wait_for(|is_draining| *is_draining).await;
        }
    }
}

impl Deref for AppState {
    type Target = AppStateParts;

    fn deref(&self) -> &AppStateParts {
        &self.0
    }
}

impl Deref for Runtime {
    type Target = RuntimeParts;

    fn deref(&self) -> &RuntimeParts {
        &self.0
    }
}

impl FromRef<AppState> for Auth {
    fn from_ref(state: &AppState) -> Self {
        state.auth.clone()
    }
}

impl FromRef<AppState> for Admin {
    fn from_ref(state: &AppState) -> Self {
        state.admin.clone()
    }
}

impl FromRef<AppState> for Serving {
    fn from_ref(state: &AppState) -> Self {
        state.serving.clone()
    }
}

impl FromRef<AppState> for Runtime {
    fn from_ref(state: &AppState) -> Self {
        state.runtime.clone()
    }
}

/// Returns the given secret, or the one stored in the database, which is generated on the first start.
async fn jwt_secret(
    db: &Db,
    given: Option<&Secret>,
    entropy: &Entropy,
) -> Result<Vec<u8>, StartError> {
    match given.map(Secret::expose) {
        Some(secret) if secret.len() < 32 => Err(StartError::WeakJwtSecret),
        Some(secret) => Ok(secret.as_bytes().to_vec()),
        None => {
            const NAME: &str = "jwt_secret";
            if let Some(kept) = store::settings::get(&mut db.read().await?, NAME).await? {
                return Ok(kept.into_bytes());
            }
            let generated = secret::generate(entropy);
            let mut tx = db.write().await?;
            let kept = store::settings::get_or_insert(&mut tx, NAME, generated.expose()).await?;
            tx.commit().await?;
            Ok(kept.into_bytes())
        }
    }
}
