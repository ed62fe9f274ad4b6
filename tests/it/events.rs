//! The event stream of the dashboard's pages.

use pennon_tests::{Browser, PageStream, TestApp};
use reqwest::{Method, StatusCode};
use serde_json::json;

#[tokio::test]
async fn no_cache_stores_the_stream() {
    let app = TestApp::start().await;
    let stream = Browser::signed_in(&app)
        .await
        .listen("/dashboard/events")
        .await;
    assert_eq!(stream.headers()["cache-control"], "no-store");
}

#[tokio::test]
async fn changes_by_other_instances_arrive_with_their_actor() {
    let app = TestApp::start().await;
    app.run_change_feed();
    let other = app.beside().await;
    let mut stream = PageStream::open(&Browser::signed_in(&app).await).await;
    let checkout = other.admin().await.flag_environment().await;
    stream.until("\"action\":\"FLAG_CREATED\"").await;
    other.admin().await.switch_on(&checkout).await;
    stream
        .until(&format!("\"environment\":\"{}\"", checkout.environment))
        .await;
    stream.until("\"by\":\"ana@example.com\"").await;
}

#[tokio::test]
async fn a_bulk_change_is_few_events_and_does_not_stop_later_ones() {
    let app = TestApp::start().await;
    app.run_change_feed();
    let admin = app.admin().await;
    let mut stream = PageStream::open(&Browser::signed_in(&app).await).await;
    app.advance(1);
    // Their IDs are lower than all later ones.
    let thousands = if app.database().is_postgres() {
        "insert into audit_entries (id, action, actor_identity, occurred_at, flag_key)
         select ('00000000' || substr(md5(random()::text), 1, 24))::uuid, 'FLAG_UPDATED', 'import', 1772357401000,
                'flag_' || i
         from generate_series(1, 5000) series (i)"
    } else {
        "with recursive series (i) as (select 1 union all select i + 1 from series where i < 5000)
         insert into audit_entries (id, action, actor_identity, occurred_at, flag_key)
         select unhex('00000000' || hex(randomblob(12))), 'FLAG_UPDATED', 'import', 1772357401000, 'flag_' || i
         from series"
    };
    app.tamper(thousands).await;
    for key in ["later", "last"] {
        app.advance(6);
        admin.flag(key).await;
        stream.until(&format!("\"flag\":\"{key}\"")).await;
    }
    // One event concerns the flags that have none.
    assert_eq!(stream.received.matches("changed a flag\"").count(), 1);
    assert!(stream.received.matches("event: change").count() <= 256);
}

#[tokio::test]
async fn a_change_dated_ahead_does_not_hide_later_ones() {
    let app = TestApp::start().await;
    app.run_change_feed();
    let admin = app.admin().await;
    let mut stream = PageStream::open(&Browser::signed_in(&app).await).await;
    for key in ["ahead", "next", "last"] {
        admin.flag(key).await;
        stream.until(&format!("\"flag\":\"{key}\"")).await;
        app.tamper(
            "update audit_entries set occurred_at = occurred_at + 600000 where flag_key = 'ahead'",
        )
        .await;
    }
}

#[tokio::test]
async fn an_event_has_the_id_of_the_request_that_caused_it() {
    let app = TestApp::start().await;
    app.run_change_feed();
    let admin = app.admin().await;
    let mut stream = PageStream::open(&Browser::signed_in(&app).await).await;
    let flag = json!({ "key": "checkout", "name": "Checkout", "type": "boolean" });
    let request = admin.request(Method::POST, "/flags").json(&flag);
    let request = request.header("X-Request-Id", "deploy-4711");
    admin.send(request).await.expect(StatusCode::CREATED);
    stream.until("\"request\":\"deploy-4711\"").await;
}

#[tokio::test]
async fn every_change_of_an_environment_is_described_as_one() {
    let app = TestApp::start().await;
    app.run_change_feed();
    let admin = app.admin().await;
    let (environment, _) = admin.environment("shop", "prod").await;
    let mut stream = PageStream::open(&Browser::signed_in(&app).await).await;
    for (change, description) in [
        (json!({ "protected": true }), "changed prod"),
        (json!({ "name": "live" }), "changed live"),
    ] {
        let path = format!("/environments/{environment}");
        let changed = admin.patch(&path, change).await;
        changed.expect(StatusCode::OK);
        let description = format!("\"what\":\"{description}\"");
        stream.until(&description).await;
        let event = stream
            .received
            .lines()
            .find(|line| line.contains(&description));
        assert!(event.is_some_and(|event| event.contains("\"isAboutEnvironments\":true")));
    }
}

#[tokio::test]
async fn only_administrators_get_changes_of_accounts() {
    let app = TestApp::start().await;
    app.run_change_feed();
    let admin = app.admin().await;
    admin.user("eve@example.com", "editor").await;
    let browser = Browser::signed_in(&app).await;
    let mut administrator = PageStream::open(&browser).await;
    let browser = Browser::signed_in_as(&app, "eve@example.com").await;
    let mut editor = PageStream::open(&browser).await;
    admin.user("vic@example.com", "viewer").await;
    admin.flag("checkout").await;
    for stream in [&mut administrator, &mut editor] {
        stream.until("created checkout").await;
    }
    let account = administrator
        .received
        .lines()
        .find(|line| line.contains("USER_CREATED"));
    assert!(account.is_some_and(|event| event.contains("\"isAboutAccounts\":true")));
    assert!(!editor.received.contains("USER_CREATED"));
    app.advance(60);
    app.admin().await.user("kim@example.com", "viewer").await;
    let later = PageStream::open(&browser).await;
    // The last change that an editor may see is the flag, a minute before.
    let received = later.received;
    assert!(received.contains("\"at\":17723574000"), "{received}");
}

#[tokio::test]
async fn the_stream_ends_when_the_user_signs_out() {
    let app = TestApp::start().await;
    app.run_change_feed();
    let browser = Browser::signed_in(&app).await;
    let mut stream = PageStream::open(&browser).await;
    browser.post("/dashboard/api/sign-out", "").await;
    stream.until_the_end().await;
}

#[tokio::test]
async fn the_stream_ends_when_the_session_expires() {
    let app = TestApp::start().await;
    app.run_change_feed();
    let mut stream = PageStream::open(&Browser::signed_in(&app).await).await;
    app.advance(30 * 24 * 60 * 60);
    // Every sign-out makes all streams check their sessions.
    let another = Browser::signed_in(&app).await;
    another.post("/dashboard/api/sign-out", "").await;
    stream.until_the_end().await;
}

#[tokio::test]
async fn the_stream_ends_when_the_server_stops() {
    let app = TestApp::start().await;
    app.run_change_feed();
    let mut stream = PageStream::open(&Browser::signed_in(&app).await).await;
    app.drain();
    stream.until_the_end().await;
}

#[tokio::test]
async fn a_change_whose_transaction_took_long_arrives_although_later_ones_arrived_before() {
    let app = TestApp::start().await;
    app.run_change_feed();
    app.advance(40);
    let admin = app.admin().await;
    let mut stream = PageStream::open(&Browser::signed_in(&app).await).await;
    admin.flag("short").await;
    stream.until("\"flag\":\"short\"").await;
    // Its entry has the time of the start of the test, 40 seconds ago.
    app.tamper(if app.database().is_postgres() {
        "insert into audit_entries (id, action, actor_identity, occurred_at, flag_key)
         values (gen_random_uuid(), 'FLAG_CREATED', 'import', 1772357400000, 'long')"
    } else {
        "insert into audit_entries (id, action, actor_identity, occurred_at, flag_key)
         values (randomblob(16), 'FLAG_CREATED', 'import', 1772357400000, 'long')"
    })
    .await;
    app.advance(10);
    stream.until("\"flag\":\"long\"").await;
    let event = stream.received.lines().find(|line| line.contains("long"));
    // A page that was rendered before the change became visible must not take it for an older one.
    let at = 1_772_357_400_000_i64 + 50_000;
    assert!(event.is_some_and(|event| event.contains(&format!("\"at\":{at}"))));
    assert_eq!(stream.received.matches("\"flag\":\"long\"").count(), 1);
}
