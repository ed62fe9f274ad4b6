//! Single conditions: each operator with values of its own type and of others.

use std::cmp::Ordering;

use pennon_core::config::FlagConfig;
use pennon_core::context::{Context, CustomValue};
use pennon_core::rule::{Attribute, Condition, Logic, Operand, Operator, Priority, Rule};
use pennon_core::{CompiledFlag, MissingBucketingKey, Reason, evaluate};
use proptest::prelude::*;
use proptest::sample::select;

use crate::generate::{
    attribute, context, custom_value, double, number_operand, operand, operator, string_operand,
    text,
};
use crate::oracle;

/// Returns true if a condition alone makes a rule match.
fn holds(condition: Condition, context: &Context<'_>) -> Result<bool, TestCaseError> {
    let priority =
        Priority::try_from(1).map_err(|invalid| TestCaseError::fail(invalid.detail()))?;
    let rule = Rule {
        priority,
        logic: Logic::And,
        value: true,
        conditions: vec![condition],
    };
    let flag = CompiledFlag::from(FlagConfig {
        key: "flag".into(),
        archived: false,
        enabled: true,
        rules: vec![rule],
        rollout: None,
        ttl: None,
    });
    let evaluation = evaluate(&flag, context, MissingBucketingKey::Excluded);
    Ok(evaluation.reason == Reason::TargetingRule)
}

/// Returns true if `value operator operand` holds for the value of a custom attribute.
fn compares(
    value: &CustomValue<'static>,
    operator: Operator,
    operand: &Operand,
) -> Result<bool, TestCaseError> {
    let mut context = Context::default();
    context.custom.insert("it".into(), value.clone());
    let condition = Condition {
        attribute: Attribute::Custom("it".into()),
        operator,
        operand: operand.clone(),
    };
    holds(condition, &context)
}

/// Returns a value and an operand of the same type.
fn same_type() -> impl Strategy<Value = (CustomValue<'static>, Operand)> {
    let finite = double().prop_filter("a finite number", |number| number.is_finite());
    prop_oneof![
        (
            text().prop_map(|text| CustomValue::String(text.into())),
            string_operand()
        ),
        (finite.prop_map(CustomValue::Number), number_operand()),
        neighbors(),
        (
            any::<bool>().prop_map(CustomValue::Boolean),
            any::<bool>().prop_map(Operand::Boolean)
        ),
    ]
}

/// Returns a value and an operand of different types. A number that is not finite has no type.
fn different_types() -> impl Strategy<Value = (CustomValue<'static>, Operand)> {
    (custom_value(), operand()).prop_filter("two types", |(value, operand)| {
        match (value, operand) {
            (CustomValue::Number(number), Operand::Number(_)) => !number.is_finite(),
            (CustomValue::String(_), Operand::String(_))
            | (CustomValue::Boolean(_), Operand::Boolean(_)) => false,
            _ => true,
        }
    })
}

/// Returns a number and an integer that differ by at most one.
fn neighbors() -> impl Strategy<Value = (CustomValue<'static>, Operand)> {
    (number_operand(), -2..=2i32).prop_map(|(operand, halves)| {
        let number = match &operand {
            Operand::Number(integer) => integer.to_f64() + f64::from(halves) / 2.0,
            Operand::String(_) | Operand::Boolean(_) => f64::NAN,
        };
        (CustomValue::Number(number), operand)
    })
}

proptest! {
    #[test]
    fn each_operator_and_its_negation_divide_the_values_of_its_type((value, operand) in same_type()) {
        for (operator, negation) in [
            (Operator::Equal, Operator::NotEqual),
            (Operator::Less, Operator::GreaterOrEqual),
            (Operator::Greater, Operator::LessOrEqual),
        ] {
            let holds = compares(&value, operator, &operand)?;
            prop_assert_eq!(compares(&value, negation, &operand)?, !holds, "{}", operator);
        }
    }

    #[test]
    fn a_value_is_less_than_equal_to_or_greater_than_an_operand((value, operand) in same_type()) {
        let expected = oracle::order(&value, &operand);
        for (operator, ordering) in [
            (Operator::Less, Ordering::Less),
            (Operator::Equal, Ordering::Equal),
            (Operator::Greater, Ordering::Greater),
        ] {
            let holds = compares(&value, operator, &operand)?;
            prop_assert_eq!(holds, expected == Some(ordering), "{}", operator);
        }
    }

    #[test]
    fn an_attribute_of_another_type_matches_no_condition(
        (value, operand) in different_types(), operator in operator(),
    ) {
        prop_assert!(!compares(&value, operator, &operand)?);
    }

    #[test]
    fn a_number_that_is_not_finite_matches_no_condition(
        number in select(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY][..]),
        operator in operator(),
        operand in number_operand(),
    ) {
        prop_assert!(!compares(&CustomValue::Number(number), operator, &operand)?);
    }

    #[test]
    fn a_built_in_attribute_matches_only_conditions_on_strings(
        id in text(),
        operator in operator(),
        operand in prop_oneof![number_operand(), any::<bool>().prop_map(Operand::Boolean)],
    ) {
        let context = Context { user_id: Some(id.into()), ..Context::default() };
        let condition = Condition { attribute: Attribute::UserId, operator, operand };
        prop_assert!(!holds(condition, &context)?);
    }

    #[test]
    fn a_missing_attribute_matches_no_condition(
        attribute in attribute(), operator in operator(), operand in operand(), context in context(),
    ) {
        let mut context = context;
        match &attribute {
            Attribute::UserId => context.user_id = None,
            Attribute::TenantId => context.tenant_id = None,
            Attribute::Email => context.email = None,
            Attribute::Country => context.country = None,
            Attribute::Custom(name) => drop(context.custom.remove(name.as_ref())),
        }
        let condition = Condition { attribute, operator, operand };
        prop_assert!(!holds(condition, &context)?);
    }
}
