//! The API's description: its completeness, and its agreement with the routes. All other tests check its accuracy: a
//! test fails if it receives a response that the description does not contain.

use std::process::Command;

use pennon_tests::{TestApp, binary, description, resolved};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

/// The operations that clients may rely on.
const CONTRACT: &str = "
    POST /auth/login
    POST /auth/logout
    POST /environments
    GET /environments
    GET /environments/{environment}
    PATCH /environments/{environment}
    POST /environments/{environment}/revoke
    POST /environments/{environment}/rotate-key
    POST /flags
    GET /flags
    GET /flags/{flag}
    PATCH /flags/{flag}
    DELETE /flags/{flag}
    GET /flags/{flag}/environments/{environment}
    PUT /flags/{flag}/environments/{environment}
    POST /flags/{flag}/environments/{environment}/rules
    GET /flags/{flag}/environments/{environment}/rules
    PUT /rules/{rule}
    DELETE /rules/{rule}
    GET /flags/{flag}/environments/{environment}/rollout
    PUT /flags/{flag}/environments/{environment}/rollout
    DELETE /flags/{flag}/environments/{environment}/rollout
    GET /audit
    POST /sdk/v1/evaluate
    POST /sdk/v1/evaluate/batch
    GET /sdk/v1/config
    GET /health
";

/// Returns every operation with its method and path.
pub(crate) fn operations() -> Vec<(Method, &'static str, &'static Value)> {
    let paths = description()["paths"].as_object().expect("there are paths");
    let operations = paths.iter().flat_map(|(path, item)| {
        let item = item.as_object().expect("a path has operations");
        item.iter().map(|(method, operation)| {
            let method = method.to_ascii_uppercase();
            let method = method.parse().expect("a method is a method");
            (method, path.as_str(), operation)
        })
    });
    operations.collect()
}

#[tokio::test]
async fn the_command_prints_the_description_that_is_served() {
    let app = TestApp::start().await;
    let served = app.anonymous().get("/openapi.json").await;
    let served = served.expect(StatusCode::OK);
    assert_eq!(served.header("content-type"), "application/json");
    assert_eq!(served.text("/openapi"), "3.1.0");
    let printed = Command::new(binary())
        .arg("openapi")
        .output()
        .expect("the binary runs");
    let printed: Value = serde_json::from_slice(&printed.stdout).expect("it prints JSON");
    assert_eq!(served.json(), printed);
}

#[tokio::test]
async fn the_reference_page_uses_no_inline_or_external_resources() {
    let app = TestApp::start().await;
    let page = app.anonymous().get("/docs").await.expect(StatusCode::OK);
    assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
    let policy = page.header("content-security-policy");
    assert!(policy.contains("default-src 'none'; script-src 'self'; style-src 'self'"));
    assert!(!policy.contains("unsafe"), "{policy}");
    let html = String::from_utf8(page.bytes.clone()).expect("the page is text");
    let addresses = ["src=\"", "href=\""].map(|attribute| html.split(attribute).skip(1));
    let assets: Vec<&str> = addresses
        .into_iter()
        .flatten()
        .filter_map(|rest| rest.split('"').next())
        .filter(|address| address.contains("/reference."))
        .collect();
    assert_eq!(assets.len(), 2, "{assets:?}");
    for address in assets {
        app.anonymous().get(address).await.expect(StatusCode::OK);
    }
    for foreign in ["<script>", "<style", "style=", "=\"http", "@"] {
        assert!(!html.contains(foreign), "{foreign}");
    }
}

#[test]
fn every_reference_resolves() {
    fn follow(value: &Value) -> usize {
        match value {
            Value::Object(members) => {
                resolved(value);
                let here = usize::from(members.contains_key("$ref"));
                here + members.values().map(follow).sum::<usize>()
            }
            Value::Array(items) => items.iter().map(follow).sum(),
            _ => 0,
        }
    }
    assert!(follow(description()) > 100);
}

#[test]
fn enumerations_are_described_with_the_values_that_are_sent() {
    let schemas = &description()["components"]["schemas"];
    let reasons = [
        "flag_enabled",
        "flag_disabled",
        "flag_archived",
        "targeting_rule",
        "rollout",
    ];
    assert_eq!(schemas["Reason"]["enum"], json!(reasons));
    let standard_reasons = ["STATIC", "DEFAULT", "DISABLED", "TARGETING_MATCH", "SPLIT"];
    assert_eq!(schemas["StandardReason"]["enum"], json!(standard_reasons));
    assert_eq!(schemas["Code"]["enum"][0], "INVALID_INPUT");
}

/// Generators of clients use the description literally: they drop members that it does not allow, and refuse or
/// misread some forms.
#[test]
fn generated_clients_can_use_every_member() {
    let schemas = &description()["components"]["schemas"];
    let context = &schemas["OfrepQuestion"]["properties"]["context"]["oneOf"][0];
    assert_eq!(context["additionalProperties"], true);
    let failure = &schemas["OfrepFailure"]["properties"]["metadata"];
    assert_eq!(failure["additionalProperties"], true);
    for (schema, member) in [
        ("AuditEntry", "oldValue"),
        ("AuditEntry", "newValue"),
        ("ObjectChange", "oldValue"),
        ("ObjectChange", "newValue"),
    ] {
        let value = &schemas[schema]["properties"][member];
        assert_eq!(value["type"], json!(["object", "null"]), "{schema}");
        assert_eq!(value["additionalProperties"], true, "{schema}");
    }
    for trace in schemas["ConditionTrace"]["oneOf"]
        .as_array()
        .expect("it is one of several")
    {
        assert_eq!(trace["required"].as_array().map(Vec::len), Some(6));
    }
    for (method, path, operation) in operations() {
        let parameters = operation["parameters"].as_array();
        let names = parameters.into_iter().flatten().map(|parameter| {
            let name = resolved(parameter)["name"].as_str();
            name.unwrap_or_default().trim_end_matches("[]")
        });
        let mut names: Vec<&str> = names.collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count, "{method} {path}");
    }
    assert_eq!(
        description()["info"]["license"]["identifier"],
        "MIT OR Apache-2.0"
    );
}

/// The reference page sends the examples of parameters and bodies unless they are edited.
#[tokio::test]
async fn requests_with_the_examples_of_the_description_are_valid() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let mut bodies = 0;
    for (method, path, operation) in operations() {
        let parameters = operation["parameters"].as_array();
        for parameter in parameters.into_iter().flatten().map(resolved) {
            let name = parameter["name"].as_str().unwrap_or_default();
            let schema = resolved(&parameter["schema"]);
            let has_example = parameter.get("example").or(schema.get("example")).is_some();
            let is_valid = parameter["in"] == "path" || ["page", "limit"].contains(&name);
            assert!(is_valid || !has_example, "{method} {path}: {name}");
        }
        let example = &operation["requestBody"]["content"]["application/json"]["example"];
        if !example.is_null() {
            bodies += 1;
            let request = admin.request(method.clone(), path).json(example);
            let answer = admin.send(request).await;
            assert_ne!(answer.status, StatusCode::BAD_REQUEST, "{method} {path}");
        }
    }
    assert_eq!(bodies, 3);
}

#[test]
fn pages_of_other_origins_can_send_a_context_as_text() {
    for path in [
        "/sdk/v1/public/{key}/evaluate/all",
        "/sdk/v1/public/{key}/bootstrap",
    ] {
        let content = &description()["paths"][path]["post"]["requestBody"]["content"];
        assert_eq!(content["text/plain"], content["application/json"], "{path}");
    }
}

#[test]
fn every_operation_of_the_contract_is_described() {
    for line in CONTRACT
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
    {
        let (method, path) = line.split_once(' ').expect("a line has two words");
        let known = operations()
            .iter()
            .any(|(given, at, _)| (given.as_str(), *at) == (method, path));
        assert!(known, "{line}");
    }
}

#[tokio::test]
async fn every_described_operation_exists_and_has_a_unique_id() {
    let app = TestApp::start().await;
    let mut names = Vec::new();
    for (method, path, operation) in operations() {
        let path = path.replace(['{', '}'], "");
        let request = app.anonymous().request(method.clone(), &path);
        let answer = app.anonymous().send(request).await;
        let code = answer.problem_code();
        let absent = ["NO_SUCH_PATH", "METHOD_NOT_ALLOWED"];
        assert!(!absent.contains(&code.as_str()), "{method} {path}");
        names.push(operation["operationId"].as_str().expect("it has a name"));
        let summary = operation["summary"].as_str().expect("it has a summary");
        assert!(summary.ends_with('.'), "{method} {path}: {summary}");
    }
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
}

#[tokio::test]
async fn operations_that_need_a_credential_are_described_as_such() {
    let app = TestApp::start().await;
    for (method, path, operation) in operations() {
        let path = path.replace(['{', '}'], "");
        let answer = app.anonymous().request(method.clone(), &path);
        let refused = app.anonymous().send(answer).await.status == StatusCode::UNAUTHORIZED;
        // A key in the path is a parameter.
        let credentials = operation["security"].as_array().expect("a list");
        let needs = !credentials.is_empty() || path.contains("/public/");
        // The request has neither a body nor a key. This path checks the body first.
        if path != "/sdk/v1/evaluate" {
            assert_eq!(refused, needs, "{method} {path}");
        }
    }
}

#[test]
fn admin_request_bodies_allow_only_described_members() {
    for (method, path, operation) in operations() {
        let Some(body) = operation.get("requestBody") else {
            continue;
        };
        let closed = is_closed(&body["content"]["application/json"]["schema"]);
        // Applications may have another version than the server, so these requests may contain unknown members.
        let open = ["/sdk/", "/ofrep/"]
            .iter()
            .any(|start| path.starts_with(start));
        assert_eq!(closed, !open, "{method} {path}");
    }
}

/// Returns true if every object in a schema refuses members that it does not list.
fn is_closed(schema: &Value) -> bool {
    // A context comes from an application, even if an administrator sends it, so it may contain unknown members.
    if schema["$ref"] == "#/components/schemas/EvaluationContext" {
        return true;
    }
    let schema = resolved(schema);
    let parts = ["oneOf", "allOf"].iter();
    let mut parts = parts
        .filter_map(|name| schema[name].as_array())
        .flatten()
        .chain(
            schema["properties"]
                .as_object()
                .into_iter()
                .flat_map(|map| map.values()),
        )
        .chain(schema.get("items"));
    let open = schema["type"] == "object" && schema["additionalProperties"] != false;
    !open && parts.all(is_closed)
}
