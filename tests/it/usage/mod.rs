//! Counts of evaluations and polls.

mod counts;
mod reports;

use pennon_tests::Caller;
use reqwest::StatusCode;
use serde_json::Value;

/// The hour in which every test server starts.
const HOUR: &str = "2026-03-01T09:00:00.000Z";

/// Evaluates a flag several times.
async fn evaluate(sdk: &Caller<'_>, key: &str, times: usize) {
    for _ in 0..times {
        sdk.evaluate(key).await;
    }
}

/// Returns the usage of the flag or environment at a path, within the last 24 hours.
async fn usage(admin: &Caller<'_>, path: &str) -> Value {
    let answer = admin.get(&format!("{path}/usage")).await;
    answer.expect(StatusCode::OK).json()
}
