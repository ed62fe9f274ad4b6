//! Targeting rules of a flag in an environment.

use axum::extract::State;
use pennon_core::rule::{Condition, MAX_CONDITIONS, MAX_RULES, Operand, Rule, ValueType};
use pennon_model::configuration::FlagEnvironmentId;
use pennon_model::id::RuleId;
use pennon_model::targeting::TargetingRule;
use serde::Serialize;
use utoipa::ToSchema;

use crate::admin::Admin;
use crate::admin::targeting::Rules;
use crate::admin::warnings::Warning;
use crate::admin::{targeting, warnings};
use crate::auth::actor::Actor;
use crate::auth::authority::AnyEditor;
use crate::error::Error;
use crate::http::body::{Body, NoBody};
use crate::http::code::Code;
use crate::http::existing::Existing;
use crate::http::fields::{Fields, FromFields, from_fields};
use crate::http::if_match::IfMatch;
use crate::http::openapi::{Routes, route};
use crate::http::path::Path;
use crate::http::query::NoQuery;
use crate::http::respond::{Created, NoContent, Revised, Tagged, TaggedAs};

pub(super) fn routes() -> Routes {
    let written = &[Code::FlagArchived, Code::EnvironmentRevoked];
    Routes::group(
        "Rules",
        "Targeting rules are tried by ascending priority. The first rule that matches determines the result.",
    )
    .with(route!(list))
    .with(
        route!(create)
            .refuses(written)
            .refuses(&[Code::PriorityTaken, Code::TooManyRules]),
    )
    .with(route!(one))
    .with(route!(reorder).refuses(written).refuses(&[Code::RulesDiffer]))
    .with(route!(replace).refuses(written).refuses(&[Code::PriorityTaken]))
    .with(route!(delete).refuses(written))
}

/// A saved rule.
#[derive(Serialize, ToSchema)]
struct SavedRule {
    #[serde(flatten)]
    rule: TargetingRule,
    /// Warnings about clients in use that cannot read the flag; absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    warnings: Vec<Warning>,
}

impl SavedRule {
    async fn with_warnings(admin: &Admin, actor: &Actor, rule: TargetingRule) -> Self {
        let id = FlagEnvironmentId::of(&rule);
        let warnings = warnings::about_saved(admin, actor, id).await;
        Self { rule, warnings }
    }
}

impl Revised for SavedRule {
    fn revision(&self) -> i64 {
        self.rule.revision
    }
}

/// Creates a rule of a flag in an environment.
#[utoipa::path(post, path = "/flags/{flag}/environments/{environment}/rules")]
async fn create(
    State(admin): State<Admin>,
    actor: AnyEditor,
    target: Existing<FlagEnvironmentId>,
    _: NoQuery,
    IfMatch(precondition): IfMatch,
    body: Body<Rule>,
) -> Result<Created<Tagged<SavedRule>>, Error> {
    let (id, rule) = target.with(&admin, &actor, body.read()).await?;
    let rule = targeting::create_rule(&admin, &actor, id, &precondition, rule).await?;
    Ok(Created {
        location: format!("/rules/{}", rule.id),
        body: Tagged(SavedRule::with_warnings(&admin, &actor, rule).await),
    })
}

/// Lists the rules of a flag in an environment, by ascending priority.
#[utoipa::path(get, path = "/flags/{flag}/environments/{environment}/rules")]
async fn list(
    State(admin): State<Admin>,
    actor: Actor,
    Path(id): Path<FlagEnvironmentId>,
    _: NoQuery,
) -> Result<TaggedAs<RuleList>, Error> {
    targeting::rules(&admin, &actor, id).await.map(rule_list)
}

/// Reads a rule.
#[utoipa::path(get, path = "/rules/{rule}")]
async fn one(
    State(admin): State<Admin>,
    actor: Actor,
    Path(id): Path<RuleId>,
    _: NoQuery,
) -> Result<Tagged<TargetingRule>, Error> {
    targeting::rule(&admin, &actor, id).await.map(Tagged)
}

/// Replaces a rule. Its ID stays the same.
#[utoipa::path(put, path = "/rules/{rule}")]
async fn replace(
    State(admin): State<Admin>,
    actor: AnyEditor,
    target: Existing<RuleId>,
    _: NoQuery,
    IfMatch(precondition): IfMatch,
    body: Body<Rule>,
) -> Result<Tagged<SavedRule>, Error> {
    let (id, rule) = target.with(&admin, &actor, body.read()).await?;
    let rule = targeting::replace_rule(&admin, &actor, id, &precondition, rule).await?;
    Ok(Tagged(SavedRule::with_warnings(&admin, &actor, rule).await))
}

/// Deletes a rule.
#[utoipa::path(delete, path = "/rules/{rule}")]
async fn delete(
    State(admin): State<Admin>,
    actor: AnyEditor,
    target: Existing<RuleId>,
    _: NoQuery,
    IfMatch(precondition): IfMatch,
    body: NoBody,
) -> Result<NoContent, Error> {
    let (id, ()) = target.with(&admin, &actor, body.read()).await?;
    targeting::delete_rule(&admin, &actor, id, &precondition).await?;
    Ok(NoContent)
}

/// Reorders the rules of a flag in an environment.
///
/// The same priorities are reassigned in the new order.
#[utoipa::path(put, path = "/flags/{flag}/environments/{environment}/rules/order")]
async fn reorder(
    State(admin): State<Admin>,
    actor: AnyEditor,
    target: Existing<FlagEnvironmentId>,
    _: NoQuery,
    IfMatch(precondition): IfMatch,
    body: Body<RuleOrder>,
) -> Result<TaggedAs<RuleList>, Error> {
    let (id, RuleOrder(order)) = target.with(&admin, &actor, body.read()).await?;
    targeting::reorder_rules(&admin, &actor, id, &precondition, &order)
        .await
        .map(rule_list)
}

/// Rules by ascending priority.
#[derive(Serialize, ToSchema)]
struct RuleList(Vec<TargetingRule>);

fn rule_list(Rules { rules, revision }: Rules) -> TaggedAs<RuleList> {
    TaggedAs {
        revision,
        body: RuleList(rules),
    }
}

from_fields! {
    /// A targeting rule: conditions, and the result for contexts that match them.
    Rule as "RuleInput" IS_PART {
        priority: required("priority"),
        logic: required("logic"),
        /// The result when the rule matches.
        value: required("value"),
        conditions: list("conditions", 1..=MAX_CONDITIONS),
    }
}

/// All rules of a flag in an environment, in the new order.
struct RuleOrder(Vec<RuleId>);

impl FromFields for RuleOrder {
    const ABOUT: &'static str =
        "All rules of a flag in an environment, in the new order of evaluation.";

    fn from_fields(fields: &mut Fields<'_>) -> Option<Self> {
        fields.values("ruleIds", 0..=MAX_RULES).map(Self)
    }
}

from_fields! {
    /// A comparison of an attribute with a fixed value of the type that `valueType` names.
    Condition as "ConditionInput" {
        attribute: required("attribute"),
        operator: required("operator"),
        operand: by_variant("valueType", operand),
    }
}

fn operand(fields: &mut Fields<'_>, kind: ValueType) -> Option<Operand> {
    match kind {
        ValueType::String => fields.required("valueString").map(Operand::String),
        ValueType::Number => fields.required("valueInt").map(Operand::Number),
        ValueType::Boolean => fields.required("valueBool").map(Operand::Boolean),
    }
}
