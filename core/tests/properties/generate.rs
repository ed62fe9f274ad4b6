//! Random flags, contexts and documents, drawn from so few names and values that they often match.

use std::borrow::Cow;

use pennon_core::config::FlagConfig;
use pennon_core::context::{Context, CustomValue};
use pennon_core::rollout::{Percentage, Rollout, Strategy as Bucketing};
use pennon_core::rule::{
    Attribute, Condition, Integer, Logic, Operand, OperandText, Operator, Priority, Rule,
};
use pennon_core::ttl::Ttl;
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

/// The maximum integer of an operand.
pub(crate) const MAX_INTEGER: i64 = (1 << 53) - 1;

/// The built-in names, custom names, `__proto__`, which breaks maps with inheritance, and one with a byte order mark,
/// which decoders drop.
const NAMES: &[&str] = &[
    "userId",
    "tenantId",
    "email",
    "country",
    "plan",
    "\u{feff}plan",
    "seats",
    "beta",
    "__proto__",
];

/// Texts whose order is easily confused, and characters that JSON must escape.
const TEXTS: &[&str] = &[
    "",
    " ",
    "a",
    "ab",
    "b",
    "A",
    "5",
    "true",
    "é",
    "e\u{301}",
    "\u{e000}",
    "\u{fffd}",
    "\u{10000}",
    "\u{1f600}",
    "\"\\/\n\u{1}",
    "\t\r\u{8}\u{c}\u{7f}",
];

pub(crate) fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => select(TEXTS).prop_map(str::to_owned),
        1 => "(?s).{0,8}",
    ]
}

pub(crate) fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => select(NAMES).prop_map(str::to_owned),
        1 => "(?s).{1,4}",
    ]
}

pub(crate) fn attribute() -> impl Strategy<Value = Attribute> {
    name().prop_filter_map("a name without U+0000", |name| {
        Attribute::try_from(Box::from(name)).ok()
    })
}

pub(crate) fn operator() -> impl Strategy<Value = Operator> {
    select(Operator::ALL)
}

pub(crate) fn string_operand() -> impl Strategy<Value = Operand> {
    text().prop_filter_map("a text without U+0000", |text| {
        OperandText::try_from(Box::from(text))
            .map(Operand::String)
            .ok()
    })
}

pub(crate) fn number_operand() -> impl Strategy<Value = Operand> {
    let number = prop_oneof![
        4 => -3..=3i64,
        1 => select(&[MAX_INTEGER, MAX_INTEGER - 1, -MAX_INTEGER][..]),
        1 => -MAX_INTEGER..=MAX_INTEGER,
    ];
    number.prop_filter_map("an integer in range", |number| {
        Integer::try_from(number).map(Operand::Number).ok()
    })
}

pub(crate) fn operand() -> impl Strategy<Value = Operand> {
    prop_oneof![
        string_operand(),
        number_operand(),
        any::<bool>().prop_map(Operand::Boolean),
    ]
}

/// Returns conditions of every kind, mostly on attributes that [`context`] has, so that several rules can match.
pub(crate) fn condition() -> impl Strategy<Value = Condition> {
    let strings = select(&["userId", "tenantId", "country", "plan"][..]);
    let usual = prop_oneof![
        4 => (strings, string_operand()),
        1 => (Just("seats"), number_operand()),
        1 => (Just("beta"), any::<bool>().prop_map(Operand::Boolean)),
    ];
    let usual = usual.prop_filter_map("a name", |(name, operand)| {
        Some((Attribute::try_from(Box::from(name)).ok()?, operand))
    });
    let compared = prop_oneof![4 => usual, 1 => (attribute(), operand())];
    (compared, operator()).prop_map(|((attribute, operand), operator)| Condition {
        attribute,
        operator,
        operand,
    })
}

/// Returns rules of different priorities, in any order.
pub(crate) fn rules() -> impl Strategy<Value = Vec<Rule>> {
    let priority = prop_oneof![4 => 1..=20i64, 1 => 1..=i64::from(i32::MAX)]
        .prop_filter_map("a priority in range", |number| {
            Priority::try_from(number).ok()
        });
    let rest = (select(Logic::ALL), any::<bool>(), vec(condition(), 1..4));
    btree_map(priority, rest, 0..5)
        .prop_map(|rules| {
            let rule = |(priority, (logic, value, conditions))| Rule {
                priority,
                logic,
                value,
                conditions,
            };
            rules.into_iter().map(rule).collect::<Vec<_>>()
        })
        .prop_shuffle()
}

pub(crate) fn rollout() -> impl Strategy<Value = Rollout> {
    let percentage = (0..=100i64).prop_filter_map("a percentage in range", |number| {
        Percentage::try_from(number).ok()
    });
    (percentage, select(Bucketing::ALL)).prop_map(|(percentage, strategy)| Rollout {
        percentage,
        strategy,
    })
}

/// Returns flags that are mostly active and enabled, so that rules and rollouts are evaluated.
pub(crate) fn flag() -> impl Strategy<Value = FlagConfig> {
    let ttl = (1..=i64::from(Ttl::MAX))
        .prop_filter_map("a TTL in range", |seconds| Ttl::try_from(seconds).ok());
    (
        text(),
        prop::bool::weighted(0.1),
        prop::bool::weighted(0.9),
        rules(),
        option::of(rollout()),
        option::of(ttl),
    )
        .prop_map(|(key, archived, enabled, rules, rollout, ttl)| FlagConfig {
            key: key.into(),
            archived,
            enabled,
            rules,
            rollout,
            ttl,
        })
}

/// Returns doubles of every kind, including those that are not finite.
pub(crate) fn double() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => (-7..=7i32).prop_map(|halves| f64::from(halves) / 2.0),
        1 => select(&[
            -0.0, 5e-324, 1e308, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::EPSILON,
            9_007_199_254_740_990.0, 9_007_199_254_740_991.0, 9_007_199_254_740_992.0,
        ][..]),
        1 => any::<f64>(),
    ]
}

pub(crate) fn custom_value() -> impl Strategy<Value = CustomValue<'static>> {
    prop_oneof![
        text().prop_map(|text| CustomValue::String(Cow::Owned(text))),
        double().prop_map(CustomValue::Number),
        any::<bool>().prop_map(CustomValue::Boolean),
    ]
}

/// Returns contexts with most of the attributes in conditions; custom attributes may have the names of built-in ones.
pub(crate) fn context() -> impl Strategy<Value = Context<'static>> {
    let builtin = || option::weighted(0.8, text().prop_map(Cow::Owned));
    let usual = (
        option::weighted(
            0.8,
            text().prop_map(|text| CustomValue::String(text.into())),
        ),
        option::weighted(0.8, double().prop_map(CustomValue::Number)),
        option::weighted(0.8, any::<bool>().prop_map(CustomValue::Boolean)),
    );
    let others = btree_map(name().prop_map(Cow::Owned), custom_value(), 0..4);
    let custom = (usual, others).prop_map(|((plan, seats, beta), mut custom)| {
        for (name, value) in [("plan", plan), ("seats", seats), ("beta", beta)] {
            if let Some(value) = value {
                custom.insert(name.into(), value);
            }
        }
        custom
    });
    (builtin(), builtin(), builtin(), builtin(), custom).prop_map(
        |(user_id, tenant_id, email, country, custom)| Context {
            user_id,
            tenant_id,
            email,
            country,
            custom,
        },
    )
}
