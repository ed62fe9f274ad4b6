//! The dashboard over HTTP: access to pages, forms, and security headers.

use pennon_tests::{Answer, Caller, EMAIL, TestApp};
use reqwest::header::{ACCEPT, CONTENT_TYPE, COOKIE, HeaderName, ORIGIN, REFERER};
use reqwest::{Method, Response, StatusCode};
use serde_json::{Value, json};

const FORM: &str = "application/x-www-form-urlencoded";
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// A browser without scripts, with at most one cookie.
pub(crate) struct Browser<'a> {
    caller: Caller<'a>,
    cookie: String,
}

impl<'a> Browser<'a> {
    /// Returns a browser in which nobody is signed in.
    pub(crate) fn new(app: &'a TestApp) -> Self {
        Self {
            caller: app.anonymous(),
            cookie: String::new(),
        }
    }

    /// Returns a browser in which the first administrator is signed in.
    pub(crate) async fn signed_in(app: &'a TestApp) -> Self {
        Self::signed_in_as(app, EMAIL).await
    }

    /// Returns a browser in which a user with the tests' password is signed in.
    pub(crate) async fn signed_in_as(app: &'a TestApp, email: &str) -> Self {
        let email = email.replace('@', "%40");
        let form = format!("sign-in-email={email}&sign-in-password=correct+horse+battery+staple");
        let answer = Self::new(app).post("/dashboard/login", &form).await;
        let answer = answer.expect(StatusCode::SEE_OTHER);
        let cookie = answer.header("set-cookie").split(';').next();
        Self {
            cookie: cookie.unwrap_or_default().to_owned(),
            ..Self::new(app)
        }
    }

    /// Opens a stream.
    pub(crate) async fn listen(&self, path: &str) -> Response {
        let request = self.caller.request(Method::GET, path);
        let request = request.header(COOKIE, &self.cookie);
        request.send().await.expect("an answer")
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        let request = self.caller.request(Method::GET, path);
        let request = request
            .header(COOKIE, &self.cookie)
            .header(ACCEPT, "text/html");
        self.caller.send(request).await
    }

    pub(crate) async fn post(&self, path: &str, form: &str) -> Answer {
        self.post_from("same-origin", "text/html", path, form).await
    }

    /// Calls a server function as a script of the page does.
    pub(crate) async fn call(&self, function: &str, arguments: &Value) -> Answer {
        let path = format!("/dashboard/api/{function}");
        let request = self.caller.request(Method::POST, &path);
        let request = request
            .header(COOKIE, &self.cookie)
            .header(FETCH_SITE, "same-origin")
            .json(arguments);
        self.caller.send(request).await
    }

    async fn post_from(&self, site: &str, accept: &str, path: &str, form: &str) -> Answer {
        let request = self.caller.request(Method::POST, path);
        let request = request
            .header(COOKIE, &self.cookie)
            .header(ACCEPT, accept)
            .header(CONTENT_TYPE, FORM)
            .header(REFERER, "http://pennon.test/dashboard/flags")
            .header(FETCH_SITE, site)
            .body(form.to_owned());
        self.caller.send(request).await
    }
}

pub(crate) fn html(answer: &Answer) -> String {
    String::from_utf8_lossy(&answer.bytes).into_owned()
}

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
    assert!(html(&answer).contains(&format!("nonce=\"{nonce}\"")));
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
    assert!(html(&answer).contains("do not match"));
}

#[tokio::test]
async fn signing_out_ends_the_session() {
    let app = TestApp::start().await;
    let browser = Browser::signed_in(&app).await;
    let page = browser.get("/dashboard/flags").await.expect(StatusCode::OK);
    assert!(html(&page).contains(EMAIL));
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
    let page = html(&browser.get("/dashboard/people").await);
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
    let refused = html(&refused.expect(StatusCode::FORBIDDEN));
    assert!(refused.contains("The dashboard is at http://flags.example.com."));
    let read = post("http://flags.example.com".to_owned()).await;
    read.expect(StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn a_new_key_is_shown_once_and_works() {
    let app = TestApp::start().await;
    let browser = Browser::signed_in(&app).await;
    let form = "product=shop&name=production";
    let answer = browser.post("/dashboard/environments/new", form).await;
    let page = html(&answer.expect(StatusCode::OK));
    let (_, key) = page
        .split_once("<code tabindex=\"0\">")
        .expect("the key is shown");
    let key = key.split('<').next().unwrap_or_default();
    app.sdk(key)
        .get("/sdk/v1/config")
        .await
        .expect(StatusCode::OK);

    // Its name says that it needs care.
    let environments = app.admin().await.get("/environments").await.json();
    assert_eq!(environments["items"][0]["protected"], true);
    let again = browser.post("/dashboard/environments/new", form).await;
    assert!(!html(&again.expect(StatusCode::CONFLICT)).contains(key));
    let list = browser
        .get("/dashboard/environments")
        .await
        .expect(StatusCode::OK);
    assert!(!html(&list).contains(key));
}

#[tokio::test]
async fn a_key_ends_only_if_the_form_names_its_environment_at_the_current_revision() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (id, _) = admin.environment("shop", "prod").await;
    let status = async || {
        let environment = admin.get(&format!("/environments/{id}")).await;
        environment.text("/status")
    };
    let browser = Browser::signed_in(&app).await;
    let page = format!("/dashboard/environments/{id}");
    for form in [
        "do=rotate&overlap=0&revision=1&rotate-name=",
        "do=rotate&overlap=0&revision=1&rotate-name=PROD",
        "do=rotate&overlap=0&revision=2&rotate-name=prod",
        "do=revoke&revision=1&revoke-name=",
        "do=revoke&revision=2&revoke-name=prod",
    ] {
        let refused = browser.post(&page, form).await;
        assert!(refused.status.is_client_error(), "{form}");
        assert_eq!(status().await, "active", "{form}");
    }
    let form = "do=rotate&overlap=0&revision=1&rotate-name=prod";
    let rotated = browser.post(&page, form).await;
    rotated.expect(StatusCode::OK);
    assert_eq!(status().await, "revoked");
}

#[tokio::test]
async fn a_flag_is_created_and_switched_without_scripts() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (environment, key) = admin.environment("shop", "production").await;
    let browser = Browser::signed_in(&app).await;
    let form = "key=checkout&name=New+checkout&description=&type=boolean";
    let answer = browser.post("/dashboard/new-flag", form).await;
    let answer = answer.expect(StatusCode::SEE_OTHER);
    assert_eq!(answer.header("location"), "/dashboard/flags/checkout");
    let flags = admin.get("/flags?key=checkout").await;
    let flag = flags.text("/items/0/id");

    let form = format!("flag={flag}&environment={environment}&enabled=true");
    let answer = browser.post("/dashboard/api/set-enabled", &form).await;
    let back = answer.expect(StatusCode::FOUND);
    assert!(back.header("location").contains("/dashboard/flags"));
    assert!(!back.header("location").contains("__err"));
    let config = app
        .sdk(&key)
        .get("/sdk/v1/config")
        .await
        .expect(StatusCode::OK);
    assert_eq!(config.json()["flags"][0]["enabled"], true);
    assert_eq!(
        admin.audited().await.first().map(String::as_str),
        Some("FLAG_ENVIRONMENT_UPDATED")
    );
}

#[tokio::test]
async fn an_island_gets_the_status_and_code_of_an_error() {
    let app = TestApp::start().await;
    let browser = Browser::signed_in(&app).await;
    let nowhere = "00000000-0000-7000-8000-000000000000";
    let form = format!("flag={nowhere}&environment={nowhere}&enabled=true");
    let switch = async |browser: &Browser<'_>, form: &str| {
        let path = "/dashboard/api/set-enabled";
        browser
            .post_from("same-origin", "application/json", path, form)
            .await
    };
    let answer = switch(&browser, &form).await.expect(StatusCode::NOT_FOUND);
    assert_eq!(answer.text("/code"), "NotFound");
    let answer = switch(&browser, "flag=1")
        .await
        .expect(StatusCode::BAD_REQUEST);
    assert_eq!(answer.text("/code"), "Transport");
    let answer = switch(&Browser::new(&app), &form)
        .await
        .expect(StatusCode::UNAUTHORIZED);
    assert_eq!(answer.text("/code"), "SignedOut");
}

#[tokio::test]
async fn the_palette_finds_people_by_any_part_of_their_address() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    for email in ["eve_b@example.com", "Eve.B@example.org", "vic@example.com"] {
        admin.user(email, "viewer").await;
    }
    let browser = Browser::signed_in(&app).await;
    let people = async |text: &str| -> Vec<String> {
        let form = format!("text={text}");
        let path = "/dashboard/api/destinations";
        let answer = browser.post_from("same-origin", "application/json", path, &form);
        let answer = answer.await.expect(StatusCode::OK).json();
        let found = answer.as_array().expect("destinations").iter();
        let people = found.filter(|each| each["kind"] == "Person");
        let names = people.map(|each| each["name"].as_str().unwrap_or_default().to_owned());
        names.collect()
    };
    let newest_first = ["Eve.B@example.org", "eve_b@example.com"];
    assert_eq!(people("EVE").await, newest_first);
    assert_eq!(people("e_b").await, ["eve_b@example.com"]);
    assert_eq!(people("%25").await, [] as [&str; 0]);
    assert_eq!(people("%00").await, [] as [&str; 0]);
}

#[tokio::test]
async fn an_unknown_address_shows_a_page_and_an_unknown_asset_is_empty() {
    let app = TestApp::start().await;
    let browser = Browser::signed_in(&app).await;
    let page = browser
        .get("/dashboard/nowhere/at/all")
        .await
        .expect(StatusCode::NOT_FOUND);
    assert!(html(&page).contains("Go to the flags"));
    let asset = browser
        .get("/dashboard/assets/pennon.js")
        .await
        .expect(StatusCode::NOT_FOUND);
    assert!(asset.bytes.is_empty());
}

#[tokio::test]
async fn a_form_that_is_too_long_is_refused() {
    let app = TestApp::start().await;
    let browser = Browser::signed_in(&app).await;
    let form = format!(
        "key=k&name=n&type=boolean&description={}",
        "x".repeat(1_100_000)
    );
    let answer = browser.post("/dashboard/new-flag", &form).await;
    answer.expect(StatusCode::PAYLOAD_TOO_LARGE);
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
    assert!(html(&ana.get("/dashboard/flags").await).contains("Admin"));
    let demoted = second.patch(&path, json!({ "role": "viewer" })).await;
    demoted.expect(StatusCode::OK);
    assert!(html(&ana.get("/dashboard/flags").await).contains("Viewer"));
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
        let html = html(&refused);
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
        assert!(html(&refused).contains("type it again"));
    }
}

#[tokio::test]
async fn undo_leaves_what_others_and_scripts_with_a_token_of_the_same_user_did() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (environment, _) = admin.environment("shop", "prod").await;
    let (mine, other) = (admin.flag("mine").await, admin.flag("other").await);
    let theirs = admin.flag("theirs").await;
    admin.switch(&mine, &environment, true).await;
    app.advance(1);
    let (_, token) = admin.personal_token("deploy", "editor").await;
    let script = app.with_authorization(format!("Bearer {token}"));
    script.switch(&other, &environment, true).await;
    let eve = app.user("eve@example.com", "editor").await;
    eve.switch(&theirs, &environment, true).await;
    let browser = Browser::signed_in(&app).await;
    browser.post("/dashboard/undo", "back=/dashboard").await;
    let is_enabled = async |flag: &str| {
        let path = format!("/flags/{flag}/environments/{environment}");
        admin.get(&path).await.json()["isEnabled"].clone()
    };
    assert_eq!(is_enabled(&mine).await, false);
    assert_eq!(is_enabled(&other).await, true);
    assert_eq!(is_enabled(&theirs).await, true);
}

#[tokio::test]
async fn a_change_can_be_undone_for_ten_minutes() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    admin
        .switch(&checkout.flag, &checkout.environment, true)
        .await;
    app.advance(601);
    let browser = Browser::signed_in(&app).await;
    let late = browser.post("/dashboard/undo", "back=/dashboard").await;
    let page = html(&late.expect(StatusCode::CONFLICT));
    assert!(page.contains("You have changed nothing in the last 10 minutes."));
    let read = admin.get(&checkout.path).await.json();
    assert_eq!(read["isEnabled"], true);
}

#[tokio::test]
async fn undoing_leads_back_to_a_page_of_the_dashboard_only() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    let browser = Browser::signed_in(&app).await;
    for (back, expected) in [
        ("/dashboard/flags?page=2", "/dashboard/flags?page=2"),
        ("https://evil.example/dashboard", "/dashboard/audit"),
        ("//evil.example/dashboard/", "/dashboard/audit"),
        ("/dashboard.evil.example", "/dashboard/audit"),
        ("", "/dashboard/audit"),
    ] {
        admin
            .switch(&checkout.flag, &checkout.environment, true)
            .await;
        app.advance(1);
        let undone = browser
            .post("/dashboard/undo", &format!("back={back}"))
            .await;
        let undone = undone.expect(StatusCode::SEE_OTHER);
        assert_eq!(undone.header("location"), expected);
        let read = admin.get(&checkout.path).await.json();
        assert_eq!(read["isEnabled"], false, "{back}");
    }
}

#[tokio::test]
async fn the_last_change_is_undone_even_if_the_clock_was_set_back() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (environment, _) = admin.environment("shop", "prod").await;
    let (first, last) = (admin.flag("first").await, admin.flag("last").await);
    admin.switch(&first, &environment, true).await;
    app.advance(-4);
    admin.switch(&last, &environment, true).await;
    let browser = Browser::signed_in(&app).await;
    browser.post("/dashboard/undo", "back=/dashboard").await;
    for (flag, expected) in [(&first, true), (&last, false)] {
        let path = format!("/flags/{flag}/environments/{environment}");
        assert_eq!(admin.get(&path).await.json()["isEnabled"], expected);
    }
}

/// Posts forms to pages, and expects that each is refused as outdated and changes nothing.
async fn expect_outdated(app: &TestApp, forms: &[(&str, String)]) {
    let admin = app.admin().await;
    let browser = Browser::signed_in(app).await;
    let before = admin.audited_with_accounts().await;
    for (page, form) in forms {
        let refused = browser.post(page, &format!("{form}&confirmed=yes")).await;
        assert_eq!(refused.status, StatusCode::CONFLICT, "{form}");
        assert_eq!(admin.audited_with_accounts().await, before, "{form}");
    }
}

#[tokio::test]
async fn a_form_of_an_outdated_page_of_a_flag_changes_nothing() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    let (flag, environment) = (&checkout.flag, &checkout.environment);
    let condition = json!({ "attribute": "plan", "operator": "==", "valueType": "string", "valueString": "pro" });
    let rule = json!({ "priority": 1, "logic": "and", "value": true, "conditions": [condition] });
    let rule = admin.post(&format!("{}/rules", checkout.path), rule).await;
    let rule = rule.expect(StatusCode::CREATED).text("/id");
    let rollout = format!("{}/rollout", checkout.path);
    let tenth = json!({ "percentage": 10, "strategy": "per_user" });
    admin.put(&rollout, tenth).await.expect(StatusCode::CREATED);
    let (staging, _) = admin.environment("shop", "staging").await;
    let archived = admin.flag("archived").await;
    let deletion = admin.delete(&format!("/flags/{archived}")).await;
    deletion.expect(StatusCode::NO_CONTENT);

    let browser = Browser::signed_in(&app).await;
    let page = "/dashboard/flags/checkout";
    let copying = format!("{page}?environment={environment}&edit=copy&to={staging}");
    let preview = html(&browser.get(&copying).await.expect(StatusCode::OK));
    let (_, preview) = preview
        .split_once("class=\"copy-preview\"")
        .expect("a preview");
    let field = |name: &str| {
        let (_, rest) = preview
            .split_once(&format!("name=\"{name}\" value=\""))
            .expect("a field");
        rest.split('"').next().unwrap_or_default().to_owned()
    };
    let (from, to) = (field("revision"), field("to-revision"));

    let content =
        "value=true&logic=or&attribute=plan&operator=%3D%3D&valueType=string&operand=basic";
    let share = "percentage=90&strategy=per_user";
    let forms = [
        "do=details&revision=0&name=New".to_owned(),
        "do=archive&revision=0".to_owned(),
        "do=switch&revision=0&enabled=true".to_owned(),
        "do=ttl&seen=5&ttl=30".to_owned(),
        format!("do=rule&rule={rule}&revision=0&{content}"),
        format!("do=rule&seen={rule}.0&{content}"),
        format!("do=delete-rule&rule={rule}&revision=0"),
        format!("do=order&seen={rule}.0&order={rule}"),
        format!("do=rollout&revision=0&{share}"),
        format!("do=rollout&{share}"),
        format!("do=recipe&recipe=share&seen={rule}.1&revision=0&{share}"),
        "do=remove-rollout&revision=0".to_owned(),
        format!("do=copy&to={staging}&revision={from}&to-revision=0"),
        format!("do=copy&to={staging}&revision=0&to-revision={to}"),
    ];
    let forms = forms.map(|form| {
        (
            page,
            format!("{form}&flag={flag}&environment={environment}"),
        )
    });
    expect_outdated(&app, &forms).await;
    let restore = format!("do=restore&flag={archived}&revision=0");
    expect_outdated(&app, &[("/dashboard/flags/archived", restore)]).await;
}

#[tokio::test]
async fn a_form_of_an_outdated_page_of_an_environment_or_a_person_changes_nothing() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (environment, _) = admin.environment("shop", "prod").await;
    let web = json!({ "product": "shop", "name": "web", "visibility": "public" });
    let web = admin.post("/environments", web).await.text("/id");
    let (old, _) = admin.environment("shop", "rotated").await;
    let overlap = format!("/environments/{old}/rotate-key?overlapSeconds=3600");
    let rotated = admin.send(admin.request(Method::POST, &overlap)).await;
    let rotated = rotated.text("/id");
    let eve = admin.user("eve@example.com", "viewer").await;
    let page = |id: &str| format!("/dashboard/environments/{id}");
    let (environment, web, rotated) = (page(&environment), page(&web), page(&rotated));
    let person = format!("/dashboard/people/{eve}");
    let role = format!("person={eve}&revision=0&role=editor");
    expect_outdated(&app, &[("/dashboard/people", role)]).await;
    let forms = [
        (&environment, "do=rename&revision=0&name=new"),
        (&environment, "do=safeguards&revision=0&protected=yes"),
        (&web, "do=client-rules&revision=0&clientRules=answers"),
        (&rotated, "do=end-previous-key&revision=0"),
        (
            &person,
            "do=grant&revision=0&scope=product%3Ashop&role=editor",
        ),
        (&person, "do=reset&revision=0&password="),
        (&person, "do=delete&revision=0"),
    ];
    let forms = forms.map(|(page, form)| (page.as_str(), form.to_owned()));
    expect_outdated(&app, &forms).await;
}

#[tokio::test]
async fn the_page_of_a_flag_opens_in_a_protected_environment_or_else_in_production() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (internal, _) = admin.environment("shop", "internal").await;
    admin.environment("shop", "production").await;
    admin.flag("checkout").await;
    let browser = Browser::signed_in(&app).await;
    let current = async || {
        let page = html(&browser.get("/dashboard/flags/checkout").await);
        let (before, _) = page
            .split_once("aria-current=\"page\"><span data-state")
            .expect("a tab");
        let (_, title) = before.rsplit_once("title=\"").expect("a title");
        title.split(':').next().unwrap_or_default().to_owned()
    };
    assert_eq!(current().await, "production");
    let protected = admin
        .patch(
            &format!("/environments/{internal}"),
            json!({ "protected": true }),
        )
        .await;
    protected.expect(StatusCode::OK);
    assert_eq!(current().await, "internal");
}

#[tokio::test]
async fn a_change_of_several_flags_has_one_reason_and_is_reverted_by_editors_of_all() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (staging, _) = admin.environment("shop", "staging").await;
    let (production, _) = admin.environment("shop", "production").await;
    let flags = [admin.flag("a").await, admin.flag("b").await];
    let change = |environment: &str| {
        json!({
            "flagIds": flags, "action": "enable", "environmentId": environment, "reason": "Launch day",
        })
    };
    let eve = admin.user("eve@example.com", "viewer").await;
    let grants = json!({ "grants": [{ "environmentId": staging, "role": "editor" }] });
    let granted = admin.patch(&format!("/users/{eve}"), grants).await;
    granted.expect(StatusCode::OK);
    let eve = Browser::signed_in_as(&app, "eve@example.com").await;
    for (environment, reverts) in [(&production, 0), (&staging, 1)] {
        app.advance(1);
        admin
            .post("/flags/bulk", change(environment))
            .await
            .expect(StatusCode::OK);
        let page = html(&eve.get("/dashboard/audit").await.expect(StatusCode::OK));
        assert_eq!(
            page.matches("href=\"/dashboard/audit/0").count(),
            reverts,
            "{page}"
        );
    }
    let page = html(&eve.get("/dashboard/audit").await);
    assert_eq!(page.matches("Launch day").count(), 2, "{page}");

    let entry = admin.get("/audit?limit=1").await.text("/items/0/id");
    let address = format!("/dashboard/audit/{entry}");
    let page = html(&eve.get(&address).await.expect(StatusCode::OK));
    assert!(page.contains("One action made these 2 changes; they are reverted together."));
    let (_, fingerprint) = page
        .split_once("name=\"fingerprint\" value=\"")
        .expect("a form");
    let fingerprint = fingerprint.split('"').next().unwrap_or_default();
    let reverted = eve
        .post(&address, &format!("fingerprint={fingerprint}"))
        .await;
    let reverted = reverted.expect(StatusCode::SEE_OTHER);
    // No flag is the only one.
    assert_eq!(reverted.header("location"), "/dashboard/audit");
}

#[tokio::test]
async fn a_change_of_flags_of_other_products_too_is_not_for_editors_of_one() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let create = async |key: &str, product: &str| {
        let new = json!({ "key": key, "name": key, "type": "boolean", "products": [product] });
        admin.post("/flags", new).await.text("/id")
    };
    let flags = [create("a", "Blog").await, create("b", "shop").await];
    let eve = admin.user("eve@example.com", "viewer").await;
    let grants = json!({ "grants": [{ "product": "shop", "role": "editor" }] });
    let granted = admin.patch(&format!("/users/{eve}"), grants).await;
    granted.expect(StatusCode::OK);
    let eve = Browser::signed_in_as(&app, "eve@example.com").await;
    for (flags, tag, reverts) in [(&flags[..], "q2", 0), (&flags[1..], "q3", 1)] {
        app.advance(1);
        let tag = json!({ "flagIds": flags, "action": "tag", "addTags": [tag] });
        admin.post("/flags/bulk", tag).await.expect(StatusCode::OK);
        let page = html(&eve.get("/dashboard/audit").await.expect(StatusCode::OK));
        let links = page.matches("href=\"/dashboard/audit/0").count();
        // The creation of her flag could be reverted, too.
        assert_eq!(links, reverts + 1, "{page}");
    }
}

#[tokio::test]
async fn the_audit_log_is_divided_into_days() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    app.advance(24 * 60 * 60);
    let admin = app.admin().await;
    admin
        .switch(&checkout.flag, &checkout.environment, true)
        .await;
    let browser = Browser::signed_in(&app).await;
    let page = html(&browser.get("/dashboard/audit").await.expect(StatusCode::OK));
    let (today, yesterday) = page.split_once("<h2>Yesterday · ").expect("two days");
    assert!(
        today.contains("<h2>Today · ") && today.contains(" on in "),
        "{page}"
    );
    assert!(yesterday.contains("created the environment"), "{page}");
}

#[tokio::test]
async fn the_revert_in_several_environments_requires_a_reason_if_one_does() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let flag = admin.flag("checkout").await;
    let mut entries = Vec::new();
    for (name, guard) in [("staging", "reasonRequired"), ("production", "protected")] {
        let (environment, _) = admin.environment("shop", name).await;
        admin.switch(&flag, &environment, true).await;
        let entry = admin.get("/audit?limit=1").await.text("/items/0/id");
        entries.push(format!("entry={entry}"));
        let guarded = admin
            .patch(
                &format!("/environments/{environment}"),
                json!({ guard: true }),
            )
            .await;
        guarded.expect(StatusCode::OK);
    }
    let browser = Browser::signed_in(&app).await;
    for entries in [
        entries.join("&"),
        entries.iter().rev().cloned().collect::<Vec<_>>().join("&"),
    ] {
        let address = format!("/dashboard/incident/revert?{entries}");
        let page = html(&browser.get(&address).await.expect(StatusCode::OK));
        assert!(
            page.contains("Revert 2 changes in 2 environments"),
            "{page}"
        );
        let (_, field) = page.split_once("<textarea id=\"reason\"").expect("a field");
        let (field, _) = field.split_once('>').unwrap_or_default();
        assert!(field.contains(" required"), "{field}");
    }
}

#[tokio::test]
async fn a_form_with_rules_leads_back_to_its_rule_or_gets_another_condition() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    let mut rules = Vec::new();
    for priority in 1..=2 {
        let condition = json!({ "attribute": "age", "operator": "==", "valueType": "number", "valueInt": priority });
        let rule = json!({ "priority": priority, "logic": "and", "value": true, "conditions": [condition] });
        let rule = admin.post(&format!("{}/rules", checkout.path), rule).await;
        rules.push(rule.expect(StatusCode::CREATED).text("/id"));
    }
    let browser = Browser::signed_in(&app).await;
    let here = format!(
        "flag={}&environment={}",
        checkout.flag, checkout.environment
    );
    let (first, last) = (&rules[0], &rules[1]);
    let form = format!("do=order&{here}&seen={first}.1+{last}.1&order={first}+{last}&up={last}");
    let page = "/dashboard/flags/checkout";
    let moved = browser
        .post(page, &form)
        .await
        .expect(StatusCode::SEE_OTHER);
    let anchor = format!("#rule-{last}");
    assert!(moved.header("location").ends_with(&anchor));

    let condition = "attribute=plan&operator=%3D%3D&valueType=string&operand=pro";
    let form = format!("do=recipe&{here}&recipe=only&{condition}&add=condition");
    let answer = browser.post(page, &form).await;
    let form = html(&answer.expect(StatusCode::OK));
    assert!(form.contains("aria-label=\"Condition 2\""), "{form}");
    assert!(form.contains("value=\"pro\""), "{form}");
}

#[tokio::test]
async fn the_revert_of_a_rule_of_a_flag_that_is_off_says_when_it_takes_effect() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    let condition = json!({ "attribute": "plan", "operator": "==", "valueType": "string", "valueString": "pro" });
    let rule = json!({ "priority": 1, "logic": "and", "value": false, "conditions": [condition] });
    let rule = admin.post(&format!("{}/rules", checkout.path), rule).await;
    rule.expect(StatusCode::CREATED);
    let entry = admin.get("/audit?limit=1").await.text("/items/0/id");
    let browser = Browser::signed_in(&app).await;
    let page = html(&browser.get(&format!("/dashboard/audit/{entry}")).await);
    for text in [
        "The flag is off here. This takes effect when you switch it on.",
        "Once switched on, now",
        "<del>OFF when plan is pro; everyone else is ON.</del>",
        "<ins>ON for everyone.</ins>",
    ] {
        assert!(page.contains(text), "{text}: {page}");
    }
}

#[tokio::test]
async fn a_revert_that_turns_a_flag_on_is_a_danger_and_lists_the_ttl() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    admin
        .switch(&checkout.flag, &checkout.environment, true)
        .await;
    let off = json!({ "isEnabled": false, "ttlOverrideSeconds": 300 });
    let off = admin.put(&checkout.path, off).await;
    off.expect(StatusCode::NO_CONTENT);
    let entry = admin.get("/audit?limit=1").await.text("/items/0/id");
    let browser = Browser::signed_in(&app).await;
    let page = html(&browser.get(&format!("/dashboard/audit/{entry}")).await);
    let (_, will) = page.split_once("id=\"will\"").expect("a plan");
    for text in [
        "effect-words alarming",
        "Some users who now get OFF will get ON.",
        "<ins>ON for everyone.</ins>",
        "<dt>TTL</dt><dd><del>5 min</del> <ins>60 s (default)</ins>",
        "class=\"button primary danger\"",
    ] {
        assert!(will.contains(text), "{text}: {will}");
    }
}

#[tokio::test]
async fn only_environments_where_a_flag_is_on_prevent_archiving() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    admin.environment("shop", "staging").await;
    let checkout = admin.flag_environment().await;
    let flag = &checkout.flag;
    admin.switch(flag, &checkout.environment, true).await;
    let browser = Browser::signed_in(&app).await;
    let page = "/dashboard/flags/checkout";
    let form = format!("do=archive&flag={flag}&revision=1");
    let refused = browser.post(page, &form).await.expect(StatusCode::CONFLICT);
    let text = html(&refused);
    let (_, list) = text.split_once("inline-list").expect("a list");
    let (list, _) = list.split_once("</ul>").expect("a list");
    assert!(
        list.contains(">prod<") && !list.contains("staging"),
        "{list}"
    );

    // Environments that differ are not made equal once the flag is archived.
    let ttl = json!({ "isEnabled": false, "ttlOverrideSeconds": 300 });
    let off = admin.put(&checkout.path, ttl).await;
    off.expect(StatusCode::NO_CONTENT);
    let compare = format!("{page}/compare");
    assert!(html(&browser.get(&compare).await).contains("Make like"));
    let archived = browser.post(page, &form).await;
    archived.expect(StatusCode::SEE_OTHER);
    let comparison = html(&browser.get(&compare).await);
    assert!(comparison.contains("5 min") && !comparison.contains("Make like"));
}

#[tokio::test]
async fn the_history_of_a_flag_in_another_product_is_empty_and_does_not_name_its_own() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    admin.environment("Blog", "live").await;
    let (environment, _) = admin.environment("Web", "live").await;
    let new =
        json!({ "key": "checkout", "name": "Checkout", "type": "boolean", "products": ["Web"] });
    let flag = admin.post("/flags", new).await.text("/id");
    admin.switch(&flag, &environment, true).await;
    let browser = Browser::signed_in(&app).await;
    let history = async |query: &str| {
        let address = format!("/dashboard/flags/checkout/history{query}");
        html(&browser.get(&address).await.expect(StatusCode::OK))
    };
    assert!(
        history("?product=Blog")
            .await
            .contains("No changes in Blog")
    );
    assert!(history("").await.contains(">Web / live</a>"));
    let page = history("?product=Web").await;
    assert!(
        page.contains(">live</a>") && !page.contains("Web / live"),
        "{page}"
    );
}

#[tokio::test]
async fn the_steps_of_a_flag_that_is_off_say_what_comes_once_it_is_on() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    let condition = json!({ "attribute": "plan", "operator": "==", "valueType": "string", "valueString": "pro" });
    let rule = json!({ "priority": 1, "logic": "and", "value": true, "conditions": [condition] });
    let rule = admin.post(&format!("{}/rules", checkout.path), rule).await;
    let rule = rule.expect(StatusCode::CREATED).text("/id");
    let browser = Browser::signed_in(&app).await;
    let page = async |query: &str| {
        let address = format!("/dashboard/flags/checkout?{query}");
        html(&browser.get(&address).await.expect(StatusCode::OK))
    };
    let recipes = page("edit=recipe").await;
    assert!(
        recipes.contains("A percentage of everyone left"),
        "{recipes}"
    );
    let nobody = json!({ "percentage": 0, "strategy": "per_user" });
    let rollout = admin
        .put(&format!("{}/rollout", checkout.path), nobody)
        .await;
    rollout.expect(StatusCode::CREATED);
    let steps = page("").await;
    assert!(
        steps.contains("<span class=\"step-mark\">else</span>"),
        "{steps}"
    );
    assert!(!steps.contains("<span class=\"step-mark\">then</span>"));
    // There is nowhere to move the only rule.
    assert!(!steps.contains("Move up") && !steps.contains("Drag to reorder"));
    let deletion = page(&format!("edit=delete-rule&rule={rule}")).await;
    let effect = "The flag is off here, so nothing changes yet. Once it is on: OFF for everyone.";
    assert!(deletion.contains(effect), "{deletion}");
    // Somebody else deleted it.
    let rules = admin.delete(&format!("/rules/{rule}")).await;
    rules.expect(StatusCode::NO_CONTENT);
    let page = page(&format!("edit=delete-rule&rule={rule}")).await;
    assert!(page.contains("Add rule"), "{page}");
}
