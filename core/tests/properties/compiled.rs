//! Compiled flags: the order of rules, and the slots of attributes.

use pennon_core::rule::Attribute;
use pennon_core::{CompiledFlag, Context, FlagConfig, MissingBucketingKey, evaluate};
use serde_json::{Error, json};

/// Compiles a flag with these rules, each with its priority, value and attribute. A rule matches if the attribute is
/// "x".
fn compile(rules: &[(u32, bool, &str)]) -> Result<CompiledFlag, Error> {
    let rules = rules.iter().map(|(priority, value, attribute)| {
        json!({
            "priority": priority,
            "logic": "and",
            "value": value,
            "conditions": [
                { "attribute": attribute, "operator": "==", "valueType": "string", "valueString": "x" },
            ],
        })
    });
    let rules: Vec<_> = rules.collect();
    let flag = json!({ "key": "f", "enabled": true, "rules": rules, "rollout": null });
    serde_json::from_value::<FlagConfig>(flag).map(CompiledFlag::from)
}

#[test]
fn rules_with_the_same_priority_keep_their_order() -> Result<(), Error> {
    let context = Context {
        country: Some("x".into()),
        ..Context::default()
    };
    for first in [true, false] {
        let rules = [
            (2, !first, "country"),
            (1, first, "country"),
            (1, !first, "country"),
        ];
        let evaluation = evaluate(&compile(&rules)?, &context, MissingBucketingKey::Excluded);
        assert_eq!(evaluation.enabled, first);
    }
    Ok(())
}

#[test]
fn attributes_whose_names_have_the_same_hash_have_their_own_slots() -> Result<(), Error> {
    let names = ["costarring", "liquid", "costarring", "liquid", "userId"];
    let rules: Vec<_> = (1..).zip(names).map(|(n, name)| (n, true, name)).collect();
    let flag = compile(&rules)?;
    let attributes: Vec<_> = flag.attributes().iter().map(Attribute::as_str).collect();
    assert_eq!(attributes, ["costarring", "liquid", "userId"]);
    Ok(())
}
