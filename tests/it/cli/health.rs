//! `pennon health`

use pennon_tests::TestApp;

#[tokio::test]
async fn health_fails_unless_a_server_responds() {
    let app = TestApp::start().await;
    let said = app.command(&["health", "--listen", app.address()]).await;
    let said: serde_json::Value =
        serde_json::from_str(&said.expect_success()).expect("the server says JSON");
    assert_eq!(said["status"], "ok");
    let ready = ["health", "--ready", "--listen", app.address()];
    app.command(&ready).await.expect_success();
    // No server can listen on this port.
    let nobody = app.command(&["health", "--listen", "127.0.0.1:1"]).await;
    nobody.expect_failure("cannot reach 127.0.0.1:1");
}
