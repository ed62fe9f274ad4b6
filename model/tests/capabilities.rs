//! The values that client versions support.

use pennon_core::FlagConfig;
use pennon_core::rollout::Strategy;
use pennon_core::rule::{Operator, ValueType};
use pennon_model::capabilities::{Capability, gaps, since, supports_all, unsupported};
use pennon_model::client::{Client, Package, Version};
use proptest::prelude::*;
use serde_json::json;

#[path = "../../core/tests/properties/generate.rs"]
#[expect(dead_code, reason = "this test generates only flags")]
mod generate;

use self::generate::flag;

/// A table in which later versions introduced two values.
fn fake_since(capability: Capability) -> Version {
    match capability {
        Capability::Operator(Operator::Greater) => Version::new(0, 3, 0),
        Capability::Strategy(Strategy::PerTenant) => Version::new(0, 2, 0),
        _ => Version::new(0, 1, 0),
    }
}

/// A flag with both values, one of them twice.
fn flag_with_later_capabilities() -> FlagConfig {
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
fn a_version_does_not_support_values_that_came_after_it() {
    let flag = flag_with_later_capabilities();
    let of = |version: &str| {
        let version = Version::parse(version).unwrap_or(Version::new(0, 0, 0));
        unsupported(&flag, &version, fake_since)
    };
    let (greater, per_tenant) = (
        Capability::Operator(Operator::Greater),
        Capability::Strategy(Strategy::PerTenant),
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
    assert_eq!(unsupported(&archived, &first, fake_since), []);
}

#[test]
fn clients_that_lack_the_same_values_form_one_gap() {
    let version = |minor| Version::new(0, minor, 0);
    let client = |package, minor| Client::Known(package, version(minor));
    let clients = [
        client(Package::Core, 1),
        client(Package::React, 1),
        client(Package::Core, 2),
        client(Package::Core, 3),
        Client::Newer(Package::Core),
        Client::Other,
    ];
    let flag = flag_with_later_capabilities();
    let found: Vec<String> = gaps([&flag, &flag], &clients, fake_since)
        .iter()
        .map(ToString::to_string)
        .collect();
    let expected = [
        "Update `@pennon/core/0.1.0` and `@pennon/react/0.1.0`, in use within the last 7 days: they cannot read the operator \
         `>` and the rollout strategy `per_tenant`.",
        "Update `@pennon/core/0.2.0`, in use within the last 7 days: it cannot read the operator `>`.",
    ];
    assert_eq!(found, expected);
    for (count, end) in [
        (5, "`@pennon/core/0.2.3` and `@pennon/core/0.2.4`, in use"),
        (6, "`@pennon/core/0.2.4` and 1 more, in use"),
        (7, "`@pennon/core/0.2.4` and 2 more, in use"),
    ] {
        let many: Vec<Client> = (0..count)
            .map(|patch| Client::Known(Package::Core, Version::new(0, 2, patch)))
            .collect();
        let found = gaps([&flag], &many, fake_since);
        let text = found.first().map(ToString::to_string).unwrap_or_default();
        assert!(text.contains(end), "{text}");
    }
    assert!(!supports_all(&version(2), fake_since) && supports_all(&version(3), fake_since));
    assert!(supports_all(&version(1), since));
}

#[test]
fn values_are_named_as_in_the_document() {
    let named = [
        Capability::Document,
        Capability::Operator(Operator::GreaterOrEqual),
        Capability::ValueType(ValueType::Boolean),
        Capability::Strategy(Strategy::PerUser),
    ];
    assert_eq!(
        named.map(|capability| capability.to_string()),
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
        prop_assert_eq!(unsupported(&flag, &this, since), []);
        let before = unsupported(&flag, &Version::new(0, 0, 1), since);
        prop_assert_eq!(before.first(), (!flag.archived).then_some(&Capability::Document));
    }
}
