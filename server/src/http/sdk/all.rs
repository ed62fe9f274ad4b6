//! Evaluates all flags, for clients that do not evaluate locally.

use pennon_core::context::MAX_CONTEXT_BYTES;
use pennon_core::ttl::Ttl;
use pennon_core::{Context, Evaluation, Reason};
use pennon_model::client::Client;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};

use super::client::{FromPage, NamedClient};
use crate::error::{Error, no_faults};
use crate::evaluation::sdk_environment::{SdkEnvironment, SdkKey};
use crate::http::all_results::{AllResults, FlagList, FlagLists};
use crate::http::body::{Body, object};
use crate::http::context::{self, context};
use crate::http::if_none_match::{Caching, IfNoneMatch, caching};
use crate::http::openapi::shape::nullable;
use crate::http::openapi::{InBody, Schemas};
use crate::snapshot::{Decision, ServedFlag};

/// The result of a flag.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct FlagResult {
    /// The flag's key.
    key: String,
    /// True if the flag is on for the context.
    enabled: bool,
    /// The reason for the result.
    reason: Reason,
    /// The time that clients may use the result without confirmation; `null` for the client's own setting.
    #[serde(rename = "ttlOverrideSeconds")]
    #[schema(required)]
    ttl: Option<Ttl>,
}

/// The results of all active flags, by key.
#[derive(ToSchema)]
#[expect(
    dead_code,
    reason = "the flags are written one by one; this type describes the whole"
)]
pub(super) struct FlagResults {
    flags: Vec<FlagResult>,
}

/// The body of a request for all flags: an optional context.
pub(super) enum ContextBody {}

/// Evaluates all active flags for a context.
///
/// For clients that do not evaluate locally, because they must not see rules. The `ETag` identifies flags and context
/// together: before the full stop, it has the `id` of the last event of the stream. While both are unchanged, a request
/// with `If-None-Match` gets 304. The results do not count as evaluations, because a client may use none of them. The
/// response may be compressed.
#[utoipa::path(post, path = "/evaluate/all")]
pub(super) async fn all(
    key: SdkKey,
    known: IfNoneMatch,
    NamedClient(client): NamedClient,
    FromPage(is_page): FromPage,
    body: Body<ContextBody>,
) -> Result<AllResults<FlagResults>, Error> {
    if is_page {
        key.warn_of_use_in_page();
    }
    let environment = key.for_all_results()?;
    let bytes = body.bytes(MAX_CONTEXT_BYTES).await?;
    answer(&environment, &known, client, &bytes, revalidated).await
}

/// Returns the headers of results that clients may cache but must revalidate.
pub(super) fn revalidated(etag: &str) -> Result<Caching, Error> {
    caching(etag, "Authorization, Accept-Encoding, Origin")
}

/// Counts the fetch, and returns the results for the context in a request's body. `caching` returns the headers for
/// their tag.
pub(super) async fn answer<T: FlagLists>(
    environment: &SdkEnvironment,
    known: &IfNoneMatch,
    client: Client,
    bytes: &[u8],
    caching: impl FnOnce(&str) -> Result<Caching, Error>,
) -> Result<AllResults<T>, Error> {
    let context = context_in(bytes)?;
    let results = AllResults::of(environment, known, bytes, caching, context).await?;
    let kind = known.poll_kind(results.is_unchanged());
    environment.count_poll(kind, client);
    Ok(results)
}

/// Reads the context in a request's body.
fn context_in(bytes: &[u8]) -> Result<Context<'_>, Error> {
    let mut faults = Vec::new();
    let context = context(object(bytes)?.take("context"), "/context", &mut faults);
    no_faults(faults).map(|()| context)
}

impl FlagLists for FlagResults {
    const END: &'static str = "]}";

    fn lists(_: &Context<'_>) -> Vec<FlagList> {
        vec![FlagList {
            start: r#"{"flags":["#.to_owned(),
            add: |evaluator, key, flag, items| {
                items.push(&FlagResult::new(key, flag, evaluator.decide(key, flag)));
            },
        }]
    }
}

impl FlagResult {
    fn new(key: &str, flag: &ServedFlag, decision: Decision) -> Self {
        let Evaluation { enabled, reason } = decision.evaluation;
        Self {
            key: key.to_owned(),
            enabled,
            reason,
            ttl: flag.ttl(),
        }
    }
}

impl InBody for ContextBody {
    fn schema(schemas: &mut Schemas) -> RefOr<Schema> {
        let context = context::schema(schemas);
        schemas.define("ContextQuestion", |_| {
            ObjectBuilder::new()
                .schema_type(Type::Object)
                .description(Some(
                    "A context for which to evaluate all flags. Other members are ignored.",
                ))
                .property("context", nullable(context))
                .into()
        })
    }
}
