//! Evaluates one flag or a batch.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use axum::extract::State;
use pennon_core::context::MAX_CONTEXT_BYTES;
use pennon_core::{Context, Evaluation};
use pennon_model::json::Json as Input;
use serde::Serialize;
use tokio::task::yield_now;
use utoipa::ToSchema;

use super::items;
use super::questions::{Question, Questions};
use crate::error::{Error, Fault, no_faults};
use crate::evaluation::explanation::Explained;
use crate::evaluation::sdk_environment::SdkKey;
use crate::evaluation::{self, Serving};
use crate::http::body::{Body, object};
use crate::http::context::context;
use crate::http::respond::Json;
use crate::state::Runtime;

/// The maximum size of a batch request, in bytes.
const BATCH_LIMIT: usize = 1024 * 1024;

/// The allowed number of evaluations in a batch.
pub(super) const BATCH_ITEMS: std::ops::RangeInclusive<usize> = 1..=100;

/// The time after which a batch lets other requests use its thread.
const TURN: Duration = Duration::from_millis(1);

/// Evaluates a flag for a context.
///
/// A flag that does not exist in the environment causes a 404. An archived flag is off with the reason `flag_archived`.
///
/// Older clients send the SDK key in the body, as `sdkKey`. It is used only if the request has no `Authorization`
/// header, valid or not.
#[utoipa::path(post, path = "/evaluate")]
pub(super) async fn one(
    State(runtime): State<Runtime>,
    State(serving): State<Serving>,
    by_header: Option<SdkKey>,
    body: Body<Question>,
) -> Result<Json<Evaluation>, Error> {
    let by_header = by_header.map(SdkKey::for_evaluation).transpose()?;
    let is_open = by_header.is_none();
    if is_open && body.is_absent() {
        return Err(Error::Unauthenticated);
    }
    let mut held = is_open.then(|| runtime.in_flight.unauthenticated.hold());
    let bytes = body.held_bytes(MAX_CONTEXT_BYTES, held.as_mut()).await?;
    let mut input = object(&bytes)?;
    let environment = match (by_header, input.take("sdkKey")) {
        (Some(environment), _) => environment,
        (None, Input::String(key)) => SdkKey::find(serving, &key)?.for_evaluation()?,
        (None, _) => return Err(Error::Unauthenticated),
    };
    let (key, context) = only_question(input)?;
    evaluation::evaluate(&environment, &key, &context).map(Json)
}

/// Evaluates up to 100 flags.
///
/// The results are in the order of the request. A flag that does not exist in the environment is off with the reason
/// `flag_disabled`.
#[utoipa::path(post, path = "/evaluate/batch")]
pub(super) async fn batch(key: SdkKey, body: Body<Questions>) -> Result<Json<Evaluations>, Error> {
    let environment = key.for_evaluation()?;
    let bytes = body.bytes(BATCH_LIMIT).await?;
    let mut faults = Vec::new();
    let list = object(&bytes)?.take("evaluations");
    let questions = items(list, "/evaluations", &BATCH_ITEMS, &mut faults, question);
    no_faults(faults)?;
    let mut evaluations = Vec::with_capacity(questions.len());
    let mut turn = Instant::now();
    for (key, context) in &questions {
        // Flags with thousands of conditions take long.
        if turn.elapsed() > TURN {
            yield_now().await;
            turn = Instant::now();
        }
        let evaluation = evaluation::evaluate_leniently(&environment, key, context);
        evaluations.push(evaluation);
    }
    Ok(Json(Evaluations(evaluations)))
}

/// Evaluates a flag for a context, and explains every step.
///
/// The result is the same as that of `evaluate`. Each rule shows all its conditions, with the attribute's value and the
/// result of the comparison. The rollout shows the bucket of the context. In a public environment with the client rules
/// `answers`, the response is 403.
#[utoipa::path(post, path = "/explain")]
pub(super) async fn explain(key: SdkKey, body: Body<Question>) -> Result<Json<Explained>, Error> {
    let environment = key.for_evaluation()?.revealed()?;
    let bytes = body.bytes(MAX_CONTEXT_BYTES).await?;
    let (key, context) = only_question(object(&bytes)?)?;
    evaluation::explain(&environment, &key, &context).map(Json)
}

/// Evaluations in the order of the request.
#[derive(Serialize, ToSchema)]
pub(super) struct Evaluations(Vec<Evaluation>);

/// Reads the flag key and the context of a body with one evaluation.
fn only_question(input: Input<'_>) -> Result<(Cow<'_, str>, Context<'_>), Error> {
    let mut faults = Vec::new();
    match question(input, "", &mut faults) {
        Some(question) if faults.is_empty() => Ok(question),
        _ => Err(Error::Invalid(faults)),
    }
}

/// Reads the flag key and the context. Returns none if the key is invalid.
fn question<'a>(
    mut input: Input<'a>,
    pointer: &str,
    faults: &mut Vec<Fault>,
) -> Option<(Cow<'a, str>, Context<'a>)> {
    if !matches!(input, Input::Object(_)) {
        faults.push(Fault::pointer(pointer, "must be an object"));
        return None;
    }
    let at = format_args!("{pointer}/context");
    let context = context(input.take("context"), at, faults);
    let wrong = match input.take("flagKey") {
        Input::String(key) => return Some((key, context)),
        Input::Null => "is required",
        _ => "must be a string",
    };
    faults.push(Fault::pointer(format!("{pointer}/flagKey"), wrong));
    None
}
