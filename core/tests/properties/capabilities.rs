//! The words that versions of clients can read.

use pennon_core::FlagConfig;
use pennon_core::capabilities::{Word, since, unreadable};
use pennon_core::model::client::Version;
use pennon_core::model::rollout::Strategy;
use pennon_core::model::rule::{Operator, ValueType};
use proptest::prelude::*;
use serde_json::json;

use crate::generate::flag;

/// A table in which two words came after the first version.
fn made_up(word: Word) -> Version {
    match word {
        Word::Operator(Operator::Greater) => Version::new(0, 3, 0),
        Word::Strategy(Strategy::PerTenant) => Version::new(0, 2, 0),
        _ => Version::new(0, 1, 0),
    }
}

/// A flag with both words, one of them twice.
fn flag_with_later_words() -> FlagConfig {
    let condition = json!({
        "attribute": "age", "operator": ">", "valueType": "number", "valueInt": 1,
    });
    let rule = json!({
        "priority": 1, "logic": "and", "value": true, "conditions": [condition, condition],
    });
    let flag = json!({
        "key": "k", "enabled": true, "rules": [rule],
        "rollout": { "percentage": 1, "strategy": "per_tenant" }, "ttlOverrideSeconds": null,
    });
    serde_json::from_value(flag).unwrap_or_else(|error| panic!("the flag is valid: {error}"))
}

#[test]
fn a_version_cannot_read_the_words_that_came_after_it() {
    let flag = flag_with_later_words();
    let of = |version: &str| {
        let version = Version::parse(version).unwrap_or(Version::new(0, 0, 0));
        unreadable(&flag, &version, made_up)
    };
    let (greater, per_tenant) = (
        Word::Operator(Operator::Greater),
        Word::Strategy(Strategy::PerTenant),
    );
    assert_eq!(of("0.1.0"), [greater, per_tenant]);
    assert_eq!(of("0.2.0-rc.1"), [greater, per_tenant]);
    assert_eq!(of("0.2.0"), [greater]);
    assert_eq!(of("0.3.0"), []);
    assert_eq!(of("1.0.0"), []);
    let archived = FlagConfig {
        archived: true,
        ..flag.clone()
    };
    let first = Version::new(0, 1, 0);
    assert_eq!(unreadable(&archived, &first, made_up), []);
}

#[test]
fn words_are_named_as_the_document_writes_them() {
    let named = [
        Word::Document,
        Word::Operator(Operator::GreaterOrEqual),
        Word::ValueType(ValueType::Boolean),
        Word::Strategy(Strategy::PerUser),
    ];
    assert_eq!(
        named.map(|word| word.to_string()),
        [
            "the config document",
            "the operator `>=`",
            "the value type `boolean`",
            "the rollout strategy `per_user`",
        ]
    );
}

proptest! {
    #[test]
    fn this_version_reads_every_flag_and_versions_before_the_first_read_none(flag in flag()) {
        let this = Version::parse(env!("CARGO_PKG_VERSION"));
        let this = this.unwrap_or_else(|error| panic!("the version is valid: {error}"));
        prop_assert_eq!(unreadable(&flag, &this, since), []);
        let before = unreadable(&flag, &Version::new(0, 0, 1), since);
        prop_assert_eq!(before.first(), (!flag.archived).then_some(&Word::Document));
    }
}
