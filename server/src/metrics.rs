//! The Prometheus metrics. Labels are methods, route patterns and statuses, never a requested path, an ID or a key.

use std::fmt::Display;

use prometheus::core::Collector;
use prometheus::{
    Gauge, Histogram, HistogramVec, IntCounter, Opts, Registry, TextEncoder, histogram_opts,
    register_histogram_vec_with_registry, register_int_counter_with_registry,
    register_int_gauge_with_registry,
};

use crate::error::Error;

/// The bounds of the histogram, in seconds: from an evaluation (0.1 ms) to a request that times out (30 s).
const BUCKETS: [f64; 16] = [
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5,
    10.0, 30.0,
];

/// The prefix of all metric names.
const NAMESPACE: &str = "pennon";

/// The current value of a gauge.
pub(crate) struct GaugeValue {
    pub(crate) name: &'static str,
    pub(crate) help: &'static str,
    pub(crate) value: f64,
}

/// The metrics. They exist only if a port for them is configured.
pub(crate) struct Metrics {
    registry: Registry,
    durations: HistogramVec,
    /// The number of requests refused because of a limit on requests in flight.
    pub(crate) shed: IntCounter,
}

impl Metrics {
    pub(crate) fn new() -> Result<Self, Error> {
        Self::registered().map_err(internal)
    }

    fn registered() -> prometheus::Result<Self> {
        let registry = Registry::new_custom(Some(NAMESPACE.to_owned()), None)?;
        let build = Opts::new("build_info", "The version of the server.")
            .const_label("version", env!("CARGO_PKG_VERSION"));
        register_int_gauge_with_registry!(build, registry)?.set(1);
        let durations = histogram_opts!(
            "http_request_duration_seconds",
            "The time from a request to the head of its response.",
            BUCKETS.to_vec()
        );
        let shed = Opts::new(
            "http_requests_shed_total",
            "Requests refused because too many were in progress.",
        );
        let labels = ["method", "route", "status"];
        Ok(Self {
            durations: register_histogram_vec_with_registry!(durations, &labels, registry)?,
            shed: register_int_counter_with_registry!(shed, registry)?,
            registry,
        })
    }

    /// Returns the histogram for a method, a route and a status.
    pub(crate) fn durations(&self, method: &str, route: &str, status: &str) -> Histogram {
        self.durations.with_label_values(&[method, route, status])
    }

    /// Returns all metrics, including these gauges, in the Prometheus text format.
    pub(crate) fn text(&self, gauges: &[GaugeValue]) -> Result<String, Error> {
        let mut families = self.registry.gather();
        for GaugeValue { name, help, value } in gauges {
            let gauge = Gauge::with_opts(Opts::new(*name, *help).namespace(NAMESPACE));
            let gauge = gauge.map_err(internal)?;
            gauge.set(*value);
            families.extend(gauge.collect());
        }
        TextEncoder.encode_to_string(&families).map_err(internal)
    }
}

fn internal(error: impl Display) -> Error {
    Error::Internal(format!("metrics: {error}"))
}
