//! The explanation of an evaluation, for people.

use pennon_core::evaluate::{RolloutTrace, RuleTrace};
use pennon_core::{Evaluation, Explanation};
use pennon_model::id::RuleId;
use serde::Serialize;
use utoipa::ToSchema;

/// The complete trace of an evaluation. The deciding step is the one that `reason` names.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Explained {
    #[serde(flatten)]
    evaluation: Evaluation,
    /// The rules tried, by ascending priority; where a rule decided, it is the last one.
    rules: Vec<ExplainedRule>,
    /// The rollout, where the evaluation reached one.
    #[schema(required)]
    rollout: Option<RolloutTrace>,
}

/// A rule that was tried.
#[derive(Debug, Serialize, ToSchema)]
struct ExplainedRule {
    /// The rule's id.
    id: RuleId,
    #[serde(flatten)]
    trace: RuleTrace,
}

impl Explained {
    /// The trace with the ids of the flag's rules by ascending priority, in which order rules are tried.
    pub(crate) fn new(explanation: Explanation, ids: &[RuleId]) -> Self {
        let rules = explanation.rules.into_iter().zip(ids);
        Self {
            evaluation: explanation.evaluation,
            rules: rules
                .map(|(trace, id)| ExplainedRule { id: *id, trace })
                .collect(),
            rollout: explanation.rollout,
        }
    }
}
