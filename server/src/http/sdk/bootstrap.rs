//! The flags that pages start with, as the packages for JavaScript take them.

use pennon_core::context::MAX_CONTEXT_BYTES;
use pennon_core::{Context, Evaluation, Reason};
use serde::Serialize;
use utoipa::ToSchema;

use super::all::{ContextBody, answer, revalidated};
use super::client::NamedClient;
use crate::error::Error;
use crate::evaluation::sdk_environment::SdkKey;
use crate::http::all_results::{AllResults, FlagList, FlagLists};
use crate::http::body::Body;
use crate::http::context;
use crate::http::if_none_match::IfNoneMatch;
use crate::snapshot::ServedFlag;

/// The version of the format.
const VERSION: u32 = 1;

/// All active flags, evaluated for a page.
#[derive(ToSchema)]
#[expect(
    dead_code,
    reason = "the flags are written one by one; this type describes the whole"
)]
pub(super) struct Bootstrap {
    /// The version of the format, 1.
    version: u32,
    /// All active flags, evaluated without a context.
    flags: Vec<PlainFlag>,
    subject: SubjectFlags,
}

/// A flag, evaluated without a context.
#[derive(Serialize, ToSchema)]
struct PlainFlag {
    /// The flag's key.
    key: String,
    /// True if the flag is on without a context.
    enabled: bool,
    /// The reason for the result.
    reason: Reason,
    /// True if the flag has rules or a rollout, so that its evaluation can depend on the context.
    targeted: bool,
}

/// The flags with rules or a rollout, evaluated for a context.
#[derive(ToSchema)]
#[expect(dead_code, reason = "the same")]
struct SubjectFlags {
    /// The context, without members that evaluation ignores.
    #[schema(schema_with = context::reference)]
    context: Context<'static>,
    flags: Vec<SubjectFlag>,
}

/// A flag with rules or a rollout, evaluated for a context.
#[derive(Serialize, ToSchema)]
struct SubjectFlag {
    /// The flag's key.
    key: String,
    /// True if the flag is on for the context.
    enabled: bool,
    /// The reason for the result.
    reason: Reason,
}

/// Evaluates all active flags for the start of a page.
///
/// The response is the option `bootstrap` of the packages for JavaScript. Render it into a page: the page then
/// evaluates its context without a request and without the engine, which it loads when it is idle. The response has no
/// rules, but tells which flags have some, so keys that give access only to results are refused. `ETag`, compression
/// and counts are those of `POST /sdk/v1/evaluate/all`.
#[utoipa::path(post, path = "/bootstrap")]
pub(super) async fn bootstrap(
    key: SdkKey,
    known: IfNoneMatch,
    NamedClient(client): NamedClient,
    body: Body<ContextBody>,
) -> Result<AllResults<Bootstrap>, Error> {
    let environment = key.for_all_results()?.revealed()?;
    let environment = environment.environment();
    let bytes = body.bytes(MAX_CONTEXT_BYTES).await?;
    answer(environment, &known, client, &bytes, revalidated).await
}

impl FlagLists for Bootstrap {
    const END: &'static str = "]}}";

    fn lists(context: &Context<'_>) -> Vec<FlagList> {
        // Writing text and numbers does not fail.
        let context = serde_json::to_string(context).unwrap_or_default();
        vec![
            FlagList {
                start: format!(r#"{{"version":{VERSION},"flags":["#),
                add: |evaluator, key, flag, items| {
                    if !flag.is_targeted() {
                        // The context makes no difference, but the evaluation is seen by those who watch it.
                        evaluator.decide(key, flag);
                    }
                    items.push(&PlainFlag::new(key, flag));
                },
            },
            FlagList {
                start: format!(r#"],"subject":{{"context":{context},"flags":["#),
                add: |evaluator, key, flag, items| {
                    if flag.is_targeted() {
                        let decision = evaluator.decide(key, flag);
                        items.push(&SubjectFlag::new(key, decision.evaluation));
                    }
                },
            },
        ]
    }
}

impl PlainFlag {
    fn new(key: &str, flag: &ServedFlag) -> Self {
        let Evaluation { enabled, reason } = flag.evaluate_without_context();
        Self {
            key: key.to_owned(),
            enabled,
            reason,
            targeted: flag.is_targeted(),
        }
    }
}

impl SubjectFlag {
    fn new(key: &str, Evaluation { enabled, reason }: Evaluation) -> Self {
        Self {
            key: key.to_owned(),
            enabled,
            reason,
        }
    }
}
