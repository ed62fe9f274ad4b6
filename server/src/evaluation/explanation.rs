//! The explanation of an evaluation, for people.

use pennon_core::evaluate::{RolloutTrace, RuleTrace};
use pennon_core::{Evaluation, Explanation};
use pennon_model::id::RuleId;
use serde::Serialize;
use utoipa::ToSchema;

/// The complete trace of an evaluation. `reason` names the step that determined it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Explained {
    #[serde(flatten)]
    pub(crate) evaluation: Evaluation,
    /// The rules that were tried, by ascending priority. A rule that matched is the last one.
    pub(crate) rules: Vec<ExplainedRule>,
    /// The rollout, if the evaluation reached it.
    #[schema(required)]
    pub(crate) rollout: Option<RolloutTrace>,
}

/// A rule that was tried.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ExplainedRule {
    /// The rule's ID.
    id: RuleId,
    #[serde(flatten)]
    pub(crate) trace: RuleTrace,
}

impl Explained {
    /// Combines a trace with the IDs of the flag's rules, by ascending priority, which is the order in which rules are
    /// tried.
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
