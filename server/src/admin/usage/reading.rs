//! Usage as stored in the database, for charts and for finding unused flags.

use std::collections::{BTreeMap, HashMap};

use pennon_core::Reason;
use pennon_model::environment::Environment;
use pennon_model::id::{EnvironmentId, FlagId};
use pennon_model::time::Timestamp;
use pennon_model::usage::{FlagEnvironmentUsage, FlagHour, Outcome, PollKind, Polling, Polls};
use serde::Serialize;
use utoipa::ToSchema;

use super::{KEEP_DAYS, MINUTE_MILLIS, hour_of};
use crate::admin::{Admin, environments, flags};
use crate::auth::actor::Actor;
use crate::error::{Error, Fault};
use crate::store;

/// A period, by default the last 24 hours.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Period {
    pub(crate) from: Option<Timestamp>,
    pub(crate) to: Option<Timestamp>,
}

/// The number of evaluations of a flag.
#[derive(Serialize, ToSchema)]
pub(crate) struct FlagUsage {
    /// The start of the period, at the beginning of an hour.
    pub(crate) from: Timestamp,
    /// The end of the period.
    pub(crate) to: Timestamp,
    /// The environments in which the flag has been evaluated at any time.
    pub(crate) environments: Vec<FlagEnvironmentUsage>,
}

/// The usage of an environment.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EnvironmentUsage {
    /// The start of the period, at the beginning of an hour.
    from: Timestamp,
    /// The end of the period.
    to: Timestamp,
    /// The last fetch of the configuration by a client, to the minute.
    #[schema(required)]
    last_polled_at: Option<Timestamp>,
    /// The hours with evaluations or fetches, in order.
    hours: Vec<EnvironmentHour>,
}

/// The usage of an environment in one hour.
#[derive(Serialize, ToSchema)]
struct EnvironmentHour {
    /// The start of the hour.
    hour: Timestamp,
    /// The number of evaluations of all flags.
    evaluations: i64,
    /// The part of them that clients reported; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    reported: Option<i64>,
    polls: Polls,
}

fn set(polls: &mut Polls, kind: PollKind, count: i64) {
    match kind {
        PollKind::First => polls.first = count,
        PollKind::Current => polls.current = count,
        PollKind::Outdated => polls.outdated = count,
    }
}

/// Returns the number of evaluations of a flag in all environments.
pub(crate) async fn of_flag(
    admin: &Admin,
    _actor: &Actor,
    id: FlagId,
    period: Period,
) -> Result<FlagUsage, Error> {
    let (from, to) = period.bounds(admin.clock.now())?;
    let mut tx = admin.db.read().await?;
    flags::find(&mut tx, id).await?;
    let mut hours: HashMap<EnvironmentId, BTreeMap<i64, FlagHour>> = HashMap::new();
    for row in store::usage::of_flag(&mut tx, id, from, to).await? {
        let lineage = hours.entry(row.lineage).or_default();
        let reason = Reason::parse(&row.reason).ok();
        let implied = reason.and_then(|reason| Outcome::new(reason, None).enabled());
        for counts in row.hours {
            let hour = lineage.entry(counts.hour).or_insert_with(|| FlagHour {
                hour: Timestamp::from_millis(counts.hour),
                evaluations: BTreeMap::new(),
                reported: BTreeMap::new(),
                enabled: 0,
                disabled: 0,
            });
            let (enabled, disabled) = match implied {
                Some(true) => (counts.evaluations, 0),
                Some(false) => (0, counts.evaluations),
                None => (counts.enabled, counts.disabled),
            };
            hour.enabled = hour.enabled.saturating_add(enabled);
            hour.disabled = hour.disabled.saturating_add(disabled);
            hour.evaluations
                .insert(row.reason.clone(), counts.evaluations);
            if counts.reported > 0 {
                hour.reported.insert(row.reason.clone(), counts.reported);
            }
        }
    }
    let last_evaluations = store::usage::last_evaluations(&mut tx, id).await?;
    let mut last_evaluations: HashMap<EnvironmentId, Timestamp> =
        last_evaluations.into_iter().collect();
    let usage = |(lineage, environment): (EnvironmentId, Environment)| {
        let hours = hours.remove(&lineage);
        let last = last_evaluations.remove(&lineage);
        if hours.is_none() && last.is_none() {
            return None;
        }
        Some(FlagEnvironmentUsage {
            environment_id: environment.id,
            product: environment.product.to_string(),
            environment: environment.name.to_string(),
            last_evaluated_at: last,
            hours: hours.unwrap_or_default().into_values().collect(),
        })
    };
    let lineages = store::environments::lineages(&mut tx).await?;
    Ok(FlagUsage {
        from,
        to,
        environments: lineages.into_iter().filter_map(usage).collect(),
    })
}

/// Returns the usage of an environment.
pub(crate) async fn of_environment(
    admin: &Admin,
    _actor: &Actor,
    id: EnvironmentId,
    period: Period,
) -> Result<EnvironmentUsage, Error> {
    let (from, to) = period.bounds(admin.clock.now())?;
    let mut tx = admin.db.read().await?;
    environments::find(&mut tx, id).await?;
    let lineage = store::environments::lineage(&mut tx, id).await?;
    let mut hours: BTreeMap<i64, ((i64, i64), Polls)> = BTreeMap::new();
    for counted in store::usage::of_environment(&mut tx, lineage, from, to).await? {
        let evaluations = (counted.evaluations, counted.reported);
        hours.entry(counted.hour).or_default().0 = evaluations;
    }
    for (hour, kind, count) in store::usage::polls(&mut tx, lineage, from, to).await? {
        set(&mut hours.entry(hour).or_default().1, kind, count);
    }
    let last_polled_at = store::usage::last_poll(&mut tx, lineage).await?;
    let hour = |(hour, ((evaluations, reported), polls))| EnvironmentHour {
        hour: Timestamp::from_millis(hour),
        evaluations,
        reported: (reported > 0).then_some(reported),
        polls,
    };
    Ok(EnvironmentUsage {
        from,
        to,
        last_polled_at,
        hours: hours.into_iter().map(hour).collect(),
    })
}

/// Returns the requests of each active environment that had any.
pub(crate) async fn polling(
    admin: &Admin,
    _actor: &Actor,
    period: Period,
) -> Result<HashMap<EnvironmentId, Polling>, Error> {
    let (from, to) = period.bounds(admin.clock.now())?;
    let mut tx = admin.db.read().await?;
    let mut environments: HashMap<EnvironmentId, Polling> = HashMap::new();
    for (id, kind, count) in store::usage::polls_of_active(&mut tx, from, to).await? {
        let polling = environments.entry(id).or_default();
        set(&mut polling.polls, kind, count);
    }
    for (id, at) in store::usage::last_polls_of_active(&mut tx).await? {
        environments.entry(id).or_default().last_polled_at = Some(at);
    }
    for (id, at) in store::usage::active_last_evaluated(&mut tx).await? {
        environments.entry(id).or_default().last_evaluated_at = Some(at);
    }
    Ok(environments)
}

/// Returns the time of the last use of the environment's current key, to the minute.
pub(crate) async fn key_last_used(
    admin: &Admin,
    _actor: &Actor,
    environment: &Environment,
) -> Result<Option<Timestamp>, Error> {
    let mut tx = admin.db.read().await?;
    let lineage = store::environments::lineage(&mut tx, environment.id).await?;
    let polled = store::usage::last_poll(&mut tx, lineage).await?;
    let evaluated = store::usage::last_evaluated_in(&mut tx, lineage).await?;
    // Earlier usage belongs to the previous keys of the environment. Counts are written once a minute, with the time at
    // which they are written.
    let is_first = lineage == environment.id;
    let delay = if is_first { 0 } else { 2 * MINUTE_MILLIS };
    let begin = environment.created_at.plus_millis(delay);
    let begin = begin.plus_millis(-begin.millis().rem_euclid(MINUTE_MILLIS));
    Ok(polled.max(evaluated).filter(|last| *last >= begin))
}

impl Period {
    /// Returns the first hour and the last moment. Fails if they are in the wrong order or too far apart.
    fn bounds(self, now: Timestamp) -> Result<(Timestamp, Timestamp), Error> {
        let to = self.to.unwrap_or(now);
        let from = self.from.unwrap_or(to.plus_days(-1));
        let fault = if from > to {
            "must not be after `to`"
        } else if from < to.plus_days(-KEEP_DAYS) {
            "must be at most 31 days before `to`"
        } else {
            return Ok((hour_of(from), to));
        };
        Err(Fault::parameter("from", fault).into())
    }
}
