//! Compatibility of the API with the last release, and tests of the comparison.

mod comparison;
mod sample;

use std::collections::BTreeSet;

use pennon_tests::{api_breaks, description, fixtures, is_field};
use serde_json::Value;

const COMPATIBILITY: &str = include_str!("../../../docs/compatibility.md");

/// Returns the fields that `docs/compatibility.md` lists as open: the first column of the table below that heading.
fn open_fields() -> BTreeSet<String> {
    let (_, list) = COMPATIBILITY
        .split_once("\n### Open fields\n")
        .expect("the title is there");
    let list = list.split("\n#").next().unwrap_or_default();
    let names = list
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    names.map(str::to_owned).collect()
}

fn last_release() -> Value {
    let text =
        std::fs::read(fixtures().join("api/openapi.json")).expect("the description can be read");
    serde_json::from_slice(&text).expect("the description is JSON")
}

#[test]
fn clients_of_the_last_release_can_use_this_api() {
    let breaks = api_breaks(&last_release(), description(), &open_fields());
    assert!(
        breaks.is_empty(),
        "clients of the last release may fail (docs/compatibility.md):\n{}",
        breaks.join("\n")
    );
}

#[test]
fn every_open_field_exists() {
    let fields = open_fields();
    assert!(fields.len() > 5, "{fields:?}");
    for field in fields {
        assert!(
            is_field(description(), &field),
            "docs/compatibility.md lists {field}, which the API does not have"
        );
    }
}

/// Returns JSON pointers to everything in this API's description that clients may rely on: operations, statuses,
/// members, and values.
fn promises() -> Vec<String> {
    let escaped = |name: &str| name.replace('~', "~0").replace('/', "~1");
    let keys = |pointer: &str| -> Vec<String> {
        let value = description().pointer(pointer);
        let members = value.and_then(Value::as_object).into_iter().flatten();
        let members = members.map(|(name, _)| format!("{pointer}/{}", escaped(name)));
        let items = value.and_then(Value::as_array).map_or(0, Vec::len);
        members
            .chain((0..items).map(|index| format!("{pointer}/{index}")))
            .collect()
    };
    let operations: Vec<String> = keys("/paths").iter().flat_map(|path| keys(path)).collect();
    let statuses = operations
        .iter()
        .flat_map(|operation| keys(&format!("{operation}/responses")));
    let statuses: Vec<String> = statuses.collect();
    let schemas = keys("/components/schemas");
    let members = schemas
        .iter()
        .flat_map(|schema| keys(&format!("{schema}/properties")));
    let values = schemas
        .iter()
        .flat_map(|schema| keys(&format!("{schema}/enum")));
    let mut promises: Vec<String> = members.chain(values).collect();
    promises.extend(operations.into_iter().chain(statuses));
    promises
}

#[test]
fn every_removal_from_this_api_is_found() {
    let promises = promises();
    assert!(promises.len() > 500, "{}", promises.len());
    // Each comparison is slow, so the test checks every 23rd pointer, which covers all kinds.
    for pointer in promises.iter().step_by(23) {
        let mut lost = description().clone();
        let (parent, name) = pointer.rsplit_once('/').expect("a pointer");
        match lost.pointer_mut(parent) {
            Some(Value::Object(members)) => {
                members.remove(&name.replace("~1", "/").replace("~0", "~"));
            }
            Some(Value::Array(items)) => _ = items.remove(name.parse().expect("a number")),
            other => panic!("{pointer} is in {other:?}"),
        }
        let breaks = api_breaks(description(), &lost, &open_fields());
        assert!(!breaks.is_empty(), "{pointer} can be lost without a word");
    }
}
