//! Evaluates one flag or all flags.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use super::answer::{AllFlags, Flag, Flags};
use super::question::{FlagKey, OfrepEnvironment, Question};
use super::refusal::Refusal;
use crate::evaluation;
use crate::http::if_none_match::{IfNoneMatch, caching};

/// Evaluates a flag for a context.
///
/// `variant` is `on` or `off`. `reason` is one of OpenFeature's reasons: `STATIC` if the result is the same for every
/// context, `DEFAULT` if the flag is on and no rule matched. `metadata` contains Pennon's reason and, if they
/// determined the result, the rule's ID and the bucket of the context.
#[utoipa::path(post, path = "/evaluate/flags/{key}")]
pub(super) async fn one(
    OfrepEnvironment(environment): OfrepEnvironment,
    FlagKey(key): FlagKey,
    question: Result<Question, Refusal>,
) -> Result<Flag, Refusal> {
    let decision = question.and_then(|question| {
        let decision = evaluation::decide(&environment, &key, &question.context()?);
        decision.ok_or_else(Refusal::flag_not_found)
    });
    match decision {
        Ok(decision) => Ok(Flag::new(&key, decision)),
        Err(refusal) => Err(refusal.about(key)),
    }
}

/// Evaluates all active flags for a context.
///
/// The `ETag` identifies flags and context together. While both are unchanged, a request with `If-None-Match` gets 304
/// without an evaluation.
#[utoipa::path(post, path = "/evaluate/flags")]
pub(super) async fn all(
    OfrepEnvironment(environment): OfrepEnvironment,
    known: IfNoneMatch,
    question: Question,
) -> Result<AllFlags, Refusal> {
    let context = question.context()?;
    let snapshot = environment.snapshot();
    let etag = etag(snapshot.document().await.etag(), question.bytes());
    let caching = caching(&etag, "Authorization, X-API-Key, Origin")?;
    if known.has(&etag) {
        return Ok(AllFlags::Unchanged(caching));
    }
    let decisions = snapshot.decide_all(&context).into_iter();
    let flags = decisions.map(|(key, decision)| Flag::new(key, decision));
    let flags = flags.collect();
    Ok(AllFlags::Evaluated(caching, Flags { flags }))
}

/// Returns the tag of the evaluations: a hash of the flags' state and of the request's body.
fn etag(config: &str, question: &[u8]) -> String {
    let hash = Sha256::new()
        .chain_update(config)
        .chain_update(question)
        .finalize();
    format!("W/\"{}\"", BASE64_URL_SAFE_NO_PAD.encode(hash))
}
