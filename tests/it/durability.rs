//! Durability: an acknowledged change survives a kill of the process.

use pennon_tests::{Process, TestDatabase};

#[tokio::test]
async fn a_kill_after_a_successful_response_loses_nothing() {
    let database = TestDatabase::create().await;
    let mut keys = Vec::new();
    for round in 0..3 {
        let process = Process::start(&database, &[]).await;
        let key = format!("flag_{round}");
        process.admin().await.flag(&key).await;
        process.kill().await;
        keys.insert(0, key);
    }
    let process = Process::start(&database, &[]).await;
    let flags = process.admin().await.get("/flags").await.json();
    let found: Vec<&str> = flags["items"]
        .as_array()
        .expect("items")
        .iter()
        .filter_map(|flag| flag["key"].as_str())
        .collect();
    assert_eq!(found, keys);
}
