//! A second, simple implementation of evaluation, without compilation, sorting in place, or short circuits.

use std::cmp::Ordering;

use pennon_core::config::FlagConfig;
use pennon_core::context::{Context, CustomValue};
use pennon_core::rollout::{Rollout, Strategy};
use pennon_core::rule::{Attribute, Condition, Logic, Operand, Operator, Rule};
use pennon_core::{Evaluation, MissingBucketingKey, Reason};

pub(crate) fn decide(
    flag: &FlagConfig,
    context: &Context<'_>,
    missing: MissingBucketingKey,
) -> Evaluation {
    let matching = flag.rules.iter().filter(|rule| matches(rule, context));
    let (enabled, reason) = if flag.archived {
        (false, Reason::FlagArchived)
    } else if !flag.enabled {
        (false, Reason::FlagDisabled)
    } else if let Some(rule) = matching.min_by_key(|rule| rule.priority.get()) {
        (rule.value, Reason::TargetingRule)
    } else if let Some(rollout) = flag.rollout {
        match (bucketing_key(rollout, context), missing) {
            (Some(key), _) => (
                bucket(key) < rollout.percentage.get().into(),
                Reason::Rollout,
            ),
            (None, MissingBucketingKey::Excluded) => (false, Reason::Rollout),
            (None, MissingBucketingKey::FallsThrough) => (true, Reason::FlagEnabled),
        }
    } else {
        (true, Reason::FlagEnabled)
    };
    Evaluation { enabled, reason }
}

fn matches(rule: &Rule, context: &Context<'_>) -> bool {
    let held = rule
        .conditions
        .iter()
        .filter(|condition| holds(condition, context))
        .count();
    match rule.logic {
        Logic::And => held == rule.conditions.len(),
        Logic::Or => held > 0,
    }
}

fn holds(condition: &Condition, context: &Context<'_>) -> bool {
    let text = |text: &str| CustomValue::String(text.to_owned().into());
    let actual = match &condition.attribute {
        Attribute::UserId => context.user_id.as_deref().map(text),
        Attribute::TenantId => context.tenant_id.as_deref().map(text),
        Attribute::Email => context.email.as_deref().map(text),
        Attribute::Country => context.country.as_deref().map(text),
        Attribute::Custom(name) => context.custom.get(name.as_ref()).cloned(),
    };
    let Some(ordering) = actual.and_then(|actual| order(&actual, &condition.operand)) else {
        return false;
    };
    match condition.operator {
        Operator::Equal => ordering == Ordering::Equal,
        Operator::NotEqual => ordering != Ordering::Equal,
        Operator::Greater => ordering == Ordering::Greater,
        Operator::Less => ordering == Ordering::Less,
        Operator::GreaterOrEqual => ordering != Ordering::Less,
        Operator::LessOrEqual => ordering != Ordering::Greater,
    }
}

/// Compares an attribute with an operand; `None` if their types differ or the number is not finite.
pub(crate) fn order(actual: &CustomValue<'_>, operand: &Operand) -> Option<Ordering> {
    match (actual, operand) {
        (CustomValue::String(actual), Operand::String(operand)) => {
            Some(actual.chars().cmp(operand.as_str().chars()))
        }
        (CustomValue::Number(actual), Operand::Number(operand)) if actual.is_finite() => {
            Some(exact_order(*actual, operand.get()))
        }
        (CustomValue::Boolean(actual), Operand::Boolean(operand)) => {
            Some(u8::from(*actual).cmp(&u8::from(*operand)))
        }
        _ => None,
    }
}

/// Compares a double with an integer exactly: first the double's whole part, then its fraction.
#[expect(
    clippy::cast_possible_truncation,
    reason = "values beyond 128 bits saturate, far outside the range of operands"
)]
fn exact_order(double: f64, integer: i64) -> Ordering {
    let whole = double.floor();
    let above = if double > whole {
        Ordering::Greater
    } else {
        Ordering::Equal
    };
    (whole as i128).cmp(&integer.into()).then(above)
}

fn bucketing_key<'c>(rollout: Rollout, context: &'c Context<'_>) -> Option<&'c str> {
    let value = match rollout.strategy {
        Strategy::PerUser => &context.user_id,
        Strategy::PerTenant => &context.tenant_id,
    };
    value.as_deref().filter(|value| !value.is_empty())
}

/// Computes FNV-1a in 64 bits, truncated to 32 after each step.
pub(crate) fn bucket(value: &str) -> u64 {
    let mut hash = 0x811c_9dc5_u64;
    for byte in value.bytes() {
        hash = (hash ^ u64::from(byte)) * 0x0100_0193 % (1 << 32);
    }
    hash % 100
}
