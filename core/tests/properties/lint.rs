//! The linter: its findings are true for every context, and it finds simple mistakes.

#![expect(
    clippy::expect_used,
    reason = "a failed test must show where it failed"
)]

use pennon_core::config::FlagConfig;
use pennon_core::lint::{Finding, lint};
use pennon_core::rule::Priority;
use pennon_core::turns_on::enables_any_context;
use pennon_core::{CompiledFlag, Context, MissingBucketingKey, evaluate_with_cause};
use proptest::prelude::*;

use crate::generate::{context, flag};

proptest! {
    #[test]
    fn a_finding_is_true_for_every_context(flag in flag(), context in context()) {
        let mut priorities: Vec<Priority> = flag.rules.iter().map(|rule| rule.priority).collect();
        priorities.sort_unstable();
        let findings = lint(&flag);
        let on = FlagConfig { enabled: true, archived: false, ..flag };
        let (evaluation, cause) = evaluate(on, &context);
        for finding in findings {
            match finding {
                Finding::NeverMatches { rule } | Finding::NeverReached { rule, .. } => {
                    let decided = cause.rule.and_then(|rule| priorities.get(rule));
                    prop_assert_ne!(decided, Some(&rule), "{:?}", finding);
                }
                Finding::Constant { value } => prop_assert_eq!(evaluation.enabled, value),
                Finding::ConditionNeverHolds { .. } => {}
            }
        }
    }
}

proptest! {
    #[test]
    fn a_change_that_enables_no_context_enables_none(before in flag(), after in flag(), context in context()) {
        if enables_any_context(&before, &after) == Some(false) {
            let (evaluation_before, _) = evaluate(before, &context);
            let (evaluation_after, _) = evaluate(after, &context);
            prop_assert!(evaluation_before.enabled || !evaluation_after.enabled);
        }
    }
}

fn evaluate(
    flag: FlagConfig,
    context: &Context<'_>,
) -> (pennon_core::Evaluation, pennon_core::Cause) {
    evaluate_with_cause(
        &CompiledFlag::from(flag),
        context,
        MissingBucketingKey::Excluded,
    )
}

/// Returns an enabled flag with these rules, each with its value, logic and conditions. Their priorities count from 1.
fn with_rules<C: AsRef<str>>(rules: &[(bool, &str, Vec<C>)], rollout: Option<u8>) -> FlagConfig {
    let rules: Vec<_> = (1_u32..)
        .zip(rules)
        .map(|(priority, (value, logic, conditions))| {
            let conditions: Vec<_> = conditions
                .iter()
                .map(|text| condition(text.as_ref()))
                .collect();
            serde_json::json!({
                "priority": priority,
                "logic": logic,
                "value": value,
                "conditions": conditions,
            })
        })
        .collect();
    let rollout = rollout
        .map(|percentage| serde_json::json!({ "percentage": percentage, "strategy": "per_user" }));
    let flag =
        serde_json::json!({ "key": "f", "enabled": true, "rules": rules, "rollout": rollout });
    serde_json::from_value(flag).expect("a flag")
}

/// Lints a flag with these rules.
fn lint_rules(rules: &[(bool, &str, &[&str])], rollout: Option<u8>) -> Vec<Finding> {
    let rules: Vec<_> = rules
        .iter()
        .map(|(value, logic, conditions)| (*value, *logic, conditions.to_vec()))
        .collect();
    lint(&with_rules(&rules, rollout))
}

/// Parses `country == "DE"`, `seats > 3`, `beta == true`.
fn condition(text: &str) -> serde_json::Value {
    let mut tokens = text.split(' ');
    let mut token = || tokens.next().expect("a token");
    let (attribute, operator) = (token(), token());
    let operand: serde_json::Value = serde_json::from_str(token()).expect("a value");
    let (value_type, member) = match operand {
        serde_json::Value::String(_) => ("string", "valueString"),
        serde_json::Value::Number(_) => ("number", "valueInt"),
        _ => ("boolean", "valueBool"),
    };
    serde_json::json!({
        "attribute": attribute,
        "operator": operator,
        "valueType": value_type,
        member: operand,
    })
}

fn rule(number: i64) -> Priority {
    number.try_into().expect("a priority")
}

#[test]
fn a_change_that_enables_a_context_is_detected() {
    let flag = |enabled: bool, country: Option<&str>, rollout: serde_json::Value| -> FlagConfig {
        let rules = country.map(|country| {
            serde_json::json!({
                "priority": 1, "logic": "and", "value": true,
                "conditions": [condition(&format!("country == \"{country}\""))],
            })
        });
        let rules: Vec<_> = rules.into_iter().collect();
        let flag = serde_json::json!({
            "key": "f", "enabled": enabled, "rules": rules, "rollout": rollout,
        });
        serde_json::from_value(flag).expect("a flag")
    };
    let rollout = |percentage: u8, strategy: &str| serde_json::json!({ "percentage": percentage, "strategy": strategy });
    let (off, none) = (
        flag(false, None, serde_json::Value::Null),
        rollout(0, "per_user"),
    );
    let tenth = flag(true, Some("DE"), rollout(10, "per_user"));
    let all = flag(true, None, serde_json::Value::Null);
    let germany = flag(true, Some("DE"), none.clone());
    for (before, after, expected) in [
        (&off, &all, true),
        (&all, &off, false),
        (&tenth, &all, true),
        (&all, &tenth, false),
        (&tenth, &germany, false),
        (&germany, &tenth, true),
        (&germany, &flag(true, Some("FR"), none), true),
        (
            &flag(true, None, rollout(10, "per_user")),
            &flag(true, None, rollout(20, "per_user")),
            true,
        ),
        (
            &flag(true, None, rollout(20, "per_tenant")),
            &flag(true, None, rollout(10, "per_user")),
            true,
        ),
    ] {
        assert_eq!(
            enables_any_context(before, after),
            Some(expected),
            "{before:?} {after:?}"
        );
    }
}

#[test]
fn a_context_that_only_the_old_rules_distinguish_is_detected() {
    let before = with_rules(&[(false, "and", vec!["country == \"DE\""])], None);
    let after = with_rules::<&str>(&[], None);
    assert_eq!(enables_any_context(&before, &after), Some(true));
}

/// Grace is in bucket 27, Bob in bucket 44, and Ada in bucket 63.
#[test]
fn a_user_whom_a_condition_names_has_one_bucket() {
    let before = with_rules::<&str>(&[], Some(50));
    for (user, expected) in [("grace", false), ("bob", false), ("ada", true)] {
        let named = [(true, "or", vec![format!("userId == \"{user}\"")])];
        let after = with_rules(&named, Some(50));
        assert_eq!(
            enables_any_context(&before, &after),
            Some(expected),
            "{user}"
        );
    }
    let all_but_grace = [(false, "and", vec!["userId != \"grace\""])];
    let constant = Finding::Constant { value: false };
    assert_eq!(lint(&with_rules(&all_but_grace, Some(27))), [constant]);
    assert_eq!(lint(&with_rules(&all_but_grace, Some(28))), []);
}

#[test]
fn a_flag_that_is_on_for_everyone_enables_nobody_else() {
    let flag = |rules: usize| -> FlagConfig {
        let rules: Vec<_> = (1..=rules)
            .map(|rule| {
                serde_json::json!({
                    "priority": rule, "logic": "and", "value": true,
                    "conditions": [condition(&format!("attribute{rule} == \"x\""))],
                })
            })
            .collect();
        let flag =
            serde_json::json!({ "key": "f", "enabled": true, "rules": rules, "rollout": null });
        serde_json::from_value(flag).expect("a flag")
    };
    // So many attributes have too many combinations to try.
    let (simple, many) = (flag(0), flag(20));
    assert_eq!(enables_any_context(&many, &simple), Some(false));
    let off = FlagConfig {
        enabled: false,
        ..many.clone()
    };
    assert_eq!(enables_any_context(&off, &many), None);
    assert_eq!(enables_any_context(&off, &off), Some(false));
}

#[test]
fn an_attribute_of_both_flags_counts_once() {
    let conditions = ["a == \"x\"", "b == \"x\"", "c == \"x\""];
    let flag = |value: bool| with_rules(&[(value, "and", conditions.to_vec())], Some(0));
    let (on, off) = (flag(true), flag(false));
    assert_eq!(enables_any_context(&off, &on), Some(true));
    assert_eq!(enables_any_context(&on, &off), Some(false));
}

#[test]
fn plain_rules_have_no_findings() {
    let rules: &[(bool, &str, &[&str])] = &[
        (true, "and", &["country == \"DE\"", "plan == \"pro\""]),
        (
            false,
            "or",
            &["country == \"DE\"", "seats > 3", "beta == true"],
        ),
        (true, "and", &["seats > 1", "seats < 5"]),
    ];
    assert_eq!(lint_rules(rules, Some(25)), []);
    let descending: &[&str] = &["seats > 9", "seats > 1"];
    assert_eq!(lint_rules(&[(true, "and", descending)], Some(25)), []);
    assert_eq!(lint_rules(&[], None), []);
}

#[test]
fn a_contradiction_is_found() {
    for conditions in [
        ["country == \"DE\"", "country == \"FR\""],
        ["country == \"DE\"", "country != \"DE\""],
        ["country > \"b\"", "country < \"a\""],
        ["seats > 3", "seats < 3"],
        ["seats >= 4", "seats < 4"],
        ["seats > 9007199254740990", "seats < 9007199254740991"],
        ["plan == \"pro\"", "plan == 3"],
        ["beta != true", "beta != false"],
        ["userId == 3", "country == \"DE\""],
        ["email < \"\"", "country == \"DE\""],
    ] {
        let findings = lint_rules(&[(true, "and", &conditions)], Some(50));
        let never = Finding::NeverMatches { rule: rule(1) };
        assert_eq!(findings, [never], "{conditions:?}");
    }
    let neither = ["userId == 3", "email < \"\""];
    let findings = lint_rules(&[(true, "or", &neither)], Some(50));
    assert_eq!(findings, [Finding::NeverMatches { rule: rule(1) }]);
}

#[test]
fn a_condition_that_never_holds_is_found_where_others_may_hold() {
    let findings = lint_rules(
        &[(true, "or", &["country == \"DE\"", "userId == 3"])],
        Some(50),
    );
    let idle = Finding::ConditionNeverHolds {
        rule: rule(1),
        condition: 1,
    };
    assert_eq!(findings, [idle]);
}

#[test]
fn a_rule_after_one_that_matches_all_its_subjects_is_found() {
    let first: &[(bool, &str, &[&str])] = &[(true, "or", &["country == \"DE\"", "seats >= 3"])];
    for conditions in [
        ["country == \"DE\"", "plan == \"pro\""],
        ["seats > 4", "seats != 7"],
    ] {
        let rules = [first, &[(false, "and", &conditions)]].concat();
        let never = Finding::NeverReached {
            rule: rule(2),
            shadowed_by: Some(rule(1)),
        };
        assert_eq!(lint_rules(&rules, Some(50)), [never], "{conditions:?}");
    }
    let unrelated: &[(bool, &str, &[&str])] = &[(true, "and", &["plan == \"pro\""])];
    let germany: &[(bool, &str, &[&str])] = &[(true, "and", &["country == \"DE\""])];
    let never = Finding::NeverReached {
        rule: rule(3),
        shadowed_by: Some(rule(1)),
    };
    let rules = [first, unrelated, germany].concat();
    assert_eq!(lint_rules(&rules, Some(50)), [never]);
    let together = lint_rules(
        &[
            (true, "and", &["seats < 3"]),
            (false, "and", &["seats >= 3"]),
            (true, "and", &["seats != 7"]),
        ],
        None,
    );
    let never = Finding::NeverReached {
        rule: rule(3),
        shadowed_by: None,
    };
    assert_eq!(together, [never]);
}

#[test]
fn a_constant_flag_is_found() {
    assert_eq!(
        lint_rules(&[], Some(0)),
        [Finding::Constant { value: false }]
    );
    assert_eq!(lint_rules(&[], Some(100)), []);
    let on: (bool, &str, &[&str]) = (true, "and", &["country == \"DE\""]);
    assert_eq!(lint_rules(&[on], None), [Finding::Constant { value: true }]);
    assert_eq!(lint_rules(&[on], Some(0)), []);
}

#[test]
fn with_too_many_combinations_there_are_no_findings() {
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let conditions: Vec<String> = names.map(|name| format!("{name} == 1")).into();
    let conditions: Vec<&str> = conditions.iter().map(String::as_str).collect();
    assert_eq!(
        lint_rules(
            &[(true, "and", &conditions), (true, "and", &conditions)],
            None
        ),
        []
    );
}

#[test]
fn a_shadowed_rule_is_found_even_if_the_whole_flag_has_too_many_combinations() {
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let conditions = names.map(|name| format!("{name} == 1"));
    let conditions: Vec<&str> = conditions.iter().map(String::as_str).collect();
    let germany: (bool, &str, &[&str]) = (true, "and", &["country == \"DE\""]);
    let never = Finding::NeverReached {
        rule: rule(3),
        shadowed_by: Some(rule(2)),
    };
    assert_eq!(
        lint_rules(&[(true, "and", &conditions), germany, germany], Some(50)),
        [never]
    );
}

#[test]
fn a_check_that_is_cut_short_has_no_finding() {
    let conditions: Vec<_> = (0..50).map(|number| format!("seats > {number}")).collect();
    let rules: Vec<_> = (0..20).map(|_| (true, "and", conditions.clone())).collect();
    let findings = lint(&with_rules(&rules, Some(50)));
    assert!(
        findings
            .iter()
            .all(|finding| matches!(finding, Finding::NeverReached { .. })),
        "{findings:?}"
    );
}

/// Without a limit, these checks would take minutes in a debug build.
#[test]
fn after_too_many_comparisons_there_are_no_further_findings() {
    let seats = |rule: u32| (0..49).map(move |number| format!("seats != {}", rule * 49 + number));
    let rules = |count: u32| -> Vec<_> {
        (1..=count)
            .map(|rule| {
                let conditions = seats(rule).chain(["beta == true".to_owned()]).collect();
                (rule % 2 == 0, "and", conditions)
            })
            .chain([(
                true,
                "and",
                vec!["beta != true".into(), "beta != false".into()],
            )])
            .collect()
    };
    let never = Finding::NeverMatches { rule: rule(4) };
    assert_eq!(lint(&with_rules(&rules(3), Some(50))), [never]);
    assert_eq!(lint(&with_rules(&rules(99), Some(50))), []);
}

#[test]
fn a_check_with_too_many_comparisons_has_no_result() {
    let flag = |rules: u32| {
        let numbers = |rule: u32| (0..50).map(move |number| (rule * 50 + number) % 250);
        let conditions = |rule: u32| numbers(rule).map(|number| format!("seats == {number}"));
        let rules: Vec<_> = (0..rules)
            .map(|rule| (rule > 0, "or", conditions(rule).collect()))
            .collect();
        with_rules(&rules, None)
    };
    let (small, large) = (flag(5), flag(100));
    assert_eq!(enables_any_context(&small, &small), Some(false));
    assert_eq!(enables_any_context(&large, &large), None);
    let constant = [small, large].map(|mut flag| {
        flag.rules.iter_mut().for_each(|rule| rule.value = true);
        lint(&flag)
    });
    assert_eq!(constant, [vec![Finding::Constant { value: true }], vec![]]);
}
