//! Flags.

use pennon_model::flag::{Flag, FlagFilter, FlagOrder, FlagType};
use pennon_model::id::FlagId;
use pennon_model::page::{Page, PageRequest};
use pennon_model::text::Description;
use pennon_model::time::Timestamp;
use uuid::Uuid;

use super::{Tx, bad_row, bindable, on_conn, unless_taken};
use crate::error::{Conflict, Error};

/// The text of a query for one page of flags, in each order. Its parameters: 1 archived, 2 pattern, 3 limit, 4 offset,
/// 5 key. The one flag that a key names has no order, and is found by the index of keys because the text says that there
/// is a key.
macro_rules! page_of_flags {
    ($selection:expr) => {
        if $selection.key.is_some() {
            page_of_flags!(@text "key = $5", "key")
        } else {
            match $selection.order {
                FlagOrder::Newest => page_of_flags!(@text "$5 is null", "created_at desc, id desc"),
                FlagOrder::Oldest => page_of_flags!(@text "$5 is null", "created_at, id"),
                FlagOrder::Key => page_of_flags!(@text "$5 is null", "key"),
                FlagOrder::KeyBackwards => page_of_flags!(@text "$5 is null", "key desc"),
                FlagOrder::Name => page_of_flags!(@text "$5 is null", "lower(name), id"),
                FlagOrder::NameBackwards => page_of_flags!(@text "$5 is null", "lower(name) desc, id desc"),
            }
        }
    };
    (@text $key:literal, $by:literal) => {
        concat!(
            r"select id, key, name, description, type, created_by, created_at, archived_at, revision from flags
               where ($1 is null or (archived_at is not null) = $1)
                 and ($2 is null or lower(name) like lower($2) escape '\' or lower(key) like lower($2) escape '\')
                 and ",
            $key,
            " order by ",
            $by,
            " limit $3 offset $4",
        )
    };
}

/// The text of a query that counts the flags of a selection, with the condition on the key.
macro_rules! count_of_flags {
    ($key:literal) => {
        concat!(
            r"select count(*) from flags
              where ($1 is null or (archived_at is not null) = $1)
                and ($2 is null or lower(name) like lower($2) escape '\' or lower(key) like lower($2) escape '\')
                and ",
            $key,
        )
    };
}

#[derive(sqlx::FromRow)]
pub(super) struct FlagRow {
    pub(super) id: Uuid,
    pub(super) key: String,
    pub(super) name: String,
    pub(super) description: Option<String>,
    pub(super) r#type: String,
    pub(super) created_by: String,
    pub(super) created_at: i64,
    pub(super) archived_at: Option<i64>,
    pub(super) revision: i64,
}

/// Adds a flag.
pub(crate) async fn insert(tx: &mut Tx, flag: &Flag) -> Result<(), Error> {
    let is_inserted = on_conn!(tx, conn => unless_taken(sqlx::query(
        "insert into flags (id, key, name, description, type, created_by, created_at, revision)
         values ($1, $2, $3, $4, $5, $6, $7, $8)",
    )
    .bind(flag.id.uuid())
    .bind(flag.key.as_str())
    .bind(flag.name.as_str())
    .bind(flag.description.as_ref().map(Description::as_str))
    .bind(flag.kind.as_str())
    .bind(&flag.created_by)
    .bind(flag.created_at.millis())
    .bind(flag.revision)
    .execute(conn).await))?;
    is_inserted
        .then_some(())
        .ok_or_else(|| Conflict::FlagKeyTaken.into())
}

/// One flag.
pub(crate) async fn find(tx: &mut Tx, id: FlagId) -> Result<Option<Flag>, Error> {
    let row: Option<FlagRow> = on_conn!(tx, conn => sqlx::query_as(
        "select id, key, name, description, type, created_by, created_at, archived_at, revision
         from flags where id = $1",
    ).bind(id.uuid()).fetch_optional(conn).await)?;
    row.map(Flag::try_from).transpose()
}

/// One page of flags.
pub(crate) async fn list(
    tx: &mut Tx,
    selection: &FlagFilter,
    page: PageRequest,
) -> Result<Page<Flag>, Error> {
    let query = page_of_flags!(selection);
    let rows: Vec<FlagRow> = on_conn!(tx, conn => sqlx::query_as(query)
    .bind(selection.archived)
    .bind(pattern(selection.search.as_ref()))
    .bind(page.limit.get())
    .bind(page.offset())
    .bind(bindable(selection.key.as_ref()))
    .fetch_all(conn).await)?;
    let count = if selection.key.is_some() {
        count_of_flags!("key = $3")
    } else {
        count_of_flags!("$3 is null")
    };
    let total: i64 = on_conn!(tx, conn => sqlx::query_scalar(count)
    .bind(selection.archived)
    .bind(pattern(selection.search.as_ref()))
    .bind(bindable(selection.key.as_ref()))
    .fetch_one(conn).await)?;
    let items = rows
        .into_iter()
        .map(Flag::try_from)
        .collect::<Result<_, _>>()?;
    Ok(page.page_of(items, total))
}

/// All flags, by key.
pub(crate) async fn all(tx: &mut Tx) -> Result<Vec<Flag>, Error> {
    let rows: Vec<FlagRow> = on_conn!(tx, conn => sqlx::query_as(
        "select id, key, name, description, type, created_by, created_at, archived_at, revision from flags
         order by key",
    ).fetch_all(conn).await)?;
    rows.into_iter().map(Flag::try_from).collect()
}

/// The key, the id and the revision of every flag.
pub(crate) async fn revisions(tx: &mut Tx) -> Result<Vec<(String, FlagId, i64)>, Error> {
    let rows: Vec<(String, Uuid, i64)> = on_conn!(tx, conn => sqlx::query_as(
        "select key, id, revision from flags",
    ).fetch_all(conn).await)?;
    let flag = |(key, id, revision)| (key, FlagId::new(id), revision);
    Ok(rows.into_iter().map(flag).collect())
}

/// Keeps a flag's changed name and description.
pub(crate) async fn update(tx: &mut Tx, flag: &Flag) -> Result<(), Error> {
    on_conn!(tx, conn => sqlx::query(
        "update flags set name = $2, description = $3, revision = revision + 1 where id = $1",
    )
    .bind(flag.id.uuid())
    .bind(flag.name.as_str())
    .bind(flag.description.as_ref().map(Description::as_str))
    .execute(conn).await.map(drop))
}

/// Takes a flag out of the archive.
pub(crate) async fn restore(tx: &mut Tx, id: FlagId) -> Result<(), Error> {
    on_conn!(tx, conn => sqlx::query("update flags set archived_at = null, revision = revision + 1 where id = $1")
        .bind(id.uuid()).execute(conn).await.map(drop))
}

/// Marks a flag as archived.
pub(crate) async fn archive(tx: &mut Tx, id: FlagId, now: Timestamp) -> Result<(), Error> {
    on_conn!(tx, conn => sqlx::query("update flags set archived_at = $2, revision = revision + 1 where id = $1")
        .bind(id.uuid()).bind(now.millis()).execute(conn).await.map(drop))
}

/// A search as a pattern for `like … escape '\'`.
pub(super) fn pattern(search: Option<&String>) -> Option<String> {
    let text = bindable(search)?;
    let escaped = text
        .replace('\\', "\\\\")
        .replace('%', "\\%")
        .replace('_', "\\_");
    Some(format!("%{escaped}%"))
}

impl TryFrom<FlagRow> for Flag {
    type Error = Error;

    fn try_from(row: FlagRow) -> Result<Self, Error> {
        let bad = |problem| bad_row("flags", row.id, problem);
        Ok(Self {
            id: FlagId::new(row.id),
            key: row.key.try_into().map_err(bad)?,
            name: row.name.try_into().map_err(bad)?,
            description: row
                .description
                .map(TryInto::try_into)
                .transpose()
                .map_err(bad)?,
            kind: FlagType::parse(&row.r#type).map_err(bad)?,
            created_by: row.created_by,
            created_at: Timestamp::from_millis(row.created_at),
            archived_at: row.archived_at.map(Timestamp::from_millis),
            revision: row.revision,
        })
    }
}
