//! Samples of durations, and the table of results.

use std::time::{Duration, Instant};

use anyhow::Result;

use crate::database::Database;
use crate::service::Service;

/// Durations of the same operation.
#[derive(Clone, Default)]
pub(crate) struct Samples(Vec<Duration>);

impl Samples {
    /// Measures an operation several times in sequence.
    pub(crate) async fn of(times: usize, what: impl AsyncFn(usize) -> Result<()>) -> Result<Self> {
        let mut samples = Self::default();
        for index in 0..times {
            let started = Instant::now();
            what(index).await?;
            samples.push(started.elapsed());
        }
        Ok(samples)
    }

    pub(crate) fn push(&mut self, sample: Duration) {
        self.0.push(sample);
    }

    pub(crate) fn append(&mut self, mut other: Self) {
        self.0.append(&mut other.0);
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the number of samples per second.
    #[expect(clippy::cast_precision_loss, reason = "there are few samples")]
    pub(crate) fn rate(&self, span: Duration) -> f64 {
        self.0.len() as f64 / span.as_secs_f64()
    }

    /// Returns the time in milliseconds that this share of the samples does not exceed.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "there are few samples, and shares are between 0 and 1"
    )]
    pub(crate) fn quantile(&self, share: f64) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let last = sorted.len().saturating_sub(1);
        let index = (last as f64 * share).ceil() as usize;
        sorted.get(index).map_or(f64::NAN, Duration::as_secs_f64) * 1000.0
    }
}

/// The yardstick for a time.
#[derive(Clone, Copy)]
pub(crate) enum Yardstick {
    /// A bare commit of one row on the same database, synced to disk.
    Commit,
    /// A health check.
    Exchange,
}

/// The measurements on one database.
pub(crate) struct Table {
    title: String,
    commit: f64,
    exchange: f64,
    rows: Vec<String>,
}

impl Table {
    pub(crate) fn new(database: &Database) -> Self {
        Self {
            title: database.to_string(),
            commit: f64::NAN,
            exchange: f64::NAN,
            rows: Vec::new(),
        }
    }

    /// Measures the yardsticks, with which all later rows are compared.
    pub(crate) async fn yardstick(&mut self, service: &Service, database: &Database) -> Result<()> {
        let exchanges =
            Samples::of(500, async |_| service.get("/health/live").await.map(drop)).await?;
        let commits = database.commits(300).await?;
        self.exchange = exchanges.quantile(0.5);
        self.commit = commits.quantile(0.5);
        self.add(
            "an exchange: `GET /health/live`",
            &exchanges,
            Yardstick::Exchange,
            None,
        );
        self.add(
            "a commit of one row, without Pennon",
            &commits,
            Yardstick::Commit,
            None,
        );
        Ok(())
    }

    /// Adds a row.
    pub(crate) fn add(
        &mut self,
        what: &str,
        samples: &Samples,
        yardstick: Yardstick,
        per_second: Option<f64>,
    ) {
        let (p50, p99) = (samples.quantile(0.5), samples.quantile(0.99));
        let (ratio, unit) = match yardstick {
            Yardstick::Commit => (p50 / self.commit, "commits"),
            Yardstick::Exchange => (p50 / self.exchange, "exchanges"),
        };
        let rate = per_second
            .map(|rate| format!("{rate:.0}"))
            .unwrap_or_default();
        let row = format!(
            "| {what} | {} | {rate} | {p50:.2} | {p99:.2} | {ratio:.1} {unit} |",
            samples.len()
        );
        eprintln!("      {row}");
        self.rows.push(row);
    }

    /// Adds a row that has only a ratio.
    pub(crate) fn add_ratio(&mut self, what: &str, ratio: f64) {
        let row = format!("| {what} |  |  |  |  | {ratio:.2} × |");
        eprintln!("      {row}");
        self.rows.push(row);
    }

    pub(crate) fn print(&self) {
        println!("\n### {}\n", self.title);
        println!("| | samples | per second | p50 ms | p99 ms | p50 in yardsticks |");
        println!("|---|--:|--:|--:|--:|--:|");
        for row in &self.rows {
            println!("{row}");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Samples;

    #[test]
    fn half_of_the_samples_do_not_exceed_the_median() {
        let samples = Samples((1..=101).map(Duration::from_millis).collect());
        assert!((samples.quantile(0.5) - 51.0).abs() < 1e-9);
        assert!((samples.quantile(0.99) - 100.0).abs() < 1e-9);
        assert!(Samples::default().quantile(0.5).is_nan());
    }
}
