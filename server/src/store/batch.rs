//! Writes of many rows at once, with few statements and a short time under the write lock.
//!
//! The rows are staged in temporary tables, which needs no lock, and then moved to their own tables. PostgreSQL lets
//! several transactions write at once, so there most rows are moved before the lock is taken: those that no other
//! writer can wait for or conflict with.

use std::collections::HashSet;

use pennon_model::audit::{AuditEntry, AuditSubjects, ChangeReason};
use pennon_model::configuration::Configuration;
use pennon_model::flag::{Flag, FlagProducts};
use pennon_model::id::{AuditId, EnvironmentId, FlagId, RuleId, TokenId, UserId};
use pennon_model::metadata::{FlagKind, FlagOwner};
use pennon_model::targeting::{FlagRollout, TargetingRule};
use pennon_model::text::Description;
use pennon_model::time::Timestamp;
use sqlx::types::Json;
use uuid::Uuid;

use super::audit::date;
use super::environments::{Raised, RaisedRow, raised_columns};
use super::{Tx, insert_rows, on_conn};
use crate::error::Error;

/// The maximum number of rows per statement. SQLite binds at most 32,766 values in one statement, PostgreSQL 65,535.
pub(super) const ROWS: usize = 500;

/// The temporary tables. In rows that belong to a flag, `is_new` marks a new flag. Both databases accept the types;
/// SQLite stores any value.
const CREATE: &str = "
    create temporary table staged_flags (id uuid primary key, key text, name text, description text, type text,
        created_by text, created_at bigint, archived_at bigint, revision bigint, is_public boolean, owner text, kind text,
        expires_at bigint, is_new boolean, placeholder text);
    create temporary table staged_tags (flag_id uuid, tag text);
    create temporary table staged_products (flag_id uuid, product text);
    create temporary table staged_configurations (flag_id uuid, environment_id uuid, is_enabled boolean,
        ttl_override_seconds bigint, revision bigint, is_hidden boolean, is_new boolean);
    create temporary table staged_rules (id uuid, flag_id uuid, environment_id uuid, priority bigint, logic text,
        value boolean, conditions jsonb, created_at bigint, updated_at bigint, revision bigint, is_new boolean);
    create temporary table staged_deleted_rules (id uuid);
    create temporary table staged_rollouts (flag_id uuid, environment_id uuid, percentage bigint, strategy text,
        created_at bigint, updated_at bigint, is_new boolean);
    create temporary table staged_revisions (environment_id uuid, config_revision bigint);
    create temporary table staged_deleted_rollouts (flag_id uuid, environment_id uuid);
    create temporary table staged_entries (id uuid, action text, actor_identity text, flag_key text, environment text,
        product text, old_value jsonb, new_value jsonb, actor_id uuid, actor_token_id uuid, flag_id uuid,
        environment_id uuid, rule_id uuid, user_id uuid, token_id uuid, about_accounts boolean);
";

const DROP: &str = "
    drop table staged_flags;
    drop table staged_tags;
    drop table staged_products;
    drop table staged_configurations;
    drop table staged_rules;
    drop table staged_deleted_rules;
    drop table staged_rollouts;
    drop table staged_revisions;
    drop table staged_deleted_rollouts;
    drop table staged_entries;
";

/// The rows to write, in their new state, and the audit entries.
#[derive(Default)]
pub(crate) struct Batch {
    pub(crate) new_flags: Vec<Flag>,
    pub(crate) changed_flags: Vec<Flag>,
    /// The new and changed configurations, including those in which only rules or the rollout change.
    pub(crate) configurations: Vec<Configuration>,
    /// The configurations that are hidden from now on.
    pub(crate) hidden_configurations: Vec<Configuration>,
    /// The new and changed rules. None has a priority that another rule of the same flag and environment has before the
    /// change.
    pub(crate) rules: Vec<TargetingRule>,
    pub(crate) deleted_rules: Vec<RuleId>,
    /// The new and changed rollouts. Their revisions are ignored.
    pub(crate) rollouts: Vec<FlagRollout>,
    pub(crate) deleted_rollouts: Vec<FlagRollout>,
    /// The audit entries, in the order of the changes.
    pub(crate) entries: Vec<(AuditEntry, AuditSubjects)>,
}

/// Stages rows, many per statement. It is a macro because each driver has its own builder.
macro_rules! stage {
    ($tx:expr, $insert:literal, $rows:expr, |$list:ident, $row:pat_param| $bind:expr) => {
        for rows in $rows.chunks(ROWS) {
            insert_rows!($tx, $insert, rows, |$list, $row| $bind, "")?;
        }
    };
}

impl Batch {
    /// Stages the rows in temporary tables, which does not block other transactions.
    pub(crate) async fn stage(&self, tx: &mut Tx) -> Result<(), Error> {
        execute(tx, CREATE).await?;
        let new: HashSet<FlagId> = self.new_flags.iter().map(|flag| flag.id).collect();
        self.stage_flags(tx, &new).await?;
        self.stage_targeting(tx, &new).await?;
        self.stage_entries(tx).await
    }

    async fn stage_flags(&self, tx: &mut Tx, new: &HashSet<FlagId>) -> Result<(), Error> {
        let flags: Vec<&Flag> = self.new_flags.iter().chain(&self.changed_flags).collect();
        stage!(tx, "insert into staged_flags ", flags, |list, flag| {
            list.push_bind(flag.id.uuid())
                .push_bind(flag.key.as_str())
                .push_bind(flag.name.as_str())
                .push_bind(flag.description.as_ref().map(Description::as_str))
                .push_bind(flag.flag_type.as_str())
                .push_bind(&flag.created_by)
                .push_bind(flag.created_at.millis())
                .push_bind(flag.archived_at.map(Timestamp::millis))
                .push_bind(flag.revision)
                .push_bind(flag.is_public)
                .push_bind(flag.metadata.owner.as_ref().map(FlagOwner::as_str))
                .push_bind(flag.metadata.kind.map(FlagKind::as_str))
                .push_bind(
                    flag.metadata
                        .expires_at
                        .map(|expiry| expiry.time().millis()),
                )
                .push_bind(new.contains(&flag.id))
                .push_bind(flag.id.to_string())
        });
        let tags = flags.iter().flat_map(|flag| {
            let tags = flag.metadata.tags.iter();
            tags.map(|tag| (flag.id, tag))
        });
        let tags: Vec<_> = tags.collect();
        stage!(tx, "insert into staged_tags ", tags, |list, row| {
            let (flag, tag) = row;
            list.push_bind(flag.uuid()).push_bind(tag.as_str())
        });
        let products = flags.iter().flat_map(|flag| {
            let products = flag.products.iter().flat_map(FlagProducts::iter);
            products.map(|product| (flag.id, product))
        });
        let products: Vec<_> = products.collect();
        stage!(tx, "insert into staged_products ", products, |list, row| {
            let (flag, product) = row;
            list.push_bind(flag.uuid()).push_bind(product.as_str())
        });
        let visible = self.configurations.iter().map(|one| (one, false));
        let hidden = self.hidden_configurations.iter().map(|one| (one, true));
        let configurations: Vec<_> = visible.chain(hidden).collect();
        stage!(
            tx,
            "insert into staged_configurations ",
            configurations,
            |list, (one, is_hidden)| {
                list.push_bind(one.flag_id.uuid())
                    .push_bind(one.environment_id.uuid())
                    .push_bind(one.is_enabled)
                    .push_bind(one.ttl.map(|ttl| i64::from(ttl.seconds())))
                    .push_bind(one.revision)
                    .push_bind(*is_hidden)
                    .push_bind(new.contains(&one.flag_id))
            }
        );
        Ok(())
    }

    async fn stage_targeting(&self, tx: &mut Tx, new: &HashSet<FlagId>) -> Result<(), Error> {
        stage!(
            tx,
            "insert into staged_rules ",
            self.rules,
            |list, record| {
                list.push_bind(record.id.uuid())
                    .push_bind(record.flag_id.uuid())
                    .push_bind(record.environment_id.uuid())
                    .push_bind(i64::from(record.rule.priority.get()))
                    .push_bind(record.rule.logic.as_str())
                    .push_bind(record.rule.value)
                    .push_bind(Json(&record.rule.conditions))
                    .push_bind(record.created_at.millis())
                    .push_bind(record.updated_at.millis())
                    .push_bind(record.revision)
                    .push_bind(new.contains(&record.flag_id))
            }
        );
        stage!(
            tx,
            "insert into staged_deleted_rules ",
            self.deleted_rules,
            |list, id| { list.push_bind(id.uuid()) }
        );
        stage!(
            tx,
            "insert into staged_rollouts ",
            self.rollouts,
            |list, record| {
                list.push_bind(record.flag_id.uuid())
                    .push_bind(record.environment_id.uuid())
                    .push_bind(i64::from(record.rollout.percentage.get()))
                    .push_bind(record.rollout.strategy.as_str())
                    .push_bind(record.created_at.millis())
                    .push_bind(record.updated_at.millis())
                    .push_bind(new.contains(&record.flag_id))
            }
        );
        stage!(
            tx,
            "insert into staged_deleted_rollouts ",
            self.deleted_rollouts,
            |list, record| {
                list.push_bind(record.flag_id.uuid())
                    .push_bind(record.environment_id.uuid())
            }
        );
        Ok(())
    }

    async fn stage_entries(&self, tx: &mut Tx) -> Result<(), Error> {
        if let Some((first, _)) = self.entries.first() {
            tx.audit_group(first.id);
        }
        stage!(
            tx,
            "insert into staged_entries ",
            self.entries,
            |list, row| {
                let (entry, subjects) = row;
                list.push_bind(entry.id.uuid())
                    .push_bind(entry.action.as_str())
                    .push_bind(&entry.actor_identity)
                    .push_bind(&entry.flag_key)
                    .push_bind(&entry.environment)
                    .push_bind(&entry.product)
                    .push_bind(entry.old_value.as_ref().map(Json))
                    .push_bind(entry.new_value.as_ref().map(Json))
                    .push_bind(subjects.actor.map(UserId::uuid))
                    .push_bind(subjects.actor_token.map(TokenId::uuid))
                    .push_bind(subjects.flag.map(FlagId::uuid))
                    .push_bind(subjects.environment.map(EnvironmentId::uuid))
                    .push_bind(subjects.rule.map(RuleId::uuid))
                    .push_bind(subjects.user.map(UserId::uuid))
                    .push_bind(subjects.token.map(TokenId::uuid))
                    .push_bind(entry.action.is_about_accounts())
            }
        );
        Ok(())
    }
}

/// Writes the audit entries, all with the same date, and the new flags with their configurations, rules and rollouts.
/// On PostgreSQL, this needs no lock: until [`write`], the flags have placeholders for keys, so that no other
/// transaction that creates a flag waits for this one.
pub(crate) async fn write_ahead(
    tx: &mut Tx,
    now: Timestamp,
    reason: Option<&ChangeReason>,
) -> Result<(), Error> {
    let group = tx.first_entry.map(AuditId::uuid);
    on_conn!(&mut *tx, conn => sqlx::query(
        "insert into audit_entries (id, action, actor_identity, occurred_at, flag_key, environment, product,
                                    old_value, new_value, actor_id, actor_token_id, flag_id, environment_id, rule_id,
                                    user_id, token_id, about_accounts, group_id, reason)
         select id, action, actor_identity, $1, flag_key, environment, product, old_value, new_value, actor_id,
                actor_token_id, flag_id, environment_id, rule_id, user_id, token_id, about_accounts, $2, $3
         from staged_entries",
    ).bind(now.millis()).bind(group).bind(reason.map(ChangeReason::as_str)).execute(conn).await.map(drop))?;
    // Computing the date while the entries are inserted would copy all of them on SQLite.
    on_conn!(&mut *tx, conn => sqlx::query(concat!(
        "update audit_entries set occurred_at = ", date!("$1"), " where group_id = $2 and ", date!("$1"), " > $1",
    )).bind(now.millis()).bind(group).execute(conn).await.map(drop))?;
    execute(tx, AHEAD).await
}

/// Returns the flags that other transactions have changed in an environment after `revision`.
pub(crate) async fn changed_by_others(
    tx: &mut Tx,
    environment: EnvironmentId,
    revision: i64,
) -> Result<Vec<FlagId>, Error> {
    let flags: Vec<Uuid> = on_conn!(tx, conn => sqlx::query_scalar(
        "select flag_id from flag_environments where environment_id = $1 and config_revision > $2
           and flag_id not in (select id from staged_flags where is_new)",
    ).bind(environment.uuid()).bind(revision).fetch_all(conn).await)?;
    Ok(flags.into_iter().map(FlagId::new).collect())
}

/// Writes the rest, increments the config revision of each environment that changes, and returns the new revisions.
pub(crate) async fn write(tx: &mut Tx) -> Result<Vec<Raised>, Error> {
    let rows: Vec<RaisedRow> = on_conn!(&mut *tx, conn => sqlx::query_as(concat!(
        "update environments set config_revision = config_revision + 1
         where id in (select environment_id from staged_configurations)
         returning ", raised_columns!(),
    )).fetch_all(conn).await)?;
    let raised: Vec<Raised> = rows.into_iter().map(Raised::from).collect();
    for each in &raised {
        overtake(tx, each).await?;
    }
    for statements in [REVEAL, DELETE, CHANGE, RECOUNT, DROP] {
        execute(tx, statements).await?;
    }
    Ok(raised)
}

/// Updates the config revision of new flags if other transactions have incremented that of the environment since the
/// flags were written. It reads only rows that are as new as they are.
async fn overtake(tx: &mut Tx, raised: &Raised) -> Result<(), Error> {
    on_conn!(tx, conn => sqlx::query(
        "update flag_environments set config_revision = $2
         where environment_id = $1 and config_revision < $2
           and config_revision >= (select config_revision from staged_revisions where environment_id = $1)
           and flag_id in (select id from staged_flags where is_new)",
    ).bind(raised.environment.uuid()).bind(raised.revision).execute(conn).await.map(drop))
}

/// Counts the states of new flags again, if another transaction has revoked an environment since they were written:
/// its trigger has not seen them.
const RECOUNT: &str = "
    update flags set (off_count, partly_count, on_count) = (
        select count(*) filter (where state = 'off'), count(*) filter (where state = 'partly'),
            count(*) filter (where state = 'on')
        from flag_states where flag_states.flag_id = flags.id
    )
    where id in (select id from staged_flags where is_new)
      and exists (
          select 1 from staged_revisions join environments on environments.id = staged_revisions.environment_id
          where environments.status <> 'active'
      );
";

/// Writes new flags. Their config revisions assume that no other transaction increments that of the environment in the
/// meantime. It writes `is_targeted` itself, because a trigger would update every configuration for its rules.
const AHEAD: &str = "
    insert into staged_revisions (environment_id, config_revision)
    select id, config_revision + 1 from environments where status = 'active';

    insert into flags (id, key, name, description, type, created_by, created_at, archived_at, revision, is_public,
                       owner, kind, expires_at)
    select id, placeholder, name, description, type, created_by, created_at, archived_at, revision, is_public, owner, kind,
           expires_at
    from staged_flags where is_new;

    insert into flag_products (flag_id, product)
    select flag_id, product from staged_products where flag_id in (select id from staged_flags where is_new);

    insert into flag_tags (flag_id, tag)
    select flag_id, tag from staged_tags where flag_id in (select id from staged_flags where is_new);

    insert into flag_environments
        (flag_id, environment_id, is_enabled, ttl_override_seconds, revision, config_revision, is_targeted)
    select staged.flag_id, staged.environment_id, staged.is_enabled, staged.ttl_override_seconds, staged.revision,
           revisions.config_revision, targeted.flag_id is not null
    from staged_configurations staged join staged_revisions revisions using (environment_id)
    left join (
        select flag_id, environment_id from staged_rules union select flag_id, environment_id from staged_rollouts
    ) targeted on targeted.flag_id = staged.flag_id and targeted.environment_id = staged.environment_id
    where staged.is_new;

    insert into rules (id, flag_id, environment_id, priority, logic, value, conditions, created_at, updated_at, revision)
    select id, flag_id, environment_id, priority, logic, value, conditions, created_at, updated_at, revision
    from staged_rules where is_new;

    insert into rollouts (flag_id, environment_id, percentage, strategy, created_at, updated_at, revision)
    select staged.flag_id, staged.environment_id, staged.percentage, staged.strategy, staged.created_at,
           staged.updated_at, revisions.config_revision
    from staged_rollouts staged join staged_revisions revisions using (environment_id)
    where staged.is_new;
";

/// Gives new flags their keys.
const REVEAL: &str = "update flags set key = staged.key from staged_flags staged where flags.id = staged.id and staged.is_new";

const DELETE: &str = "
    delete from rules where id in (select id from staged_deleted_rules);
    delete from rollouts
    where (flag_id, environment_id) in (select flag_id, environment_id from staged_deleted_rollouts);
";

/// Writes changes of existing flags. A new rollout starts at a revision that no rollout of the same flag and
/// environment has ever had.
const CHANGE: &str = "
    insert into flags (id, key, name, description, type, created_by, created_at, archived_at, revision, is_public,
                       owner, kind, expires_at)
    select id, key, name, description, type, created_by, created_at, archived_at, revision, is_public, owner, kind,
           expires_at
    from staged_flags where not is_new
    on conflict (id) do update
    set name = excluded.name, description = excluded.description, archived_at = excluded.archived_at,
        revision = excluded.revision, is_public = excluded.is_public, owner = excluded.owner, kind = excluded.kind,
        expires_at = excluded.expires_at;

    delete from flag_products where flag_id in (select id from staged_flags where not is_new);

    insert into flag_products (flag_id, product)
    select flag_id, product from staged_products where flag_id in (select id from staged_flags where not is_new);

    delete from flag_tags where flag_id in (select id from staged_flags where not is_new);

    insert into flag_tags (flag_id, tag)
    select flag_id, tag from staged_tags where flag_id in (select id from staged_flags where not is_new);

    insert into flag_environments
        (flag_id, environment_id, is_enabled, ttl_override_seconds, revision, is_hidden, config_revision)
    select staged.flag_id, staged.environment_id, staged.is_enabled, staged.ttl_override_seconds, staged.revision,
           staged.is_hidden, environments.config_revision
    from staged_configurations staged join environments on environments.id = staged.environment_id
    where not staged.is_new
    on conflict (flag_id, environment_id) do update
    set is_enabled = excluded.is_enabled, ttl_override_seconds = excluded.ttl_override_seconds,
        revision = excluded.revision, is_hidden = excluded.is_hidden, config_revision = excluded.config_revision;

    insert into rules (id, flag_id, environment_id, priority, logic, value, conditions, created_at, updated_at, revision)
    select id, flag_id, environment_id, priority, logic, value, conditions, created_at, updated_at, revision
    from staged_rules where not is_new
    on conflict (id) do update
    set priority = excluded.priority, logic = excluded.logic, value = excluded.value,
        conditions = excluded.conditions, updated_at = excluded.updated_at, revision = excluded.revision;

    insert into rollouts (flag_id, environment_id, percentage, strategy, created_at, updated_at, revision)
    select staged.flag_id, staged.environment_id, staged.percentage, staged.strategy, staged.created_at,
           staged.updated_at, environments.config_revision
    from staged_rollouts staged join environments on environments.id = staged.environment_id
    where not staged.is_new
    on conflict (flag_id, environment_id) do update
    set percentage = excluded.percentage, strategy = excluded.strategy, updated_at = excluded.updated_at,
        revision = rollouts.revision + 1;
";

async fn execute(tx: &mut Tx, statements: &'static str) -> Result<(), Error> {
    on_conn!(tx, conn => sqlx::raw_sql(statements).execute(conn).await.map(drop))
}
