//! The order of the five steps, and changes that must not affect a result.

use pennon_core::config::FlagConfig;
use pennon_core::context::{Context, CustomValue};
use pennon_core::evaluate::Outcome;
use pennon_core::rule::Attribute;
use pennon_core::{
    CompiledFlag, Evaluation, MissingBucketingKey, Reason, StandardReason, Subject, Value,
    evaluate, evaluate_with_cause, explain,
};
use proptest::prelude::*;
use proptest::sample::select;

use crate::generate::{context, custom_value, flag, text};
use crate::oracle;

const BOTH: &[MissingBucketingKey] = &[
    MissingBucketingKey::Excluded,
    MissingBucketingKey::FallsThrough,
];

fn missing() -> impl Strategy<Value = MissingBucketingKey> {
    select(BOTH)
}

fn evaluate_flag(
    flag: &FlagConfig,
    context: &Context<'_>,
    missing: MissingBucketingKey,
) -> Evaluation {
    evaluate(&CompiledFlag::from(flag.clone()), context, missing)
}

/// Returns a flag, and the same flag with its rules and each rule's conditions in another order.
fn reordered() -> impl Strategy<Value = (FlagConfig, FlagConfig)> {
    flag().prop_flat_map(|flag| {
        let rules: Vec<_> = flag
            .rules
            .iter()
            .cloned()
            .map(|rule| {
                Just(rule.conditions.clone())
                    .prop_shuffle()
                    .prop_map(move |conditions| {
                        let mut rule = rule.clone();
                        rule.conditions = conditions;
                        rule
                    })
            })
            .collect();
        let other = (Just(flag.clone()), rules.prop_shuffle()).prop_map(|(mut flag, rules)| {
            flag.rules = rules;
            flag
        });
        (Just(flag), other)
    })
}

/// The values in the order of the flag's attributes, without names.
struct Slots<'a>(Vec<Option<Value<'a>>>);

impl Subject for Slots<'_> {
    fn value(&self, _: &Attribute, slot: usize) -> Option<Value<'_>> {
        *self.0.get(slot)?
    }
}

proptest! {
    #[test]
    fn the_engine_agrees_with_the_oracle(
        flag in flag(), context in context(), missing in missing(),
    ) {
        prop_assert_eq!(evaluate_flag(&flag, &context, missing), oracle::decide(&flag, &context, missing));
    }

    #[test]
    fn the_same_input_has_the_same_result(
        flag in flag(), context in context(), missing in missing(),
    ) {
        let compiled = CompiledFlag::from(flag.clone());
        let first = evaluate(&compiled, &context, missing);
        prop_assert_eq!(evaluate(&compiled, &context, missing), first);
        prop_assert_eq!(evaluate_flag(&flag, &context.clone(), missing), first);
    }

    #[test]
    fn an_explanation_has_the_same_result(
        flag in flag(), context in context(), missing in missing(),
    ) {
        let compiled = CompiledFlag::from(flag);
        let explanation = explain(&compiled, &context, missing);
        prop_assert_eq!(explanation.evaluation, evaluate(&compiled, &context, missing));
    }

    #[test]
    fn a_cause_is_what_the_explanation_ends_with(
        flag in flag(), context in context(), missing in missing(),
    ) {
        let compiled = CompiledFlag::from(flag);
        let explanation = explain(&compiled, &context, missing);
        let (evaluation, cause) = evaluate_with_cause(&compiled, &context, missing);
        prop_assert_eq!(evaluation, explanation.evaluation);
        prop_assert_eq!(cause.rule, explanation.rules.iter().position(|rule| rule.matched));
        prop_assert_eq!(cause.bucket, explanation.rollout.and_then(|rollout| rollout.bucket));
    }

    #[test]
    fn no_context_changes_a_static_or_disabled_result(
        flag in flag(), context in context(), other in context(),
    ) {
        let compiled = CompiledFlag::from(flag);
        let missing = MissingBucketingKey::Excluded;
        let evaluation = evaluate(&compiled, &context, missing);
        let reason = compiled.standard_reason(evaluation.reason);
        if matches!(reason, StandardReason::Static | StandardReason::Disabled) {
            prop_assert_eq!(evaluate(&compiled, &other, missing), evaluation);
        }
    }

    #[test]
    fn an_enabled_flag_is_static_if_it_has_neither_rules_nor_a_rollout(flag in flag()) {
        let compiled = CompiledFlag::from(flag.clone());
        let is_static = flag.rules.is_empty() && flag.rollout.is_none();
        let reason = compiled.standard_reason(Reason::FlagEnabled);
        prop_assert_eq!(reason == StandardReason::Static, is_static);
        prop_assert_eq!(reason == StandardReason::Default, !is_static);
    }

    #[test]
    fn an_explanation_shows_the_step_that_determined_the_result(flag in flag(), context in context()) {
        let compiled = CompiledFlag::from(flag.clone());
        let explanation = explain(&compiled, &context, MissingBucketingKey::Excluded);
        let matched = explanation.rules.iter().filter(|rule| rule.matched).count();
        let last = explanation.rules.last();
        match explanation.evaluation.reason {
            Reason::FlagArchived | Reason::FlagDisabled => {
                prop_assert!(explanation.rules.is_empty() && explanation.rollout.is_none());
            }
            Reason::TargetingRule => {
                prop_assert_eq!(matched, 1);
                let deciding = last.map(|rule| (rule.matched, rule.value));
                prop_assert_eq!(deciding, Some((true, explanation.evaluation.enabled)));
                prop_assert!(explanation.rollout.is_none());
            }
            Reason::Rollout => {
                prop_assert_eq!(matched, 0);
                prop_assert_eq!(explanation.rules.len(), flag.rules.len());
                let Some(rollout) = explanation.rollout else {
                    return Err(TestCaseError::fail("the explanation lacks the deciding rollout"));
                };
                let included = rollout
                    .bucket
                    .is_some_and(|bucket| bucket < u32::from(rollout.percentage.get()));
                prop_assert_eq!(included, explanation.evaluation.enabled);
                let key = context.value(&rollout.strategy.attribute(), usize::MAX);
                let expected = match key {
                    Some(Value::String(key)) if !key.is_empty() => {
                        str::from_utf8(key).ok().map(oracle::bucket)
                    }
                    _ => None,
                };
                prop_assert_eq!(rollout.bucket.map(u64::from), expected);
            }
            Reason::FlagEnabled => {
                prop_assert_eq!(matched, 0);
                prop_assert_eq!(explanation.rules.len(), flag.rules.len());
                prop_assert!(explanation.rollout.is_none());
            }
        }
    }

    #[test]
    fn an_explanation_shows_every_condition_of_the_rules_it_tried(
        flag in flag(), context in context(),
    ) {
        let compiled = CompiledFlag::from(flag.clone());
        for tried in explain(&compiled, &context, MissingBucketingKey::Excluded).rules {
            let rule = flag.rules.iter().find(|rule| rule.priority == tried.priority);
            let shown: Vec<_> = tried.conditions.iter().map(|shown| shown.condition.clone()).collect();
            prop_assert_eq!(rule.map(|rule| &rule.conditions), Some(&shown));
            for shown in tried.conditions {
                let actual = context.value(&shown.condition.attribute, usize::MAX);
                prop_assert_eq!(shown.actual.is_some(), actual.is_some());
                prop_assert_eq!(shown.outcome == Outcome::Missing, actual.is_none());
                let ordering = shown.actual.and_then(|actual| oracle::order(&actual, &shown.condition.operand));
                let is_other_type = actual.is_some() && ordering.is_none();
                prop_assert_eq!(shown.outcome == Outcome::OtherType, is_other_type);
            }
        }
    }

    #[test]
    fn an_archived_flag_is_off_whatever_its_configuration(
        flag in flag(), context in context(), missing in missing(),
    ) {
        let flag = FlagConfig { archived: true, ..flag };
        let expected = Evaluation { enabled: false, reason: Reason::FlagArchived };
        prop_assert_eq!(evaluate_flag(&flag, &context, missing), expected);
    }

    #[test]
    fn a_disabled_flag_is_off_whatever_its_rules_and_rollout(
        flag in flag(), context in context(), missing in missing(),
    ) {
        let flag = FlagConfig { archived: false, enabled: false, ..flag };
        let expected = Evaluation { enabled: false, reason: Reason::FlagDisabled };
        prop_assert_eq!(evaluate_flag(&flag, &context, missing), expected);
    }

    #[test]
    fn the_document_s_order_of_rules_and_conditions_does_not_matter(
        (flag, other) in reordered(), context in context(), missing in missing(),
    ) {
        prop_assert_eq!(evaluate_flag(&flag, &context, missing), evaluate_flag(&other, &context, missing));
    }

    #[test]
    fn key_and_ttl_have_no_effect(
        flag in flag(), key in text(), context in context(), missing in missing(),
    ) {
        let other = FlagConfig { key: key.into(), ttl: None, ..flag.clone() };
        prop_assert_eq!(evaluate_flag(&flag, &context, missing), evaluate_flag(&other, &context, missing));
    }

    #[test]
    fn values_in_slots_are_equivalent_to_values_by_name(
        flag in flag(), context in context(), missing in missing(),
    ) {
        let flag = CompiledFlag::from(flag);
        let values = flag.attributes().iter().map(|name| context.value(name, usize::MAX));
        let slots = Slots(values.collect());
        prop_assert_eq!(evaluate(&flag, &slots, missing), evaluate(&flag, &context, missing));
    }

    #[test]
    fn a_custom_attribute_never_stands_in_for_a_built_in_one(
        flag in flag(), context in context(), value in custom_value(), missing in missing(),
    ) {
        let mut other = context.clone();
        for name in ["userId", "tenantId", "email", "country"] {
            other.custom.insert(name.into(), value.clone());
        }
        prop_assert_eq!(evaluate_flag(&flag, &context, missing), evaluate_flag(&flag, &other, missing));
    }

    #[test]
    fn an_attribute_that_the_flag_does_not_use_has_no_effect(
        flag in flag(), context in context(), missing in missing(),
    ) {
        let compiled = CompiledFlag::from(flag.clone());
        let mut other = context.clone();
        other.custom.retain(|name, _| {
            compiled.attributes().iter().any(|attribute| attribute.as_str() == name.as_ref())
        });
        other.custom.insert("nobody asks for this".into(), CustomValue::Boolean(true));
        prop_assert_eq!(evaluate_flag(&flag, &context, missing), evaluate_flag(&flag, &other, missing));
    }

    #[test]
    fn missing_bucketing_keys_do_not_matter_when_both_are_present(
        flag in flag(), context in context(), user in "(?s).{1,6}", tenant in "(?s).{1,6}",
    ) {
        let context = Context {
            user_id: Some(user.into()),
            tenant_id: Some(tenant.into()),
            ..context
        };
        let [excluded, falls_through] = [
            MissingBucketingKey::Excluded,
            MissingBucketingKey::FallsThrough,
        ]
        .map(|missing| evaluate_flag(&flag, &context, missing));
        prop_assert_eq!(excluded, falls_through);
    }

    #[test]
    fn ahead_of_time_an_active_flag_is_on_and_a_disabled_one_off(flag in flag()) {
        let evaluation = evaluate_flag(&flag, &Context::default(), MissingBucketingKey::FallsThrough);
        prop_assert_eq!(evaluation.enabled, flag.enabled && !flag.archived);
        prop_assert!(!matches!(evaluation.reason, Reason::TargetingRule | Reason::Rollout));
    }
}
