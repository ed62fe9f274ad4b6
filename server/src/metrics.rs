//! What the service tells Prometheus of itself. Labels are methods, the patterns of routes and statuses: never a path
//! as it was asked for, an id or a key.

use std::time::Duration;

use prometheus::{
    Encoder, Gauge, Histogram, HistogramOpts, HistogramVec, IntCounter, IntGauge, Opts, Registry,
    TextEncoder,
};

use crate::error::Error;

/// Between an evaluation that takes a tenth of a millisecond and a request that is given up after half a minute.
const BUCKETS: [f64; 16] = [
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5,
    10.0, 30.0,
];

/// The levels of a moment.
pub(crate) struct Levels {
    pub(crate) environments: usize,
    /// The flags of all environments.
    pub(crate) flags: usize,
    /// The requests under way.
    pub(crate) requests: usize,
    pub(crate) connections: usize,
    pub(crate) database_answers: bool,
    pub(crate) storage_full: bool,
    /// The time since the snapshots were last compared with the database.
    pub(crate) snapshot_age: Duration,
}

/// What is measured, if anybody listens.
pub(crate) struct Metrics {
    registry: Registry,
    durations: HistogramVec,
    /// Requests that were refused because there were too many.
    pub(crate) shed: IntCounter,
    in_flight: IntGauge,
    connections: IntGauge,
    age: Gauge,
    environments: IntGauge,
    flags: IntGauge,
    database: IntGauge,
    storage_full: IntGauge,
}

impl Metrics {
    pub(crate) fn new() -> Result<Self, Error> {
        Self::registered().map_err(|error| Error::Internal(format!("metrics: {error}")))
    }

    fn registered() -> prometheus::Result<Self> {
        let registry = Registry::new_custom(Some("pennon".to_owned()), None)?;
        let gauge = |name: &str, help: &str| -> prometheus::Result<IntGauge> {
            let gauge = IntGauge::new(name, help)?;
            registry.register(Box::new(gauge.clone()))?;
            Ok(gauge)
        };
        let build = Opts::new("build_info", "Which version this is.")
            .const_label("version", env!("CARGO_PKG_VERSION"));
        let build = IntGauge::with_opts(build)?;
        build.set(1);
        registry.register(Box::new(build))?;
        let durations = HistogramOpts::new(
            "http_request_duration_seconds",
            "How long requests took until the head of their answer.",
        );
        let labels = ["method", "route", "status"];
        let durations = HistogramVec::new(durations.buckets(BUCKETS.to_vec()), &labels)?;
        registry.register(Box::new(durations.clone()))?;
        let shed = IntCounter::new(
            "http_requests_shed_total",
            "How many requests were refused because there were too many.",
        )?;
        registry.register(Box::new(shed.clone()))?;
        let age = Gauge::new(
            "snapshot_age_seconds",
            "How long ago what is served was last confirmed by the database.",
        )?;
        registry.register(Box::new(age.clone()))?;
        Ok(Self {
            durations,
            shed,
            in_flight: gauge(
                "http_requests_in_flight",
                "How many requests are worked on.",
            )?,
            connections: gauge("http_connections", "How many connections there are.")?,
            age,
            environments: gauge("environments", "How many environments are served.")?,
            flags: gauge(
                "environment_flags",
                "How many flags are served, each counted in each environment.",
            )?,
            database: gauge(
                "database_up",
                "Whether the database answered when it was last asked.",
            )?,
            storage_full: gauge(
                "storage_full",
                "Whether the last write failed because the disk of the database is full.",
            )?,
            registry,
        })
    }

    /// Where the durations of such requests are counted.
    pub(crate) fn durations(&self, method: &str, route: &str, status: &str) -> Histogram {
        self.durations.with_label_values(&[method, route, status])
    }

    /// All of it, in Prometheus' text format.
    pub(crate) fn text(&self, levels: &Levels) -> Result<Vec<u8>, Error> {
        let count = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
        self.environments.set(count(levels.environments));
        self.flags.set(count(levels.flags));
        self.in_flight.set(count(levels.requests));
        self.connections.set(count(levels.connections));
        self.database.set(levels.database_answers.into());
        self.storage_full.set(levels.storage_full.into());
        self.age.set(levels.snapshot_age.as_secs_f64());
        let mut text = Vec::new();
        TextEncoder::new()
            .encode(&self.registry.gather(), &mut text)
            .map_err(|error| Error::Internal(format!("metrics: {error}")))?;
        Ok(text)
    }
}
