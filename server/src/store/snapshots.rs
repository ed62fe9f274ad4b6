//! What environments serve, read for the in-memory snapshots.

use std::collections::HashMap;

use pennon_core::FlagConfig;
use pennon_model::id::{EnvironmentId, FlagId, RuleId};
use pennon_model::secret::SecretHash;
use pennon_model::targeting::TargetingRule;
use uuid::Uuid;

use super::configurations::ttl;
use super::rollouts::rollout;
use super::rules::RuleRow;
use super::{Tx, bad_row, on_conn};
use crate::error::Error;

/// An active environment and how far it has come.
pub(crate) struct Head {
    pub(crate) id: EnvironmentId,
    /// The first of the environments that replaced each other by key rotations.
    pub(crate) lineage: EnvironmentId,
    pub(crate) sdk_key: SecretHash,
    pub(crate) config_revision: i64,
}

#[derive(sqlx::FromRow)]
struct FlagConfigRow {
    id: Uuid,
    key: String,
    archived: bool,
    is_enabled: bool,
    ttl_override_seconds: Option<i64>,
    config_revision: i64,
    percentage: Option<i64>,
    strategy: Option<String>,
}

/// A flag of an environment that has changed.
pub(crate) struct ChangedFlag {
    pub(crate) id: FlagId,
    pub(crate) key: Box<str>,
    /// The environment's config revision that changed the flag.
    pub(crate) revision: i64,
    /// The flag to serve; none if it is enabled and one of its rows cannot be read.
    pub(crate) loaded: Option<LoadedFlag>,
    /// The reason why a rule, the rollout or the TTL override cannot be read.
    pub(crate) fault: Option<Error>,
}

/// A flag of an environment as it is to be served, with the ids that evaluation itself does not need.
pub(crate) struct LoadedFlag {
    pub(crate) config: FlagConfig,
    /// The ids of its rules, by ascending priority.
    pub(crate) rule_ids: Vec<RuleId>,
}

/// All active environments. Those whose row cannot be read are apart: what is broken must not stop the rest.
pub(crate) struct Heads {
    pub(crate) readable: Vec<Head>,
    pub(crate) unreadable: Vec<(EnvironmentId, Error)>,
}

/// Reads how far each active environment has come.
pub(crate) async fn heads(tx: &mut Tx) -> Result<Heads, Error> {
    let rows: Vec<(Uuid, Option<Uuid>, Vec<u8>, i64)> = on_conn!(tx, conn => sqlx::query_as(
        "select id, lineage_id, sdk_key_hash, config_revision from environments where status = 'active'",
    ).fetch_all(conn).await)?;
    let (mut readable, mut unreadable) = (Vec::with_capacity(rows.len()), Vec::new());
    for (id, lineage, hash, config_revision) in rows {
        match SecretHash::try_from(&*hash) {
            Ok(sdk_key) => readable.push(Head {
                id: EnvironmentId::new(id),
                lineage: EnvironmentId::new(lineage.unwrap_or(id)),
                sdk_key,
                config_revision,
            }),
            Err(problem) => {
                let error = bad_row("environments", id, problem);
                unreadable.push((EnvironmentId::new(id), error));
            }
        }
    }
    Ok(Heads {
        readable,
        unreadable,
    })
}

impl LoadedFlag {
    /// A flag that is off for everyone: disabled or archived, whatever its rules say.
    pub(crate) fn off(key: Box<str>, archived: bool) -> Self {
        let config = FlagConfig {
            key,
            archived,
            enabled: false,
            rules: Vec::new(),
            rollout: None,
            ttl: None,
        };
        Self {
            config,
            rule_ids: Vec::new(),
        }
    }
}

/// The flags of an environment that changed after `revision`; all of them after revision 0, among them the archived
/// ones that were never configured there.
pub(crate) async fn changed_flags(
    tx: &mut Tx,
    environment: EnvironmentId,
    revision: i64,
) -> Result<Vec<ChangedFlag>, Error> {
    let rows: Vec<FlagConfigRow> = on_conn!(tx, conn => sqlx::query_as(
        "select flags.id, flags.key, flags.archived_at is not null as archived, pair.is_enabled,
                pair.ttl_override_seconds, pair.config_revision, rollouts.percentage, rollouts.strategy
         from flag_environments pair
         join flags on flags.id = pair.flag_id
         left join rollouts on rollouts.flag_id = pair.flag_id and rollouts.environment_id = pair.environment_id
         where pair.environment_id = $1 and pair.config_revision > $2
         union all
         select flags.id, flags.key, true, false, null, 0, null, null
         from flags
         where $2 = 0 and flags.archived_at is not null and not exists
            (select 1 from flag_environments pair where pair.flag_id = flags.id and pair.environment_id = $1)",
    ).bind(environment.uuid()).bind(revision).fetch_all(conn).await)?;
    let rules: Vec<RuleRow> = on_conn!(tx, conn => sqlx::query_as(
        "select rules.id, rules.flag_id, rules.environment_id, priority, logic, value, cast(conditions as text) as conditions, created_at,
                updated_at, rules.revision
         from rules join flag_environments pair
            on pair.flag_id = rules.flag_id and pair.environment_id = rules.environment_id
         where pair.environment_id = $1 and pair.config_revision > $2
         order by rules.priority",
    ).bind(environment.uuid()).bind(revision).fetch_all(conn).await)?;
    let mut rules_of_flag: HashMap<Uuid, Vec<RuleRow>> = HashMap::new();
    for rule in rules {
        rules_of_flag.entry(rule.flag_id).or_default().push(rule);
    }
    let flag = |row: FlagConfigRow| {
        let rules = rules_of_flag.remove(&row.id).unwrap_or_default();
        changed(row, rules)
    };
    Ok(rows.into_iter().map(flag).collect())
}

fn changed(row: FlagConfigRow, rules: Vec<RuleRow>) -> ChangedFlag {
    let (id, key, revision) = (FlagId::new(row.id), row.key.clone(), row.config_revision);
    let key = key.into_boxed_str();
    // A kill switch works whatever has become of the rules.
    let off = (row.archived || !row.is_enabled).then(|| LoadedFlag::off(key.clone(), row.archived));
    let (loaded, fault) = match loaded(row, rules) {
        Ok(flag) => (Some(flag), None),
        Err(error) => (off, Some(error)),
    };
    ChangedFlag {
        id,
        key,
        revision,
        loaded,
        fault,
    }
}

fn loaded(row: FlagConfigRow, rules: Vec<RuleRow>) -> Result<LoadedFlag, Error> {
    let records = rules.into_iter().map(TargetingRule::try_from);
    let records: Vec<TargetingRule> = records.collect::<Result<_, _>>()?;
    let rollout = match (row.percentage, row.strategy) {
        (Some(percentage), Some(strategy)) => Some(rollout(percentage, &strategy, row.id)?),
        _ => None,
    };
    let rule_ids = records.iter().map(|record| record.id).collect();
    let config = FlagConfig {
        key: row.key.into(),
        archived: row.archived,
        enabled: row.is_enabled,
        rules: records.into_iter().map(|record| record.rule).collect(),
        rollout,
        ttl: ttl(row.ttl_override_seconds, row.id)?,
    };
    Ok(LoadedFlag { config, rule_ids })
}
