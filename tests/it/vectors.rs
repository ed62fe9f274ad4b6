//! The shared evaluation vectors, over HTTP.

use std::io::{self, Write};

use pennon_tests::vectors::{VectorFile, read, read_future};
use pennon_tests::{Caller, TestApp};
use reqwest::StatusCode;
use serde_json::{Value, json};
use tokio::task::JoinSet;

#[tokio::test(flavor = "multi_thread")]
async fn every_case_gives_the_expected_result_alone_and_in_a_batch() {
    let (files, promised) = read();
    let count = files.len();
    let running: JoinSet<u64> = files.into_iter().map(run_file).collect();
    let run: u64 = running.join_all().await.into_iter().sum();
    assert_eq!(run, promised, "the index declares another number of cases");
    // Bypasses the test harness, which hides the output of tests that succeed.
    let _written = writeln!(
        io::stderr(),
        "{run} vectors in {count} files agree over HTTP"
    );
}

/// Evaluates the cases of a file on a server of its own, and returns their number.
async fn run_file(file: VectorFile) -> u64 {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (environment, key) = admin.environment("vectors", "all").await;
    for flag in &file.flags {
        create(&admin, &environment, flag).await;
    }
    let sdk = app.sdk(&key);
    let run = one_by_one(&file, &sdk).await;
    in_batches(&file, &sdk).await;
    run
}

/// The server refuses to store features that it does not know.
#[tokio::test]
async fn the_server_refuses_features_of_newer_versions() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (environment, _) = admin.environment("vectors", "all").await;
    let (files, promised) = read_future();
    let mut run = 0;
    for VectorFile { name, flags, cases } in files {
        for case in cases {
            run += 1;
            let flag = flags.iter().find(|flag| flag["key"] == case["key"]);
            let Some(flag) = flag.filter(|_| case["expected"] == "unsupported") else {
                continue;
            };
            // The Admin API cannot create a flag without a list of rules.
            if flag["rules"].is_null() {
                continue;
            }
            let key = format!("{}_{run}", flag["key"].as_str().expect("a flag has a key"));
            let id = admin.flag(&key).await;
            let path = format!("/flags/{id}/environments/{environment}");
            let refused = first_refusal(&admin, &path, flag).await;
            assert_eq!(refused, Some(StatusCode::BAD_REQUEST), "{name}: {case}");
        }
    }
    assert_eq!(run, promised, "the index declares another number of cases");
}

/// Stores the rules, rollout and TTL of a flag. Returns the status of the first response that is not a success.
async fn first_refusal(admin: &Caller<'_>, path: &str, flag: &Value) -> Option<StatusCode> {
    let mut answers = Vec::new();
    for rule in flag["rules"].as_array().into_iter().flatten() {
        answers.push(admin.post(&format!("{path}/rules"), rule.clone()).await);
    }
    if !flag["rollout"].is_null() {
        answers.push(
            admin
                .put(&format!("{path}/rollout"), flag["rollout"].clone())
                .await,
        );
    }
    let ttl = json!({ "isEnabled": true, "ttlOverrideSeconds": flag["ttlOverrideSeconds"] });
    answers.push(admin.put(path, ttl).await);
    let refused = answers
        .into_iter()
        .find(|answer| !answer.status.is_success());
    refused.map(|answer| answer.status)
}

async fn one_by_one(file: &VectorFile, sdk: &Caller<'_>) -> u64 {
    let mut run = 0;
    for case in &file.cases {
        let question = json!({ "flagKey": case["key"], "context": case["context"] });
        let answer = sdk.post("/sdk/v1/evaluate", question.clone()).await;
        let name = format!("{}: {}", file.name, case["description"]);
        if case["expected"].is_null() {
            assert_eq!(answer.status, StatusCode::NOT_FOUND, "{name}");
        } else {
            assert_eq!(answer.status, StatusCode::OK, "{name}");
            assert_eq!(answer.json(), case["expected"], "{name}");
            let explained = sdk.post("/sdk/v1/explain", question).await.json();
            for member in ["enabled", "reason"] {
                assert_eq!(explained[member], case["expected"][member], "{name}");
            }
        }
        run += 1;
    }
    run
}

/// Evaluates the cases in batches, in which an unknown flag is off and does not fail the other items.
async fn in_batches(file: &VectorFile, sdk: &Caller<'_>) {
    for cases in file.cases.chunks(100) {
        let question = |case: &Value| json!({ "flagKey": case["key"], "context": case["context"] });
        let evaluations: Vec<Value> = cases.iter().map(question).collect();
        let answer = sdk
            .post(
                "/sdk/v1/evaluate/batch",
                json!({ "evaluations": evaluations }),
            )
            .await;
        let unknown = json!({ "enabled": false, "reason": "flag_disabled" });
        let expected = cases.iter().map(|case| {
            if case["expected"].is_null() {
                &unknown
            } else {
                &case["expected"]
            }
        });
        let expected: Vec<&Value> = expected.collect();
        assert_eq!(
            answer.expect(StatusCode::OK).json(),
            json!(expected),
            "{}",
            file.name
        );
    }
}

/// Creates a flag of a vector file through the Admin API.
async fn create(admin: &Caller<'_>, environment: &str, config: &Value) {
    let flag = admin
        .flag(config["key"].as_str().expect("a flag has a key"))
        .await;
    let path = format!("/flags/{flag}/environments/{environment}");
    for rule in config["rules"].as_array().expect("a flag has rules") {
        admin.rule(&path, rule.clone()).await;
    }
    if !config["rollout"].is_null() {
        let rollout = config["rollout"].clone();
        admin
            .put(&format!("{path}/rollout"), rollout)
            .await
            .expect(StatusCode::CREATED);
    }
    if config["archived"] == true {
        // Only a flag that is off can be archived. The switch of an archived flag has no effect.
        admin.archive(&flag).await;
    } else {
        admin
            .switch(&flag, environment, config["enabled"] == true)
            .await;
    }
}
