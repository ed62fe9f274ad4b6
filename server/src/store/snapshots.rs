//! Queries for the in-memory snapshots.

use std::borrow::Borrow;
use std::collections::HashSet;

use pennon_core::FlagConfig;
use pennon_core::rule::Rule;
use pennon_model::environment::ClientRules;
use pennon_model::id::{EnvironmentId, FlagId, RuleId};
use pennon_model::secret::SecretHash;
use pennon_model::time::Timestamp;
use sqlx::QueryBuilder;
use uuid::Uuid;

use super::configurations::ttl;
use super::query::push_one_of;
use super::rollouts::rollout;
use super::rules::rule;
use super::{Tx, bad_row, on_conn};
use crate::error::Error;

/// An active environment and its config revision.
pub(crate) struct Head {
    pub(crate) id: EnvironmentId,
    /// The first of the environments that replaced each other by key rotations.
    pub(crate) lineage: EnvironmentId,
    pub(crate) sdk_key: SecretHash,
    pub(crate) config_revision: i64,
    /// The extent to which the SDK key reveals rules.
    pub(crate) client_rules: ClientRules,
    /// The previous key, which may have ended.
    pub(crate) previous_key: Option<PreviousKeyHash>,
}

/// A key that a rotation replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PreviousKeyHash {
    pub(crate) hash: SecretHash,
    /// The time from which it is refused.
    pub(crate) ends_at: Timestamp,
}

#[derive(sqlx::FromRow)]
struct HeadRow {
    id: Uuid,
    lineage_id: Option<Uuid>,
    sdk_key_hash: Vec<u8>,
    config_revision: i64,
    client_rules: String,
    previous_key_hash: Option<Vec<u8>>,
    previous_key_ends_at: Option<i64>,
}

/// One rule of a flag, or a flag without rules.
#[derive(sqlx::FromRow)]
struct FlagRuleRow {
    flag_id: Uuid,
    key: String,
    archived: bool,
    is_hidden: bool,
    is_enabled: bool,
    ttl_override_seconds: Option<i64>,
    config_revision: i64,
    percentage: Option<i64>,
    strategy: Option<String>,
    rule_id: Option<Uuid>,
    priority: Option<i64>,
    logic: Option<String>,
    value: Option<bool>,
    conditions: Option<String>,
}

/// A [`FlagRuleRow`] with its environment.
#[derive(sqlx::FromRow)]
struct EnvironmentRow {
    environment_id: Uuid,
    #[sqlx(flatten)]
    row: FlagRuleRow,
}

impl Borrow<FlagRuleRow> for EnvironmentRow {
    fn borrow(&self) -> &FlagRuleRow {
        &self.row
    }
}

/// A flag of an environment that has changed.
pub(crate) struct ChangedFlag {
    pub(crate) id: FlagId,
    pub(crate) key: Box<str>,
    /// The environment's config revision in which the flag changed.
    pub(crate) revision: i64,
    /// True if the environment no longer has the flag.
    pub(crate) is_hidden: bool,
    /// The flag to serve; none if it is enabled and one of its rows is unreadable.
    pub(crate) loaded: Option<LoadedFlag>,
    /// The reason that a rule, the rollout or the TTL override is unreadable.
    pub(crate) fault: Option<Error>,
}

/// A flag in its served form, with the IDs of its rules, which evaluation itself does not need.
pub(crate) struct LoadedFlag {
    pub(crate) config: FlagConfig,
    /// The IDs of its rules, by ascending priority.
    pub(crate) rule_ids: Vec<RuleId>,
}

/// All active environments. Those with an unreadable row are separate, so that they do not stop the rest.
#[derive(Default)]
pub(crate) struct Heads {
    pub(crate) readable: Vec<Head>,
    pub(crate) unreadable: Vec<(EnvironmentId, Error)>,
}

impl Heads {
    /// Returns the IDs of the environments that have an unreadable row.
    pub(crate) fn unreadable_ids(&self) -> HashSet<EnvironmentId> {
        self.unreadable.iter().map(|(id, _)| *id).collect()
    }
}

/// Reads the config revisions of all active environments.
pub(crate) async fn heads(tx: &mut Tx) -> Result<Heads, Error> {
    let rows: Vec<HeadRow> = on_conn!(tx, conn => sqlx::query_as(
        "select id, lineage_id, sdk_key_hash, config_revision, client_rules, previous_key_hash, previous_key_ends_at
         from environments where status = 'active'",
    ).fetch_all(conn).await)?;
    let mut heads = Heads::default();
    for row in rows {
        let id = EnvironmentId::new(row.id);
        match Head::try_from(row) {
            Ok(head) => heads.readable.push(head),
            Err(error) => heads.unreadable.push((id, error)),
        }
    }
    Ok(heads)
}

impl TryFrom<HeadRow> for Head {
    type Error = Error;

    fn try_from(row: HeadRow) -> Result<Self, Error> {
        let bad = |problem: &str| bad_row("environments", row.id, problem);
        let sdk_key = SecretHash::try_from(&*row.sdk_key_hash);
        let previous_key = match (&row.previous_key_hash, row.previous_key_ends_at) {
            (Some(hash), Some(ends_at)) => Some(PreviousKeyHash {
                hash: SecretHash::try_from(&**hash).map_err(bad)?,
                ends_at: Timestamp::from_millis(ends_at),
            }),
            _ => None,
        };
        let client_rules = ClientRules::parse(&row.client_rules);
        Ok(Self {
            id: EnvironmentId::new(row.id),
            lineage: EnvironmentId::new(row.lineage_id.unwrap_or(row.id)),
            sdk_key: sdk_key.map_err(bad)?,
            config_revision: row.config_revision,
            client_rules: client_rules.map_err(|problem| bad(problem.detail()))?,
            previous_key,
        })
    }
}

impl LoadedFlag {
    /// Returns a flag that is off for everyone: disabled or archived, without rules.
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

/// Selects the columns of [`FlagRuleRow`], after `$columns`, for each flag configuration, which is called `configured`.
macro_rules! select_configured {
    ($columns:literal) => {
        concat!(
            "select ", $columns,
            "flags.id as flag_id, flags.key, flags.archived_at is not null as archived, configured.is_hidden,
                configured.is_enabled, configured.ttl_override_seconds, configured.config_revision, rollouts.percentage, rollouts.strategy,
                rules.id as rule_id, rules.priority, rules.logic, rules.value,
                cast(rules.conditions as text) as conditions
         from flag_environments configured
         join flags on flags.id = configured.flag_id
         left join rollouts on rollouts.flag_id = configured.flag_id and rollouts.environment_id = configured.environment_id
         left join rules on rules.flag_id = configured.flag_id and rules.environment_id = configured.environment_id"
        )
    };
}

/// Selects the flags with a configuration in environment `$1` that changed after revision `$2`.
macro_rules! select_changed {
    () => {
        concat!(
            select_configured!(""),
            " where configured.environment_id = $1 and configured.config_revision > $2"
        )
    };
}

/// Selects changed flags. After each change, every instance sends this query, which PostgreSQL plans anew each time, so
/// it has no part that only [`ALL_FLAGS`] needs.
const CHANGED_FLAGS: &str = concat!(select_changed!(), " order by flag_id, priority");

/// Selects all flags, including archived flags that belong to the environment without a configuration in it.
const ALL_FLAGS: &str = concat!(
    select_changed!(),
    " union all
     select flags.id, flags.key, true, false, false, null, 0, null, null, null, null, null, null, null
     from flags
     where flags.archived_at is not null
       and flags.id in (select flag_id from flag_scope where environment_id = $1)
       and not exists
        (select 1 from flag_environments configured where configured.flag_id = flags.id and configured.environment_id = $1)
     order by flag_id, priority"
);

/// Reads the flags of an environment that changed after `revision`. For revision 0, it reads all flags, including
/// archived flags that belong to it without a configuration in the environment.
pub(crate) async fn changed_flags(
    tx: &mut Tx,
    environment: EnvironmentId,
    revision: i64,
) -> Result<Vec<ChangedFlag>, Error> {
    let query = if revision == 0 {
        ALL_FLAGS
    } else {
        CHANGED_FLAGS
    };
    let rows: Vec<FlagRuleRow> = on_conn!(tx, conn => sqlx::query_as(query)
        .bind(environment.uuid())
        .bind(revision)
        .fetch_all(conn)
        .await)?;
    let flags = rows.chunk_by(|one, next| one.flag_id == next.flag_id);
    Ok(flags.filter_map(changed).collect())
}

/// Reads one flag in these environments. An environment is left out if the flag has no configuration in it.
pub(crate) async fn flag_in(
    tx: &mut Tx,
    flag: FlagId,
    environments: &[EnvironmentId],
) -> Result<Vec<(EnvironmentId, ChangedFlag)>, Error> {
    let rows: Vec<EnvironmentRow> = on_conn!(tx, conn => {
        let mut query = QueryBuilder::new(concat!(
            select_configured!("configured.environment_id, "),
            " where configured.flag_id = ",
        ));
        query.push_bind(flag.uuid()).push(" and configured.environment_id ");
        push_one_of(&mut query, environments.iter().copied().map(EnvironmentId::uuid));
        query.push(" order by configured.environment_id, rules.priority");
        query.build_query_as().fetch_all(conn).await
    })?;
    let configurations = rows.chunk_by(|one, next| one.environment_id == next.environment_id);
    let placed = configurations.filter_map(|rows| {
        let environment = EnvironmentId::new(rows.first()?.environment_id);
        Some((environment, changed(rows)?))
    });
    Ok(placed.collect())
}

/// Returns the flag that these rows describe, one for each rule.
fn changed<R: Borrow<FlagRuleRow>>(rows: &[R]) -> Option<ChangedFlag> {
    let row = rows.first()?.borrow();
    let (loaded, fault) = match loaded(row, rows) {
        Ok(flag) => (Some(flag), None),
        Err(error) => {
            // Disabling a flag works even if its rules are unreadable.
            let off = (row.archived || !row.is_enabled)
                .then(|| LoadedFlag::off(row.key.as_str().into(), row.archived));
            (off, Some(error))
        }
    };
    Some(ChangedFlag {
        id: FlagId::new(row.flag_id),
        key: row.key.as_str().into(),
        revision: row.config_revision,
        is_hidden: row.is_hidden,
        loaded,
        fault,
    })
}

fn loaded<R: Borrow<FlagRuleRow>>(row: &FlagRuleRow, rows: &[R]) -> Result<LoadedFlag, Error> {
    let mut rule_ids = Vec::new();
    let mut rules = Vec::new();
    for row in rows {
        if let Some((id, rule)) = row.borrow().rule()? {
            rule_ids.push(id);
            rules.push(rule);
        }
    }
    let rollout = match (row.percentage, &row.strategy) {
        (Some(percentage), Some(strategy)) => Some(rollout(percentage, strategy, row.flag_id)?),
        _ => None,
    };
    let config = FlagConfig {
        key: row.key.as_str().into(),
        archived: row.archived,
        enabled: row.is_enabled,
        rules,
        rollout,
        ttl: ttl(row.ttl_override_seconds, row.flag_id)?,
    };
    Ok(LoadedFlag { config, rule_ids })
}

impl FlagRuleRow {
    /// Returns the rule of the row; none if the flag has no rules.
    fn rule(&self) -> Result<Option<(RuleId, Rule)>, Error> {
        let (Some(id), Some(priority), Some(logic), Some(value), Some(conditions)) = (
            self.rule_id,
            self.priority,
            &self.logic,
            self.value,
            &self.conditions,
        ) else {
            return Ok(None);
        };
        Ok(Some((
            RuleId::new(id),
            rule(id, priority, logic, value, conditions)?,
        )))
    }
}
