//! Trying a flag: the same engine on both sides of the wire, and what travels between them so that they can be compared.

use pennon_core::{
    CompiledFlag, Context, Explanation, FlagConfig, MissingBucketingValue, config, explain,
};
use serde::{Deserialize, Serialize};

use crate::subject;

/// The version of the engine on this side of the wire.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What the server says of a case, and the case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Served {
    /// The flag, as an entry of the config document that clients are given.
    pub flag: String,
    /// The context, as JSON.
    pub context: String,
    /// What came of it, step by step.
    pub verdict: String,
    /// The version of the server's engine.
    pub version: String,
}

/// What became of what was typed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tried {
    /// The answer, or what is wrong with the context, to be shown.
    pub html: String,
    /// The case; none where the context is wrong.
    pub served: Option<Served>,
}

impl Served {
    /// What the engine on this side says of the same case, as it says it there; none if the case cannot be read.
    pub fn decided_here(&self) -> Option<String> {
        let context = subject::read(&self.context).ok()?;
        Some(verdict(&explained(&read(&self.flag)?, &context)))
    }
}

/// What the engine on this side says, step by step.
pub fn explained(flag: &FlagConfig, context: &Context<'_>) -> Explanation {
    let flag = CompiledFlag::from(flag.clone());
    explain(&flag, context, MissingBucketingValue::Excluded)
}

/// An explanation as text: two sides agree in every step when they have the same.
pub fn verdict(explanation: &Explanation) -> String {
    serde_json::to_string(explanation).unwrap_or_default()
}

/// Reads an entry of the config document, as clients do.
pub fn read(entry: &str) -> Option<FlagConfig> {
    let document = format!("{{\"flags\":[{entry}]}}");
    config::parse(document.as_bytes()).ok()?.pop()
}
