//! Roles, which are checked before everything except authentication.

use pennon_tests::{Caller, TestApp, UNKNOWN_ID};
use reqwest::{Method, StatusCode};
use serde_json::json;

/// An ID that no object has. A 403 for its path shows that the role is checked before existence.
/// Returns every request that needs a role, with that role.
fn guarded() -> Vec<(&'static str, String, &'static str)> {
    let checkout = format!("/flags/{UNKNOWN_ID}/environments/{UNKNOWN_ID}");
    let environment = format!("/environments/{UNKNOWN_ID}");
    let (flag, user) = (
        format!("/flags/{UNKNOWN_ID}"),
        format!("/users/{UNKNOWN_ID}"),
    );
    vec![
        ("POST", "/flags".to_owned(), "editor"),
        ("POST", "/flags/bulk".to_owned(), "editor"),
        ("PATCH", flag.clone(), "editor"),
        ("DELETE", flag.clone(), "editor"),
        ("POST", format!("{flag}/restore"), "editor"),
        ("PUT", checkout.clone(), "editor"),
        ("POST", format!("{checkout}/rules"), "editor"),
        ("PUT", format!("{checkout}/rules/order"), "editor"),
        (
            "POST",
            format!("{checkout}/copy-from/{UNKNOWN_ID}"),
            "editor",
        ),
        ("PUT", format!("/rules/{UNKNOWN_ID}"), "editor"),
        ("DELETE", format!("/rules/{UNKNOWN_ID}"), "editor"),
        ("PUT", format!("{checkout}/rollout"), "editor"),
        ("DELETE", format!("{checkout}/rollout"), "editor"),
        ("POST", "/environments".to_owned(), "admin"),
        ("PUT", "/environments/order".to_owned(), "admin"),
        ("PATCH", environment.clone(), "admin"),
        ("POST", format!("{environment}/revoke"), "admin"),
        ("POST", format!("{environment}/rotate-key"), "admin"),
        ("DELETE", format!("{environment}/previous-key"), "admin"),
        ("POST", format!("{environment}/clone"), "admin"),
        ("GET", "/users".to_owned(), "admin"),
        ("POST", "/users".to_owned(), "admin"),
        ("GET", user.clone(), "admin"),
        ("PATCH", user.clone(), "admin"),
        ("PATCH", "/users/me".to_owned(), "admin"),
        ("DELETE", user.clone(), "admin"),
        ("DELETE", "/users/me".to_owned(), "admin"),
        ("GET", format!("{user}/tokens"), "admin"),
        ("GET", format!("{user}/tokens/{UNKNOWN_ID}"), "admin"),
        ("DELETE", format!("{user}/tokens/{UNKNOWN_ID}"), "admin"),
        ("GET", "/audit?include=accounts".to_owned(), "admin"),
        ("GET", "/audit/export?include=accounts".to_owned(), "admin"),
        ("POST", format!("/audit/{UNKNOWN_ID}/revert"), "editor"),
    ]
}

/// Sends a request whose body is malformed.
async fn attempt(caller: &Caller<'_>, method: &str, path: &str) -> pennon_tests::Answer {
    let method: Method = method.parse().expect("a method");
    let request = caller.request(method.clone(), path);
    let request = if method == Method::GET {
        request
    } else {
        request
            .header("content-type", "application/json")
            .body("no JSON")
    };
    caller.send(request).await
}

#[tokio::test]
async fn checks_run_in_the_order_authentication_role_existence_body() {
    let app = TestApp::start().await;
    let rank = |role: &str| {
        ["viewer", "editor", "admin"]
            .iter()
            .position(|known| *known == role)
    };
    for role in ["viewer", "editor", "admin"] {
        let person = app.user(&format!("{role}@example.com"), role).await;
        let (_, token) = person.personal_token("script", role).await;
        let script = app.with_token(&token);
        for (method, path, needed) in guarded() {
            // The caller's own account exists, so this request would delete it.
            if path == "/users/me" && role == "admin" {
                continue;
            }
            for caller in [&person, &script] {
                let answer = attempt(caller, method, &path).await;
                let what = format!("{method} {path} as {role}");
                if rank(role) < rank(needed) {
                    assert_eq!(answer.status, StatusCode::FORBIDDEN, "{what}");
                    let answer = answer.expect_problem(StatusCode::FORBIDDEN, "FORBIDDEN");
                    assert_eq!(
                        answer.text("/detail"),
                        format!("the role {needed} is required")
                    );
                } else if path.contains(UNKNOWN_ID) {
                    assert_eq!(answer.status, StatusCode::NOT_FOUND, "{what}");
                } else if method == "GET" {
                    assert_eq!(answer.status, StatusCode::OK, "{what}");
                } else {
                    assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{what}");
                    assert_eq!(answer.text("/code"), "MALFORMED_BODY", "{what}");
                }
            }
        }
    }
    for (method, path, _) in guarded() {
        attempt(&app.anonymous(), method, &path)
            .await
            .expect_problem(StatusCode::UNAUTHORIZED, "UNAUTHENTICATED");
    }
}

#[tokio::test]
async fn every_role_can_read_and_manage_its_own_credentials() {
    let app = TestApp::start().await;
    let checkout = app.admin().await.flag_environment().await;
    let viewer = app.user("vic@example.com", "viewer").await;
    let (id, token) = viewer.personal_token("script", "viewer").await;
    let script = app.with_token(&token);
    for path in [
        "/environments".to_owned(),
        format!("/environments/{}", checkout.environment),
        "/flags".to_owned(),
        format!("/flags/{}", checkout.flag),
        checkout.path.clone(),
        format!("{}/rules", checkout.path),
        "/audit".to_owned(),
        "/audit/export".to_owned(),
        "/flags?stale=true&include=usage".to_owned(),
        "/users/me".to_owned(),
        "/users/me/tokens".to_owned(),
        format!("/users/me/tokens/{id}"),
    ] {
        viewer.get(&path).await.expect(StatusCode::OK);
        script.get(&path).await.expect(StatusCode::OK);
    }
    let missing = viewer.get(&format!("/rules/{UNKNOWN_ID}")).await;
    missing.expect_problem(StatusCode::NOT_FOUND, "RULE_NOT_FOUND");
    let rollout = format!("{}/rollout", checkout.path);
    let missing = viewer.get(&rollout).await;
    missing.expect_problem(StatusCode::NOT_FOUND, "ROLLOUT_NOT_FOUND");
    viewer
        .delete(&format!("/users/me/tokens/{id}"))
        .await
        .expect(StatusCode::NO_CONTENT);
    viewer
        .post("/auth/logout", json!({}))
        .await
        .expect(StatusCode::NO_CONTENT);
}
