//! The table of flags and environments, with the usage of each flag.

use pennon_model::environment;
use pennon_model::flag::Flag;
use pennon_model::flag_table::{FlagRow, FlagTable, FlagTableQuery};
use pennon_model::time::Timestamp;

use super::Admin;
use super::usage::{HOUR_MILLIS, hour_of};
use crate::auth::actor::Actor;
use crate::error::Error;
use crate::store;
use crate::store::flag_table::StaleSince;

/// The number of days without a change after which a flag can be stale.
const UNCHANGED_DAYS: i64 = 30;

/// The number of days without a request from an application after which a flag can be stale.
const UNUSED_DAYS: i64 = 14;

/// The number of hours of usage to show, including the current hour.
const HOURS: usize = 24;

/// Returns one page of flags, with their status in every active environment and their usage.
pub(crate) async fn page(
    admin: &Admin,
    _actor: &Actor,
    mut query: FlagTableQuery,
) -> Result<FlagTable, Error> {
    let now = admin.clock.now();
    let since = StaleSince {
        unchanged: now.plus_days(-UNCHANGED_DAYS),
        unused: now.plus_days(-UNUSED_DAYS),
    };
    let mut tx = admin.db.read().await?;
    let mut environments = store::environments::active(&mut tx).await?;
    if let Some(product) = &query.product {
        environments.retain(|environment| environment.product.as_str() == product);
    }
    environment::sort(&mut environments);
    query.environment = query
        .environment
        .filter(|id| environments.iter().any(|environment| environment.id == *id));
    let flags = store::flag_table::page(&mut tx, &query, since).await?;
    let ids: Vec<_> = flags.items.iter().map(|flag| flag.id).collect();
    let mut usage = store::flag_table::uses(&mut tx, &ids, query.environment, since).await?;
    let first = first_hour(now);
    let mut hours = store::flag_table::hours(&mut tx, &ids, query.environment, first).await?;
    let cells = store::configurations::cells(&mut tx, &ids).await?;
    let row = |flag: Flag| {
        let used = usage.remove(&flag.id);
        FlagRow {
            cells: environments
                .iter()
                .map(|environment| cells.get(&(flag.id, environment.id)).copied())
                .collect(),
            last_evaluated_at: used.and_then(|used| used.last_evaluated_at),
            hours: hours
                .remove(&flag.id)
                .map(|hours| by_hour(first, hours))
                .unwrap_or_default(),
            stale: used.and_then(|used| used.stale),
            flag,
        }
    };
    Ok(FlagTable {
        flags: flags.map(row),
        environments,
    })
}

/// Returns the number of evaluations in each of the 24 hours that begin with `first`.
fn by_hour(first: Timestamp, evaluations: Vec<(i64, i64)>) -> Vec<i64> {
    let mut hours = vec![0_i64; HOURS];
    for (hour, evaluations) in evaluations {
        let place = hour.saturating_sub(first.millis()) / HOUR_MILLIS;
        let place = usize::try_from(place).ok();
        if let Some(sum) = place.and_then(|place| hours.get_mut(place)) {
            *sum = sum.saturating_add(evaluations);
        }
    }
    hours
}

fn first_hour(now: Timestamp) -> Timestamp {
    let passed = i64::try_from(HOURS.saturating_sub(1)).unwrap_or_default();
    hour_of(now).plus_millis(passed.saturating_mul(-HOUR_MILLIS))
}
