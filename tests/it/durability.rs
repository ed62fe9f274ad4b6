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
    assert_eq!(process.admin().await.flag_keys("").await, keys);
}
