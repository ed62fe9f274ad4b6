//! The playground: the same engine on the server and in the browser, and the data to compare their results.

use pennon_core::{
    CompiledFlag, Context, Explanation, FlagConfig, MissingBucketingKey, config, evaluate::Outcome,
    explain,
};
use serde::{Deserialize, Serialize};

use crate::context_form;

/// The version of the local engine, on the server or in the browser.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The server's result for a context, with its input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Served {
    /// The flag, as an entry of the config document.
    pub flag: String,
    /// The context, as JSON.
    pub context: String,
    /// The steps of the evaluation, in the format of [`verdict`].
    pub verdict: String,
    /// The version of the server's engine.
    pub version: String,
}

/// The result for the input of a form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evaluated {
    /// The result, or the errors of the context, as HTML.
    pub html: String,
    /// The input and the result; none if the context is invalid.
    pub served: Option<Served>,
}

impl Served {
    /// Returns the local engine's verdict for the same input; none if the input cannot be read.
    pub fn local_verdict(&self) -> Option<String> {
        let context = context_form::read(&self.context).ok()?;
        Some(verdict(&explain_flag(&read(&self.flag)?, &context)))
    }
}

/// Evaluates a flag with the local engine, and explains the result.
pub fn explain_flag(flag: &FlagConfig, context: &Context<'_>) -> Explanation {
    let flag = CompiledFlag::from(flag.clone());
    explain(&flag, context, MissingBucketingKey::Excluded)
}

/// Returns the steps of an explanation as short text. Server and browser agree if their texts for the same input are
/// equal. The text omits values, because they are part of the input.
///
/// Written by hand, because a serializer for this alone would be 2% of the browser's download.
pub fn verdict(explanation: &Explanation) -> String {
    let mut text = String::from(explanation.evaluation.reason.as_str());
    text.push_str(if explanation.evaluation.enabled {
        ": ON"
    } else {
        ": OFF"
    });
    for rule in &explanation.rules {
        text.push_str(if rule.matched {
            "; matches"
        } else {
            "; does not match"
        });
        for condition in &rule.conditions {
            text.push_str(match condition.outcome {
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
        text.push_str("; bucket ");
        text.push_str(&bucket.to_string());
    }
    text
}

/// Reads an entry of the config document, as clients do.
pub fn read(entry: &str) -> Option<FlagConfig> {
    let document = format!("{{\"flags\":[{entry}]}}");
    config::parse(document.as_bytes()).ok()?.pop()
}
