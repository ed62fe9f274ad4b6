//! Measured figures, their bounds, and the table of results.

use std::fmt;
use std::time::{Duration, Instant};

use tokio::task::JoinError;

use crate::Engine;

/// A measured value and its bound.
pub(crate) struct Figure {
    name: &'static str,
    value: Value,
    bound: Bound,
}

#[derive(Clone, Copy)]
enum Value {
    /// The number of violations, and the number of cases in which one was possible.
    Violations(usize, usize),
    Time(Duration),
    Mebibytes(f64),
    PerSecond(f64),
}

enum Bound {
    None,
    AtMost(Value),
    AtLeast(Value),
}

impl Figure {
    /// Creates a figure that counts violations, none of which may occur. It also fails without cases, which prove
    /// nothing.
    pub(crate) fn never(name: &'static str, violations: usize, cases: usize) -> Self {
        let value = Value::Violations(violations, cases);
        let bound = Bound::None;
        Self { name, value, bound }
    }

    pub(crate) fn within(name: &'static str, time: Duration, bound: Duration) -> Self {
        Self {
            name,
            value: Value::Time(time),
            bound: Bound::AtMost(Value::Time(bound)),
        }
    }

    /// Creates a figure of memory in MiB.
    pub(crate) fn memory(name: &'static str, mebibytes: f64, bound: f64) -> Self {
        Self {
            name,
            value: Value::Mebibytes(mebibytes),
            bound: Bound::AtMost(Value::Mebibytes(bound)),
        }
    }

    pub(crate) fn rate(name: &'static str, per_second: f64, bound: f64) -> Self {
        Self {
            name,
            value: Value::PerSecond(per_second),
            bound: Bound::AtLeast(Value::PerSecond(bound)),
        }
    }

    fn is_within_bounds(&self) -> bool {
        match (self.value, &self.bound) {
            (Value::Violations(violations, cases), _) => violations == 0 && cases > 0,
            (Value::Time(time), Bound::AtMost(Value::Time(bound))) => time <= *bound,
            (Value::Mebibytes(value), Bound::AtMost(Value::Mebibytes(bound))) => value <= *bound,
            (Value::PerSecond(value), Bound::AtLeast(Value::PerSecond(bound))) => value >= *bound,
            _ => false,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Violations(violations, cases) => write!(f, "{violations} of {cases}"),
            Self::Time(time) if *time < Duration::from_secs(1) => {
                write!(f, "{} ms", time.as_millis())
            }
            Self::Time(time) => write!(f, "{:.1} s", time.as_secs_f64()),
            Self::Mebibytes(mebibytes) => write!(f, "{mebibytes:.0} MiB"),
            Self::PerSecond(rate) => write!(f, "{rate:.0} per second"),
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => write!(f, "0"),
            Self::AtMost(value) => write!(f, "≤ {value}"),
            Self::AtLeast(value) => write!(f, "≥ {value}"),
        }
    }
}

/// All figures.
#[derive(Default)]
pub(crate) struct Report {
    rows: Vec<Row>,
    /// The faults that could not be injected.
    failed: Vec<String>,
}

struct Row {
    fault: String,
    name: &'static str,
    bound: String,
    sqlite: String,
    postgres: String,
    is_within_bounds: bool,
}

impl Report {
    /// Adds the figures of one fault on one database.
    pub(crate) fn add(
        &mut self,
        fault: &str,
        engine: Engine,
        injected: Result<Vec<Figure>, JoinError>,
    ) {
        let Ok(figures) = injected else {
            self.failed.push(format!("{fault}, {engine:?}"));
            return;
        };
        for figure in figures {
            let (value, bound) = (figure.value.to_string(), figure.bound.to_string());
            let is_within_bounds = figure.is_within_bounds();
            let verdict = if is_within_bounds {
                ""
            } else {
                "  <-- exceeded"
            };
            eprintln!(
                "  {engine:?}: {}: {value} (bound {bound}){verdict}",
                figure.name
            );
            let row = self.row(fault, figure.name, bound);
            row.is_within_bounds &= is_within_bounds;
            match engine {
                Engine::Sqlite => row.sqlite = value,
                Engine::Postgres => row.postgres = value,
            }
        }
    }

    fn row(&mut self, fault: &str, name: &'static str, bound: String) -> &mut Row {
        let known = |row: &Row| row.fault == fault && row.name == name;
        let index = self.rows.iter().position(known).unwrap_or(self.rows.len());
        if index == self.rows.len() {
            self.rows.push(Row {
                fault: fault.to_owned(),
                name,
                bound,
                sqlite: "–".into(),
                postgres: "–".into(),
                is_within_bounds: true,
            });
        }
        &mut self.rows[index]
    }

    /// Returns true if all faults were injected and no figure exceeds its bound.
    pub(crate) fn is_within_bounds(&self) -> bool {
        self.failed.is_empty() && self.rows.iter().all(|row| row.is_within_bounds)
    }

    /// Prints the table as Markdown, the exceeded bounds, and the faults that could not be injected.
    pub(crate) fn print(&self) {
        println!("\n| Fault | Figure | Bound | SQLite | PostgreSQL |");
        println!("|---|---|--:|--:|--:|");
        let mut previous = "";
        for row in &self.rows {
            let fault = if row.fault == previous {
                ""
            } else {
                &row.fault
            };
            previous = &row.fault;
            println!(
                "| {fault} | {} | {} | {} | {} |",
                row.name, row.bound, row.sqlite, row.postgres
            );
        }
        println!();
        for row in self.rows.iter().filter(|row| !row.is_within_bounds) {
            println!("exceeded: {}: {}", row.fault, row.name);
        }
        for fault in &self.failed {
            println!("could not be injected: {fault}");
        }
    }
}

/// Reports that a fault is left out, with the reason. `cargo xtask` repeats such lines in its summary.
pub(crate) fn omit(why: &str) {
    println!("left out: {why}");
}

/// Returns the nearest-rank 99th percentile of some waits, or zero if the list is empty. Among fewer than 100 waits, it
/// is the maximum.
pub(crate) fn p99(mut waits: Vec<Duration>) -> Duration {
    waits.sort_unstable();
    let rank = (waits.len() * 99).div_ceil(100);
    waits
        .get(rank.saturating_sub(1))
        .copied()
        .unwrap_or_default()
}

/// Returns the time from one instant to a later one, or zero if it is not later.
pub(crate) fn between(from: Instant, to: Instant) -> Duration {
    to.saturating_duration_since(from)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Figure, p99};

    #[test]
    fn a_figure_over_its_bound_fails() {
        let second = Duration::from_secs(1);
        assert!(Figure::within("", second, second).is_within_bounds());
        assert!(!Figure::within("", second * 2, second).is_within_bounds());
        assert!(Figure::rate("", 3.0, 2.0).is_within_bounds());
        assert!(!Figure::rate("", 1.0, 2.0).is_within_bounds());
        assert!(!Figure::memory("", 3.0, 2.0).is_within_bounds());
        assert!(Figure::never("", 0, 1).is_within_bounds());
        assert!(!Figure::never("", 1, 9).is_within_bounds());
    }

    #[test]
    fn a_count_of_violations_without_any_case_fails() {
        assert!(!Figure::never("", 0, 0).is_within_bounds());
    }

    #[test]
    fn one_sample_in_a_hundred_exceeds_the_p99() {
        let up_to = |last| (1..=last).rev().map(Duration::from_millis).collect();
        assert_eq!(p99(up_to(100)), Duration::from_millis(99));
        assert_eq!(p99(up_to(99)), Duration::from_millis(99));
        assert_eq!(p99(Vec::new()), Duration::ZERO);
    }
}
