//! Evaluation, for holders of an SDK key.

pub(crate) mod explanation;
pub(crate) mod sdk_environment;
mod serving;

use pennon_core::{Context, Evaluation, Reason};

use self::explanation::Explained;
use self::sdk_environment::SdkEnvironment;
pub(crate) use self::serving::Serving;
use crate::error::{Entity, Error};

/// Decides one flag. A flag that the environment does not have is an error.
pub(crate) fn evaluate(
    environment: &SdkEnvironment,
    key: &str,
    context: &Context<'_>,
) -> Result<Evaluation, Error> {
    environment
        .snapshot()
        .evaluate(key, context)
        .ok_or(Error::NotFound(Entity::Flag))
}

/// Decides one flag, and tells how. A flag that the environment does not have is an error.
pub(crate) fn explain(
    environment: &SdkEnvironment,
    key: &str,
    context: &Context<'_>,
) -> Result<Explained, Error> {
    environment
        .snapshot()
        .explain(key, context)
        .map(|(explanation, ids)| Explained::new(explanation, ids))
        .ok_or(Error::NotFound(Entity::Flag))
}

/// Decides one flag out of many. A flag that the environment does not have is off, like a disabled one.
pub(crate) fn evaluate_leniently(
    environment: &SdkEnvironment,
    key: &str,
    context: &Context<'_>,
) -> Evaluation {
    let unknown = Evaluation {
        enabled: false,
        reason: Reason::FlagDisabled,
    };
    environment
        .snapshot()
        .evaluate(key, context)
        .unwrap_or(unknown)
}
