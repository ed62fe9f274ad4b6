//! Flags.

use std::collections::BTreeSet;

use pennon_core::Invalid;
use pennon_model::environment::ProductName;
use pennon_model::flag::{Flag, FlagFilter, FlagKey, FlagOrder, FlagProducts, FlagType};
use pennon_model::flag_table::FlagState;
use pennon_model::id::{EnvironmentId, FlagId};
use pennon_model::metadata::{
    Expiry, FlagKind, FlagMetadata, FlagOwner, FlagTag, FlagTags, MetadataFilter,
};
use pennon_model::page::{Page, PageRequest};
use pennon_model::text::Description;
use pennon_model::time::Timestamp;
use sqlx::QueryBuilder;
use uuid::Uuid;

use super::flag_table::{STALE, StaleSince, push_last_evaluated, push_since, push_state};
use super::query::{QueryParts, push_one_of};
use super::{Tx, bad_row, bindable, insert_rows, on_conn, page_of, unless_taken};
use crate::error::{Conflict, Error};

/// The columns of a [`FlagRow`] that `flags` and its views have.
macro_rules! own_columns {
    () => {
        "flags.id, flags.key, flags.name, flags.description, flags.type, flags.created_by, flags.created_at,
         flags.archived_at, flags.revision, flags.is_public, flags.owner, flags.kind, flags.expires_at"
    };
}

/// The columns of a [`FlagRow`], from `flags` or a view of that name. No product and no tag contains a line break.
macro_rules! flag_columns {
    () => {
        concat!(
            $crate::store::flags::own_columns!(),
            ", (select string_agg(flag_tags.tag, '\n') from flag_tags where flag_tags.flag_id = flags.id) as tags,
             (select string_agg(flag_products.product, '\n') from flag_products
              where flag_products.flag_id = flags.id) as products"
        )
    };
}
pub(super) use flag_columns;
pub(super) use own_columns;

/// Appends a condition on the ID of flags, if a product is requested: the flags are configured in its environments.
pub(super) fn push_product(query: &mut impl QueryParts, flags: &str, product: Option<&String>) {
    let Some(product) = bindable(product) else {
        return;
    };
    query
        .push(" and (not exists (select 1 from flag_products where flag_products.flag_id = ")
        .push(flags)
        .push(") or exists (select 1 from flag_products where flag_products.flag_id = ")
        .push(flags)
        .push(" and flag_products.product = ")
        .push_bind(product)
        .push("))");
}

/// Appends the conditions on the metadata of flags that are requested.
fn push_metadata(query: &mut impl QueryParts, filter: &MetadataFilter) {
    for tag in filter.tags.iter() {
        query
            .push(" and exists (select 1 from flag_tags where flag_tags.flag_id = flags.id and flag_tags.tag = ")
            .push_bind(tag.as_str().to_owned())
            .push(")");
    }
    if let Some(owner) = bindable(filter.owner.as_ref()) {
        query
            .push(" and lower(flags.owner) = lower(")
            .push_bind(owner)
            .push(")");
    }
    if let Some(kind) = filter.kind {
        query.push(" and flags.kind = ").push_bind(kind.as_str());
    }
}

/// Appends a condition on the name and key of flags, if a search is requested.
fn push_search(query: &mut impl QueryParts, search: Option<&String>) {
    if let Some(pattern) = pattern(search) {
        query
            .push(" and (lower(name) like lower(")
            .push_bind(pattern.clone())
            .push(r") escape '\' or lower(key) like lower(")
            .push_bind(pattern)
            .push(r") escape '\')");
    }
}

/// A selection of flags by their state and their use, in addition to a [`FlagFilter`].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StateFilter {
    /// An environment in which the flags are configured, for `state` and for the last evaluation.
    pub(crate) environment: Option<EnvironmentId>,
    /// The state in that environment, or in any active one.
    pub(crate) state: Option<FlagState>,
    /// The times that make a flag stale, and true to select the stale flags, false for all others.
    pub(crate) stale: Option<(StaleSince, bool)>,
}

/// Appends the `from` clause and the conditions of a selection. The text contains only the requested conditions, so
/// that a query for a key uses the index of keys.
fn push_selected(query: &mut impl QueryParts, selection: &FlagFilter, states: &StateFilter) {
    query.push(" from flag_table flags");
    if states.stale.is_some() {
        query.push(" cross join since");
    }
    query.push(match selection.archived {
        None => " where true",
        Some(true) => " where archived_at is not null",
        Some(false) => " where archived_at is null",
    });
    push_search(query, selection.search.as_ref());
    if let Some(key) = bindable(selection.key.as_ref()) {
        query.push(" and key = ").push_bind(key);
    }
    push_product(query, "flags.id", selection.product.as_ref());
    if let Some(is_public) = selection.is_public {
        query.push(" and is_public = ").push_bind(is_public);
    }
    push_metadata(query, &selection.metadata);
    push_state(
        query,
        selection.product.as_ref(),
        states.environment,
        states.state,
    );
    if let Some((_, is_stale)) = states.stale {
        query
            .push(if is_stale { " and " } else { " and not " })
            .push(STALE);
    }
}

#[derive(sqlx::FromRow)]
pub(super) struct FlagRow {
    id: Uuid,
    key: String,
    name: String,
    description: Option<String>,
    r#type: String,
    created_by: String,
    created_at: i64,
    archived_at: Option<i64>,
    revision: i64,
    is_public: bool,
    owner: Option<String>,
    kind: Option<String>,
    expires_at: Option<i64>,
    /// The tags, one per line; none if there are none.
    tags: Option<String>,
    /// The products, one per line; none for every product.
    products: Option<String>,
}

/// Adds a flag.
pub(crate) async fn insert(tx: &mut Tx, flag: &Flag) -> Result<(), Error> {
    let is_inserted = on_conn!(&mut *tx, conn => unless_taken(sqlx::query(
        "insert into flags (id, key, name, description, type, created_by, created_at, revision, is_public, owner, kind,
                            expires_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
    )
    .bind(flag.id.uuid())
    .bind(flag.key.as_str())
    .bind(flag.name.as_str())
    .bind(flag.description.as_ref().map(Description::as_str))
    .bind(flag.flag_type.as_str())
    .bind(&flag.created_by)
    .bind(flag.created_at.millis())
    .bind(flag.revision)
    .bind(flag.is_public)
    .bind(flag.metadata.owner.as_ref().map(FlagOwner::as_str))
    .bind(flag.metadata.kind.map(FlagKind::as_str))
    .bind(flag.metadata.expires_at.map(|expiry| expiry.time().millis()))
    .execute(conn).await))?;
    if !is_inserted {
        return Err(Conflict::FlagKeyTaken.into());
    }
    insert_products(tx, flag).await?;
    insert_tags(tx, flag).await
}

async fn insert_tags(tx: &mut Tx, flag: &Flag) -> Result<(), Error> {
    let tags: Vec<&FlagTag> = flag.metadata.tags.iter().collect();
    insert_rows!(
        tx,
        "insert into flag_tags (flag_id, tag) ",
        tags,
        |list, tag| {
            list.push_bind(flag.id.uuid())
                .push_bind(tag.as_str().to_owned())
        },
        ""
    )
}

async fn insert_products(tx: &mut Tx, flag: &Flag) -> Result<(), Error> {
    let products: Vec<&ProductName> = flag.products.iter().flat_map(FlagProducts::iter).collect();
    insert_rows!(
        tx,
        "insert into flag_products (flag_id, product) ",
        products,
        |list, product| {
            list.push_bind(flag.id.uuid())
                .push_bind(product.as_str().to_owned())
        },
        ""
    )
}

/// Returns one flag.
pub(crate) async fn find(tx: &mut Tx, id: FlagId) -> Result<Option<Flag>, Error> {
    let row: Option<FlagRow> = on_conn!(tx, conn => sqlx::query_as(
        concat!("select ", flag_columns!(), " from flags where id = $1"),
    ).bind(id.uuid()).fetch_optional(conn).await)?;
    row.map(Flag::try_from).transpose()
}

/// Returns those of the flags that exist.
pub(crate) async fn find_all(tx: &mut Tx, ids: &[FlagId]) -> Result<Vec<Flag>, Error> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let rows: Vec<FlagRow> = on_conn!(tx, conn => {
        let mut query = QueryBuilder::new(concat!("select ", flag_columns!(), " from flags where id "));
        push_one_of(&mut query, ids.iter().copied().map(FlagId::uuid));
        query.build_query_as().persistent(false).fetch_all(conn).await
    })?;
    rows.into_iter().map(Flag::try_from).collect()
}

/// Returns the flag with a key.
pub(crate) async fn find_by_key(tx: &mut Tx, key: &FlagKey) -> Result<Option<Flag>, Error> {
    let row: Option<FlagRow> = on_conn!(tx, conn => sqlx::query_as(
        concat!("select ", flag_columns!(), " from flags where key = $1"),
    ).bind(key.as_str()).fetch_optional(conn).await)?;
    row.map(Flag::try_from).transpose()
}

/// Appends the order of flags.
fn push_order(query: &mut impl QueryParts, order: FlagOrder, environment: Option<EnvironmentId>) {
    query.push(" order by ");
    match order {
        FlagOrder::Newest => query.push("created_at desc, id desc"),
        FlagOrder::Oldest => query.push("created_at, id"),
        FlagOrder::Key => query.push("key"),
        FlagOrder::KeyDescending => query.push("key desc"),
        FlagOrder::Name => query.push("lower(name), id"),
        FlagOrder::NameDescending => query.push("lower(name) desc, id desc"),
        FlagOrder::LastEvaluated => {
            push_last_evaluated(query, environment);
            query.push(" nulls first, id")
        }
        FlagOrder::LastEvaluatedDescending => {
            push_last_evaluated(query, environment);
            query.push(" desc nulls last, id desc")
        }
    };
}

/// Returns one page of flags.
pub(crate) async fn list(
    tx: &mut Tx,
    selection: &FlagFilter,
    states: &StateFilter,
    page: PageRequest,
) -> Result<Page<Flag>, Error> {
    let rows: Vec<FlagRow> = on_conn!(&mut *tx, conn => {
        let mut query = QueryBuilder::new("");
        if let Some((since, _)) = states.stale {
            push_since(&mut query, since);
        }
        // Databases may compute all columns before they sort, so tags and products are added to the page afterwards.
        query.push(concat!("select ", flag_columns!(), " from (select ", own_columns!(), ", evaluated_at"));
        push_selected(&mut query, selection, states);
        push_order(&mut query, selection.order, states.environment);
        query.push(" limit ").push_bind(page.limit.get()).push(" offset ").push_bind(page.offset());
        query.push(") flags");
        push_order(&mut query, selection.order, states.environment);
        query.build_query_as().fetch_all(conn).await
    })?;
    let total = on_conn!(tx, conn => {
        let mut query = QueryBuilder::new("");
        if let Some((since, _)) = states.stale {
            push_since(&mut query, since);
        }
        query.push("select count(*)");
        push_selected(&mut query, selection, states);
        query.build_query_scalar().fetch_one(conn).await
    })?;
    page_of(page, rows, total)
}

/// Returns all flags, by key.
pub(crate) async fn all(tx: &mut Tx) -> Result<Vec<Flag>, Error> {
    let rows: Vec<FlagRow> = on_conn!(tx, conn => sqlx::query_as(
        concat!("select ", flag_columns!(), " from flags order by key"),
    ).fetch_all(conn).await)?;
    rows.into_iter().map(Flag::try_from).collect()
}

/// Returns the key, ID and revision of every flag.
pub(crate) async fn revisions(tx: &mut Tx) -> Result<Vec<(String, FlagId, i64)>, Error> {
    let rows: Vec<(String, Uuid, i64)> = on_conn!(tx, conn => sqlx::query_as(
        "select key, id, revision from flags",
    ).fetch_all(conn).await)?;
    let flag = |(key, id, revision)| (key, FlagId::new(id), revision);
    Ok(rows.into_iter().map(flag).collect())
}

/// Stores a flag's changed details in place of the old ones.
pub(crate) async fn update(tx: &mut Tx, old: &Flag, flag: &Flag) -> Result<(), Error> {
    on_conn!(&mut *tx, conn => sqlx::query(
        "update flags set name = $2, description = $3, is_public = $4, owner = $5, kind = $6, expires_at = $7,
                          revision = revision + 1
         where id = $1",
    )
    .bind(flag.id.uuid())
    .bind(flag.name.as_str())
    .bind(flag.description.as_ref().map(Description::as_str))
    .bind(flag.is_public)
    .bind(flag.metadata.owner.as_ref().map(FlagOwner::as_str))
    .bind(flag.metadata.kind.map(FlagKind::as_str))
    .bind(flag.metadata.expires_at.map(|expiry| expiry.time().millis()))
    .execute(conn).await.map(drop))?;
    if flag.products != old.products {
        on_conn!(&mut *tx, conn => sqlx::query("delete from flag_products where flag_id = $1")
            .bind(flag.id.uuid()).execute(conn).await.map(drop))?;
        insert_products(tx, flag).await?;
    }
    if flag.metadata.tags != old.metadata.tags {
        on_conn!(&mut *tx, conn => sqlx::query("delete from flag_tags where flag_id = $1")
            .bind(flag.id.uuid()).execute(conn).await.map(drop))?;
        insert_tags(tx, flag).await?;
    }
    Ok(())
}

/// Marks a flag as active again.
pub(crate) async fn restore(tx: &mut Tx, id: FlagId) -> Result<(), Error> {
    on_conn!(tx, conn => sqlx::query("update flags set archived_at = null, revision = revision + 1 where id = $1")
        .bind(id.uuid()).execute(conn).await.map(drop))
}

/// Marks a flag as archived.
pub(crate) async fn archive(tx: &mut Tx, id: FlagId, now: Timestamp) -> Result<(), Error> {
    on_conn!(tx, conn => sqlx::query("update flags set archived_at = $2, revision = revision + 1 where id = $1")
        .bind(id.uuid()).bind(now.millis()).execute(conn).await.map(drop))
}

/// The number of characters of a search that are compared. Keys, names and e-mail addresses are shorter, and `SQLite`
/// refuses patterns of more than 50,000 bytes.
const COMPARED_CHARACTERS: usize = 1_000;

/// Returns a search as a pattern for `like … escape '\'`.
pub(super) fn pattern(search: Option<&String>) -> Option<String> {
    let text: String = bindable(search)?
        .chars()
        .take(COMPARED_CHARACTERS)
        .collect();
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
            flag_type: FlagType::parse(&row.r#type).map_err(bad)?,
            products: row
                .products
                .as_deref()
                .map(products)
                .transpose()
                .map_err(bad)?,
            is_public: row.is_public,
            metadata: FlagMetadata {
                tags: row
                    .tags
                    .as_deref()
                    .map(tags)
                    .transpose()
                    .map_err(bad)?
                    .unwrap_or_default(),
                owner: row.owner.map(TryInto::try_into).transpose().map_err(bad)?,
                kind: row
                    .kind
                    .as_deref()
                    .map(FlagKind::parse)
                    .transpose()
                    .map_err(bad)?,
                expires_at: row
                    .expires_at
                    .map(|at| Expiry::at(Timestamp::from_millis(at))),
            },
            created_by: row.created_by,
            created_at: Timestamp::from_millis(row.created_at),
            archived_at: row.archived_at.map(Timestamp::from_millis),
            revision: row.revision,
        })
    }
}

/// Parses the tags of a flag, one per line.
fn tags(lines: &str) -> Result<FlagTags, Invalid> {
    let tags = lines.split('\n').map(|tag| tag.to_owned().try_into());
    let tags: BTreeSet<FlagTag> = tags.collect::<Result<_, _>>()?;
    tags.try_into()
}

/// Parses the products of a flag, one per line.
fn products(lines: &str) -> Result<FlagProducts, Invalid> {
    let names = lines.split('\n').map(|name| name.to_owned().try_into());
    let names: BTreeSet<ProductName> = names.collect::<Result<_, _>>()?;
    names.try_into()
}
