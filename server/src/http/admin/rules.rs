//! Targeting rules of a flag in an environment.

use axum::Router;
use axum::extract::State;
use axum::response::IntoResponse;
use axum::routing::{get, put};
use pennon_core::model::id::RuleId;
use pennon_core::model::rule::{Condition, MAX_CONDITIONS, MAX_RULES, Operand, Rule, ValueType};
use pennon_core::model::targeting::TargetingRule;

use crate::auth::actor::{Actor, Editor};
use crate::error::Error;
use crate::http::body::Body;
use crate::http::fields::{Fields, FromFields};
use crate::http::if_match::IfMatch;
use crate::http::path::Path;
use crate::http::query::NoQuery;
use crate::http::respond::{Created, Json, NoContent, Tagged, etag};
use crate::service::targeting::{PairId, Rules};
use crate::service::{Service, targeting};

pub(super) fn router() -> Router<Service> {
    Router::new()
        .route(
            "/flags/{flag}/environments/{environment}/rules",
            get(list).post(create),
        )
        .route(
            "/flags/{flag}/environments/{environment}/rules/order",
            put(reorder),
        )
        .route("/rules/{rule}", put(replace).delete(delete))
}

async fn create(
    State(service): State<Service>,
    actor: Editor,
    Path(pair): Path<PairId>,
    _: NoQuery,
    body: Body<Rule>,
) -> Result<Created<Tagged<TargetingRule>>, Error> {
    targeting::check(&service, &actor, pair).await?;
    let rule = body.read().await?;
    let rule = targeting::create_rule(&service, &actor, pair, rule).await?;
    Ok(Created {
        location: format!("/rules/{}", rule.id),
        body: Tagged(rule),
    })
}

async fn list(
    State(service): State<Service>,
    actor: Actor,
    Path(pair): Path<PairId>,
    _: NoQuery,
) -> Result<impl IntoResponse, Error> {
    targeting::rules(&service, &actor, pair).await.map(listed)
}

async fn replace(
    State(service): State<Service>,
    actor: Editor,
    Path(id): Path<RuleId>,
    _: NoQuery,
    IfMatch(precondition): IfMatch,
    body: Body<Rule>,
) -> Result<Tagged<TargetingRule>, Error> {
    targeting::check_rule(&service, &actor, id).await?;
    let rule = body.read().await?;
    targeting::replace_rule(&service, &actor, id, &precondition, rule)
        .await
        .map(Tagged)
}

async fn delete(
    State(service): State<Service>,
    actor: Editor,
    Path(id): Path<RuleId>,
    _: NoQuery,
    IfMatch(precondition): IfMatch,
) -> Result<NoContent, Error> {
    targeting::delete_rule(&service, &actor, id, &precondition).await?;
    Ok(NoContent)
}

async fn reorder(
    State(service): State<Service>,
    actor: Editor,
    Path(pair): Path<PairId>,
    _: NoQuery,
    IfMatch(precondition): IfMatch,
    body: Body<RuleOrder>,
) -> Result<impl IntoResponse, Error> {
    targeting::check(&service, &actor, pair).await?;
    let RuleOrder(order) = body.read().await?;
    targeting::reorder_rules(&service, &actor, pair, &precondition, &order)
        .await
        .map(listed)
}

fn listed(Rules { rules, revision }: Rules) -> impl IntoResponse {
    (etag(revision), Json(rules))
}

impl FromFields for Rule {
    fn from_fields(fields: &mut Fields<'_>) -> Option<Self> {
        let priority = fields.required("priority");
        let logic = fields.required("logic");
        let value = fields.required("value");
        let conditions = fields.list("conditions", 1..=MAX_CONDITIONS);
        Some(Self {
            priority: priority?,
            logic: logic?,
            value: value?,
            conditions: conditions?,
        })
    }
}

/// All rules of a flag in an environment, in the order in which they are to be tried.
struct RuleOrder(Vec<RuleId>);

impl FromFields for RuleOrder {
    fn from_fields(fields: &mut Fields<'_>) -> Option<Self> {
        fields.values("ruleIds", 0..=MAX_RULES).map(Self)
    }
}

impl FromFields for Condition {
    fn from_fields(fields: &mut Fields<'_>) -> Option<Self> {
        let attribute = fields.required("attribute");
        let operator = fields.required("operator");
        let operand = fields.by_word("valueType", |fields, kind| match kind {
            ValueType::String => fields.required("valueString").map(Operand::String),
            ValueType::Number => fields.required("valueInt").map(Operand::Number),
            ValueType::Boolean => fields.required("valueBool").map(Operand::Boolean),
        });
        Some(Self {
            attribute: attribute?,
            operator: operator?,
            operand: operand?,
        })
    }
}
