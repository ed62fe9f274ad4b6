//! The comparison of a condition with an attribute's value.

use core::cmp::Ordering;

use crate::context::Value;
use crate::rule::{Operand, Operator};
use crate::string_enum;

string_enum! {
    /// The outcome of a condition, which holds only if the outcome is `held`. A value that is missing or has another
    /// type satisfies no operator, not even `!=`.
    pub enum Outcome {
        /// The comparison is true.
        Held = "held",
        /// The comparison is false.
        DidNotHold = "did_not_hold",
        /// The context lacks the attribute.
        Missing = "missing",
        /// The attribute and the condition have different types.
        OtherType = "other_type",
    }
    else "is not an outcome"
}

/// Compares `actual` with `operand`.
///
/// Strings are ordered by Unicode scalar values, which is the byte order of UTF-8. For booleans, false comes before
/// true. Numbers are IEEE doubles; infinity and NaN count as another type.
pub(crate) fn compare(actual: Option<Value<'_>>, operator: Operator, operand: &Operand) -> Outcome {
    let Some(actual) = actual else {
        return Outcome::Missing;
    };
    let ordering = match (actual, operand) {
        (Value::String(actual), Operand::String(operand)) => {
            Some(actual.cmp(operand.as_str().as_bytes()))
        }
        (Value::Number(actual), Operand::Number(operand)) if actual.is_finite() => {
            actual.partial_cmp(&operand.to_f64())
        }
        (Value::Boolean(actual), Operand::Boolean(operand)) => Some(actual.cmp(operand)),
        _ => None,
    };
    match ordering {
        None => Outcome::OtherType,
        Some(ordering) if holds(operator, ordering) => Outcome::Held,
        Some(_) => Outcome::DidNotHold,
    }
}

fn holds(operator: Operator, ordering: Ordering) -> bool {
    match operator {
        Operator::Equal => ordering.is_eq(),
        Operator::NotEqual => ordering.is_ne(),
        Operator::Greater => ordering.is_gt(),
        Operator::Less => ordering.is_lt(),
        Operator::GreaterOrEqual => ordering.is_ge(),
        Operator::LessOrEqual => ordering.is_le(),
    }
}
