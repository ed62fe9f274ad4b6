//! The published alerts, Grafana dashboard and documentation agree with the metrics.

use std::collections::BTreeSet;
use std::path::Path;

use pennon_tests::TestApp;
use reqwest::StatusCode;

/// Returns the names of all time series that the server has after a request.
async fn series() -> BTreeSet<String> {
    let app = TestApp::with_settings(&["--metrics-listen", "127.0.0.1:0"]).await;
    app.anonymous().get("/health").await.expect(StatusCode::OK);
    let lines = app.metrics().await;
    let samples = lines.iter().filter(|line| !line.starts_with('#'));
    samples.flat_map(|line| names_in(line)).collect()
}

/// Returns the names of series in a text.
fn names_in(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words
        .filter(|word| word.starts_with("pennon_"))
        .map(str::to_owned)
        .collect()
}

/// Reads a file of the repository.
fn file(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the metric of a series. A histogram has three series.
fn metric(series: &str) -> &str {
    ["_bucket", "_count", "_sum"]
        .iter()
        .find_map(|end| series.strip_suffix(end))
        .unwrap_or(series)
}

#[tokio::test]
async fn alerts_and_the_grafana_dashboard_use_only_existing_metrics() {
    let series = series().await;
    for path in [
        "deploy/prometheus/alerts.yaml",
        "deploy/grafana/pennon.json",
    ] {
        let used = names_in(&file(path));
        let unknown: Vec<_> = used.difference(&series).collect();
        assert!(unknown.is_empty(), "{path} uses {unknown:?}");
        assert!(used.len() >= 5, "{path} uses {used:?}");
    }
}

#[tokio::test]
async fn every_metric_is_documented_and_on_the_grafana_dashboard() {
    let series = series().await;
    let metrics: BTreeSet<&str> = series.iter().map(|series| metric(series)).collect();
    assert!(metrics.len() >= 10, "{metrics:?}");
    for path in ["docs/operations.md", "deploy/grafana/pennon.json"] {
        let named = names_in(&file(path));
        let named: BTreeSet<&str> = named.iter().map(|series| metric(series)).collect();
        let missing: Vec<_> = metrics.difference(&named).collect();
        assert!(missing.is_empty(), "{path} lacks {missing:?}");
    }
}
