//! `pennon lint` and `pennon explain`

use pennon_tests::{FlagEnvironment, TestApp};
use reqwest::StatusCode;
use serde_json::{Value, json};

/// Starts a server with a flag that is on for `DE`, by a rule that a second rule repeats.
async fn app() -> (TestApp, FlagEnvironment) {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    admin.environment("blog", "prod").await;
    admin.switch_on(&checkout).await;
    for priority in [1, 2] {
        let rule = json!({
            "priority": priority, "logic": "and", "value": true,
            "conditions": [
                { "attribute": "country", "operator": "==", "valueType": "string", "valueString": "DE" },
                { "attribute": "plan", "operator": ">=", "valueType": "number", "valueInt": 3 },
            ],
        });
        admin.rule(&checkout.path, rule).await;
    }
    admin.rollout(&checkout.path, 50).await;
    (app, checkout)
}

#[tokio::test]
async fn lint_prints_probable_mistakes_and_fails() {
    let (app, checkout) = app().await;
    let found = app.command(&["lint"]).await;
    assert_eq!(
        found.stdout,
        "checkout in shop/prod: The rule with the priority 2 has no effect: the rule with the priority 1 decides for every context that it matches.\n"
    );
    let printed = found.stdout.clone();
    found.expect_failure("1 probable mistake");
    let there = app.command(&["lint", "--environment", "shop/prod"]).await;
    there.expect_failure("1 probable mistake");
    for elsewhere in [["--product", "blog"], ["--environment", "blog/prod"]] {
        let found = app.command(&["lint", elsewhere[0], elsewhere[1]]).await;
        assert_eq!(found.expect_success(), "");
    }
    let nowhere = app.command(&["lint", "--product", "forum"]).await;
    nowhere.expect_failure("no active environment");

    let export = app.command(&["export"]).await.expect_success();
    let from = async |more: &[&str]| {
        let arguments = [&["lint", "--from", "-"], more].concat();
        app.command_with_input(&arguments, &export).await
    };
    let in_file = from(&["--environment", "shop/prod"]).await;
    assert_eq!(in_file.stdout, printed);
    in_file.expect_failure("1 probable mistake");
    assert_eq!(from(&["--product", "blog"]).await.expect_success(), "");
    for [option, name] in [["--environment", "shop/nowhere"], ["--product", "forum"]] {
        let nowhere = from(&[option, name]).await;
        nowhere.expect_failure(&format!("no flag is configured in {name}"));
    }
    let other = app.command_with_input(&["lint", "--from", "-"], r#"{"formatVersion":1}"#);
    other.await.expect_failure("the file is not an export");

    let admin = app.admin().await;
    admin.switch_off(&checkout).await;
    app.command(&["lint"])
        .await
        .expect_failure("1 probable mistake");
    admin.archive(&checkout.flag).await;
    assert_eq!(app.command(&["lint"]).await.expect_success(), "");
}

#[tokio::test]
async fn lint_of_a_new_installation_finds_nothing() {
    let app = TestApp::start().await;
    assert_eq!(app.command(&["lint"]).await.expect_success(), "");
}

#[tokio::test]
async fn explain_prints_every_step() {
    let (app, checkout) = app().await;
    let explain = ["explain", "checkout", "--environment", "shop/prod"];
    let context = json!({ "userId": "ada", "country": "FR", "customAttributes": { "plan": "4" } });
    let text = context.to_string();
    let with_context = [&explain[..], &["--context", &text]].concat();
    let printed = app.command(&with_context).await.expect_success();
    let rule = |priority: u32| {
        format!(
            "  rule {priority} (and): did not match\n    country == \"DE\": did not hold, with \"FR\"\n    plan >= 3: the value has another type, with \"4\"\n"
        )
    };
    let (first, second) = (rule(1), rule(2));
    assert_eq!(
        printed,
        format!(
            "checkout in shop/prod: off (rollout)\n{first}{second}  rollout 50% (per_user): bucket 63, so out\n"
        )
    );
    let as_json = [&explain[..], &["--json", "--context", "-"]].concat();
    let printed = app.command_with_input(&as_json, &text).await;
    let printed: Value = serde_json::from_str(&printed.expect_success()).expect("it prints JSON");
    let body = json!({ "context": context });
    let path = format!("{}/explain", checkout.path);
    let answer = app.admin().await.post(&path, body).await;
    assert_eq!(printed, answer.expect(StatusCode::OK).json());

    let matched = r#"{"country": "DE", "customAttributes": {"plan": 3}}"#;
    let matched = [&explain[..], &["--context", matched]].concat();
    let printed = app.command(&matched).await.expect_success();
    assert!(printed.starts_with("checkout in shop/prod: on (targeting_rule)\n"));
    assert!(
        printed.contains("rule 1 (and): matched, so on\n"),
        "{printed}"
    );
}

#[tokio::test]
async fn explain_names_its_faults() {
    let (app, _) = app().await;
    for (arguments, fault) in [
        (["nothing", "shop/prod", "{}"], "the flag does not exist"),
        (
            ["checkout", "prod", "{}"],
            "environments are named `product/name`",
        ),
        (
            ["checkout", "shop/prod", "{"],
            "the context is not valid JSON",
        ),
        (
            ["checkout", "shop/prod", "[]"],
            "/context: must be an object",
        ),
        (
            ["checkout", "shop/prod", r#"{"email": "x"}"#],
            "/context/email: must be an e-mail address",
        ),
    ] {
        let [flag, environment, context] = arguments;
        let explain = [
            "explain",
            flag,
            "--environment",
            environment,
            "--context",
            context,
        ];
        app.command(&explain).await.expect_failure(fault);
    }
}
