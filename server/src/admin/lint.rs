//! Probable mistakes in flags, in words.

use pennon_core::FlagConfig;
use pennon_core::lint::{self, Finding};
use pennon_core::rule::{Condition, Operand, Priority};
use pennon_model::environment::{Environment, EnvironmentPath, ProductName};
use pennon_model::flag::FlagKey;
use serde::Serialize;
use utoipa::ToSchema;

use super::Admin;
use super::transfer::{self, Document};
use crate::auth::authority::Administrator;
use crate::error::{Entity, Error};
use crate::store;

/// The kind of a probable mistake.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum LintKind {
    /// The rule matches nobody.
    RuleNeverMatches,
    /// A condition never holds, although the rule can match.
    ConditionNeverHolds,
    /// Earlier rules match every context that the rule matches.
    RuleNeverReached,
    /// The rules and the rollout make no difference.
    Constant,
}

/// A probable mistake in the rules or the rollout of a flag. The flag is treated as enabled.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LintFinding {
    kind: LintKind,
    /// A sentence that describes the mistake.
    #[schema(
        example = "The rule with the priority 2 has no effect: the rule with the priority 1 decides for every context that it matches."
    )]
    pub(crate) detail: String,
    /// The priority of the rule; `null` for `constant`.
    #[schema(required)]
    rule: Option<Priority>,
    /// The index of the condition in its rule, from 0; `null` unless a condition is the mistake.
    #[schema(required)]
    condition: Option<usize>,
}

/// A probable mistake, with the flag and the environment.
pub(crate) struct LintedFlag {
    pub(crate) flag: FlagKey,
    pub(crate) environment: EnvironmentPath,
    pub(crate) finding: LintFinding,
}

/// The flags to check.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct LintFilter {
    pub(crate) product: Option<ProductName>,
    pub(crate) environment: Option<EnvironmentPath>,
}

impl LintFilter {
    fn includes(&self, product: &ProductName, path: &EnvironmentPath) -> bool {
        let (wanted, environment) = (self.product.as_ref(), self.environment.as_ref());
        wanted.is_none_or(|wanted| wanted == product)
            && environment.is_none_or(|environment| environment == path)
    }
}

/// Returns the probable mistakes in a flag, by ascending priority of the rules.
pub(crate) fn findings(flag: &FlagConfig) -> Vec<LintFinding> {
    let found = lint::lint(flag).into_iter();
    found.map(|finding| described(flag, finding)).collect()
}

/// Returns the probable mistakes in all flags that are not archived, in the active environments of a filter. Fails if
/// the filter includes none.
pub(crate) async fn all(
    admin: &Admin,
    actor: &Administrator,
    filter: &LintFilter,
) -> Result<Vec<LintedFlag>, Error> {
    let environments = store::environments::active(&mut admin.db.read().await?).await?;
    let mut environments = environments.iter();
    let is_included = |each: &Environment| filter.includes(&each.product, &each.path());
    if *filter != LintFilter::default() && !environments.any(is_included) {
        return Err(Error::NotFound(Entity::Environment));
    }
    let document = transfer::export(admin, actor).await?;
    Ok(in_document(&document, filter))
}

/// Returns the probable mistakes in all flags of a document that are not archived, in the environments of a filter.
pub(crate) fn in_document(document: &Document, filter: &LintFilter) -> Vec<LintedFlag> {
    let active = document.flags.iter().filter(|flag| !flag.archived);
    let configurations =
        active.flat_map(|flag| flag.environments.iter().map(move |one| (flag, one)));
    let linted = configurations.filter(|(_, one)| filter.includes(&one.product, &one.path()));
    let linted = linted.flat_map(|(flag, configuration)| {
        let mut content = configuration.content.clone();
        content.switch.is_enabled = true;
        let found = findings(&content.config(&flag.key, false)).into_iter();
        found.map(|finding| LintedFlag {
            flag: flag.key.clone(),
            environment: configuration.path(),
            finding,
        })
    });
    linted.collect()
}

fn described(flag: &FlagConfig, finding: Finding) -> LintFinding {
    let (kind, rule, condition) = match finding {
        Finding::NeverMatches { rule } => (LintKind::RuleNeverMatches, Some(rule), None),
        Finding::ConditionNeverHolds { rule, condition } => {
            (LintKind::ConditionNeverHolds, Some(rule), Some(condition))
        }
        Finding::NeverReached { rule, .. } => (LintKind::RuleNeverReached, Some(rule), None),
        Finding::Constant { .. } => (LintKind::Constant, None, None),
    };
    LintFinding {
        kind,
        detail: sentence(flag, finding),
        rule,
        condition,
    }
}

fn sentence(flag: &FlagConfig, finding: Finding) -> String {
    let name = |rule: Priority| format!("rule with the priority {}", rule.get());
    match finding {
        Finding::NeverMatches { rule } => format!(
            "The {} matches nobody: its conditions contradict each other or can never hold.",
            name(rule)
        ),
        Finding::ConditionNeverHolds { rule, condition } => {
            let found = flag.rules.iter().find(|each| each.priority == rule);
            let found = found.and_then(|rule| rule.conditions.get(condition));
            let text = found.map(comparison).unwrap_or_default();
            format!("In the {}, `{text}` never holds.", name(rule))
        }
        Finding::NeverReached { rule, shadowed_by } => format!(
            "The {} has no effect: {} for every context that it matches.",
            name(rule),
            shadowed_by.map_or_else(
                || "earlier rules decide".to_owned(),
                |earlier| format!("the {} decides", name(earlier))
            )
        ),
        Finding::Constant { value } => format!(
            "{} is {} for everyone: its rules and its rollout make no difference.",
            if flag.enabled {
                "The flag"
            } else {
                "Once enabled, the flag"
            },
            if value { "on" } else { "off" }
        ),
    }
}

/// Formats a condition, such as `country == "DE"`.
pub(crate) fn comparison(condition: &Condition) -> String {
    let operand = match &condition.operand {
        Operand::String(text) => serde_json::Value::from(text.as_str()).to_string(),
        Operand::Number(number) => number.to_f64().to_string(),
        Operand::Boolean(boolean) => boolean.to_string(),
    };
    format!(
        "{} {} {operand}",
        condition.attribute.as_str(),
        condition.operator
    )
}
