//! Tests of the comparison: each kind of API change, and whether it is found.

use std::collections::BTreeSet;

use pennon_tests::api_breaks;
use serde_json::{Value, json};

use super::sample::sample;

const OPERATION: &str = "/paths/~1items~1{item}/put";
const REQUEST: &str = "/paths/~1items~1{item}/put/requestBody/content/application~1json/schema";
const ITEM: &str = "/components/schemas/Item";

/// Returns the sample with another value at a pointer. `null` removes the member or item.
fn changed(pointer: &str, value: Value) -> Value {
    let mut description = sample();
    let (parent, name) = pointer.rsplit_once('/').expect("a pointer");
    let parent = description
        .pointer_mut(parent)
        .unwrap_or_else(|| panic!("{pointer} does not resolve"));
    let name = name.replace("~1", "/");
    match (parent, value) {
        (Value::Object(members), Value::Null) => _ = members.remove(&name).expect("it is there"),
        (Value::Object(members), value) => _ = members.insert(name, value),
        (Value::Array(items), Value::Null) => _ = items.remove(name.parse().expect("a number")),
        (Value::Array(items), value) if name == "-" => items.push(value),
        (Value::Array(items), value) => items[name.parse::<usize>().expect("a number")] = value,
        (other, _) => panic!("{pointer} is in {other}"),
    }
    description
}

fn open(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

/// Fails the test unless the comparison reports this change of the sample with this sentence.
#[track_caller]
fn breaks(pointer: &str, value: Value, sentence: &str) {
    let breaks = api_breaks(&sample(), &changed(pointer, value), &BTreeSet::new());
    assert!(
        breaks.iter().any(|found| found.contains(sentence)),
        "{pointer}: {breaks:#?}"
    );
}

/// Fails the test if the comparison reports this change of the sample.
#[track_caller]
fn is_compatible(pointer: &str, value: Value, open_fields: &[&str]) {
    let breaks = api_breaks(&sample(), &changed(pointer, value), &open(open_fields));
    assert_eq!(breaks, Vec::<String>::new(), "{pointer}");
}

#[test]
fn the_same_description_is_compatible() {
    assert_eq!(
        api_breaks(&sample(), &sample(), &BTreeSet::new()),
        Vec::<String>::new()
    );
}

#[test]
fn operations_and_credentials_cannot_be_removed() {
    breaks(
        "/paths/~1items~1{item}",
        Value::Null,
        "PUT /items/{item} is gone",
    );
    breaks(OPERATION, Value::Null, "PUT /items/{item} is gone");
    let at = |name: &str| format!("{OPERATION}/{name}");
    breaks(
        &at("operationId"),
        json!("items.set"),
        "its operationId is \"items.set\" now",
    );
    breaks(
        &at("security/0"),
        json!({ "other": [] }),
        "the credential {\"key\":[]} does not work any more",
    );
    breaks(
        "/components/securitySchemes/key",
        Value::Null,
        "the credential `key` has changed",
    );
    breaks(
        "/components/securitySchemes/key/scheme",
        json!("basic"),
        "the credential `key` has changed",
    );
    is_compatible(&at("security/-"), json!({ "other": [] }), &[]);
    is_compatible("/paths/~1new", json!({ "get": {} }), &[]);
    let mut open = sample();
    open.pointer_mut(OPERATION)
        .and_then(Value::as_object_mut)
        .expect("an operation")
        .remove("security");
    let breaks = api_breaks(&open, &sample(), &BTreeSet::new());
    assert_eq!(breaks, ["PUT /items/{item}: it needs a credential now"]);
}

#[test]
fn parameters_stay_optional_and_accept_the_same_values() {
    let at = |name: &str| format!("{OPERATION}/parameters/{name}");
    breaks(&at("1"), Value::Null, "the query parameter `limit` is gone");
    breaks(
        &at("2"),
        Value::Null,
        "the header parameter `If-Match` is gone",
    );
    breaks(
        &at("1/required"),
        json!(true),
        "the query parameter `limit` is required now",
    );
    breaks(
        &at("1/explode"),
        json!(false),
        "`explode` of the query parameter `limit` is false now",
    );
    breaks(
        &at("1/schema/maximum"),
        json!(50),
        "query parameter `limit`: the value has a `maximum` of 50 now",
    );
    breaks(
        &at("0/schema/type"),
        json!("integer"),
        "path parameter 1: the value may not be string any more",
    );
    let required = json!({ "name": "new", "in": "query", "required": true, "schema": {} });
    breaks(
        &at("-"),
        required,
        "the query parameter `new` is new and required",
    );
    is_compatible(
        &at("-"),
        json!({ "name": "new", "in": "query", "schema": {} }),
        &[],
    );
    is_compatible(&at("1/schema/maximum"), json!(500), &[]);
    is_compatible(&at("0/description"), json!("An item."), &[]);
}

#[test]
fn the_name_of_a_path_parameter_does_not_matter() {
    let text = sample()
        .to_string()
        .replace("{item}", "{id}")
        .replace("\"name\":\"item\"", "\"name\":\"id\"");
    let renamed: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(
        api_breaks(&sample(), &renamed, &BTreeSet::new()),
        Vec::<String>::new()
    );
}

#[test]
fn requests_may_only_accept_more() {
    let at = |name: &str| format!("{REQUEST}/{name}");
    let body = format!("{OPERATION}/requestBody");
    breaks(
        &format!("{body}/required"),
        json!(true),
        "a body is required now",
    );
    breaks(
        &format!("{body}/content/application~1json"),
        Value::Null,
        "it takes no application/json any more",
    );
    breaks(&body, Value::Null, "it takes no application/json any more");
    breaks(
        &at("required/-"),
        json!("state"),
        "`state` of the value is required now",
    );
    breaks(
        &at("properties/state"),
        Value::Null,
        "request: `state` is gone",
    );
    breaks(
        &at("additionalProperties"),
        json!(false),
        "the value may not have other members any more",
    );
    breaks(
        &at("properties/name/maxLength"),
        json!(63),
        "`name` has a `maxLength` of 63 now",
    );
    breaks(
        &at("properties/name/minLength"),
        json!(2),
        "`name` has a `minLength` of 2 now",
    );
    breaks(
        &at("properties/name/pattern"),
        json!("^b"),
        "`name` has another pattern now",
    );
    breaks(
        &at("properties/name/format"),
        json!("email"),
        "`name` must be a email now",
    );
    breaks(
        &at("properties/name/enum"),
        json!(["a"]),
        "`name` has a fixed set of values now",
    );
    breaks(
        &at("properties/size/minimum"),
        json!(1),
        "`size` has a `minimum` of 1 now",
    );
    breaks(
        &at("properties/size/type"),
        json!("integer"),
        "`size` may not be number any more",
    );
    breaks(
        &at("properties/note/type"),
        json!("string"),
        "`note` may not be null any more",
    );
    breaks(
        &at("properties/name/not"),
        json!({}),
        "`name`: the keyword `not` is not compared",
    );
    breaks(
        "/components/schemas/State/enum/0",
        Value::Null,
        "request: `state` may not be `active` any more",
    );
    is_compatible(&at("properties/new"), json!({ "type": "string" }), &[]);
    is_compatible(&at("properties/name/maxLength"), json!(65), &[]);
    is_compatible(&at("properties/name/minLength"), Value::Null, &[]);
    is_compatible(&at("properties/name/pattern"), Value::Null, &[]);
    is_compatible(&at("properties/name/type"), json!(["string", "null"]), &[]);
    is_compatible(&at("properties/size/maximum"), json!(10), &[]);
    is_compatible(&at("required"), json!([]), &[]);
}

#[test]
fn responses_may_only_gain_members() {
    let at = |name: &str| format!("{ITEM}/{name}");
    let answers = format!("{OPERATION}/responses");
    breaks(
        &format!("{answers}/409"),
        Value::Null,
        "it never answers 409 any more",
    );
    breaks(
        &format!("{answers}/202"),
        json!({}),
        "it may answer 202 now",
    );
    breaks(
        &format!("{answers}/200/headers/ETag"),
        Value::Null,
        "answer 200: the header `ETag` is gone",
    );
    breaks(
        &format!("{answers}/200/content/application~1json"),
        Value::Null,
        "it is no application/json any more",
    );
    breaks(
        &at("properties/note"),
        Value::Null,
        "answer 200: `note` is gone",
    );
    breaks(
        &at("required/1"),
        Value::Null,
        "`state` of the value may be missing now",
    );
    breaks(
        &at("properties/id/format"),
        Value::Null,
        "`id` is no uuid any more",
    );
    breaks(
        &at("properties/size/type"),
        json!("number"),
        "`size` may be number now",
    );
    breaks(
        &at("properties/size/type"),
        json!(["integer", "null"]),
        "`size` may be null now",
    );
    breaks(
        &at("properties/value/oneOf/-"),
        json!({ "type": "null" }),
        "`value` may be null now",
    );
    breaks(
        &at("properties/value/oneOf/0/type"),
        json!("integer"),
        "`value` may be integer now",
    );
    breaks(
        &at("properties/extras/additionalProperties/type"),
        json!("string"),
        "`extras.*` may be string now",
    );
    breaks(
        &at("properties/children/items"),
        json!({ "type": "string" }),
        "`children[]` may be string now",
    );
    breaks(
        "/components/schemas/State/enum/-",
        json!("new"),
        "answer 200: `state` may be `new` now, and is not listed as open",
    );
    breaks(
        "/components/schemas/State/enum/0",
        Value::Null,
        "answer 200: `state` is never `active` any more",
    );
    breaks(
        "/components/schemas/State/enum",
        Value::Null,
        "`state` may have any value now",
    );
    is_compatible(&at("properties/new"), json!({ "type": "string" }), &[]);
    is_compatible(&at("required/-"), json!("note"), &[]);
    is_compatible(&at("properties/note/type"), json!("string"), &[]);
    is_compatible(&at("properties/value/oneOf/1"), Value::Null, &[]);
    is_compatible(&format!("{answers}/429"), json!({}), &[]);
}

#[test]
fn open_fields_may_gain_but_not_lose_values() {
    let state = "/components/schemas/State/enum";
    for name in ["State", "Item.state"] {
        is_compatible(&format!("{state}/-"), json!("new"), &[name]);
    }
    is_compatible(state, Value::Null, &["State"]);
    is_compatible(
        &format!("{ITEM}/properties/size/type"),
        json!(["integer", "null"]),
        &["Item.size"],
    );
    is_compatible(
        &format!("{ITEM}/properties/value/oneOf/-"),
        json!({ "type": "integer" }),
        &["Item.value"],
    );
    let lost = changed(&format!("{state}/0"), Value::Null);
    let breaks = api_breaks(&sample(), &lost, &open(&["State"]));
    assert!(
        breaks
            .iter()
            .any(|found| found.contains("`state` is never `active` any more")),
        "{breaks:?}"
    );
}

#[test]
fn error_codes_cannot_change() {
    let code = format!(
        "{OPERATION}/responses/409/content/application~1problem+json/schema/allOf/1/properties/code/enum"
    );
    breaks(
        &format!("{code}/0"),
        Value::Null,
        "answer 409: `code` is never `TAKEN` any more",
    );
    breaks(
        &format!("{code}/-"),
        json!("OTHER"),
        "answer 409: `code` may be `OTHER` now",
    );
    is_compatible(&format!("{code}/-"), json!("OTHER"), &["Code"]);
}

#[test]
fn a_schema_may_move_into_a_component() {
    let mut moved = sample();
    let request = moved.pointer(REQUEST).cloned().expect("a schema");
    moved["components"]["schemas"]["Input"] = request;
    *moved.pointer_mut(REQUEST).expect("a schema") =
        json!({ "$ref": "#/components/schemas/Input" });
    assert_eq!(
        api_breaks(&sample(), &moved, &BTreeSet::new()),
        Vec::<String>::new()
    );
    assert_eq!(
        api_breaks(&moved, &sample(), &BTreeSet::new()),
        Vec::<String>::new()
    );
}
