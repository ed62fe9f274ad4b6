//! The difference between the clocks of this machine and of the database. Instances share sessions and the audit log,
//! and compare times that other instances have written with their own, so all of them use the clock of the database.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use pennon_model::time::Timestamp;
use sqlx::Row;
use sqlx::postgres::PgConnection;
use tokio::time::Instant;

use crate::clock::Clock;
use crate::database_error::is_of_server;

/// The interval between comparisons of the clocks.
const INTERVAL: Duration = Duration::from_mins(1);

/// The largest difference that is corrected, in milliseconds. If there is a larger one, either clock may be the wrong
/// one.
const MAX_CORRECTION: i64 = 300_000;

/// The difference above which the clocks disagree, in milliseconds.
const TOO_FAR: i64 = 5_000;

/// The difference below which the clocks agree again, in milliseconds. It is lower than [`TOO_FAR`], so that a
/// difference near that limit is not logged again and again.
const CLOSE: i64 = 2_500;

/// The clock of this machine, corrected by the last known difference from that of the database.
pub(super) struct CorrectedClock {
    pub(super) machine: Arc<dyn Clock>,
    pub(super) correction: Arc<Correction>,
}

/// The difference between the clocks, as far as it is corrected.
#[derive(Default)]
pub(super) struct Correction {
    /// The milliseconds by which this machine is ahead of the database; 0 until they are known, and if they are too
    /// many.
    ahead: AtomicI64,
    is_too_large: AtomicBool,
}

/// The state of the comparison.
#[derive(Default)]
pub(super) struct Skew {
    compared: Option<Instant>,
    is_far: bool,
}

impl Clock for CorrectedClock {
    fn now(&self) -> Timestamp {
        let ahead = self.correction.ahead.load(Ordering::Relaxed);
        self.machine.now().plus_millis(-ahead)
    }
}

impl Correction {
    /// Adds the milliseconds by which the corrected clock is ahead of the database. Returns the milliseconds by which
    /// the machine is ahead.
    fn add(&self, rest: i64) -> i64 {
        let ahead = self.ahead.load(Ordering::Relaxed).saturating_add(rest);
        let is_too_large = ahead.saturating_abs() > MAX_CORRECTION;
        self.ahead
            .store(if is_too_large { 0 } else { ahead }, Ordering::Relaxed);
        self.is_too_large.store(is_too_large, Ordering::Relaxed);
        ahead
    }

    /// Returns true if the last difference was too large to be corrected.
    pub(super) fn is_too_large(&self) -> bool {
        self.is_too_large.load(Ordering::Relaxed)
    }
}

/// The change between two comparisons.
#[derive(Debug, PartialEq, Eq)]
enum Change {
    Differs,
    Agrees,
}

impl Skew {
    /// Compares the corrected clock with that of the database, at most once per [`INTERVAL`], and updates the
    /// correction. Fails only if the connection fails.
    pub(super) async fn compare(
        &mut self,
        connection: &mut PgConnection,
        clock: &dyn Clock,
        correction: &Correction,
    ) -> Result<(), sqlx::Error> {
        if self.compared.is_some_and(|last| last.elapsed() < INTERVAL) {
            return Ok(());
        }
        self.compared = Some(Instant::now());
        let before = clock.now().millis();
        let database = "select (extract(epoch from clock_timestamp()) * 1000)::bigint";
        // A raw query takes one round trip, and prepares no statement.
        let database = match sqlx::raw_sql(database).fetch_one(connection).await {
            Ok(row) => row.try_get(0)?,
            Err(error) if is_of_server(&error) => return Ok(()),
            Err(error) => return Err(error),
        };
        let ahead = correction.add(ahead(before, database, clock.now().millis()));
        let ahead_seconds = ahead / 1000;
        match self.changed(ahead) {
            Some(Change::Differs) => tracing::warn!(
                ahead_seconds,
                "the clock of this machine differs from the database's; synchronize both"
            ),
            Some(Change::Agrees) => {
                tracing::info!(ahead_seconds, "the clock agrees with the database's again");
            }
            None => {}
        }
        Ok(())
    }

    fn changed(&mut self, ahead: i64) -> Option<Change> {
        let distance = ahead.saturating_abs();
        if self.is_far && distance < CLOSE {
            self.is_far = false;
            return Some(Change::Agrees);
        }
        if !self.is_far && distance > TOO_FAR {
            self.is_far = true;
            return Some(Change::Differs);
        }
        None
    }
}

/// Returns the milliseconds by which a clock is ahead of a database that read its clock between `before` and
/// `after`. The value is negative if the clock is behind, and 0 if the clocks may be equal, however long the round trip
/// took.
fn ahead(before: i64, database: i64, after: i64) -> i64 {
    let (ahead, behind) = (
        before.saturating_sub(database),
        database.saturating_sub(after),
    );
    if ahead > 0 {
        ahead
    } else {
        behind.max(0).saturating_neg()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_the_exchange_is_no_difference() {
        assert_eq!(ahead(1_000, 1_500, 9_000), 0);
        assert_eq!(ahead(9_000, 1_000, 9_100), 8_000);
        assert_eq!(ahead(1_000, 9_000, 1_100), -7_900);
    }

    #[test]
    fn a_correction_follows_the_machine_unless_it_is_far_off() {
        let correction = Correction::default();
        assert_eq!(correction.add(4_000), 4_000);
        assert_eq!(correction.add(-1_000), 3_000);
        assert_eq!(correction.ahead.load(Ordering::Relaxed), 3_000);
        assert!(!correction.is_too_large());
        assert_eq!(correction.add(MAX_CORRECTION), MAX_CORRECTION + 3_000);
        assert_eq!(correction.ahead.load(Ordering::Relaxed), 0);
        assert!(correction.is_too_large());
        assert_eq!(correction.add(-2_000), -2_000);
        assert!(!correction.is_too_large());
    }

    #[test]
    fn a_difference_is_told_once_until_the_clocks_agree_again() {
        let mut skew = Skew::default();
        assert_eq!(skew.changed(5_000), None);
        assert_eq!(skew.changed(-5_001), Some(Change::Differs));
        assert_eq!(skew.changed(60_000), None);
        assert_eq!(skew.changed(3_000), None);
        assert_eq!(skew.changed(2_000), Some(Change::Agrees));
        assert_eq!(skew.changed(4_000), None);
        assert_eq!(skew.changed(6_000), Some(Change::Differs));
    }
}
