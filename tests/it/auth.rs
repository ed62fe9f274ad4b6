//! Signing in and out, access tokens, refresh tokens, and the limits on failed sign-ins.

use std::collections::BTreeSet;

use pennon_tests::{Answer, EMAIL, PASSWORD, TestApp, eventually};
use reqwest::{Method, StatusCode};
use serde_json::json;
use tokio::task::JoinSet;

/// Settings under which a test can call from any address.
const BEHIND_A_PROXY: [&str; 2] = ["--trusted-proxies", "127.0.0.0/8"];

/// Attempts to sign in from a network address.
fn sign_in_from(
    app: &TestApp,
    email: &str,
    password: &str,
    address: &str,
) -> impl Future<Output = Answer> + Send + 'static {
    let request = app.anonymous().request(Method::POST, "/auth/login");
    let request = request.json(&json!({ "email": email, "password": password }));
    Answer::to(request.header("x-forwarded-for", address))
}

#[tokio::test]
async fn signing_in_returns_tokens_and_the_account() {
    let app = TestApp::start().await;
    let answer = app
        .anonymous()
        .post(
            "/auth/login",
            json!({ "email": EMAIL, "password": PASSWORD }),
        )
        .await;
    let body = answer.expect(StatusCode::OK).json();
    assert_eq!(body["token_type"], "Bearer");
    assert_eq!(body["expires_in"], 900);
    assert_eq!(body["user"]["email"], EMAIL);
    assert_eq!(body["user"]["role"], "admin");
    assert_eq!(body["the service"], body["user"]);
    assert!(
        body["refresh_token"]
            .as_str()
            .is_some_and(|token| token.len() == 43)
    );
}

#[tokio::test]
async fn an_unknown_address_and_a_wrong_password_get_the_same_response() {
    let app = TestApp::start().await;
    let attempts = [
        (EMAIL, "wrong password"),
        ("nobody@example.com", PASSWORD),
        ("\0", PASSWORD),
    ];
    let mut answers = Vec::new();
    for (email, password) in attempts {
        let answer = app
            .anonymous()
            .post(
                "/auth/login",
                json!({ "email": email, "password": password }),
            )
            .await;
        answers.push(
            answer
                .expect_problem(StatusCode::UNAUTHORIZED, "WRONG_PASSWORD")
                .bytes,
        );
    }
    answers.dedup();
    assert_eq!(answers.len(), 1);
}

#[tokio::test]
async fn signing_out_ends_the_session_at_once() {
    let app = TestApp::start().await;
    let (admin, other) = (app.admin().await, app.admin().await);
    admin
        .post("/auth/logout", json!({}))
        .await
        .expect(StatusCode::NO_CONTENT);
    admin
        .get("/flags")
        .await
        .expect_problem(StatusCode::UNAUTHORIZED, "UNAUTHENTICATED");
    other.get("/flags").await.expect(StatusCode::OK);
}

#[tokio::test]
async fn an_access_token_is_valid_for_fifteen_minutes_plus_five_seconds_for_clock_skew() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    app.advance(15 * 60 + 4);
    admin.get("/flags").await.expect(StatusCode::OK);
    app.advance(1);
    admin
        .get("/flags")
        .await
        .expect_problem(StatusCode::UNAUTHORIZED, "UNAUTHENTICATED");
}

#[tokio::test]
async fn administration_requires_an_access_token() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (_, sdk_key) = admin.environment("shop", "prod").await;
    let refused = app.anonymous().get("/flags").await;
    let refused = refused.expect_problem(StatusCode::UNAUTHORIZED, "UNAUTHENTICATED");
    assert_eq!(refused.header("www-authenticate"), "Bearer");
    for authorization in ["Bearer", "Bearer ", "Bearer x.y.z", "Basic YTpi", ""] {
        let answer = app.with_authorization(authorization).get("/flags").await;
        answer.expect_problem(StatusCode::UNAUTHORIZED, "UNAUTHENTICATED");
    }
    app.sdk(&sdk_key)
        .get("/flags")
        .await
        .expect_problem(StatusCode::FORBIDDEN, "WRONG_CREDENTIAL");
    let authorization = app.authorization().await;
    let lowercase = authorization.replace("Bearer", "bearer");
    let answer = app.with_authorization(lowercase).get("/flags").await;
    answer.expect(StatusCode::OK);
    let caller = app.with_authorization(&authorization);
    let twice = caller.request(Method::GET, "/flags");
    let answer = caller
        .send(twice.header("authorization", &authorization))
        .await;
    answer.expect_problem(StatusCode::UNAUTHORIZED, "UNAUTHENTICATED");
}

#[tokio::test]
async fn a_token_without_a_valid_hs256_signature_is_refused() {
    // {"alg":"none"} and the claims of a valid token, without and with the valid token's signature.
    let app = TestApp::start().await;
    let body = json!({ "email": EMAIL, "password": PASSWORD });
    let token = app
        .anonymous()
        .post("/auth/login", body)
        .await
        .text("/access_token");
    let [_, claims, signature] = token.split('.').collect::<Vec<_>>()[..] else {
        panic!("no token: {token}")
    };
    for forged in [
        format!("eyJhbGciOiJub25lIn0.{claims}."),
        format!("eyJhbGciOiJub25lIn0.{claims}.{signature}"),
        format!(
            "{}.{claims}.{}",
            token.split('.').next().unwrap_or_default(),
            signature.to_lowercase()
        ),
    ] {
        let answer = app.with_token(&forged).get("/flags").await;
        answer.expect_problem(StatusCode::UNAUTHORIZED, "UNAUTHENTICATED");
    }
}

#[tokio::test]
async fn sign_in_reports_every_invalid_member() {
    let app = TestApp::start().await;
    let answer = app
        .anonymous()
        .post("/auth/login", json!({ "email": 1, "pasword": "x" }))
        .await;
    answer.expect_faults(&["/email", "/password", "/pasword"]);
}

#[tokio::test]
async fn failed_sign_ins_are_limited_per_account_and_address_for_a_minute() {
    let app = TestApp::with_settings(&BEHIND_A_PROXY).await;
    let attempt = async |email: &str, password: &str, address: &str| {
        sign_in_from(&app, email, password, address).await
    };
    for _ in 0..9 {
        attempt(EMAIL, "wrong", "198.51.100.1")
            .await
            .expect(StatusCode::UNAUTHORIZED);
        attempt(EMAIL, PASSWORD, "198.51.100.1")
            .await
            .expect(StatusCode::OK);
    }
    attempt(EMAIL, "wrong", "198.51.100.1")
        .await
        .expect(StatusCode::UNAUTHORIZED);
    let limited = attempt(EMAIL, PASSWORD, "198.51.100.1").await;
    let limited = limited.expect_problem(StatusCode::TOO_MANY_REQUESTS, "TOO_MANY_ATTEMPTS");
    assert_eq!(limited.header("retry-after"), "60");
    attempt(EMAIL, PASSWORD, "198.51.100.2")
        .await
        .expect(StatusCode::OK);
    attempt("nobody@example.com", PASSWORD, "198.51.100.1")
        .await
        .expect(StatusCode::UNAUTHORIZED);
    app.advance(60);
    attempt(EMAIL, PASSWORD, "198.51.100.1")
        .await
        .expect(StatusCode::OK);
}

#[tokio::test]
async fn failed_sign_ins_are_limited_per_account_and_address_for_an_hour() {
    let app = TestApp::with_settings(&["--rate-limit-login", "1"]).await;
    for number in 0..6 {
        app.advance(if number == 0 { 0 } else { 60 });
        app.sign_in(EMAIL, "wrong")
            .await
            .expect(StatusCode::UNAUTHORIZED);
    }
    let refused = app.sign_in(EMAIL, PASSWORD).await;
    let refused = refused.expect_problem(StatusCode::TOO_MANY_REQUESTS, "TOO_MANY_ATTEMPTS");
    // The longer of two waits.
    assert_eq!(refused.header("retry-after"), "3300");
    app.sign_in("nobody@example.com", "wrong")
        .await
        .expect(StatusCode::UNAUTHORIZED);
    app.advance(3300);
    app.sign_in(EMAIL, PASSWORD).await.expect(StatusCode::OK);
}

#[tokio::test]
async fn failed_sign_ins_before_the_clock_was_set_back_are_forgotten() {
    let app = TestApp::with_settings(&["--rate-limit-login", "1"]).await;
    app.sign_in(EMAIL, "wrong")
        .await
        .expect(StatusCode::UNAUTHORIZED);
    app.sign_in(EMAIL, PASSWORD)
        .await
        .expect(StatusCode::TOO_MANY_REQUESTS);
    app.advance(-30);
    let limited = app.sign_in(EMAIL, PASSWORD).await;
    assert_eq!(limited.header("retry-after"), "90");
    app.advance(-7200);
    app.sign_in(EMAIL, PASSWORD).await.expect(StatusCode::OK);
}

#[tokio::test]
async fn changing_the_case_of_an_address_gives_no_extra_attempts() {
    let app = TestApp::with_settings(&["--rate-limit-login", "2"]).await;
    for email in [EMAIL.to_uppercase(), EMAIL.replace('a', "A")] {
        app.sign_in(&email, "wrong")
            .await
            .expect(StatusCode::UNAUTHORIZED);
    }
    app.sign_in(EMAIL, PASSWORD)
        .await
        .expect(StatusCode::TOO_MANY_REQUESTS);
}

#[tokio::test]
async fn one_network_address_cannot_try_many_accounts() {
    let app = TestApp::with_settings(&["--rate-limit-login", "2"]).await;
    for account in 0..12 {
        let body = json!({ "email": format!("{account}@example.com"), "password": "wrong" });
        app.anonymous()
            .post("/auth/login", body)
            .await
            .expect(StatusCode::UNAUTHORIZED);
    }
    let body = json!({ "email": EMAIL, "password": PASSWORD });
    app.anonymous()
        .post("/auth/login", body)
        .await
        .expect(StatusCode::TOO_MANY_REQUESTS);
}

#[tokio::test]
async fn a_refresh_token_renews_the_session_once() {
    let app = TestApp::start().await;
    let credentials = json!({ "email": EMAIL, "password": PASSWORD });
    let first = app.anonymous().post("/auth/login", credentials).await;
    let refresh = async |token: String| {
        app.anonymous()
            .post("/auth/refresh", json!({ "refresh_token": token }))
            .await
    };
    app.advance(29 * 24 * 60 * 60);
    let second = refresh(first.text("/refresh_token"))
        .await
        .expect(StatusCode::OK);
    assert_ne!(second.text("/refresh_token"), first.text("/refresh_token"));
    assert_eq!(second.json()["user"], first.json()["user"]);
    let renewed = app.with_token(&second.text("/access_token"));
    renewed.get("/flags").await.expect(StatusCode::OK);
    // A response can get lost, so a spent token gets the same response again for ten seconds, whatever others do.
    let another = app.sign_in(EMAIL, PASSWORD).await;
    refresh(another.text("/refresh_token"))
        .await
        .expect(StatusCode::OK);
    app.advance(10);
    let again = refresh(first.text("/refresh_token"))
        .await
        .expect(StatusCode::OK);
    assert_eq!(again.text("/refresh_token"), second.text("/refresh_token"));
    // After that, its reuse indicates theft, and all sessions of that sign-in end.
    app.advance(1);
    let betrayed = refresh(first.text("/refresh_token")).await;
    betrayed.expect_problem(StatusCode::UNAUTHORIZED, "UNAUTHENTICATED");
    refresh(second.text("/refresh_token"))
        .await
        .expect(StatusCode::UNAUTHORIZED);
    renewed.get("/flags").await.expect(StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn parallel_uses_of_a_refresh_token_have_one_successor() {
    let app = TestApp::start().await;
    let tokens = app.sign_in(EMAIL, PASSWORD).await;
    let mut under_way = tokio::task::JoinSet::new();
    for _ in 0..20 {
        let request = app.anonymous().request(Method::POST, "/auth/refresh");
        let request = request.json(&json!({ "refresh_token": tokens.text("/refresh_token") }));
        under_way.spawn(pennon_tests::Answer::to(request));
    }
    let answers = under_way.join_all().await;
    let successors: BTreeSet<String> = answers
        .into_iter()
        .map(|answer| answer.expect(StatusCode::OK).text("/refresh_token"))
        .collect();
    assert_eq!(successors.len(), 1);
}

#[tokio::test]
async fn reusing_a_refresh_token_ends_the_session_after_its_successor_was_used() {
    let app = TestApp::start().await;
    let first = app.sign_in(EMAIL, PASSWORD).await.text("/refresh_token");
    let refresh = async |token: &str| {
        app.anonymous()
            .post("/auth/refresh", json!({ "refresh_token": token }))
            .await
    };
    let second = refresh(&first).await.text("/refresh_token");
    let third = refresh(&second).await.text("/refresh_token");
    for token in [&first, &third] {
        refresh(token)
            .await
            .expect_problem(StatusCode::UNAUTHORIZED, "UNAUTHENTICATED");
    }
}

#[tokio::test]
async fn another_instance_repeats_the_successor_of_a_refresh_token() {
    let app = TestApp::start().await;
    let other = app.beside().await;
    let first = app.sign_in(EMAIL, PASSWORD).await.text("/refresh_token");
    let body = json!({ "refresh_token": first });
    let here = app.anonymous().post("/auth/refresh", body.clone()).await;
    let there = other.anonymous().post("/auth/refresh", body).await;
    assert_eq!(
        here.expect(StatusCode::OK).text("/refresh_token"),
        there.expect(StatusCode::OK).text("/refresh_token")
    );
}

#[tokio::test]
async fn the_successor_of_a_refresh_token_is_erased_after_the_grace_period() {
    let app = TestApp::start().await;
    app.watch();
    let first = app.sign_in(EMAIL, PASSWORD).await.text("/refresh_token");
    let body = json!({ "refresh_token": first });
    let answer = app.anonymous().post("/auth/refresh", body).await;
    answer.expect(StatusCode::OK);
    let kept = "select count(*) from refresh_tokens where successor is not null";
    assert_eq!(app.database().count(kept).await, 1);
    app.advance(11);
    eventually("the successor is erased", async || {
        app.database().count(kept).await == 0
    })
    .await;
}

#[tokio::test]
async fn the_grace_period_of_a_refresh_token_ends_if_the_clock_is_set_back() {
    let app = TestApp::start().await;
    let first = app.sign_in(EMAIL, PASSWORD).await.text("/refresh_token");
    let body = json!({ "refresh_token": first });
    let refresh = async || app.anonymous().post("/auth/refresh", body.clone()).await;
    refresh().await.expect(StatusCode::OK);
    app.advance(-60);
    refresh().await.expect(StatusCode::OK);
    app.advance(-1);
    refresh().await.expect(StatusCode::UNAUTHORIZED);
    app.watch();
    let kept = "select count(*) from refresh_tokens where successor is not null";
    eventually("the successor is erased", async || {
        app.database().count(kept).await == 0
    })
    .await;
}

#[tokio::test]
async fn expired_sessions_and_old_refresh_tokens_are_deleted_after_a_week() {
    const DAY: i64 = 24 * 60 * 60;
    let app = TestApp::start().await;
    let stored = async || {
        let database = app.database();
        let sessions = database.count("select count(*) from sessions").await;
        let tokens = database.count("select count(*) from refresh_tokens").await;
        (sessions, tokens)
    };
    let sign_in = async || app.sign_in(EMAIL, PASSWORD).await.expect(StatusCode::OK);
    sign_in().await;
    let renewed = json!({ "refresh_token": sign_in().await.text("/refresh_token") });
    app.advance(20 * DAY);
    let renewed = app.anonymous().post("/auth/refresh", renewed).await;
    renewed.expect(StatusCode::OK);
    app.advance(16 * DAY);
    app.flush_usage().await;
    assert_eq!(stored().await, (2, 3));
    app.advance(2 * DAY);
    app.flush_usage().await;
    assert_eq!(stored().await, (1, 1));
}

#[tokio::test]
async fn a_refresh_token_ends_with_its_session() {
    let app = TestApp::start().await;
    let credentials = json!({ "email": EMAIL, "password": PASSWORD });
    let sign_in = async || {
        app.anonymous()
            .post("/auth/login", credentials.clone())
            .await
    };
    let refresh = async |token: &str| {
        app.anonymous()
            .post("/auth/refresh", json!({ "refresh_token": token }))
            .await
    };
    let tokens = sign_in().await;
    let signed_in = app.with_token(&tokens.text("/access_token"));
    signed_in
        .post("/auth/logout", json!({}))
        .await
        .expect(StatusCode::NO_CONTENT);
    refresh(&tokens.text("/refresh_token"))
        .await
        .expect(StatusCode::UNAUTHORIZED);
    let tokens = sign_in().await;
    app.advance(30 * 24 * 60 * 60);
    refresh(&tokens.text("/refresh_token"))
        .await
        .expect(StatusCode::UNAUTHORIZED);
    for unknown in ["", "\0", &tokens.text("/access_token")] {
        refresh(unknown)
            .await
            .expect_problem(StatusCode::UNAUTHORIZED, "UNAUTHENTICATED");
    }
    let answer = app
        .anonymous()
        .post("/auth/refresh", json!({ "token": "x" }))
        .await;
    answer.expect_faults(&["/refresh_token", "/token"]);
}

#[tokio::test]
async fn concurrent_sign_ins_with_the_right_password_are_not_limited() {
    let app = TestApp::with_settings(&["--rate-limit-login", "2"]).await;
    let mut under_way = JoinSet::new();
    for _ in 0..8 {
        let request = app.anonymous().request(Method::POST, "/auth/login");
        let request = request.json(&json!({ "email": EMAIL, "password": PASSWORD }));
        under_way.spawn(Answer::to(request));
    }
    for answer in under_way.join_all().await {
        answer.expect(StatusCode::OK);
    }
}

#[tokio::test]
async fn guesses_from_neighboring_networks_count_together() {
    let [name, proxies] = BEHIND_A_PROXY;
    let app = TestApp::with_settings(&[name, proxies, "--rate-limit-login", "1"]).await;
    let guess = async |address: &str| sign_in_from(&app, EMAIL, "wrong", address).await.status;
    let home = "2001:db8:5:ff00::1";
    sign_in_from(&app, EMAIL, PASSWORD, home)
        .await
        .expect(StatusCode::OK);
    for customer in ["0", "1"] {
        for network in 0..12 {
            let address = format!("2001:db8:5:{customer}{network:02x}::1");
            assert_eq!(guess(&address).await, StatusCode::UNAUTHORIZED, "{address}");
        }
        let address = format!("2001:db8:5:{customer}ff::1");
        assert_eq!(guess(&address).await, StatusCode::TOO_MANY_REQUESTS);
    }
    // The provider of both networks has now used up its share. Other providers have not.
    assert_eq!(
        guess("2001:db8:5:200::1").await,
        StatusCode::TOO_MANY_REQUESTS
    );
    assert_eq!(guess("2001:db8:6::1").await, StatusCode::UNAUTHORIZED);
    // The owner of the account signs in from a network that they have used before.
    sign_in_from(&app, EMAIL, PASSWORD, home)
        .await
        .expect(StatusCode::OK);
}

#[tokio::test]
async fn a_flood_of_guesses_does_not_block_sign_ins_from_known_networks() {
    let app = TestApp::with_settings(&BEHIND_A_PROXY).await;
    let returning = ["203.0.113.7", "2001:db8:5:ffff::1"];
    for address in returning {
        let signed_in = sign_in_from(&app, EMAIL, PASSWORD, address).await;
        signed_in.expect(StatusCode::OK);
    }
    let admin = app.admin().await;
    let mut flood = JoinSet::new();
    for network in 0..300 {
        let address = format!("2001:db8:5:{network:x}::1");
        flood.spawn(sign_in_from(&app, EMAIL, "wrong", &address));
    }
    for round in 0..3 {
        for address in returning {
            let signed_in = sign_in_from(&app, EMAIL, PASSWORD, address).await;
            signed_in.expect(StatusCode::OK);
        }
        admin.user(&format!("{round}@example.com"), "viewer").await;
    }
    let (mut checked, mut refused) = (0, 0);
    for answer in flood.join_all().await {
        match answer.status {
            StatusCode::UNAUTHORIZED => checked += 1,
            StatusCode::TOO_MANY_REQUESTS => refused += 1,
            _ => {
                let busy = answer.expect_problem(StatusCode::SERVICE_UNAVAILABLE, "OVERLOADED");
                assert_eq!(busy.header("retry-after"), "1");
                refused += 1;
            }
        }
    }
    assert!(checked <= 240 && refused >= 60, "{checked} were checked");
}
