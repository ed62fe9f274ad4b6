//! Evaluation for callers with an SDK key. This module counts evaluations, except explanations and requests for all
//! flags, because a client may use none of them.

pub(crate) mod explanation;
pub(crate) mod sdk_environment;
mod serving;

use std::sync::Arc;

use pennon_core::{Context, Evaluation, Reason, StandardReason};
use pennon_model::environment::ClientRules;

use self::explanation::Explained;
use self::sdk_environment::{RevealedEnvironment, SdkEnvironment};
pub(crate) use self::serving::Serving;
use crate::error::{Entity, Error};
use crate::snapshot::{Decision, EnvironmentCounters, ServedFlag};

/// Evaluates one flag. Fails if the environment does not have the flag.
pub(crate) fn evaluate(
    environment: &SdkEnvironment,
    key: &str,
    context: &Context<'_>,
) -> Result<Evaluation, Error> {
    find_and_evaluate(environment, key, context).ok_or(Error::NotFound(Entity::Flag))
}

/// Evaluates one flag, with an explanation. Fails if the environment does not have the flag.
pub(crate) fn explain(
    environment: &RevealedEnvironment,
    key: &str,
    context: &Context<'_>,
) -> Result<Explained, Error> {
    let snapshot = environment.snapshot();
    let flag = snapshot.flag(key);
    let flag = flag.ok_or(Error::NotFound(Entity::Flag))?;
    let (explanation, rules) = flag.explain(context);
    snapshot
        .usage()
        .watchers()
        .notify(key, explanation.evaluation, context);
    Ok(Explained::new(explanation, rules))
}

/// Evaluates one flag of several. A flag that the environment does not have is off, like a disabled flag.
pub(crate) fn evaluate_leniently(
    environment: &SdkEnvironment,
    key: &str,
    context: &Context<'_>,
) -> Evaluation {
    let unknown = Evaluation {
        enabled: false,
        reason: Reason::FlagDisabled,
    };
    find_and_evaluate(environment, key, context).unwrap_or(unknown)
}

/// Evaluates one flag for OpenFeature; none if the environment does not have it.
pub(crate) fn decide(
    environment: &SdkEnvironment,
    key: &str,
    context: &Context<'_>,
) -> Option<Decision> {
    let snapshot = environment.snapshot();
    let flag = snapshot.flag(key)?;
    let decision = as_revealed(snapshot.client_rules(), flag.decide(context));
    flag.count(decision.evaluation);
    snapshot
        .usage()
        .watchers()
        .notify(key, decision.evaluation, context);
    Some(decision)
}

/// Evaluates many flags of an environment for one context.
pub(crate) struct Evaluator {
    client_rules: ClientRules,
    usage: Arc<EnvironmentCounters>,
    context: Context<'static>,
}

impl Evaluator {
    /// Prepares the evaluation of flags of the environment.
    pub(crate) fn new(environment: &SdkEnvironment, context: Context<'_>) -> Self {
        let snapshot = environment.snapshot();
        Self {
            client_rules: snapshot.client_rules(),
            usage: Arc::clone(snapshot.usage()),
            context: context.into_owned(),
        }
    }

    /// Evaluates the flag with this key.
    pub(crate) fn decide(&self, key: &str, flag: &ServedFlag) -> Decision {
        let decision = as_revealed(self.client_rules, flag.decide(&self.context));
        self.usage
            .watchers()
            .notify(key, decision.evaluation, &self.context);
        decision
    }
}

/// Returns a decision without the difference between flags with and without rules, if the SDK key does not reveal
/// rules.
fn as_revealed(client_rules: ClientRules, decision: Decision) -> Decision {
    match (client_rules, decision.standard_reason) {
        (ClientRules::Answers, StandardReason::Static) => Decision {
            standard_reason: StandardReason::Default,
            ..decision
        },
        _ => decision,
    }
}

fn find_and_evaluate(
    environment: &SdkEnvironment,
    key: &str,
    context: &Context<'_>,
) -> Option<Evaluation> {
    let snapshot = environment.snapshot();
    let flag = snapshot.flag(key)?;
    let evaluation = flag.evaluate(context);
    flag.count(evaluation);
    snapshot.usage().watchers().notify(key, evaluation, context);
    Some(evaluation)
}
