//! The number of audit entries in a period, without counting days that are over again for every page.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use parking_lot::Mutex;
use pennon_model::audit::AuditFilter;
use pennon_model::id::AuditId;
use pennon_model::time::Timestamp;

use crate::error::Error;
use crate::store::{Tx, audit};

/// The counted days: with entries about accounts, and without them.
#[derive(Default)]
pub(super) struct CountedDays {
    all: Mutex<Arc<Days>>,
    without_accounts: Mutex<Arc<Days>>,
}

/// The number of entries of each day before `end`, in days since 1970 in UTC.
#[derive(Clone, Default)]
struct Days {
    entries: BTreeMap<i64, i64>,
    end: i64,
    /// The first and the last of these entries. If others have taken their places, somebody has deleted entries or
    /// restored the database, and all days are counted again.
    bounds: Option<[AuditId; 2]>,
}

impl CountedDays {
    /// Returns the number of entries that a filter selects.
    pub(super) async fn total(
        &self,
        tx: &mut Tx,
        filter: &AuditFilter,
        now: Timestamp,
    ) -> Result<i64, Error> {
        if !selects_by_time(filter) {
            return audit::count(tx, filter).await;
        }
        // An entry is dated when its change begins, on one of several clocks, so a day is complete some time after its
        // end.
        let over = now.plus_days(-1).day();
        let counted = self.counted(tx, over, filter.accounts).await?;
        let days = whole_days(filter, over);
        if days.is_empty() {
            return audit::count(tx, filter).await;
        }
        let mut total: i64 = counted
            .entries
            .range(days.clone())
            .map(|(_, entries)| entries)
            .sum();
        if filter.from.is_some() {
            let to = Some(Timestamp::of_day(days.start).plus_millis(-1));
            let before = AuditFilter {
                to,
                ..filter.clone()
            };
            total = total.saturating_add(audit::count(tx, &before).await?);
        }
        let from = Some(Timestamp::of_day(days.end));
        let after = AuditFilter {
            from,
            ..filter.clone()
        };
        Ok(total.saturating_add(audit::count(tx, &after).await?))
    }

    /// Returns the counts of all days before `end`. Counts those that have not been counted yet.
    async fn counted(&self, tx: &mut Tx, end: i64, accounts: bool) -> Result<Arc<Days>, Error> {
        let shared = if accounts {
            &self.all
        } else {
            &self.without_accounts
        };
        let known = Arc::clone(&shared.lock());
        let is_current = known.bounds == audit::bounds(tx, known.end, accounts).await?;
        if is_current && known.end >= end {
            return Ok(known);
        }
        let mut days = if is_current {
            Days::clone(&known)
        } else {
            Days::default()
        };
        let new = audit::count_by_day(tx, days.end..end, accounts).await?;
        days.entries.extend(new);
        days.end = end;
        days.bounds = audit::bounds(tx, end, accounts).await?;
        let days = Arc::new(days);
        *shared.lock() = Arc::clone(&days);
        Ok(days)
    }
}

/// Returns true if nothing but the period and the entries about accounts limits the selection.
fn selects_by_time(filter: &AuditFilter) -> bool {
    let by_time = AuditFilter {
        from: filter.from,
        to: filter.to,
        accounts: filter.accounts,
        ..AuditFilter::default()
    };
    by_time == *filter
}

/// Returns the days before `over` whose entries are all in the period of a filter.
fn whole_days(filter: &AuditFilter, over: i64) -> Range<i64> {
    let start = filter.from.map_or(i64::MIN, |from| {
        from.plus_millis(-1).day().saturating_add(1)
    });
    let end = filter.to.map_or(over, |to| to.plus_millis(1).day());
    start..end.min(over)
}
