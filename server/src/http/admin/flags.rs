//! Flags.

use axum::extract::State;
use pennon_model::flag::{Flag, FlagFilter, FlagProducts};
use pennon_model::flag_table::FlagExtra;
use pennon_model::id::FlagId;
use pennon_model::metadata::{FlagMetadata, FlagTags, MetadataFilter};
use pennon_model::page::Page;
use serde::Serialize;
use utoipa::ToSchema;

use crate::admin::flag_table::{FlagQuery, ListedFlag, StateQuery};
use crate::admin::flags::{FlagPatch, MetadataPatch, NewFlag};
use crate::admin::patch::Patch;
use crate::admin::scope::{UnknownProduct, WhenEnabled};
use crate::admin::{Admin, flag_table, flags, scope};
use crate::auth::actor::Actor;
use crate::auth::authority::AnyEditor;
use crate::error::Error;
use crate::http::body::{Body, NoBody};
use crate::http::code::Code;
use crate::http::existing::Existing;
use crate::http::fields::{Fields, FromFields, from_fields};
use crate::http::from_json::{Search, TagList};
use crate::http::if_match::IfMatch;
use crate::http::openapi::{Routes, route};
use crate::http::path::Path;
use crate::http::query::{NoQuery, Paged, Query};
use crate::http::respond::{Created, Json, NoContent, Revised, Tagged};

pub(super) fn routes() -> Routes {
    Routes::group(
        "Flags",
        "Features that applications evaluate by key. The state of a flag in an environment is its configuration.",
    )
    .with(route!(list))
    .with(route!(create).refuses(&[Code::FlagKeyTaken]))
    .with(route!(one))
    .with(route!(update).refuses(&[Code::FlagArchived, Code::FlagEnabled]))
    .with(route!(archive).refuses(&[Code::FlagArchived, Code::FlagEnabled]))
    .with(route!(restore).refuses(&[Code::FlagNotArchived]))
}

/// A saved flag.
#[derive(Serialize, ToSchema)]
struct SavedFlag {
    #[serde(flatten)]
    flag: Flag,
    /// The products of the flag without an active environment; absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    warnings: Vec<UnknownProduct>,
}

impl SavedFlag {
    async fn with_warnings(admin: &Admin, actor: &Actor, flag: Flag) -> Self {
        let warnings = scope::unknown_products(admin, actor, &flag).await;
        Self { flag, warnings }
    }
}

impl Revised for SavedFlag {
    fn revision(&self) -> i64 {
        self.flag.revision
    }
}

/// Creates a flag.
///
/// The flag is off in every environment in which it exists. Its key cannot be changed, and stays taken after archiving.
#[utoipa::path(post, path = "/flags")]
async fn create(
    State(admin): State<Admin>,
    actor: AnyEditor,
    _: NoQuery,
    body: Body<NewFlag>,
) -> Result<Created<Tagged<SavedFlag>>, Error> {
    let new = body.read().await?;
    let flag = flags::create(&admin, &actor, new).await?;
    Ok(Created {
        location: format!("/flags/{}", flag.id),
        body: Tagged(SavedFlag::with_warnings(&admin, &actor, flag).await),
    })
}

/// Lists flags.
#[utoipa::path(get, path = "/flags")]
async fn list(
    State(admin): State<Admin>,
    actor: Actor,
    query: Query<Paged<FlagQuery>>,
) -> Result<Json<Page<ListedFlag>>, Error> {
    let Paged(query, page) = query.read()?;
    flag_table::list(&admin, &actor, query, page)
        .await
        .map(Json)
}

/// Reads a flag.
#[utoipa::path(get, path = "/flags/{flag}")]
async fn one(
    State(admin): State<Admin>,
    actor: Actor,
    Path(id): Path<FlagId>,
    _: NoQuery,
) -> Result<Tagged<Flag>, Error> {
    flags::get(&admin, &actor, id).await.map(Tagged)
}

/// Archives a flag.
///
/// The flag must be off in every active environment. It is kept, its key stays taken, and it evaluates to `false` with
/// the reason `flag_archived`.
#[utoipa::path(delete, path = "/flags/{flag}")]
async fn archive(
    State(admin): State<Admin>,
    actor: AnyEditor,
    target: Existing<FlagId>,
    _: NoQuery,
    IfMatch(precondition): IfMatch,
    body: NoBody,
) -> Result<NoContent, Error> {
    let (id, ()) = target.with(&admin, &actor, body.read()).await?;
    flags::archive(&admin, &actor, id, &precondition).await?;
    Ok(NoContent)
}

/// Changes the name, the description, the products, `public` or the metadata of a flag.
///
/// Absent members stay unchanged. A request that changes nothing succeeds and is not recorded. With other products, the
/// flag leaves the environments of all others, and without `public`, it leaves public environments. Its configurations
/// there are kept until it returns, disabled.
#[utoipa::path(patch, path = "/flags/{flag}")]
async fn update(
    State(admin): State<Admin>,
    actor: AnyEditor,
    target: Existing<FlagId>,
    _: NoQuery,
    IfMatch(precondition): IfMatch,
    body: Body<FlagPatch>,
) -> Result<Tagged<SavedFlag>, Error> {
    let (id, patch) = target.with(&admin, &actor, body.read()).await?;
    let flag = flags::update(&admin, &actor, id, &precondition, patch).await?;
    Ok(Tagged(SavedFlag::with_warnings(&admin, &actor, flag).await))
}

/// Restores an archived flag, off in every environment.
#[utoipa::path(post, path = "/flags/{flag}/restore")]
async fn restore(
    State(admin): State<Admin>,
    actor: AnyEditor,
    target: Existing<FlagId>,
    _: NoQuery,
    IfMatch(precondition): IfMatch,
    body: NoBody,
) -> Result<Tagged<Flag>, Error> {
    let (id, ()) = target.with(&admin, &actor, body.read()).await?;
    flags::restore(&admin, &actor, id, &precondition)
        .await
        .map(Tagged)
}

from_fields! {
    /// A flag to create.
    NewFlag {
        key: required("key"),
        name: required("name"),
        description: nullable("description"),
        flag_type: required("type"),
        /// The products in whose environments the flag is configured; every product if absent or `null`.
        products: patch_set("products", 1..=FlagProducts::MAX).map(|products: Patch<_>| products.applied_to(None)),
        /// True if the flag exists in public environments.
        is_public: or_default("public"),
        metadata: flattened(),
    }
}

from_fields! {
    /// A change of a flag; absent members stay unchanged.
    FlagPatch {
        name: optional("name"),
        description: patch("description"),
        /// The products in whose environments the flag is configured; `null` for every product.
        products: patch_set("products", 1..=FlagProducts::MAX),
        /// True if the flag exists in public environments.
        is_public: optional("public"),
        metadata: flattened(),
        /// If true, the flag is disabled in the environments that it leaves. Otherwise, it must be off there.
        when_enabled: or_default("force")
            .map(|force: bool| if force { WhenEnabled::Disable } else { WhenEnabled::Refuse }),
    }
}

from_fields! {
    /// The metadata of a flag.
    FlagMetadata {
        /// Tags to find the flag by: at most 20, each of 1 to 50 characters without a comma. They are trimmed and
        /// sorted.
        tags: patch_set("tags", 0..=FlagTags::MAX).map(|tags: Patch<FlagTags>| tags.applied_to(None).unwrap_or_default()),
        /// The person or team that is responsible for the flag: the address of an account or any text.
        owner: nullable("owner"),
        /// The purpose of the flag.
        kind: nullable("kind"),
        /// The time, or a date in UTC, after which the flag is stale. Nothing is switched.
        expires_at: nullable("expiresAt"),
    }
}

from_fields! {
    /// A change of a flag's metadata; absent members stay unchanged.
    MetadataPatch {
        /// All tags of the flag: at most 20, each of 1 to 50 characters without a comma. They replace the present ones.
        tags: patch_set("tags", 0..=FlagTags::MAX),
        /// The person or team that is responsible for the flag; `null` for none.
        owner: patch("owner"),
        /// The purpose of the flag; `null` for none.
        kind: patch("kind"),
        /// The time, or a date in UTC, after which the flag is stale; `null` for none. Nothing is switched.
        expires_at: patch("expiresAt"),
    }
}

impl FromFields for FlagQuery {
    fn from_fields(fields: &mut Fields<'_>) -> Option<Self> {
        let filter = FlagFilter::from_fields(fields);
        let state = StateQuery::from_fields(fields);
        Some(Self {
            filter: filter?,
            state: state?,
        })
    }
}

from_fields! {
    StateQuery {
        /// An active environment in which the flags are configured. It determines the state and the usage.
        environment: optional("environment"),
        /// Flags with this state in the environment, or in any active environment of the product, or in any at all.
        state: optional("state"),
        /// True for stale flags only: expired, or unchanged for 30 days, and unused for 14 days or the same for
        /// everyone; `false` for all others.
        stale: optional("stale"),
        /// Members that are omitted by default: the last evaluation, and the reason why a flag is stale.
        usage: optional("include").map(|include| include == Some(FlagExtra::Usage)),
    }
}

from_fields! {
    FlagFilter {
        /// True for archived flags only, `false` for active ones only; both if absent.
        archived: optional("archived"),
        /// The flag with exactly this key.
        key: optional("key"),
        /// Flags whose name or key contains this text, in any case (on SQLite, and on PostgreSQL with the locale `C`,
        /// only of the letters A to Z).
        search: optional("q").map(|search: Option<Search>| search.map(|Search(text)| text)),
        /// Flags that are configured in the environments of this product.
        product: optional("product"),
        /// True for the flags that exist in public environments, `false` for all others.
        is_public: optional("public"),
        metadata: flattened(),
        order: or_default("sort"),
    }
}

from_fields! {
    MetadataFilter {
        /// Flags with this tag, or with all of several tags that are separated by commas.
        tags: optional("tag").map(|tags: Option<TagList>| tags.map(|TagList(tags)| tags).unwrap_or_default()),
        /// Flags with this owner, in any case (on SQLite, and on PostgreSQL with the locale `C`, only of the letters A
        /// to Z).
        owner: optional("owner"),
        /// Flags of this kind.
        kind: optional("kind"),
    }
}
