//! Forms of the dashboard, and their answers.

use pennon_tests::{Browser, TestApp, equals, rule};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

#[tokio::test]
async fn a_new_key_is_shown_once_and_works() {
    let app = TestApp::start().await;
    let browser = Browser::signed_in(&app).await;
    let form = "product=shop&name=production";
    let answer = browser.post("/dashboard/environments/new", form).await;
    let page = answer.expect(StatusCode::OK).body();
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
    assert!(!again.expect(StatusCode::CONFLICT).body().contains(key));
    let list = browser.page("/dashboard/environments").await;
    assert!(!list.contains(key));
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
    let rule = admin
        .rule(&checkout.path, rule(1, equals("plan", "pro")))
        .await;
    admin.rollout(&checkout.path, 10).await;
    let (staging, _) = admin.environment("shop", "staging").await;
    let archived = admin.flag("archived").await;
    admin.archive(&archived).await;

    let browser = Browser::signed_in(&app).await;
    let page = "/dashboard/flags/checkout";
    let copying = format!("{page}?environment={environment}&edit=copy&to={staging}");
    let preview = browser.page(&copying).await;
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
        "do=ttl&expected=5&ttl=30".to_owned(),
        format!("do=rule&rule={rule}&revision=0&{content}"),
        format!("do=rule&expected={rule}.0&{content}"),
        format!("do=delete-rule&rule={rule}&revision=0"),
        format!("do=order&expected={rule}.0&order={rule}"),
        format!("do=rollout&revision=0&{share}"),
        format!("do=rollout&{share}"),
        format!("do=recipe&recipe=share&expected={rule}.1&revision=0&{share}"),
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
async fn a_form_with_rules_leads_back_to_its_rule_or_gets_another_condition() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    let mut rules = Vec::new();
    for priority in 1..=2 {
        let rule = rule(priority, equals("age", priority));
        rules.push(admin.rule(&checkout.path, rule).await);
    }
    let browser = Browser::signed_in(&app).await;
    let here = format!(
        "flag={}&environment={}",
        checkout.flag, checkout.environment
    );
    let (first, last) = (&rules[0], &rules[1]);
    let form =
        format!("do=order&{here}&expected={first}.1+{last}.1&order={first}+{last}&up={last}");
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
    let form = answer.expect(StatusCode::OK).body();
    assert!(form.contains("aria-label=\"Condition 2\""), "{form}");
    assert!(form.contains("value=\"pro\""), "{form}");
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
    let text = refused.body();
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
    assert!(browser.page(&compare).await.contains("Make like"));
    let archived = browser.post(page, &form).await;
    archived.expect(StatusCode::SEE_OTHER);
    let comparison = browser.page(&compare).await;
    assert!(comparison.contains("5 min") && !comparison.contains("Make like"));
}

/// The fields of a rule with one condition.
const RULE: &str =
    "value=true&logic=and&attribute=plan&operator=%3D%3D&valueType=string&operand=pro";

#[tokio::test]
async fn a_rule_is_added_after_one_with_the_highest_priority() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    let (flag, environment) = (&checkout.flag, &checkout.environment);
    let mut last = String::new();
    for priority in [5, 2_147_483_646, 2_147_483_647] {
        let rule = rule(priority, equals("age", priority));
        last = admin.rule(&checkout.path, rule).await;
    }
    let browser = Browser::signed_in(&app).await;
    let rules = async || {
        let listed = admin.get(&format!("{}/rules", checkout.path)).await.json();
        let listed = listed.as_array().cloned().unwrap_or_default();
        let short = listed.iter().map(|rule| {
            let condition = &rule["conditions"][0];
            json!([rule["priority"], condition["attribute"], rule["id"]])
        });
        short.collect::<Vec<_>>()
    };
    let shown = async |edit: &str| {
        let path = format!("/dashboard/flags/checkout?environment={environment}&edit={edit}");
        let page = browser.page(&path).await;
        let (_, form) = page.split_once("class=\"step-editor\"").expect("a form");
        let (_, value) = form
            .split_once("name=\"expected\" value=\"")
            .expect("a field");
        value
            .split('"')
            .next()
            .unwrap_or_default()
            .replace(' ', "+")
    };
    let here = format!("flag={flag}&environment={environment}");

    // The preview has the new rule at the end, too.
    let proposed =
        json!({ "flag": flag, "environment": environment, "change": "NewRule", "fields": RULE });
    let preview = browser.call("preview", &proposed).await;
    let preview = preview.expect(StatusCode::OK);
    let after: Value = serde_json::from_str(&preview.text("/change/after")).expect("JSON");
    assert_eq!(after["rules"][2]["priority"], 2_147_483_646);
    assert_eq!(after["rules"][3]["priority"], 2_147_483_647);
    let preview = preview.text("/html");
    let end =
        "otherwise ON when age is 2147483647; otherwise ON when plan is pro; everyone else is ON.";
    assert!(preview.contains(end), "{preview}");

    let form = format!("do=rule&{here}&expected={}&{RULE}", shown("rule").await);
    let added = browser.post("/dashboard/flags/checkout", &form).await;
    let added = added.expect(StatusCode::SEE_OTHER);
    let listed = rules().await;
    let place: Vec<_> = listed.iter().map(|rule| (&rule[0], &rule[1])).collect();
    let (age, plan) = (json!("age"), json!("plan"));
    let priorities = [5, 2_147_483_645, 2_147_483_646, 2_147_483_647].map(|number| json!(number));
    let [first, second, third, fourth] = &priorities;
    assert_eq!(
        place,
        [
            (first, &age),
            (second, &age),
            (third, &age),
            (fourth, &plan)
        ]
    );
    assert_eq!(listed[2][2], last);
    let anchor = format!("#rule-{}", listed[3][2].as_str().unwrap_or_default());
    assert!(added.header("location").ends_with(&anchor));

    // A percentage of everyone needs no rule, so it moves none.
    let share = "recipe=share&percentage=5&strategy=per_user";
    let form = format!(
        "do=recipe&{here}&expected={}&{share}",
        shown("recipe").await
    );
    let saved = browser.post("/dashboard/flags/checkout", &form).await;
    saved.expect(StatusCode::SEE_OTHER);
    assert_eq!(rules().await, listed);
    let rollout = admin.get(&format!("{}/rollout", checkout.path)).await;
    let revision = rollout.header("etag").trim_matches('"').to_owned();
    let form = format!(
        "do=recipe&{here}&expected={}&revision={revision}&recipe=only&{RULE}",
        shown("recipe").await
    );
    let saved = browser.post("/dashboard/flags/checkout", &form).await;
    saved.expect(StatusCode::SEE_OTHER);
    assert_eq!(rules().await.len(), 5);
}

#[tokio::test]
async fn an_error_of_a_field_without_a_place_is_shown_above_the_form() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    let browser = Browser::signed_in(&app).await;
    let form = format!(
        "do=rule&flag={}&environment={}&{}",
        checkout.flag,
        checkout.environment,
        RULE.replace("value=true", "value=maybe")
    );
    let refused = browser.post("/dashboard/flags/checkout", &form).await;
    let page = refused.expect(StatusCode::BAD_REQUEST).body();
    assert!(page.contains("Some fields are invalid."), "{page}");
    assert!(page.contains("<p>value: must be"), "{page}");
}

#[tokio::test]
async fn a_form_of_an_environment_whose_key_was_rotated_changes_the_one_that_replaced_it() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    let (flag, old) = (&checkout.flag, &checkout.environment);
    let (new, _) = admin.rotate_key(old).await;
    let browser = Browser::signed_in(&app).await;
    let page = format!("/dashboard/flags/checkout?environment={old}");
    let here = format!("flag={flag}&environment={old}");
    for form in [
        format!("do=rule&expected=&{RULE}"),
        "do=ttl&expected=&ttl=30".to_owned(),
        "do=rollout&percentage=5&strategy=per_user".to_owned(),
    ] {
        let saved = browser.post(&page, &format!("{form}&{here}")).await;
        saved.expect(StatusCode::SEE_OTHER);
    }
    // The old address shows the configuration, too.
    let shown = browser.page(&page).await;
    for text in ["when plan is pro", "5% of", "30 s"] {
        assert!(shown.contains(text), "{text}: {shown}");
    }
    let proposed = json!({ "flag": flag, "environment": old, "change": "NewRule", "fields": RULE });
    browser
        .call("preview", &proposed)
        .await
        .expect(StatusCode::OK);

    // A rotation changes each rule, so the form of one shows it again, with the input.
    let path = format!("/flags/{flag}/environments/{new}/rules");
    let rule = admin.get(&path).await.text("/0/id");
    let (newest, _) = admin.rotate_key(&new).await;
    let form = format!(
        "do=rule&rule={rule}&{here}&{}",
        RULE.replace("pro", "typed")
    );
    let refused = browser.post(&page, &format!("{form}&revision=1")).await;
    let refused = refused.expect(StatusCode::CONFLICT).body();
    for text in [
        "value=\"typed\"",
        &format!("?environment={newest}&amp;edit=rule"),
    ] {
        assert!(refused.contains(text), "{text}: {refused}");
    }
    let saved = browser.post(&page, &format!("{form}&revision=2")).await;
    saved.expect(StatusCode::SEE_OTHER);
}

#[tokio::test]
async fn a_switch_of_an_environment_whose_key_was_rotated_changes_the_one_that_replaced_it() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    let (flag, old) = (&checkout.flag, &checkout.environment);
    let (new, _) = admin.rotate_key(old).await;
    let browser = Browser::signed_in(&app).await;
    let form = format!("flag={flag}&environment={old}&enabled=true&revision=1");
    let switched = browser.post("/dashboard/api/set-enabled", &form).await;
    let switched = switched.expect(StatusCode::FOUND);
    assert!(!switched.header("location").contains("__err"));
    let path = format!("/flags/{flag}/environments/{new}");
    assert_eq!(admin.get(&path).await.json()["isEnabled"], true);
}

#[tokio::test]
async fn a_copy_to_an_environment_whose_key_was_rotated_changes_the_one_that_replaced_it() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    let (flag, from) = (&checkout.flag, &checkout.environment);
    admin.rollout(&checkout.path, 10).await;
    let (old, _) = admin.environment("shop", "staging").await;
    admin.environment("shop", "testing").await;
    let browser = Browser::signed_in(&app).await;
    let page = format!("/dashboard/flags/checkout?environment={from}");
    let preview = browser.page(&format!("{page}&edit=copy&to={old}")).await;
    let field = |name: &str| {
        let (_, preview) = preview
            .split_once("class=\"copy-preview\"")
            .expect("a preview");
        let (_, rest) = preview
            .split_once(&format!("name=\"{name}\" value=\""))
            .expect("a field");
        rest.split('"').next().unwrap_or_default().to_owned()
    };
    let form = format!(
        "do=copy&flag={flag}&environment={from}&to={old}&revision={}&to-revision={}",
        field("revision"),
        field("to-revision")
    );
    let (new, _) = admin.rotate_key(&old).await;
    let (from, _) = admin.rotate_key(from).await;

    // The page has no preview for the old environment, and asks for another one.
    let choice = browser.page(&format!("{page}&edit=copy&to={old}")).await;
    assert!(choice.contains("id=\"copy-to\""), "{choice}");
    assert!(!choice.contains("class=\"copy-preview\""), "{choice}");

    let copied = browser.post(&page, &form).await;
    copied.expect(StatusCode::SEE_OTHER);
    let rollout = async |environment: &str| {
        let path = format!("/flags/{flag}/environments/{environment}/rollout");
        admin.get(&path).await.json()["percentage"].clone()
    };
    assert_eq!(rollout(&new).await, 10);
    assert_eq!(rollout(&from).await, 10);
}

#[tokio::test]
async fn a_form_keeps_its_input_when_the_flag_has_left_the_environment() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    let limited = json!({ "products": ["Blog"] });
    let limited = admin
        .patch(&format!("/flags/{}", checkout.flag), limited)
        .await;
    limited.expect(StatusCode::OK);
    let browser = Browser::signed_in(&app).await;
    let form = format!(
        "do=rule&flag={}&environment={}&expected=&{RULE}",
        checkout.flag, checkout.environment
    );
    let page = format!(
        "/dashboard/flags/checkout?environment={}",
        checkout.environment
    );
    let refused = browser.post(&page, &form).await;
    let refused = refused.expect(StatusCode::CONFLICT).body();
    for text in [
        "The flag is no longer configured in prod. ",
        "name=\"operand\" value=\"pro\"",
        "Send again",
    ] {
        assert!(refused.contains(text), "{text}: {refused}");
    }
}

#[tokio::test]
async fn a_form_keeps_its_input_when_its_rule_was_deleted_and_the_flag_archived() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    let (flag, environment) = (&checkout.flag, &checkout.environment);
    let rule = rule(1, equals("plan", "pro"));
    let rule = admin.rule(&checkout.path, rule).await;
    let deleted = admin.delete(&format!("/rules/{rule}")).await;
    deleted.expect(StatusCode::NO_CONTENT);
    admin.archive(flag).await;
    let browser = Browser::signed_in(&app).await;
    let form =
        format!("do=rule&rule={rule}&flag={flag}&environment={environment}&revision=1&{RULE}");
    let refused = browser.post("/dashboard/flags/checkout", &form).await;
    let refused = refused.expect(StatusCode::CONFLICT).body();
    for text in [
        "The rule was deleted meanwhile.",
        "name=\"operand\" value=\"pro\"",
        "Send again",
    ] {
        assert!(refused.contains(text), "{text}: {refused}");
    }
}

#[tokio::test]
async fn the_details_of_a_flag_that_was_archived_meanwhile_stay_in_their_form() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    admin.archive(&checkout.flag).await;
    let browser = Browser::signed_in(&app).await;
    let form = format!("do=details&flag={}&revision=1&name=Typed", checkout.flag);
    let refused = browser.post("/dashboard/flags/checkout", &form).await;
    let page = refused.expect(StatusCode::CONFLICT).body();
    for text in [
        "The flag was archived meanwhile.",
        "value=\"Typed\"",
        "restore the flag in another tab",
    ] {
        assert!(page.contains(text), "{text}: {page}");
    }
    assert!(!page.contains("Somebody else changed this first"), "{page}");
}
