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

    /// Returns the nearest-rank percentile in milliseconds: the smallest sample that at least this percentage of the
    /// samples does not exceed.
    pub(crate) fn percentile(&self, percentage: usize) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let rank = (sorted.len() * percentage).div_ceil(100);
        let sample = sorted.get(rank.saturating_sub(1));
        sample.map_or(f64::NAN, Duration::as_secs_f64) * 1000.0
    }

    /// Returns the 99th percentile in milliseconds as text. Among fewer than 100 samples, it is the maximum, and is
    /// marked as such.
    pub(crate) fn p99(&self) -> String {
        let note = if self.len() < 100 { " (max)" } else { "" };
        format!("{:.2}{note}", self.percentile(99))
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

    /// Measures the exchange with which later rows are compared.
    pub(crate) async fn measure_exchange(&mut self, service: &Service) -> Result<()> {
        let samples = Samples::of(500, async |_| service.get("/health/live").await.map(drop));
        let samples = samples.await?;
        self.exchange = samples.percentile(50);
        self.add(
            "an exchange: `GET /health/live`",
            &samples,
            Yardstick::Exchange,
            None,
        );
        Ok(())
    }

    /// Measures the commit with which later rows are compared.
    pub(crate) async fn measure_commit(&mut self, database: &Database) -> Result<()> {
        let samples = database.commits(300).await?;
        self.commit = samples.percentile(50);
        self.add(
            "a commit of one row, without Pennon",
            &samples,
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
        let (p50, p99) = (samples.percentile(50), samples.p99());
        let (ratio, unit) = match yardstick {
            Yardstick::Commit => (p50 / self.commit, "commits"),
            Yardstick::Exchange => (p50 / self.exchange, "exchanges"),
        };
        let rate = per_second
            .map(|rate| format!("{rate:.0}"))
            .unwrap_or_default();
        let row = format!(
            "| {what} | {} | {rate} | {p50:.2} | {p99} | {ratio:.1} {unit} |",
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
    fn percentiles_are_of_the_nearest_rank() {
        let up_to = |last| Samples((1..=last).rev().map(Duration::from_millis).collect());
        assert!((up_to(101).percentile(50) - 51.0).abs() < 1e-9);
        assert!((up_to(200).percentile(99) - 198.0).abs() < 1e-9);
        assert!((up_to(200).percentile(100) - 200.0).abs() < 1e-9);
        assert!(Samples::default().percentile(50).is_nan());
        assert_eq!(up_to(100).p99(), "99.00");
        assert_eq!(up_to(99).p99(), "99.00 (max)");
    }
}
