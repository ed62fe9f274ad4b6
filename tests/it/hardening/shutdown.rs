//! Graceful shutdown.

use std::time::Duration;

use pennon_tests::{Process, TestDatabase, Wire, eventually};
use tokio::task::JoinSet;

use super::{EVALUATE, QUESTION, split_question};

#[tokio::test]
async fn idle_connections_do_not_delay_shutdown() {
    let database = TestDatabase::create().await;
    let process = Process::start(&database, &[]).await;
    let mut idle = Vec::new();
    for _ in 0..60 {
        let mut wire = Wire::to(process.address()).await;
        assert_eq!(wire.get("/health").await.status, 200);
        idle.push(wire);
    }
    // A connection that has never sent a request.
    idle.push(Wire::to(process.address()).await);
    let ended = process.stop().await;
    assert!(ended.status.success(), "{}", ended.log);
    assert!(ended.after < Duration::from_secs(3), "{:?}", ended.after);
    for wire in &mut idle {
        wire.expect_end().await;
    }
}

#[tokio::test]
async fn half_sent_requests_do_not_delay_shutdown() {
    let database = TestDatabase::create().await;
    let process = Process::start(&database, &[]).await;
    let key = process.admin().await.flag_environment().await.sdk_key;
    let (part, _) = split_question();
    let mut halves = Vec::new();
    for is_used in [false, true] {
        for is_head in [false, true] {
            let mut wire = Wire::to(process.address()).await;
            if is_used {
                assert_eq!(wire.get("/health").await.status, 200);
            }
            if is_head {
                wire.write("GET /health HTTP/1.1\r\nhost: pen").await;
            } else {
                wire.begin_post(EVALUATE, &key, QUESTION.len(), part).await;
            }
            halves.push(wire);
        }
    }
    let mut idle = Wire::to(process.address()).await;
    assert_eq!(idle.get("/health").await.status, 200);
    let ended = process.stop().await;
    assert!(ended.status.success(), "{}", ended.log);
    assert!(ended.after < Duration::from_secs(3), "{:?}", ended.after);
    assert!(!ended.log.contains("did not end in time"), "{}", ended.log);
    for wire in halves.iter_mut().chain([&mut idle]) {
        wire.expect_end().await;
    }
}

#[tokio::test]
async fn requests_in_flight_complete_during_shutdown() {
    let database = TestDatabase::create().await;
    let process = Process::start(&database, &[]).await;
    let key = process.admin().await.flag_environment().await.sdk_key;
    let address = process.address();
    let (part, rest) = split_question();
    let mut slow = Vec::new();
    for _ in 0..20 {
        let mut wire = Wire::to(address).await;
        wire.begin_post(EVALUATE, &key, QUESTION.len(), part).await;
        slow.push(wire);
    }
    // Each task sends requests on one connection, each as soon as the previous response has arrived.
    let mut busy = JoinSet::new();
    for _ in 0..50 {
        let key = key.clone();
        busy.spawn(async move {
            let mut wire = Wire::to(address).await;
            let mut answers = 0;
            loop {
                wire.begin_post(EVALUATE, &key, QUESTION.len(), QUESTION)
                    .await;
                let answer = wire.answer().await;
                assert_eq!(answer.status, 200, "{answer:?}");
                answers += 1;
                if answer.is_last() {
                    return answers;
                }
            }
        });
    }
    eventually("all tasks are busy", async || {
        let mut probe = Wire::to(address).await;
        probe.get("/health").await.status == 200
    })
    .await;
    process.terminate();
    eventually("readiness reports the shutdown", async || {
        let mut probe = Wire::to(address).await;
        let answer = probe.get("/health/ready").await;
        assert_eq!(answer.is_last(), answer.status == 503);
        answer.is_last()
    })
    .await;
    for answers in busy.join_all().await {
        assert!(answers > 0);
    }
    for mut wire in slow {
        wire.write(rest).await;
        let answer = wire.answer().await;
        assert_eq!(answer.status, 200, "{answer:?}");
        assert!(answer.is_last(), "{}", answer.head);
        wire.expect_end().await;
    }
    let ended = process.ended().await;
    assert!(ended.status.success(), "{}", ended.log);
    assert!(!ended.log.contains("did not end in time"), "{}", ended.log);
}
