//! Comparison of responses with the description of the API.

use std::sync::OnceLock;

use reqwest::{Method, StatusCode};
use serde_json::Value;

/// Returns the API description that the server generates.
pub fn description() -> &'static Value {
    static DESCRIPTION: OnceLock<Value> = OnceLock::new();
    DESCRIPTION.get_or_init(|| {
        serde_json::from_str(&pennon_server::description()).expect("the description is JSON")
    })
}

/// Fails the test if the API's description does not contain a response's status or the code of its problem document.
pub(crate) fn check(method: &Method, path: &str, status: StatusCode, code: &str) {
    let anywhere = matches!(code, "NO_SUCH_PATH" | "METHOD_NOT_ALLOWED");
    if anywhere || !matches!(path_item(path), Some(item) if item.get(verb(method)).is_some()) {
        return;
    }
    let (status, what) = (status.as_str(), format!("{method} {path}"));
    let responses = &path_item(path).expect("the path is described")[verb(method)]["responses"];
    let response = responses
        .get(status)
        .unwrap_or_else(|| panic!("{what} answers {status} {code}: not described. {ADVICE}"));
    if code.is_empty() {
        return;
    }
    let content = &resolved(response)["content"]["application/problem+json"];
    let codes = content.pointer("/schema/allOf/1/properties/code/enum");
    let codes = codes.and_then(Value::as_array);
    assert!(
        codes.is_some_and(|codes| codes.iter().any(|known| known == code)),
        "{what} answers {status} with {code}, and is described with {codes:?}. {ADVICE}"
    );
}

const ADVICE: &str =
    "What a use case may refuse is said at its route: `route!(handler).refuses(&[Code::…])`.";

/// Resolves a reference.
pub fn resolved(value: &Value) -> &Value {
    let Some(reference) = value.get("$ref").and_then(Value::as_str) else {
        return value;
    };
    let place = reference.strip_prefix('#').unwrap_or_default();
    let target = description().pointer(place);
    target.unwrap_or_else(|| panic!("{reference} does not resolve"))
}

/// Returns the name of a method in the description, which describes `HEAD` as `GET`.
fn verb(method: &Method) -> &'static str {
    match method.as_str() {
        "GET" | "HEAD" => "get",
        "POST" => "post",
        "PUT" => "put",
        "PATCH" => "patch",
        "DELETE" => "delete",
        _ => "-",
    }
}

/// Returns the description of a path: of the literal path, or else of the pattern that it matches.
fn path_item(path: &str) -> Option<&'static Value> {
    let paths = description()["paths"].as_object()?;
    if path.starts_with("/ofrep/v1/evaluate/flags/") {
        // The key of a flag may be empty or contain slashes.
        return paths.get("/ofrep/v1/evaluate/flags/{key}");
    }
    let path = path.trim_end_matches('/');
    let fits =
        |pattern: &str| {
            let (mut given, mut wanted) = (path.split('/'), pattern.split('/'));
            given.by_ref().zip(wanted.by_ref()).all(|(given, wanted)| {
                given == wanted || wanted.starts_with('{') && !given.is_empty()
            }) && path.split('/').count() == pattern.split('/').count()
        };
    paths.get(path).or_else(|| {
        let mut fitting = paths.iter().filter(|(pattern, _)| fits(pattern));
        fitting.next().map(|(_, item)| item)
    })
}
