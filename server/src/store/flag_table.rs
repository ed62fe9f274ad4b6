//! Flags as people look for them: by where they stand, by when they were last used, and by whether they can go.

use pennon_model::flag::Flag;
use pennon_model::id::{EnvironmentId, FlagId};
use pennon_model::page::{Page, PageRequest};
use pennon_model::time::Timestamp;
use sqlx::QueryBuilder;
use uuid::Uuid;

use super::flags::FlagRow;
use super::usage::{Hours, hours};
use super::{Tx, flags, on_conn, push_one_of};
use crate::error::Error;

/// Which flags to show, and in what order.
#[derive(Clone, Debug, Default)]
pub(crate) struct TableSelection {
    /// Archived ones only, active ones only, or both.
    pub(crate) archived: Option<bool>,
    /// Text that the name or the key contains, in any case.
    pub(crate) search: Option<String>,
    /// The environment that counts; all active ones without it.
    pub(crate) environment: Option<EnvironmentId>,
    /// How they stand there, or in one of them.
    pub(crate) standing: Option<Standing>,
    /// Stale ones only.
    pub(crate) stale: Option<StaleSince>,
    /// The order.
    pub(crate) order: TableOrder,
}

/// How a flag stands in an environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// On for everyone.
    On,
    /// Off.
    Off,
    /// On, and rules or a rollout decide for whom.
    Partly,
}

/// The times that make a flag stale: nobody has changed it since the one; and nobody has asked for it since the other, or
/// it gives everyone the same answer everywhere.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StaleSince {
    pub(crate) unchanged: Timestamp,
    pub(crate) unasked: Timestamp,
}

/// The order of the table. Each is total.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum TableOrder {
    /// The newest first.
    #[default]
    Newest,
    /// By name, whatever the case.
    Name,
    /// The one that was evaluated last first, and last those that never were.
    LastEvaluated,
}

/// When a flag was last used, and whether it can go.
#[derive(Clone, Copy, Debug, sqlx::FromRow)]
pub(crate) struct UseRow {
    pub(crate) id: Uuid,
    /// When it was last evaluated, in the environment that counts or in any.
    pub(crate) last_evaluated_at: Option<i64>,
    pub(crate) is_stale: bool,
    /// If it is stale: whether that is because no application has asked for it.
    pub(crate) is_unasked: bool,
}

/// How often a flag was evaluated.
#[derive(sqlx::FromRow)]
pub(crate) struct HoursRow {
    pub(crate) flag_id: Uuid,
    #[sqlx(flatten)]
    pub(crate) hours: Hours,
}

/// A flag of a page, and how many flags were selected.
#[derive(sqlx::FromRow)]
struct PageRow {
    #[sqlx(flatten)]
    flag: FlagRow,
    total: i64,
}

impl Standing {
    fn as_str(self) -> &'static str {
        match self {
            Self::On => "on",
            Self::Off => "off",
            Self::Partly => "partly",
        }
    }
}

/// A condition: rules or a rollout decide for whom a flag is on, in the environment of `pair`.
macro_rules! decided_further {
    () => {
        "(exists (select 1 from rules
                  where rules.flag_id = pair.flag_id and rules.environment_id = pair.environment_id)
          or exists (select 1 from rollouts
                     where rollouts.flag_id = pair.flag_id and rollouts.environment_id = pair.environment_id))"
    };
}

/// A condition: no application has asked for the flag since this parameter, though for others. Where no application is
/// heard of, they evaluate by themselves and do not report it, so nothing is known of any flag.
macro_rules! unasked_since {
    ($since:literal) => {
        concat!(
            "(not exists (select 1 from flags_last_seen seen
                          where seen.flag_id = flags.id and seen.evaluated_at >= ",
            $since,
            ")
              and exists (select 1 from flags_last_seen other where other.evaluated_at >= ",
            $since,
            "))"
        )
    };
}

/// A condition: the environment of `pair` is active.
macro_rules! in_active {
    () => {
        "exists (select 1 from environments
                 where environments.id = pair.environment_id and environments.status = 'active')"
    };
}

/// A condition: the flag is off in every active environment, or on in every one without anything that decides further.
macro_rules! constant {
    () => {
        concat!(
            "(exists (select 1 from environments where status = 'active')
              and (not exists (select 1 from flag_environments pair
                               where pair.flag_id = flags.id and pair.is_enabled and ", in_active!(), ")
                or (not exists (select 1 from flag_environments pair
                                where pair.flag_id = flags.id and not pair.is_enabled and ", in_active!(), ")
                  and not exists (select 1 from rules pair where pair.flag_id = flags.id and ", in_active!(), ")
                  and not exists (select 1 from rollouts pair where pair.flag_id = flags.id and ", in_active!(), "))))"
        )
    };
}

/// A condition: the flag is stale, for these two parameters.
macro_rules! stale {
    ($unchanged:literal, $unasked:literal) => {
        concat!(
            "(flags.archived_at is null and flags.created_at < ", $unchanged,
            " and not exists (select 1 from audit_entries
                              where audit_entries.flag_key = flags.key and audit_entries.occurred_at >= ", $unchanged, ")
              and (", unasked_since!($unasked), " or ", constant!(), "))"
        )
    };
}

/// The condition of a selection. Its parameters: 1 archived, 2 pattern, 3 environment, 4 standing, 5 and 6 stale since.
macro_rules! selected {
    () => {
        concat!(
            r"($1 is null or (archived_at is not null) = $1)
              and ($2 is null or lower(name) like lower($2) escape '\' or lower(key) like lower($2) escape '\')
              and (($3 is null and $4 is null) or exists (
                select 1 from flag_environments pair
                join environments on environments.id = pair.environment_id and environments.status = 'active'
                where pair.flag_id = flags.id
                  and ($3 is null or pair.environment_id = $3)
                  and ($4 is null or $4 = case
                    when not pair.is_enabled then 'off' when ", decided_further!(), " then 'partly' else 'on' end)))
              and ($5 is null or ", stale!("$5", "$6"), ")"
        )
    };
}

/// One page of a selection, and how many flags are in it. Further parameters: 7 limit, 8 offset.
macro_rules! page {
    ($total:expr, $order:literal) => {
        concat!(
            "select id, key, name, description, type, created_by, created_at, archived_at, revision, ",
            $total,
            " as total from flags where ",
            selected!(),
            " order by ",
            $order,
            " limit $7 offset $8"
        )
    };
}

/// The query of a page. Where every flag is looked at anyway, those that are selected are counted on the way; where not, that
/// would keep the database from stopping at the page's end.
macro_rules! page_query {
    ($all:expr, $order:literal) => {
        if $all {
            page!("count(*) over ()", $order)
        } else {
            page!(
                concat!("(select count(*) from flags where ", selected!(), ")"),
                $order
            )
        }
    };
}

impl TableOrder {
    fn query(self, all: bool) -> &'static str {
        match self {
            Self::Newest => page_query!(all, "created_at desc, id desc"),
            Self::Name => page_query!(all, "lower(name), id"),
            Self::LastEvaluated => page_query!(
                all,
                "(select max(seen.evaluated_at) from flags_last_seen seen where seen.flag_id = flags.id
                    and ($3 is null
                      or seen.lineage_id = (select coalesce(lineage_id, id) from environments where id = $3)))
                 desc nulls last, id desc"
            ),
        }
    }
}

/// One page of flags.
pub(crate) async fn page(
    tx: &mut Tx,
    selection: &TableSelection,
    page: PageRequest,
) -> Result<Page<Flag>, Error> {
    let rows = select(tx, selection, page.limit.get(), page.offset()).await?;
    let total = if let Some(row) = rows.first() {
        row.total
    } else {
        // Beyond the last page there is no row to say it.
        let first = select(tx, selection, 1, 0).await?;
        first.first().map_or(0, |row| row.total)
    };
    let items = rows
        .into_iter()
        .map(|row| Flag::try_from(row.flag))
        .collect::<Result<_, _>>()?;
    Ok(page.page_of(items, total))
}

async fn select(
    tx: &mut Tx,
    selection: &TableSelection,
    limit: i64,
    offset: i64,
) -> Result<Vec<PageRow>, Error> {
    let standing = selection.standing.map(Standing::as_str);
    Ok(
        on_conn!(tx, conn => sqlx::query_as(selection.order.query(standing.is_some()))
            .bind(selection.archived)
            .bind(flags::pattern(selection.search.as_ref()))
            .bind(selection.environment.map(EnvironmentId::uuid))
            .bind(standing)
            .bind(selection.stale.map(|since| since.unchanged.millis()))
            .bind(selection.stale.map(|since| since.unasked.millis()))
            .bind(limit)
            .bind(offset)
            .fetch_all(conn).await)?,
    )
}

/// When each of these flags was last evaluated, in one environment or in any, and whether it is stale.
pub(crate) async fn uses(
    tx: &mut Tx,
    flags: &[FlagId],
    environment: Option<EnvironmentId>,
    since: StaleSince,
) -> Result<Vec<UseRow>, Error> {
    if flags.is_empty() {
        return Ok(Vec::new());
    }
    Ok(on_conn!(tx, conn => {
        let mut query = QueryBuilder::new("with since (unchanged, unasked) as (select ");
        query.push_bind(since.unchanged.millis());
        query.push(", ").push_bind(since.unasked.millis());
        query.push(") select id, (select max(evaluated_at) from flags_last_seen seen where seen.flag_id = flags.id");
        if let Some(environment) = environment {
            query.push(" and seen.lineage_id = (select coalesce(lineage_id, id) from environments where id = ");
            query.push_bind(environment.uuid());
            query.push(")");
        }
        query.push(concat!(
            ") as last_evaluated_at, ", stale!("since.unchanged", "since.unasked"), " as is_stale, ",
            unasked_since!("since.unasked"), " as is_unasked from flags cross join since where id ",
        ));
        push_one_of!(query, flags);
        query.build_query_as().fetch_all(conn).await
    })?)
}

/// How often each of these flags was evaluated, by hour, from an hour on: in one environment, or in all together.
pub(crate) async fn hours(
    tx: &mut Tx,
    flags: &[FlagId],
    environment: Option<EnvironmentId>,
    from: Timestamp,
) -> Result<Vec<HoursRow>, Error> {
    if flags.is_empty() {
        return Ok(Vec::new());
    }
    let table = match environment {
        Some(_) => concat!(
            "select flag_id, ",
            hours!(),
            " from usage_hours where flag_id "
        ),
        None => concat!(
            "select flag_id, ",
            hours!(),
            " from flag_hours where flag_id "
        ),
    };
    Ok(on_conn!(tx, conn => {
        let mut query = QueryBuilder::new(table);
        push_one_of!(query, flags);
        if let Some(environment) = environment {
            query.push(" and lineage_id = (select coalesce(lineage_id, id) from environments where id = ");
            query.push_bind(environment.uuid()).push(")");
        }
        query.push(" and hour >= ").push_bind(from.millis());
        query.push(" group by flag_id");
        query.build_query_as().fetch_all(conn).await
    })?)
}
