//! Trying a flag: the same engine on both sides of the wire, and what travels between them so that they can be compared.

use pennon_core::{
    CompiledFlag, Context, Explanation, FlagConfig, MissingBucketingValue, config,
    evaluate::Outcome, explain,
};
use serde::{Deserialize, Serialize};

use crate::context_form;

/// The version of the engine on this side of the wire.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What the server says of a case, and the case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Served {
    /// The flag, as an entry of the config document that clients are given.
    pub flag: String,
    /// The context, as JSON.
    pub context: String,
    /// What came of it, step by step, as [`verdict`] tells it.
    pub verdict: String,
    /// The version of the server's engine.
    pub version: String,
}

/// What became of what was typed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evaluated {
    /// The answer, or what is wrong with the context, to be shown.
    pub html: String,
    /// The case; none where the context is wrong.
    pub served: Option<Served>,
}

impl Served {
    /// What the engine on this side says of the same case, as it says it there; none if the case cannot be read.
    pub fn decided_here(&self) -> Option<String> {
        let context = context_form::read(&self.context).ok()?;
        Some(verdict(&explained(&read(&self.flag)?, &context)))
    }
}

/// What the engine on this side says, step by step.
pub fn explained(flag: &FlagConfig, context: &Context<'_>) -> Explanation {
    let flag = CompiledFlag::from(flag.clone());
    explain(&flag, context, MissingBucketingValue::Excluded)
}

/// Every step of an explanation in a few words: two sides that have the same of one case agree. Values are left out, because
/// they are the case's own.
///
/// By hand, because a serialiser for this alone would be a fiftieth of what the browser loads.
pub fn verdict(explanation: &Explanation) -> String {
    let mut told = String::from(explanation.evaluation.reason.as_str());
    told.push_str(if explanation.evaluation.enabled {
        ": ON"
    } else {
        ": OFF"
    });
    for rule in &explanation.rules {
        told.push_str(if rule.matched {
            "; matches"
        } else {
            "; does not match"
        });
        for condition in &rule.conditions {
            told.push_str(match condition.outcome {
                Outcome::Held => ", holds",
                Outcome::DidNotHold => ", does not hold",
                Outcome::Missing => ", missing",
                Outcome::OtherType => ", other type",
            });
        }
    }
    if let Some(bucket) = explanation
        .rollout
        .as_ref()
        .and_then(|rollout| rollout.bucket)
    {
        told.push_str("; bucket ");
        told.push_str(&bucket.to_string());
    }
    told
}

/// Reads an entry of the config document, as clients do.
pub fn read(entry: &str) -> Option<FlagConfig> {
    let document = format!("{{\"flags\":[{entry}]}}");
    config::parse(document.as_bytes()).ok()?.pop()
}
