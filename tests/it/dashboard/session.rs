//! Access to the dashboard: sign-in, the session cookie, and requests from other sites.

use pennon_tests::{Browser, EMAIL, FETCH_SITE, FORM, TestApp};
use reqwest::header::{ACCEPT, CONTENT_TYPE, COOKIE, ORIGIN};
use reqwest::{Method, StatusCode};
use serde_json::json;

#[tokio::test]
async fn a_page_without_a_session_redirects_to_the_sign_in() {
    let app = TestApp::start().await;
    let nobody = Browser::new(&app);
    for page in [
        "/dashboard",
        "/dashboard/flags",
        "/dashboard/flags/",
        "/dashboard/nowhere",
    ] {
        let answer = nobody.get(page).await.expect(StatusCode::SEE_OTHER);
        let next = page.trim_end_matches('/').replace('/', "%2F");
        assert_eq!(
            answer.header("location"),
            format!("/dashboard/login?next={next}")
        );
    }
    let start = nobody.get("/").await.expect(StatusCode::SEE_OTHER);
    assert_eq!(start.header("location"), "/dashboard");
}

#[tokio::test]
async fn a_page_loads_only_from_its_own_origin() {
    let app = TestApp::start().await;
    let answer = Browser::new(&app).get("/dashboard/login").await;
    let answer = answer.expect(StatusCode::OK);
    let policy = answer.header("content-security-policy");
    let (_, nonce) = policy.split_once("'nonce-").expect("there is a nonce");
    let nonce = nonce.split('\'').next().unwrap_or_default();
    assert!(answer.body().contains(&format!("nonce=\"{nonce}\"")));
    assert!(policy.contains("frame-ancestors 'none'"));
    assert!(!policy.contains("unsafe-inline") && !policy.contains("'unsafe-eval'"));
    assert_eq!(answer.header("referrer-policy"), "same-origin");
    assert_eq!(answer.header("cross-origin-opener-policy"), "same-origin");
    assert_eq!(answer.header("cache-control"), "no-store");
    assert_eq!(answer.header("x-content-type-options"), "nosniff");
}

#[tokio::test]
async fn the_session_is_a_cookie_that_scripts_cannot_read() {
    let app = TestApp::start().await;
    let form = "sign-in-email=ana%40example.com&sign-in-password=correct+horse+battery+staple";
    let answer = Browser::new(&app).post("/dashboard/login", form).await;
    let cookie = answer
        .expect(StatusCode::SEE_OTHER)
        .header("set-cookie")
        .to_owned();
    assert!(cookie.starts_with("pennon_session="));
    for attribute in ["HttpOnly", "SameSite=Lax", "Path=/"] {
        assert!(cookie.contains(attribute), "{attribute}");
    }
    assert!(!cookie.contains("Secure"));

    let app = TestApp::with_settings(&["--public-url", "https://flags.example.com"]).await;
    let answer = Browser::new(&app).post("/dashboard/login", form).await;
    let cookie = answer
        .expect(StatusCode::SEE_OTHER)
        .header("set-cookie")
        .to_owned();
    assert!(cookie.starts_with("__Host-pennon_session=") && cookie.contains("; Secure"));
}

/// Signs in through a proxy that reports https in `X-Forwarded-Proto`, and returns the cookie.
async fn cookie_by_proxy(app: &TestApp) -> String {
    let form = "sign-in-email=ana%40example.com&sign-in-password=correct+horse+battery+staple";
    let caller = app.anonymous();
    let request = caller
        .request(Method::POST, "/dashboard/login")
        .header(ACCEPT, "text/html")
        .header(CONTENT_TYPE, FORM)
        .header(FETCH_SITE, "same-origin")
        .header("x-forwarded-proto", "https")
        .body(form);
    let answer = caller.send(request).await.expect(StatusCode::SEE_OTHER);
    // The reported scheme has no other effect.
    assert_eq!(answer.header("strict-transport-security"), "");
    answer.header("set-cookie").to_owned()
}

#[tokio::test]
async fn without_a_public_url_a_trusted_proxy_decides_whether_the_cookie_is_secure() {
    let trusting = ["--trusted-proxies", "127.0.0.1/32"];
    let app = TestApp::with_settings(&trusting).await;
    let cookie = cookie_by_proxy(&app).await;
    assert!(cookie.starts_with("pennon_session=") && cookie.contains("; Secure"));
    let browser = Browser {
        cookie: cookie.split(';').next().unwrap_or_default().to_owned(),
        ..Browser::new(&app)
    };
    // The session also works for requests that do not come through the proxy.
    browser.get("/dashboard/flags").await.expect(StatusCode::OK);
    let cookie = Browser::signed_in(&app).await.cookie;
    assert!(cookie.starts_with("pennon_session="));

    let app = TestApp::start().await;
    assert!(!cookie_by_proxy(&app).await.contains("Secure"));

    let url = ["--public-url", "http://flags.example.com"];
    let app = TestApp::with_settings(&[trusting, url].concat()).await;
    assert!(!cookie_by_proxy(&app).await.contains("Secure"));
}

#[tokio::test]
async fn a_wrong_password_shows_an_error_and_sets_no_cookie() {
    let app = TestApp::start().await;
    let form = "sign-in-email=ana%40example.com&sign-in-password=wrong+wrong+wrong";
    let answer = Browser::new(&app).post("/dashboard/login", form).await;
    let answer = answer.expect(StatusCode::UNAUTHORIZED);
    assert_eq!(answer.header("set-cookie"), "");
    assert!(answer.body().contains("do not match"));
}

#[tokio::test]
async fn signing_out_ends_the_session() {
    let app = TestApp::start().await;
    let browser = Browser::signed_in(&app).await;
    let page = browser.page("/dashboard/flags").await;
    assert!(page.contains(EMAIL));
    let answer = browser.post("/dashboard/api/sign-out", "").await;
    let answer = answer.expect(StatusCode::SEE_OTHER);
    assert_eq!(answer.header("location"), "/dashboard/login");
    assert!(answer.header("set-cookie").contains("Max-Age=0"));
    browser
        .get("/dashboard/flags")
        .await
        .expect(StatusCode::SEE_OTHER);
}

#[tokio::test]
async fn a_session_in_a_browser_ends_after_thirty_days() {
    let app = TestApp::start().await;
    let browser = Browser::signed_in(&app).await;
    let flags = async || browser.get("/dashboard/flags").await;
    app.advance(30 * 24 * 60 * 60 - 1);
    flags().await.expect(StatusCode::OK);
    app.advance(1);
    flags().await.expect(StatusCode::SEE_OTHER);
}

#[tokio::test]
async fn the_list_of_people_shows_their_last_sign_in() {
    let app = TestApp::start().await;
    Browser::signed_in(&app).await;
    app.advance(24 * 60 * 60);
    let browser = Browser::signed_in(&app).await;
    let page = browser.page("/dashboard/people").await;
    assert!(page.contains("2026-03-02T09:30:00"));
}

#[tokio::test]
async fn the_cookie_is_refused_by_the_admin_api() {
    let app = TestApp::start().await;
    let browser = Browser::signed_in(&app).await;
    let answer = browser.get("/flags").await;
    answer.expect_problem(StatusCode::UNAUTHORIZED, "UNAUTHENTICATED");
}

#[tokio::test]
async fn cross_site_requests_are_refused() {
    let app = TestApp::start().await;
    let browser = Browser::signed_in(&app).await;
    let form = "product=shop&name=production";
    for site in ["cross-site", "same-site", "none"] {
        let path = "/dashboard/environments/new";
        let answer = browser.post_from(site, "text/html", path, form).await;
        answer.expect(StatusCode::FORBIDDEN);
    }
    let request = browser
        .caller
        .request(Method::POST, "/dashboard/api/set-enabled");
    let request = request
        .header(COOKIE, &browser.cookie)
        .header(ORIGIN, "https://evil.example");
    browser
        .caller
        .send(request)
        .await
        .expect(StatusCode::FORBIDDEN);
    assert!(app.admin().await.audited().await.is_empty());
}

#[tokio::test]
async fn without_sec_fetch_site_the_origin_must_be_the_public_url() {
    let app = TestApp::with_settings(&["--public-url", "http://flags.example.com:80"]).await;
    let caller = app.anonymous();
    let post = async |origin: String| {
        let request = caller
            .request(Method::POST, "/dashboard/login")
            .header(ACCEPT, "text/html")
            .header(CONTENT_TYPE, FORM)
            .header(ORIGIN, origin)
            .body("sign-in-email=&sign-in-password=");
        caller.send(request).await
    };
    let refused = post(format!("http://{}", app.address())).await;
    let refused = refused.expect(StatusCode::FORBIDDEN).body();
    assert!(refused.contains("The dashboard is at http://flags.example.com."));
    let read = post("http://flags.example.com".to_owned()).await;
    read.expect(StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn a_dashboard_session_follows_role_and_password_changes() {
    let app = TestApp::start().await;
    let ana = Browser::signed_in(&app).await;
    let path = format!(
        "/users/{}",
        app.admin().await.get("/users/me").await.text("/id")
    );
    let second = app.user("second@example.com", "admin").await;
    assert!(ana.page("/dashboard/flags").await.contains("Admin"));
    let demoted = second.patch(&path, json!({ "role": "viewer" })).await;
    demoted.expect(StatusCode::OK);
    assert!(ana.page("/dashboard/flags").await.contains("Viewer"));
    let refused = ana
        .post("/dashboard/environments/new", "product=shop&name=prod")
        .await;
    assert_ne!(refused.status, StatusCode::OK);
    let environments = second.get("/environments").await.json();
    assert_eq!(environments["pagination"]["total"], 0);
    let reset = json!({ "password": "another long password" });
    second.patch(&path, reset).await.expect(StatusCode::OK);
    let gone = ana.get("/dashboard/flags").await;
    assert_eq!(
        gone.expect(StatusCode::SEE_OTHER).header("location"),
        "/dashboard/login?next=%2Fdashboard%2Fflags"
    );
}

#[tokio::test]
async fn the_page_that_refuses_a_password_does_not_contain_it() {
    let app = TestApp::start().await;
    let id = app.admin().await.user("eve@example.com", "viewer").await;
    let admin = Browser::signed_in(&app).await;
    let person = format!("/dashboard/people/{id}");
    for (page, form) in [
        (
            "/dashboard/people/new",
            "email=ben%40example.com&role=viewer&password=hunter2",
        ),
        (&person, "do=reset&revision=1&password=hunter2"),
        (
            "/dashboard/account",
            "do=password&currentPassword=hunter3&newPassword=hunter2",
        ),
    ] {
        let refused = admin.post(page, form).await.expect(StatusCode::BAD_REQUEST);
        let html = refused.body();
        assert!(html.contains("12 to 256 characters"), "{html}");
        assert!(!html.contains("hunter"), "{html}");
    }
}

#[tokio::test]
async fn a_form_without_its_password_is_refused() {
    let app = TestApp::start().await;
    let id = app.admin().await.user("eve@example.com", "viewer").await;
    let admin = Browser::signed_in(&app).await;
    let person = format!("/dashboard/people/{id}");
    for (page, form) in [
        (
            "/dashboard/people/new",
            "email=ben%40example.com&role=viewer",
        ),
        (&person, "do=reset&revision=1"),
        ("/dashboard/account", "do=password"),
    ] {
        let refused = admin.post(page, form).await.expect(StatusCode::BAD_REQUEST);
        assert!(refused.body().contains("type it again"));
    }
}

#[tokio::test]
async fn the_sign_in_page_says_how_long_to_wait_after_too_many_attempts() {
    let app = TestApp::with_settings(&["--rate-limit-login", "1"]).await;
    let browser = Browser::new(&app);
    let form = format!("sign-in-email={EMAIL}&sign-in-password=wrong");
    let answer = browser.post("/dashboard/login", &form).await;
    answer.expect(StatusCode::UNAUTHORIZED);
    let answer = browser.post("/dashboard/login", &form).await;
    let answer = answer.expect(StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(answer.header("retry-after"), "60");
}
