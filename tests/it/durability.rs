//! Durability: an acknowledged change survives a kill of the process.

use pennon_tests::{Process, TestDatabase};
use reqwest::{Client, StatusCode};
use serde_json::{Value, json};

#[tokio::test]
async fn a_kill_after_a_successful_response_loses_nothing() {
    let database = TestDatabase::create().await;
    let mut keys = Vec::new();
    for round in 0..3 {
        let process = Process::start(&database, &[]).await;
        let token = process.signed_in().await;
        let key = format!("flag_{round}");
        let created = Client::new()
            .post(format!("{}/flags", process.base_url()))
            .bearer_auth(token)
            .json(&json!({ "key": key, "name": "survivor", "type": "boolean" }))
            .send()
            .await
            .expect("an answer");
        assert_eq!(created.status(), StatusCode::CREATED);
        process.kill().await;
        keys.insert(0, key);
    }
    let process = Process::start(&database, &[]).await;
    let flags = Client::new()
        .get(format!("{}/flags", process.base_url()))
        .bearer_auth(process.signed_in().await)
        .send()
        .await
        .expect("an answer");
    let flags: Value = flags.json().await.expect("a list");
    let found: Vec<&str> = flags["items"]
        .as_array()
        .expect("items")
        .iter()
        .filter_map(|flag| flag["key"].as_str())
        .collect();
    assert_eq!(found, keys);
}
