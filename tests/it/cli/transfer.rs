//! `pennon export` and `pennon import`

use pennon_tests::{Answer, Caller, FlagEnvironment, TestApp, eventually};
use reqwest::StatusCode;
use serde_json::{Value, json};

pub(super) fn rule(priority: u32, country: &str) -> Value {
    json!({
        "priority": priority, "logic": "or", "value": true,
        "conditions": [
            { "attribute": "country", "operator": "!=", "valueType": "string", "valueString": country },
            { "attribute": "age", "operator": ">=", "valueType": "number", "valueInt": 18 },
            { "attribute": "beta", "operator": "==", "valueType": "boolean", "valueBool": true },
        ],
    })
}

/// Creates an installation with two environments and three flags, one of them archived. Returns the first flag in
/// `prod`.
pub(super) async fn fill(admin: &Caller<'_>) -> FlagEnvironment {
    let checkout = admin.flag_environment().await;
    let (staging, _) = admin.environment("shop", "staging").await;
    for rule in [rule(1, "DE"), rule(7, "AT")] {
        admin.rule(&checkout.path, rule).await;
    }
    let rollout = json!({ "percentage": 30, "strategy": "per_tenant" });
    let rollout_path = format!("/flags/{}/environments/{staging}/rollout", checkout.flag);
    let created = admin.put(&rollout_path, rollout).await;
    created.expect(StatusCode::CREATED);
    let settings = json!({ "isEnabled": true, "ttlOverrideSeconds": 9 });
    let configured = admin.put(&checkout.path, settings).await;
    configured.expect(StatusCode::NO_CONTENT);
    let body = json!({ "key": "a.flag", "name": "Ä \"flag\"", "description": "Two\nlines", "type": "string" });
    admin.post("/flags", body).await.expect(StatusCode::CREATED);
    let old = admin.flag("old").await;
    let created = admin
        .post(
            &format!("/flags/{old}/environments/{staging}/rules"),
            rule(2, "CH"),
        )
        .await;
    created.expect(StatusCode::CREATED);
    admin.archive(&old).await;
    checkout
}

pub(super) async fn exported(app: &TestApp) -> Value {
    let text = app.command(&["export"]).await.expect_success();
    serde_json::from_str(&text).expect("an export is JSON")
}

/// Imports a document and returns the actions in the output.
pub(super) async fn imported(app: &TestApp, document: &Value, options: &[&str]) -> Vec<String> {
    let arguments = [&["import", "-"], options].concat();
    let ran = app
        .command_with_input(&arguments, &document.to_string())
        .await;
    let said = ran.expect_success();
    let first_word = |line: &str| line.split(' ').next().unwrap_or_default().to_owned();
    said.lines().map(first_word).collect()
}

#[tokio::test]
async fn an_export_is_readable_and_stable_and_has_no_secrets() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = fill(&admin).await;
    let text = app.command(&["export"]).await.expect_success();
    assert_eq!(text, app.command(&["export"]).await.expect_success());
    assert!(text.ends_with("}\n") && text.lines().count() > 50);
    assert!(!text.contains("pnk_") && !text.contains(&checkout.flag));
    let document: Value = serde_json::from_str(&text).expect("an export is JSON");
    assert_eq!(document["formatVersion"], 1);
    let keys = ["a.flag", "checkout", "old"];
    let flags = document["flags"].as_array().cloned().unwrap_or_default();
    assert_eq!(
        flags.iter().map(|flag| &flag["key"]).collect::<Vec<_>>(),
        keys
    );
    let expected = json!({
        "key": "checkout", "name": "checkout", "description": null, "type": "boolean", "archived": false,
        "environments": [
            {
                "product": "shop", "environment": "prod", "isEnabled": true, "ttlOverrideSeconds": 9,
                "rules": [rule(1, "DE"), rule(7, "AT")], "rollout": null,
            },
            {
                "product": "shop", "environment": "staging", "isEnabled": false, "ttlOverrideSeconds": null,
                "rules": [], "rollout": { "percentage": 30, "strategy": "per_tenant" },
            },
        ],
    });
    assert_eq!(flags[1], expected);
}

#[tokio::test]
async fn an_import_reproduces_an_installation_and_is_idempotent() {
    let (app, other) = (TestApp::start().await, TestApp::start().await);
    fill(&app.admin().await).await;
    let document = exported(&app).await;
    let admin = other.admin().await;
    let (_, key) = admin.environment("shop", "prod").await;
    admin.environment("shop", "staging").await;
    let expected = [
        "FLAG_CREATED",
        "FLAG_CREATED",
        "FLAG_ENVIRONMENT_UPDATED",
        "RULE_CREATED",
        "RULE_CREATED",
        "ROLLOUT_CONFIGURED",
        "FLAG_CREATED",
        "RULE_CREATED",
        "FLAG_ARCHIVED",
    ];
    let before = admin.audited().await;
    assert_eq!(imported(&other, &document, &["--dry-run"]).await, expected);
    assert_eq!(admin.audited().await, before);
    assert_eq!(imported(&other, &document, &[]).await, expected);
    let mut audited = admin.audited().await;
    audited.truncate(expected.len());
    audited.reverse();
    assert_eq!(audited, expected);
    let entry = admin.get("/audit?limit=1").await.json();
    assert_eq!(entry["items"][0]["actorIdentity"], "cli");
    assert_eq!(exported(&other).await, document);
    assert_eq!(imported(&other, &document, &[]).await, [] as [&str; 0]);
    assert_eq!(admin.audited().await.len(), before.len() + expected.len());
    other.watch();
    let sdk = other.sdk(&key);
    eventually("the running server serves what was imported", async || {
        let body =
            json!({ "flagKey": "checkout", "context": { "customAttributes": { "age": 18 } } });
        let answer = sdk.post("/sdk/v1/evaluate", body).await;
        answer.status.is_success() && answer.json()["reason"] == "targeting_rule"
    })
    .await;
}

#[tokio::test]
async fn an_import_reverts_changes_since_the_export() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = fill(&admin).await;
    let document = exported(&app).await;
    let rules = admin.get(&format!("{}/rules", checkout.path)).await.json();
    let id = |index: usize| rules[index]["id"].as_str().unwrap_or_default().to_owned();
    let (first, second) = (format!("/rules/{}", id(0)), format!("/rules/{}", id(1)));
    admin
        .put(&first, rule(1, "FR"))
        .await
        .expect(StatusCode::OK);
    admin.delete(&second).await.expect(StatusCode::NO_CONTENT);
    admin.rule(&checkout.path, rule(3, "IT")).await;
    admin.rollout(&checkout.path, 1).await;
    admin.switch_off(&checkout).await;
    let renamed = json!({ "name": "Renamed" });
    let changed = admin
        .patch(&format!("/flags/{}", checkout.flag), renamed)
        .await;
    changed.expect(StatusCode::OK);
    let restored = admin.get("/flags?key=old").await.text("/items/0/id");
    let request = admin.request(reqwest::Method::POST, &format!("/flags/{restored}/restore"));
    admin.send(request).await.expect(StatusCode::OK);
    admin.flag("not_in_the_document").await;

    let expected = [
        "FLAG_UPDATED",
        "FLAG_ENVIRONMENT_UPDATED",
        "RULE_UPDATED",
        "RULE_DELETED",
        "RULE_CREATED",
        "ROLLOUT_DELETED",
        "FLAG_ARCHIVED",
    ];
    assert_eq!(imported(&app, &document, &[]).await, expected);
    let mut now = exported(&app).await;
    let flags = now["flags"].as_array_mut().expect("the export has flags");
    flags.retain(|flag| flag["key"] != "not_in_the_document");
    assert_eq!(now, document);
    let after = admin.get(&format!("{}/rules", checkout.path)).await.json();
    assert_eq!(
        after[0]["id"], rules[0]["id"],
        "a rule that comes back keeps its id"
    );
}

#[tokio::test]
async fn an_import_can_change_an_archived_flag() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    fill(&admin).await;
    let mut document = exported(&app).await;
    document["flags"][2]["environments"][1]["rules"] = json!([rule(5, "FR")]);
    let expected = [
        "FLAG_UPDATED",
        "RULE_DELETED",
        "RULE_CREATED",
        "FLAG_ARCHIVED",
    ];
    assert_eq!(imported(&app, &document, &[]).await, expected);
    assert_eq!(exported(&app).await, document);
    // The order of rules in the document has no meaning.
    let mut unordered = document.clone();
    unordered["flags"][2]["environments"][1]["rules"] = json!([rule(7, "AT"), rule(5, "FR")]);
    let expected = ["FLAG_UPDATED", "RULE_CREATED", "FLAG_ARCHIVED"];
    assert_eq!(imported(&app, &unordered, &[]).await, expected);
    let nothing: [&str; 0] = [];
    assert_eq!(imported(&app, &unordered, &[]).await, nothing);
    imported(&app, &document, &[]).await;
    document["flags"][2]["archived"] = json!(false);
    document["flags"][2]["environments"][0]["isEnabled"] = json!(true);
    let expected = ["FLAG_UPDATED", "FLAG_ENVIRONMENT_UPDATED"];
    assert_eq!(imported(&app, &document, &[]).await, expected);
    assert_eq!(exported(&app).await, document);
}

/// Reverts an import, and returns its planned changes. Each of them is recorded.
async fn reverted(admin: &Caller<'_>, import: &str) -> Vec<Value> {
    let revert = async |query: &str| -> Answer {
        let path = format!("/audit/{import}/revert{query}");
        admin.post(&path, json!({})).await
    };
    let planned = revert("?dryRun=true").await.expect(StatusCode::OK).json();
    let group = revert("").await.expect(StatusCode::OK).text("/groupId");
    let changes = planned["changes"].as_array().cloned().unwrap_or_default();
    let actions = changes.iter().map(|change| change["action"].as_str());
    let mut actions: Vec<_> = actions.map(Option::unwrap_or_default).collect();
    let log = admin.get("/audit?limit=100").await.items();
    let recorded = log.iter().filter(|entry| entry["groupId"] == group);
    let recorded = recorded.map(|entry| entry["action"].as_str());
    let mut recorded: Vec<_> = recorded.map(Option::unwrap_or_default).collect();
    actions.sort_unstable();
    recorded.sort_unstable();
    assert_eq!(recorded, actions);
    changes
}

/// Returns the short form of planned changes: the action, the name of the flag before and after the change, and whether
/// it is archived.
fn of_flag(changes: &[Value], key: &str) -> Value {
    let changes = changes.iter().filter(|change| change["flagKey"] == key);
    let archived = |value: &Value| value.get("archivedAt").is_some_and(|at| !at.is_null());
    let short = changes.map(|change| {
        let (old, new) = (&change["oldValue"], &change["newValue"]);
        json!([
            change["action"],
            old["name"],
            archived(old),
            new["name"],
            archived(new)
        ])
    });
    short.collect()
}

#[tokio::test]
async fn an_import_of_archived_flags_can_be_reverted() {
    let (app, other) = (TestApp::start().await, TestApp::start().await);
    fill(&app.admin().await).await;
    let mut document = exported(&app).await;
    let admin = other.admin().await;
    admin.environment("shop", "prod").await;
    admin.environment("shop", "staging").await;
    document["flags"][1]["environments"][0]["isEnabled"] = json!(false);
    imported(&other, &document, &[]).await;
    let changes = reverted(&admin, &admin.newest_entry().await).await;
    let expected = json!([
        ["FLAG_UPDATED", "old", true, "old", false],
        ["RULE_DELETED", null, false, null, false],
        ["FLAG_ARCHIVED", "old", false, "old", true],
    ]);
    assert_eq!(of_flag(&changes, "old"), expected);
    let after = exported(&other).await;
    for flag in after["flags"].as_array().expect("the export has flags") {
        assert_eq!(flag["archived"], true);
        assert_eq!(flag["environments"][1]["rules"], json!([]));
    }
}

#[tokio::test]
async fn an_import_that_changes_or_restores_an_archived_flag_can_be_reverted() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    fill(&admin).await;
    let before = exported(&app).await;
    let mut document = before.clone();
    document["flags"][2]["name"] = json!("New");
    document["flags"][2]["environments"][1]["rules"] = json!([rule(5, "FR")]);
    imported(&app, &document, &[]).await;
    let changes = reverted(&admin, &admin.newest_entry().await).await;
    assert_eq!(changes.len(), 5);
    assert_eq!(exported(&app).await, before);

    document = before.clone();
    document["flags"][2]["name"] = json!("New");
    document["flags"][2]["archived"] = json!(false);
    imported(&app, &document, &[]).await;
    let changes = reverted(&admin, &admin.newest_entry().await).await;
    let expected = json!([
        ["FLAG_UPDATED", "New", false, "old", false],
        ["FLAG_ARCHIVED", "old", false, "old", true],
    ]);
    assert_eq!(of_flag(&changes, "old"), expected);
    assert_eq!(exported(&app).await, before);
}

#[tokio::test]
async fn the_import_of_an_archived_flag_without_configuration_is_already_reverted() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let mut document = limited(&json!(null), &[]);
    document["flags"][0]["archived"] = json!(true);
    let expected = ["FLAG_CREATED", "FLAG_ARCHIVED"];
    assert_eq!(imported(&app, &document, &[]).await, expected);
    let path = format!("/audit/{}/revert", admin.newest_entry().await);
    for path in [format!("{path}?dryRun=true"), path] {
        let refused = admin.post(&path, json!({})).await;
        refused.expect_problem(StatusCode::CONFLICT, "ALREADY_REVERTED");
    }
}

#[tokio::test]
async fn an_invalid_document_changes_nothing_and_all_faults_are_reported() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    fill(&admin).await;
    let document = exported(&app).await;
    let before = admin.audited().await;
    let refused = async |document: &str, complaints: &[&str]| {
        let ran = app.command_with_input(&["import", "-"], document).await;
        for complaint in complaints {
            assert!(ran.stderr.contains(complaint), "{complaint}: {ran:?}");
        }
        ran.expect_failure(complaints[0]);
    };
    refused("{", &["-: is not valid JSON", "line 1 column 1"]).await;
    refused("[]", &["is not a JSON object"]).await;
    refused("{\"flags\": []}", &["must have `formatVersion` 1"]).await;
    let mut bad = document.clone();
    bad["flag"] = json!(1);
    bad["flags"][0]["key"] = json!("-");
    bad["flags"][1]["environments"][0]["rules"][0]["conditions"][0]["valueInt"] = json!(1);
    bad["flags"][1]["environments"][1]["rollout"]["percentage"] = json!(101);
    let complaints = [
        "nothing was imported",
        "/flag: is unknown",
        "/flags/0/key: must be 1 to 128",
        "/flags/1/environments/0/rules/0/conditions/0/valueInt: is unknown",
        "/flags/1/environments/1/rollout/percentage: must be",
    ];
    refused(&bad.to_string(), &complaints).await;
    let twice =
        document
            .to_string()
            .replacen("{\"archived\"", "{\"archived\":true,\"archived\"", 1);
    let complaints = ["/flags/0/archived: is given more than once"];
    refused(&twice, &complaints).await;
    let mut bad = document.clone();
    bad["flags"][0]["name"] = json!("Would have changed");
    bad["flags"][0]["type"] = json!("boolean");
    bad["flags"][1]["environments"][0]["environment"] = json!("nowhere");
    bad["flags"][1]["environments"][1]["rules"] = json!([rule(1, "a"), rule(1, "b")]);
    bad["flags"][2]["key"] = json!("checkout");
    bad["flags"][2]["environments"][0]["isEnabled"] = json!(true);
    bad["flags"][2]["environments"][1]["environment"] = json!("prod");
    let complaints = [
        "nothing was imported",
        "/flags/0/type: the flag has type `string` here",
        "/flags/1/environments/0: there is no active environment shop/nowhere",
        "/flags/1/environments/1/rules/1/priority: another rule",
        "/flags/2/key: `checkout` occurs twice",
        "/flags/2/environments/0/isEnabled: an archived flag",
        "/flags/2/environments/1: shop/prod occurs twice",
    ];
    refused(&bad.to_string(), &complaints).await;
    let mut bad = document.clone();
    bad["flags"][0]["name"] = json!("Would have changed");
    bad["flags"][1]["archived"] = json!(true);
    bad["flags"][1]["environments"] = json!([]);
    bad["flags"][2]["type"] = json!("string");
    let complaints = [
        "nothing was imported",
        "/flags/1/archived: `checkout` is still enabled in shop/prod; disable it there first",
        "/flags/2/type: the flag has type `boolean` here",
    ];
    refused(&bad.to_string(), &complaints).await;
    assert_eq!(admin.audited().await, before);
    assert_eq!(exported(&app).await, document);
}

/// Returns an import document with the flag `checkout`, limited to these products, in these environments.
fn limited(products: &Value, environments: &[&str]) -> Value {
    let configuration = |product: &&str| {
        json!({
            "product": product, "environment": "prod", "isEnabled": true, "ttlOverrideSeconds": null,
            "rules": [rule(1, "DE")], "rollout": null,
        })
    };
    let environments: Vec<_> = environments.iter().map(configuration).collect();
    json!({ "formatVersion": 1, "flags": [{
        "key": "checkout", "name": "Checkout", "description": null, "type": "boolean", "products": products,
        "archived": false, "environments": environments,
    }] })
}

#[tokio::test]
async fn an_import_moves_a_flag_between_products() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (shop, _) = admin.environment("shop", "prod").await;
    let (blog, key) = admin.environment("blog", "prod").await;
    let document = limited(&json!(["blog"]), &["blog"]);
    let created = ["FLAG_CREATED", "FLAG_ENVIRONMENT_UPDATED", "RULE_CREATED"];
    assert_eq!(imported(&app, &document, &[]).await, created);
    assert_eq!(exported(&app).await, document);
    let flag = admin.get("/flags?key=checkout").await.text("/items/0/id");
    let within = |environment: &str| format!("/flags/{flag}/environments/{environment}");
    admin
        .get(&within(&shop))
        .await
        .expect_problem(StatusCode::NOT_FOUND, "CONFIGURATION_NOT_FOUND");

    // It is on where it would leave.
    let moved = limited(&json!(["shop"]), &["shop"]);
    let refused = app
        .command_with_input(&["import", "-"], &moved.to_string())
        .await;
    refused.expect_failure(
        "/flags/0/products: `checkout` is still enabled in blog/prod, which it would leave; disable it there first",
    );
    admin.switch(&flag, &blog, false).await;
    let expected = [
        "FLAG_UPDATED",
        "FLAG_ENVIRONMENT_UPDATED",
        "FLAG_ENVIRONMENT_UPDATED",
        "FLAG_ENVIRONMENT_UPDATED",
        "RULE_CREATED",
    ];
    let before = admin.audited().await.len();
    assert_eq!(imported(&app, &moved, &["--dry-run"]).await, expected);
    assert_eq!(admin.audited().await.len(), before);
    assert_eq!(imported(&app, &moved, &[]).await, expected);
    assert_eq!(admin.audited().await.len(), before + expected.len());
    assert_eq!(exported(&app).await, moved);
    app.watch();
    eventually("the flag is gone in one product", async || {
        let config = app.sdk(&key).get("/sdk/v1/config").await.json();
        config["flags"] == json!([])
    })
    .await;

    // Its rule is still there when it returns.
    let everywhere = limited(&json!(null), &["shop"]);
    let expected = ["FLAG_UPDATED", "FLAG_ENVIRONMENT_UPDATED"];
    assert_eq!(imported(&app, &everywhere, &[]).await, expected);
    let rules = admin.get(&format!("{}/rules", within(&blog))).await;
    assert_eq!(rules.json().as_array().map(Vec::len), Some(1));
    assert_eq!(admin.get(&within(&blog)).await.json()["isEnabled"], false);
    let export = exported(&app).await;
    assert_eq!(export["flags"][0].get("products"), None);
    assert_eq!(imported(&app, &export, &[]).await, [""; 0]);
}

#[tokio::test]
async fn every_flag_that_an_import_cannot_take_out_of_an_environment_is_reported() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (blog, _) = admin.environment("blog", "prod").await;
    let web = json!({ "product": "shop", "name": "web", "visibility": "public" });
    let web = admin.post("/environments", web).await;
    let web = web.expect(StatusCode::CREATED).text("/id");
    let everywhere = |key: &str| {
        json!({
            "key": key, "name": key, "description": null, "type": "boolean", "public": true, "archived": false,
            "environments": [],
        })
    };
    let mut document =
        json!({ "formatVersion": 1, "flags": [everywhere("banner"), everywhere("checkout")] });
    imported(&app, &document, &[]).await;
    for (key, environments) in [("banner", vec![&web]), ("checkout", vec![&web, &blog])] {
        let flag = admin.get(&format!("/flags?key={key}")).await;
        let flag = flag.text("/items/0/id");
        for environment in environments {
            admin.switch(&flag, environment, true).await;
        }
    }
    document["flags"][0]["public"] = json!(false);
    document["flags"][1]["products"] = json!(["shop"]);
    document["flags"][1]["archived"] = json!(true);
    let before = admin.audited().await;
    let input = document.to_string();
    let refused = app.command_with_input(&["import", "-"], &input).await;
    for complaint in [
        "/flags/0/public: `banner` is still enabled in shop/web, which it would leave; disable",
        "/flags/1/products: `checkout` is still enabled in blog/prod, which it would leave; disable",
        "/flags/1/archived: `checkout` is still enabled in shop/web; disable it there first",
    ] {
        assert!(
            refused.stderr.contains(complaint),
            "{complaint}: {refused:?}"
        );
    }
    refused.expect_failure("nothing was imported");
    assert_eq!(admin.audited().await, before);
}

#[tokio::test]
async fn an_import_configures_no_flag_outside_its_products() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    admin.environment("shop", "prod").await;
    admin.environment("blog", "prod").await;
    let document = limited(&json!(["blog"]), &["blog", "shop"]);
    let refused = app
        .command_with_input(&["import", "-"], &document.to_string())
        .await;
    refused.expect_failure(
        "/flags/0/environments/1/product: the flag's `products` do not include `shop`",
    );
    for products in [json!([]), json!("blog"), json!([1])] {
        let document = limited(&products, &[]);
        let refused = app
            .command_with_input(&["import", "-"], &document.to_string())
            .await;
        refused.expect_failure("/flags/0/products");
    }
}
