//! Targeting rules: creating, listing, replacing and deleting them.

use pennon_tests::{Caller, FlagEnvironment, START, TestApp};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

fn rule(priority: u32) -> Value {
    json!({
        "priority": priority, "logic": "and", "value": true,
        "conditions": [{ "attribute": "country", "operator": "==", "valueType": "string", "valueString": "DE" }],
    })
}

#[tokio::test]
async fn a_created_rule_is_returned_and_rules_are_listed_by_priority() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let FlagEnvironment {
        flag,
        environment,
        path,
        ..
    } = admin.flag_environment().await;
    let path = path + "/rules";
    let body = json!({
        "priority": 20, "logic": "or", "value": false,
        "conditions": [
            { "attribute": "email", "operator": "!=", "valueType": "string", "valueString": "" },
            { "attribute": "age", "operator": ">=", "valueType": "number", "valueInt": -9_007_199_254_740_991_i64 },
            { "attribute": "__proto__", "operator": "<", "valueType": "boolean", "valueBool": true },
        ],
    });
    let created = admin
        .post(&path, body.clone())
        .await
        .expect(StatusCode::CREATED);
    let id = created.text("/id");
    assert_eq!(created.header("location"), format!("/rules/{id}"));
    let expected = json!({
        "id": id, "flagId": flag, "environmentId": environment, "priority": 20, "logic": "or", "value": false,
        "conditions": body["conditions"], "createdAt": START, "updatedAt": START,
    });
    assert_eq!(created.json(), expected);
    let read = admin.get(created.header("location")).await;
    let read = read.expect(StatusCode::OK);
    assert_eq!(read.json(), expected);
    assert_eq!(read.header("etag"), created.header("etag"));
    for priority in [2_147_483_647, 1] {
        admin
            .post(&path, rule(priority))
            .await
            .expect(StatusCode::CREATED);
    }
    let listed = admin.get(&path).await.expect(StatusCode::OK).json();
    let priorities: Vec<&Value> = listed
        .as_array()
        .expect("a list")
        .iter()
        .map(|rule| &rule["priority"])
        .collect();
    assert_eq!(priorities, [1, 20, 2_147_483_647]);
    assert_eq!(listed[1], expected);
}

#[tokio::test]
async fn priorities_are_unique_per_flag_and_environment() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (prod, _) = admin.environment("shop", "prod").await;
    let (stage, _) = admin.environment("shop", "stage").await;
    let flag = admin.flag("checkout").await;
    let path = |environment: &str| format!("/flags/{flag}/environments/{environment}/rules");
    admin
        .post(&path(&prod), rule(1))
        .await
        .expect(StatusCode::CREATED);
    admin
        .post(&path(&prod), rule(1))
        .await
        .expect_problem(StatusCode::CONFLICT, "PRIORITY_TAKEN");
    admin
        .post(&path(&stage), rule(1))
        .await
        .expect(StatusCode::CREATED);
    assert_eq!(admin.audited().await[..2], ["RULE_CREATED", "RULE_CREATED"]);
}

#[tokio::test]
async fn every_fault_in_every_condition_is_reported() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let path = admin.flag_environment().await.path + "/rules";
    let body = json!({
        "priority": 0, "logic": "xor", "value": "true",
        "conditions": [
            { "attribute": "", "operator": "contains", "valueType": "string", "value": "DE" },
            { "attribute": "age", "operator": "==", "valueType": "number", "valueInt": 1.5, "valueString": "x" },
            { "attribute": "age", "operator": "==", "valueType": "date", "valueInt": 1 },
            { "attribute": "age", "operator": "==", "valueType": "number", "valueInt": 9_007_199_254_740_992_i64 },
            7,
        ],
    });
    let answer = admin
        .post(&path, body)
        .await
        .expect_problem(StatusCode::BAD_REQUEST, "INVALID_INPUT");
    let mut faults = answer.faults();
    faults.sort();
    assert_eq!(
        faults,
        [
            "/conditions/0/attribute",
            "/conditions/0/operator",
            "/conditions/0/value",
            "/conditions/0/valueString",
            "/conditions/1/valueInt",
            "/conditions/1/valueString",
            "/conditions/2/valueType",
            "/conditions/3/valueInt",
            "/conditions/4",
            "/logic",
            "/priority",
            "/value",
        ]
    );
}

#[tokio::test]
async fn the_number_of_conditions_and_rules_is_limited() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let path = admin.flag_environment().await.path + "/rules";
    let with_conditions = |count: usize| {
        let mut rule = rule(1);
        rule["conditions"] = json!(vec![rule["conditions"][0].clone(); count]);
        rule
    };
    for count in [0, 51] {
        let answer = admin.post(&path, with_conditions(count)).await;
        answer.expect_faults(&["/conditions"]);
    }
    admin
        .post(&path, with_conditions(50))
        .await
        .expect(StatusCode::CREATED);
    for priority in 2..=100 {
        admin
            .post(&path, rule(priority))
            .await
            .expect(StatusCode::CREATED);
    }
    admin
        .post(&path, rule(101))
        .await
        .expect_problem(StatusCode::CONFLICT, "TOO_MANY_RULES");
}

#[tokio::test]
async fn the_largest_rule_is_accepted_even_with_escaped_characters() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let path = admin.flag_environment().await.path + "/rules";
    let mut rule = rule(1);
    let mut condition = rule["conditions"][0].clone();
    condition["attribute"] = json!("a".repeat(128));
    condition["valueString"] = json!("v".repeat(1024));
    rule["conditions"] = json!(vec![condition; 50]);
    let escaped = r"\ud83d\ude00";
    let body = rule.to_string();
    let body = body.replace(&"a".repeat(128), &escaped.repeat(128));
    let body = body.replace(&"v".repeat(1024), &escaped.repeat(1024));
    let request = admin.request(Method::POST, &path).body(body);
    let created = admin.send(request.header("content-type", "application/json"));
    let created = created.await.expect(StatusCode::CREATED);
    assert_eq!(
        created.text("/conditions/49/valueString"),
        "\u{1f600}".repeat(1024)
    );
}

#[tokio::test]
async fn the_texts_of_conditions_have_a_maximum_length() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let path = admin.flag_environment().await.path + "/rules";
    let with = |attribute: &str, text: &str| {
        let mut rule = rule(1);
        rule["conditions"][0]["attribute"] = json!(attribute);
        rule["conditions"][0]["valueString"] = json!(text);
        rule
    };
    for (body, fault) in [
        (with(&"é".repeat(129), ""), "/conditions/0/attribute"),
        (with("a\0", ""), "/conditions/0/attribute"),
        (with("a", &"é".repeat(1025)), "/conditions/0/valueString"),
        (with("a", "\0"), "/conditions/0/valueString"),
    ] {
        let answer = admin.post(&path, body).await;
        answer.expect_faults(&[fault]);
    }
    admin
        .post(&path, with(&"é".repeat(128), &"é".repeat(1024)))
        .await
        .expect(StatusCode::CREATED);
}

#[tokio::test]
async fn a_rule_is_replaced_as_a_whole_and_keeps_its_id() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let FlagEnvironment {
        path,
        sdk_key,
        flag,
        environment,
    } = admin.flag_environment().await;
    admin.switch(&flag, &environment, true).await;
    let rules = format!("{path}/rules");
    let id = admin.post(&rules, rule(1)).await.text("/id");
    admin
        .post(&rules, rule(2))
        .await
        .expect(StatusCode::CREATED);
    app.advance(60);
    let body = json!({
        "priority": 3, "logic": "or", "value": false,
        "conditions": [{ "attribute": "country", "operator": "!=", "valueType": "string", "valueString": "DE" }],
    });
    let path = format!("/rules/{id}");
    let replaced = admin
        .put(&path, body.clone())
        .await
        .expect(StatusCode::OK)
        .json();
    assert_eq!(replaced["id"], id);
    assert_eq!(replaced["conditions"], body["conditions"]);
    assert_eq!(
        [&replaced["createdAt"], &replaced["updatedAt"]],
        [START, "2026-03-01T09:31:00.000Z"]
    );
    assert_eq!(admin.get(&rules).await.json()[1], replaced);
    let question = json!({ "flagKey": "checkout", "context": { "country": "FR" } });
    let answer = app.sdk(&sdk_key).post("/sdk/v1/evaluate", question).await;
    assert_eq!(
        answer.json(),
        json!({ "enabled": false, "reason": "targeting_rule" })
    );

    assert_eq!(
        admin.put(&path, body).await.expect(StatusCode::OK).json(),
        replaced
    );
    assert_eq!(admin.audited().await[..2], ["RULE_UPDATED", "RULE_CREATED"]);
    admin
        .put(&path, rule(2))
        .await
        .expect_problem(StatusCode::CONFLICT, "PRIORITY_TAKEN");
    let answer = admin.put(&path, json!({ "priority": 1 })).await;
    answer.expect_faults(&["/logic", "/value", "/conditions"]);
}

#[tokio::test]
async fn a_deleted_rule_is_gone_and_its_priority_free() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let rules = admin.flag_environment().await.path + "/rules";
    let created = admin.post(&rules, rule(1)).await.json();
    let path = format!("/rules/{}", created["id"].as_str().unwrap_or_default());
    admin.delete(&path).await.expect(StatusCode::NO_CONTENT);
    assert_eq!(admin.get(&rules).await.json(), json!([]));
    let entry = &admin.get("/audit").await.items()[0];
    assert_eq!(entry["action"], "RULE_DELETED");
    assert_eq!(
        [&entry["oldValue"], &entry["newValue"]],
        [&created, &json!(null)]
    );
    for path in [path.as_str(), "/rules/x"] {
        admin
            .delete(path)
            .await
            .expect_problem(StatusCode::NOT_FOUND, "RULE_NOT_FOUND");
        admin
            .put(path, json!(0))
            .await
            .expect_problem(StatusCode::NOT_FOUND, "RULE_NOT_FOUND");
    }
    admin
        .post(&rules, rule(1))
        .await
        .expect(StatusCode::CREATED);
}

#[tokio::test]
async fn rules_of_an_archived_flag_cannot_change() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let FlagEnvironment { path, flag, .. } = admin.flag_environment().await;
    let id = admin
        .post(&format!("{path}/rules"), rule(1))
        .await
        .text("/id");
    admin.archive(&flag).await;
    let path = format!("/rules/{id}");
    admin
        .put(&path, rule(2))
        .await
        .expect_problem(StatusCode::CONFLICT, "FLAG_ARCHIVED");
    admin
        .delete(&path)
        .await
        .expect_problem(StatusCode::CONFLICT, "FLAG_ARCHIVED");
}

/// Returns the IDs of the rules by ascending priority, and the priorities.
async fn order(caller: &Caller<'_>, path: &str) -> (Vec<Value>, Vec<Value>) {
    let listed = caller.get(path).await.expect(StatusCode::OK).json();
    let rules = listed.as_array().cloned().unwrap_or_default();
    let member = |name: &str| rules.iter().map(|rule| rule[name].clone()).collect();
    (member("id"), member("priority"))
}

#[tokio::test]
async fn reordering_assigns_the_existing_priorities_in_one_change() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let FlagEnvironment { path, sdk_key, .. } = admin.flag_environment().await;
    let path = path + "/rules";
    for priority in [3, 10, 11, 2_147_483_647] {
        let mut rule = rule(priority);
        rule["value"] = json!(priority == 11);
        admin.post(&path, rule).await.expect(StatusCode::CREATED);
    }
    let (ids, priorities) = order(&admin, &path).await;
    let [a, b, c, d] = &ids[..] else {
        panic!("four rules: {ids:?}")
    };
    let tag = admin.get(&path).await.header("etag").to_owned();
    let wanted = json!({ "ruleIds": [c, b, a, d] });
    let reordered = admin.put(&format!("{path}/order"), wanted.clone()).await;
    let reordered = reordered.expect(StatusCode::OK);
    assert_ne!(reordered.header("etag"), tag);
    let listed = admin.get(&path).await.expect(StatusCode::OK);
    assert_eq!(listed.json(), reordered.json());
    assert_eq!(listed.header("etag"), reordered.header("etag"));
    assert_eq!(
        order(&admin, &path).await,
        (vec![c.clone(), b.clone(), a.clone(), d.clone()], priorities)
    );
    let config = app.sdk(&sdk_key).get("/sdk/v1/config").await.json();
    assert_eq!(config["flags"][0]["rules"][0]["value"], true);
    // Only the two rules that moved are changes. The same order again changes nothing.
    admin
        .put(&format!("{path}/order"), wanted)
        .await
        .expect(StatusCode::OK);
    let audited = admin.audited().await;
    assert_eq!(
        audited[..3],
        ["RULE_UPDATED", "RULE_UPDATED", "RULE_CREATED"]
    );
    let stale = admin.request(Method::PUT, &format!("{path}/order"));
    let stale = stale
        .header("if-match", tag)
        .json(&json!({ "ruleIds": ids }));
    let stale = admin.send(stale).await;
    stale.expect_problem(StatusCode::PRECONDITION_FAILED, "STALE");
}

#[tokio::test]
async fn an_order_must_list_every_rule_exactly_once() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let checkout = admin.flag_environment().await;
    let path = format!("{}/rules", checkout.path);
    let other = admin.flag("other").await;
    let other = format!("/flags/{other}/environments/{}/rules", checkout.environment);
    let foreign = admin.post(&other, rule(1)).await.text("/id");
    let ids = [
        admin.post(&path, rule(1)).await.text("/id"),
        admin.post(&path, rule(2)).await.text("/id"),
    ];
    let path = path + "/order";
    for wrong in [
        json!([]),
        json!([ids[0]]),
        json!([ids[0], ids[0]]),
        json!([ids[1], ids[0], ids[1]]),
        json!([ids[1], foreign]),
        json!([ids[1], ids[0], foreign]),
    ] {
        admin
            .put(&path, json!({ "ruleIds": wrong }))
            .await
            .expect_problem(StatusCode::CONFLICT, "RULES_DIFFER");
    }
    let bad = admin
        .put(&path, json!({ "ruleIds": ["x", 1, ids[0]] }))
        .await;
    bad.expect_faults(&["/ruleIds/0", "/ruleIds/1"]);
    for bad in [
        json!({}),
        json!({ "ruleIds": "x" }),
        json!({ "ruleIds": vec!["x"; 101] }),
    ] {
        let bad = admin.put(&path, bad).await;
        bad.expect_faults(&["/ruleIds"]);
    }
    assert_eq!(
        order(&admin, &format!("{}/rules", checkout.path)).await.0,
        ids
    );
}
