//! Percentage rollouts: setting, reading and deleting them.

use pennon_tests::{FlagEnvironment, START, TestApp};
use reqwest::StatusCode;
use serde_json::json;

#[tokio::test]
async fn the_first_rollout_is_created_and_later_ones_update_it() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let FlagEnvironment {
        flag,
        environment,
        path,
        ..
    } = admin.flag_environment().await;
    let path = path + "/rollout";
    admin
        .get(&path)
        .await
        .expect_problem(StatusCode::NOT_FOUND, "ROLLOUT_NOT_FOUND");
    let first = admin
        .put(&path, json!({ "percentage": 0, "strategy": "per_user" }))
        .await;
    let first = first.expect(StatusCode::CREATED);
    assert_eq!(first.header("location"), path);
    app.advance(60);
    let second = admin
        .put(
            &path,
            json!({ "percentage": 100, "strategy": "per_tenant" }),
        )
        .await;
    let expected = json!({
        "flagId": flag, "environmentId": environment, "percentage": 100, "strategy": "per_tenant",
        "createdAt": START, "updatedAt": "2026-03-01T09:31:00.000Z",
    });
    assert_eq!(second.expect(StatusCode::OK).json(), expected);
    assert_eq!(
        admin.get(&path).await.expect(StatusCode::OK).json(),
        expected
    );
    let same = admin
        .put(
            &path,
            json!({ "percentage": 100, "strategy": "per_tenant" }),
        )
        .await;
    assert_eq!(same.expect(StatusCode::OK).json(), expected);
    assert_eq!(
        admin.audited().await[..3],
        ["ROLLOUT_CONFIGURED", "ROLLOUT_CONFIGURED", "FLAG_CREATED"]
    );
}

#[tokio::test]
async fn every_invalid_member_is_reported() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let path = admin.flag_environment().await.path + "/rollout";
    for percentage in [json!(-1), json!(101), json!(0.5), json!("50"), json!(null)] {
        let answer = admin
            .put(
                &path,
                json!({ "percentage": percentage, "strategy": "per_team" }),
            )
            .await;
        answer.expect_faults(&["/percentage", "/strategy"]);
    }
    let answer = admin.put(&path, json!({ "bucket": 1 })).await;
    answer.expect_faults(&["/percentage", "/strategy", "/bucket"]);
}

#[tokio::test]
async fn a_deleted_rollout_is_gone_and_can_be_created_again() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let path = admin.flag_environment().await.path + "/rollout";
    let rollout = json!({ "percentage": 5, "strategy": "per_user" });
    admin
        .delete(&path)
        .await
        .expect_problem(StatusCode::NOT_FOUND, "ROLLOUT_NOT_FOUND");
    admin
        .put(&path, rollout.clone())
        .await
        .expect(StatusCode::CREATED);
    admin.delete(&path).await.expect(StatusCode::NO_CONTENT);
    admin
        .get(&path)
        .await
        .expect_problem(StatusCode::NOT_FOUND, "ROLLOUT_NOT_FOUND");
    assert_eq!(
        admin.audited().await[..2],
        ["ROLLOUT_DELETED", "ROLLOUT_CONFIGURED"]
    );
    admin.put(&path, rollout).await.expect(StatusCode::CREATED);
}
