//! Evaluates one flag or all flags.

use pennon_model::client::Client;

use super::answer::{AllFlags, Flag};
use super::question::{AllFlagsEnvironment, FlagKey, OneFlagEnvironment, Question};
use super::refusal::Refusal;
use crate::evaluation;
use crate::http::all_results::AllResults;
use crate::http::if_none_match::{IfNoneMatch, caching};

/// Evaluates a flag for a context.
///
/// `variant` is `on` or `off`. `reason` is one of OpenFeature's reasons: `STATIC` if the result is the same for every
/// context, as for a flag that is off, and `DEFAULT` if the flag is on and no rule matched. If the flag is on, an SDK
/// key that reveals no rules gets `DEFAULT` in both cases. `metadata` contains Pennon's reason.
#[utoipa::path(post, path = "/evaluate/flags/{key}")]
pub(super) async fn one(
    OneFlagEnvironment(environment): OneFlagEnvironment,
    FlagKey(key): FlagKey,
    question: Result<Question, Refusal>,
) -> Result<Flag, Refusal> {
    let decision = question.and_then(|question| {
        let decision = evaluation::decide(&environment, &key, &question.context()?);
        decision.ok_or_else(Refusal::flag_not_found)
    });
    match decision {
        Ok(decision) => Ok(Flag::new(&key, decision)),
        Err(refusal) => Err(refusal.about(Some(key))),
    }
}

/// Evaluates all active flags for a context.
///
/// The `ETag` identifies flags and context together. While both are unchanged, a request with `If-None-Match` gets 304
/// without an evaluation. The response may be compressed.
#[utoipa::path(post, path = "/evaluate/flags")]
pub(super) async fn all(
    AllFlagsEnvironment(environment): AllFlagsEnvironment,
    known: IfNoneMatch,
    question: Question,
) -> Result<AllFlags, Refusal> {
    let context = question.context()?;
    let caching = |etag: &str| caching(etag, "Authorization, X-API-Key, Accept-Encoding, Origin");
    let bytes = question.bytes();
    let results = AllResults::of(&environment, &known, bytes, caching, context).await?;
    environment.count_poll(known.poll_kind(results.is_unchanged()), Client::Other);
    Ok(AllFlags(results))
}
