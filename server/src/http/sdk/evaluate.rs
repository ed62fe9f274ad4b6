//! Evaluating one flag, or many at once.

use std::borrow::Cow;

use axum::extract::{FromRequestParts, Request, State};
use http::header::AUTHORIZATION;
use pennon_core::{Context, Evaluation};

use super::context::context;
use super::json::Json as Input;
use crate::auth::sdk_environment::SdkEnvironment;
use crate::error::{Error, Fault};
use crate::http::body::{Body, malformed};
use crate::http::respond::Json;
use crate::service::{Service, evaluation};

/// The most that an evaluation request may have, in bytes.
const EVALUATE_LIMIT: usize = 64 * 1024;

/// The most that a batch request may have, in bytes.
const BATCH_LIMIT: usize = 1024 * 1024;

/// How many evaluations a batch may have.
const BATCH_ITEMS: std::ops::RangeInclusive<usize> = 1..=100;

/// `POST /sdk/v1/evaluate`. Older clients send the key in the body; it counts only if there is no `Authorization`
/// header, whatever that header holds.
pub(super) async fn one(
    State(service): State<Service>,
    request: Request,
) -> Result<Json<Evaluation>, Error> {
    let (mut parts, body) = request.into_parts();
    let by_header = if parts.headers.contains_key(AUTHORIZATION) {
        Some(SdkEnvironment::from_request_parts(&mut parts, &service).await?)
    } else {
        None
    };
    let bytes = <Body>::new(Request::from_parts(parts, body))
        .bytes(EVALUATE_LIMIT)
        .await?;
    let mut input = object(&bytes)?;
    let environment = match (by_header, input.take("sdkKey")) {
        (Some(environment), _) => environment,
        (None, Input::String(key)) => SdkEnvironment::from_key(&service, &key)?,
        (None, _) => return Err(Error::Unauthenticated),
    };
    let mut faults = Vec::new();
    let question = question(input, "", &mut faults);
    match question {
        Some((key, context)) if faults.is_empty() => {
            evaluation::evaluate(&environment, &key, &context).map(Json)
        }
        _ => Err(Error::Invalid(faults)),
    }
}

/// `POST /sdk/v1/evaluate/batch`.
pub(super) async fn batch(
    environment: SdkEnvironment,
    body: Body,
) -> Result<Json<Vec<Evaluation>>, Error> {
    let bytes = body.bytes(BATCH_LIMIT).await?;
    let mut faults = Vec::new();
    let questions = match object(&bytes)?.take("evaluations") {
        Input::Array(items) if BATCH_ITEMS.contains(&items.len()) => items
            .into_iter()
            .enumerate()
            .filter_map(|(index, item)| {
                question(item, &format!("/evaluations/{index}"), &mut faults)
            })
            .collect(),
        Input::Array(_) => {
            faults.push(Fault::pointer("/evaluations", "must have 1 to 100 items"));
            Vec::new()
        }
        _ => {
            faults.push(Fault::pointer("/evaluations", "must be an array"));
            Vec::new()
        }
    };
    if !faults.is_empty() {
        return Err(Error::Invalid(faults));
    }
    let answer = |(key, context): &(Cow<'_, str>, Context<'_>)| {
        evaluation::evaluate_leniently(&environment, key, context)
    };
    Ok(Json(questions.iter().map(answer).collect()))
}

/// The body as an object.
fn object(bytes: &[u8]) -> Result<Input<'_>, Error> {
    match serde_json::from_slice(bytes).map_err(|error| malformed(&error))? {
        object @ Input::Object(_) => Ok(object),
        _ => Err(Error::Malformed(
            "the body must be a JSON object".to_owned(),
        )),
    }
}

/// Which flag is asked for, and for whom.
fn question<'a>(
    mut input: Input<'a>,
    pointer: &str,
    faults: &mut Vec<Fault>,
) -> Option<(Cow<'a, str>, Context<'a>)> {
    if !matches!(input, Input::Object(_)) {
        faults.push(Fault::pointer(pointer, "must be an object"));
        return None;
    }
    let context = context(input.take("context"), &format!("{pointer}/context"), faults);
    if let Input::String(key) = input.take("flagKey") {
        return Some((key, context));
    }
    faults.push(Fault::pointer(
        format!("{pointer}/flagKey"),
        "must be a string",
    ));
    None
}
