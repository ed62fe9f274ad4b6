//! The table of flags and environments, with the usage of each flag.

use pennon_model::environment::{self, EnvironmentStatus};
use pennon_model::flag::{Flag, FlagFilter, FlagOrder};
use pennon_model::flag_table::{
    FlagRow, FlagState, FlagTable, FlagTableOrder, FlagTableQuery, Lifecycle, StaleReason,
};
use pennon_model::id::EnvironmentId;
use pennon_model::page::{Page, PageRequest};
use pennon_model::time::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use super::Admin;
use super::usage::{HOUR_MILLIS, hour_of};
use crate::auth::actor::Actor;
use crate::error::{Error, Fault};
use crate::store::flag_table::{FlagUse, StaleSince};
use crate::store::flags::StateFilter;
use crate::store::{self, Tx};

/// The number of days without a change after which a flag can be stale.
const UNCHANGED_DAYS: i64 = 30;

/// The number of days without a request from an application after which a flag can be stale.
const UNUSED_DAYS: i64 = 14;

/// The number of hours of usage to show, including the current hour.
const HOURS: usize = 24;

/// The flags to list.
pub(crate) struct FlagQuery {
    pub(crate) filter: FlagFilter,
    pub(crate) state: StateQuery,
}

/// The state and the usage of the flags to list.
#[derive(Clone, Copy)]
pub(crate) struct StateQuery {
    /// An active environment in which the flags are configured, for the state and the usage; any if none.
    pub(crate) environment: Option<EnvironmentId>,
    pub(crate) state: Option<FlagState>,
    /// True for stale flags only, false for all others.
    pub(crate) stale: Option<bool>,
    /// True to add the usage of each flag.
    pub(crate) usage: bool,
}

/// A flag of a list.
#[derive(Serialize, ToSchema)]
pub(crate) struct ListedFlag {
    #[serde(flatten)]
    flag: Flag,
    /// The usage; absent unless it is requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    usage: Option<RecentUsage>,
}

/// The last evaluation of a flag, and the reason why it is stale.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct RecentUsage {
    /// The time of the last evaluation, in the requested environment or in any, to the minute.
    #[schema(required)]
    last_evaluated_at: Option<Timestamp>,
    /// The reason why the flag is stale; `null` if it is not.
    #[schema(required)]
    stale: Option<StaleReason>,
}

impl RecentUsage {
    fn of(found: Option<FlagUse>) -> Self {
        Self {
            last_evaluated_at: found.and_then(|found| found.last_evaluated_at),
            stale: found.and_then(|found| found.stale),
        }
    }
}

/// Returns one page of flags, with their status in every active environment and their usage.
pub(crate) async fn page(
    admin: &Admin,
    _actor: &Actor,
    mut query: FlagTableQuery,
) -> Result<FlagTable, Error> {
    let now = admin.clock.now();
    let since = stale_since(now);
    let mut tx = admin.db.read().await?;
    let mut environments = store::environments::active(&mut tx).await?;
    if let Some(product) = &query.product {
        environments.retain(|environment| environment.product.as_str() == product);
    }
    environment::sort(&mut environments);
    query.environment = query
        .environment
        .filter(|id| environments.iter().any(|environment| environment.id == *id));
    let states = StateFilter {
        environment: query.environment,
        state: query.state,
        stale: query.stale.then_some((since, true)),
    };
    let (environment, page) = (query.environment, query.page);
    let flags = store::flags::list(&mut tx, &filter_of(query), &states, page).await?;
    let ids: Vec<_> = flags.items.iter().map(|flag| flag.id).collect();
    let mut usage = store::flag_table::uses(&mut tx, &ids, environment, since).await?;
    let first = first_hour(now);
    let mut hours = store::flag_table::hours(&mut tx, &ids, environment, first).await?;
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

/// Returns the filter of a query, apart from the state and the staleness.
fn filter_of(query: FlagTableQuery) -> FlagFilter {
    FlagFilter {
        archived: match query.lifecycle {
            Lifecycle::Active => Some(false),
            Lifecycle::Archived => Some(true),
            Lifecycle::All => None,
        },
        search: (!query.search.is_empty()).then_some(query.search),
        product: query.product,
        metadata: query.metadata,
        order: match query.order {
            FlagTableOrder::Newest => FlagOrder::Newest,
            FlagTableOrder::Name => FlagOrder::Name,
            FlagTableOrder::LastEvaluated => FlagOrder::LastEvaluatedDescending,
        },
        ..FlagFilter::default()
    }
}

/// Returns one page of flags, with their usage if the query requests it.
pub(crate) async fn list(
    admin: &Admin,
    _actor: &Actor,
    FlagQuery { filter, state }: FlagQuery,
    page: PageRequest,
) -> Result<Page<ListedFlag>, Error> {
    let since = stale_since(admin.clock.now());
    let mut tx = admin.db.read().await?;
    if let Some(id) = state.environment {
        check_active(&mut tx, id).await?;
    }
    let states = StateFilter {
        environment: state.environment,
        state: state.state,
        stale: state.stale.map(|is_stale| (since, is_stale)),
    };
    let flags = store::flags::list(&mut tx, &filter, &states, page).await?;
    if !state.usage {
        return Ok(flags.map(|flag| ListedFlag { flag, usage: None }));
    }
    let ids: Vec<_> = flags.items.iter().map(|flag| flag.id).collect();
    let mut uses = store::flag_table::uses(&mut tx, &ids, state.environment, since).await?;
    Ok(flags.map(|flag| ListedFlag {
        usage: Some(RecentUsage::of(uses.remove(&flag.id))),
        flag,
    }))
}

/// Fails if no active environment has this ID.
async fn check_active(tx: &mut Tx, id: EnvironmentId) -> Result<(), Error> {
    let environment = store::environments::find(tx, id).await?;
    if environment.is_some_and(|environment| environment.status == EnvironmentStatus::Active) {
        return Ok(());
    }
    let detail = "must be the id of an active environment";
    Err(Fault::parameter("environment", detail).into())
}

fn stale_since(now: Timestamp) -> StaleSince {
    StaleSince {
        now,
        unchanged: now.plus_days(-UNCHANGED_DAYS),
        unused: now.plus_days(-UNUSED_DAYS),
    }
}

/// Returns the number of evaluations in each of the 24 hours that begin with `first`.
fn by_hour(first: Timestamp, evaluations: Vec<(i64, i64)>) -> Vec<i64> {
    let mut hours = vec![0_i64; HOURS];
    for (hour, evaluations) in evaluations {
        let index = hour.saturating_sub(first.millis()) / HOUR_MILLIS;
        let index = usize::try_from(index).ok();
        if let Some(sum) = index.and_then(|index| hours.get_mut(index)) {
            *sum = sum.saturating_add(evaluations);
        }
    }
    hours
}

fn first_hour(now: Timestamp) -> Timestamp {
    let passed = i64::try_from(HOURS.saturating_sub(1)).unwrap_or_default();
    hour_of(now).plus_millis(passed.saturating_mul(-HOUR_MILLIS))
}
