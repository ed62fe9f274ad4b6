//! Flags against environments, with what is known of their use: what a person looks through.

use std::collections::HashMap;

use pennon_model::environment::Environment;
use pennon_model::flag::Flag;
use pennon_model::id::{EnvironmentId, FlagId};
use pennon_model::page::{Page, PageRequest};
use pennon_model::time::Timestamp;

use super::Service;
use super::usage::{DAY_MILLIS, HOUR_MILLIS, hour_of};
use crate::auth::actor::Actor;
use crate::error::Error;
use crate::store;
use crate::store::configurations::CellRow;
use crate::store::flag_table::{StaleSince, Standing, TableOrder, TableSelection};

/// For how many days nobody has changed a flag that is stale.
const UNCHANGED_DAYS: i64 = 30;

/// For how many days no application has asked for a flag that is stale because of that.
const UNASKED_DAYS: i64 = 14;

/// How many hours of use are shown, the current one included.
const HOURS: usize = 24;

/// Which flags to show, and in what order.
#[derive(Clone, Debug, Default)]
pub(crate) struct TableQuery {
    /// Archived ones only, active ones only, or both.
    pub(crate) archived: Option<bool>,
    /// Text that the name or the key contains, in any case.
    pub(crate) search: Option<String>,
    /// The environment that counts; all active ones without it, and if it is not one of them.
    pub(crate) environment: Option<EnvironmentId>,
    /// How they stand there, or in one of them.
    pub(crate) standing: Option<Standing>,
    /// Stale ones only.
    pub(crate) stale: bool,
    /// The order.
    pub(crate) order: TableOrder,
}

/// Flags against environments.
pub(crate) struct FlagTable {
    /// All active environments, by product and name.
    pub(crate) environments: Vec<Environment>,
    /// The flags that were asked for.
    pub(crate) flags: Page<Flag>,
    /// How they stand.
    pub(crate) cells: Vec<CellRow>,
    /// What is known of their use.
    pub(crate) uses: HashMap<FlagId, Use>,
}

/// What is known of a flag's use, in the environments that count.
#[derive(Clone, Debug, Default)]
pub(crate) struct Use {
    /// When it was last evaluated.
    pub(crate) last_evaluated_at: Option<Timestamp>,
    /// How often it was evaluated in each of the last 24 hours, the current one last; none if never.
    pub(crate) hours: Vec<i64>,
    /// Why it is stale, if it is.
    pub(crate) stale: Option<Stale>,
}

/// Why a flag that nobody has changed for 30 days can probably go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stale {
    /// No application has asked for it for 14 days.
    Unasked,
    /// Applications ask for it, and it gives everyone the same answer, in every active environment.
    Constant,
}

/// One page of flags, with how each stands and is used.
pub(crate) async fn page(
    service: &Service,
    _actor: &Actor,
    query: TableQuery,
    page: PageRequest,
) -> Result<FlagTable, Error> {
    let now = service.clock.now();
    let since = StaleSince {
        unchanged: days_before(now, UNCHANGED_DAYS),
        unasked: days_before(now, UNASKED_DAYS),
    };
    let mut tx = service.db.read().await?;
    let environments = store::environments::active(&mut tx).await?;
    let is_active = |id: &_| environments.iter().any(|environment| environment.id == *id);
    let selection = TableSelection {
        archived: query.archived,
        search: query.search,
        environment: query.environment.filter(is_active),
        standing: query.standing,
        stale: query.stale.then_some(since),
        order: query.order,
    };
    let flags = store::flag_table::page(&mut tx, &selection, page).await?;
    let ids: Vec<_> = flags.items.iter().map(|flag| flag.id).collect();

    let mut uses: HashMap<FlagId, Use> = HashMap::new();
    let environment = selection.environment;
    for row in store::flag_table::uses(&mut tx, &ids, environment, since).await? {
        let of_flag = uses.entry(FlagId::new(row.id)).or_default();
        of_flag.last_evaluated_at = row.last_evaluated_at.map(Timestamp::from_millis);
        of_flag.stale = row.is_stale.then_some(if row.is_unasked {
            Stale::Unasked
        } else {
            Stale::Constant
        });
    }
    let current = hour_of(now);
    let first = hours_before(current, HOURS.saturating_sub(1));
    for row in store::flag_table::hours(&mut tx, &ids, environment, first).await? {
        let of_flag = uses.entry(FlagId::new(row.flag_id)).or_default();
        of_flag.hours.resize(HOURS, 0);
        for (hour, evaluations) in row.hours.iter() {
            let place = hour.saturating_sub(first.millis()) / HOUR_MILLIS;
            let place = usize::try_from(place).ok();
            if let Some(sum) = place.and_then(|place| of_flag.hours.get_mut(place)) {
                *sum = sum.saturating_add(evaluations);
            }
        }
    }
    Ok(FlagTable {
        cells: store::configurations::cells(&mut tx, &ids).await?,
        environments,
        flags,
        uses,
    })
}

fn days_before(now: Timestamp, days: i64) -> Timestamp {
    Timestamp::from_millis(now.millis().saturating_sub(days.saturating_mul(DAY_MILLIS)))
}

fn hours_before(hour: i64, hours: usize) -> Timestamp {
    let passed = i64::try_from(hours)
        .unwrap_or_default()
        .saturating_mul(HOUR_MILLIS);
    Timestamp::from_millis(hour.saturating_sub(passed))
}
