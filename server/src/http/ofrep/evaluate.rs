//! Evaluating one flag, or all of them.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use super::answer::{Answered, Failure, Flag, Flags};
use super::question::{FlagKey, OfrepEnvironment, Question};
use super::refusal::Refusal;
use crate::evaluation;
use crate::http::if_none_match::IfNoneMatch;

/// Evaluates a flag for a context.
///
/// `variant` is `on` or `off`, `reason` one of OpenFeature's own: `STATIC` where no context can change the answer, and
/// `DEFAULT` where the flag is on and none of its rules matched. `metadata` has Pennon's reason and, where they decided,
/// the rule's id and the subject's bucket.
#[utoipa::path(post, path = "/evaluate/flags/{key}")]
pub(super) async fn one(
    OfrepEnvironment(environment): OfrepEnvironment,
    FlagKey(key): FlagKey,
    question: Result<Question, Refusal>,
) -> Result<Answered<Flag>, Refusal> {
    let question = question.map_err(|refusal| refusal.about(&key))?;
    let context = match question.context() {
        Ok(context) => context,
        Err(failure) => return Ok(Answered::Refused(failure.about(key))),
    };
    let decision = evaluation::decide(&environment, &key, &context);
    Ok(match decision {
        Some(decision) => Answered::Decided(Flag::new(&key, decision)),
        None => Answered::Refused(Failure::flag_not_found().about(key)),
    })
}

/// Evaluates all active flags for a context.
///
/// The `ETag` stands for flags and context together: as long as neither changes, `If-None-Match` gets a 304 without an
/// evaluation.
#[utoipa::path(post, path = "/evaluate/flags")]
pub(super) async fn all(
    OfrepEnvironment(environment): OfrepEnvironment,
    known: IfNoneMatch,
    question: Question,
) -> Result<Answered<Flags>, Refusal> {
    let context = match question.context() {
        Ok(context) => context,
        Err(failure) => return Ok(Answered::Refused(failure)),
    };
    let snapshot = environment.snapshot();
    let etag = etag(snapshot.document().await.etag(), question.bytes());
    if known.has(&etag) {
        return Ok(Answered::Unchanged(etag));
    }
    let decisions = snapshot.decide_all(&context).into_iter();
    let flags = decisions.map(|(key, decision)| Flag::new(key, decision));
    Ok(Answered::Decided(Flags::new(flags.collect(), etag)))
}

/// The tag of what all flags evaluate to: a hash of what they are and of the question as it was sent.
fn etag(config: &str, question: &[u8]) -> String {
    let hash = Sha256::new()
        .chain_update(config)
        .chain_update(question)
        .finalize();
    format!("W/\"{}\"", BASE64_URL_SAFE_NO_PAD.encode(hash))
}
