//! Evaluations for a context, which the application can change.

use pennon_client::{Event, InitializeOptions, Options};

use crate::harness::{Harness, QUIET, configuration, status};

const STREAMING: Options = Options {
    poll_interval: 30_000,
    streaming: true,
    ..QUIET
};

fn announced(etag: &str) -> Event {
    Event::StreamAnnounced {
        etag: etag.into(),
        spread: None,
    }
}

#[test]
fn a_new_context_is_requested_at_once_and_without_the_tag_of_the_previous_one() {
    let mut harness = Harness::ready(QUIET, &[None]);
    harness.advance(1_000);
    harness.handle(Event::ContextChanged);
    harness.respond(configuration("v1.b", &[None]));
    assert_eq!(
        harness.take_journal(),
        [
            "1000: emit refresh:start",
            "1000: fetch 0 with nothing",
            "1000: apply",
            "1000: set_context Ok(())",
            "1000: emit refresh:success",
        ]
    );
}

#[test]
fn a_late_response_for_the_previous_context_is_ignored() {
    let mut harness = Harness::ready(QUIET, &[None]);
    harness.handle(Event::Refresh);
    harness.handle(Event::ContextChanged);
    harness.take_journal();
    // `ready` has made the first request, so the refresh is the second.
    harness.respond_to(2, configuration("v1.a", &[None]));
    harness.handle(Event::Unreachable { request: 2 });
    assert!(harness.take_journal().is_empty());
    harness.respond(configuration("v1.b", &[None]));
    assert_eq!(
        harness.take_journal(),
        [
            "0: apply",
            "0: refresh Ok(())",
            "0: set_context Ok(())",
            "0: emit refresh:success",
        ]
    );
}

#[test]
fn a_context_change_replaces_the_pending_request() {
    let mut harness = Harness::ready(QUIET, &[None]);
    harness.handle(Event::ContextChanged);
    harness.take_journal();
    harness.handle(Event::ContextChanged);
    assert_eq!(
        harness.take_journal(),
        ["0: abort", "0: fetch 0 with nothing"]
    );
}

#[test]
fn a_context_change_replaces_a_pending_retry() {
    let mut harness = Harness::ready(
        Options {
            retries: 1,
            ..QUIET
        },
        &[None],
    );
    harness.handle(Event::Refresh);
    harness.fail_request();
    harness.take_journal();
    harness.handle(Event::ContextChanged);
    assert_eq!(harness.take_journal(), ["0: fetch 0 with nothing"]);
}

#[test]
fn a_not_modified_for_a_new_context_is_an_error() {
    let mut harness = Harness::ready(QUIET, &[None]);
    harness.handle(Event::ContextChanged);
    harness.take_journal();
    harness.respond(status(304));
    assert_eq!(
        harness.take_journal(),
        [
            "0: set_context Err(Status(304))",
            "0: emit refresh:error 304"
        ]
    );
}

#[test]
fn after_a_failure_the_next_poll_asks_for_the_new_context() {
    let mut harness = Harness::ready(
        Options {
            poll_interval: 30_000,
            ..QUIET
        },
        &[None],
    );
    harness.handle(Event::ContextChanged);
    harness.fail_request();
    harness.take_journal();
    harness.advance(30_000);
    assert_eq!(
        harness.take_journal(),
        ["30000: emit refresh:start", "30000: fetch 0 with nothing",]
    );
}

#[test]
fn the_previous_evaluations_expire_if_the_new_context_cannot_be_fetched() {
    let mut harness = Harness::ready(QUIET, &[Some(10), None]);
    harness.advance(5_000);
    harness.handle(Event::ContextChanged);
    harness.fail_request();
    harness.take_journal();
    harness.advance(5_000);
    let journal = harness.take_journal();
    assert_eq!(
        journal.first().map(String::as_str),
        Some("10000: expire [0]")
    );
}

#[test]
fn before_initializing_a_context_change_needs_no_request() {
    let mut harness = Harness::new(QUIET);
    harness.handle(Event::ContextChanged);
    assert_eq!(harness.take_journal(), ["0: set_context Ok(())"]);
}

#[test]
fn while_initializing_a_context_change_repeats_the_request() {
    let mut harness = Harness::new(QUIET);
    harness.handle(Event::Initialize(InitializeOptions::default()));
    harness.handle(Event::ContextChanged);
    harness.respond_to(1, configuration("v1.a", &[None]));
    harness.respond(configuration("v1.b", &[None]));
    assert_eq!(
        harness.take_journal(),
        [
            "0: fetch 0 with nothing",
            "0: abort",
            "0: fetch 0 with nothing",
            "0: apply",
            "0: emit ready",
            "0: initialize Ok(())",
            "0: set_context Ok(())",
        ]
    );
}

#[test]
fn a_failed_initialization_fails_the_context_change() {
    let mut harness = Harness::new(QUIET);
    harness.handle(Event::Initialize(InitializeOptions::default()));
    harness.handle(Event::ContextChanged);
    harness.fail_request();
    harness.take_journal();
    harness.handle(Event::Restored(Vec::new()));
    assert_eq!(
        harness.take_journal(),
        [
            "0: initialize Err(Unreachable)",
            "0: set_context Err(Unreachable)",
        ]
    );
}

#[test]
fn while_the_host_looks_for_flags_a_context_change_waits() {
    let mut harness = Harness::new(QUIET);
    harness.handle(Event::Initialize(InitializeOptions::default()));
    harness.fail_request();
    harness.handle(Event::ContextChanged);
    harness.handle(Event::Restored(Vec::new()));
    assert_eq!(
        harness.take_journal()[1..],
        [
            "0: restore",
            "0: initialize Err(Unreachable)",
            "0: set_context Err(Unreachable)",
        ]
    );
}

#[test]
fn after_the_shutdown_a_context_change_fails() {
    let mut harness = Harness::ready(QUIET, &[None]);
    harness.handle(Event::ContextChanged);
    harness.take_journal();
    harness.handle(Event::Shutdown);
    harness.handle(Event::ContextChanged);
    assert_eq!(
        harness.take_journal(),
        [
            "0: abort",
            "0: clear",
            "0: set_context Err(ShutDown)",
            "0: emit shutdown",
            "0: set_context Err(ShutDown)",
        ]
    );
}

/// Returns a harness that serves evaluations of the announced config document.
fn listening() -> Harness {
    let mut harness = Harness::new(STREAMING);
    harness.handle(Event::Initialize(InitializeOptions::default()));
    harness.respond(configuration("W/\"v1.a\"", &[None]));
    harness.handle(announced("W/\"v1\""));
    harness.take_journal();
    harness
}

#[test]
fn a_stream_confirms_evaluations_of_the_announced_config_document() {
    let mut harness = listening();
    harness.advance(15_000);
    harness.handle(Event::StreamAlive);
    harness.advance(20_000);
    assert_eq!(harness.take_journal(), ["15000: renew"]);
}

#[test]
fn a_stream_does_not_confirm_a_config_document_whose_tag_only_begins_like_the_announced_one() {
    let mut harness = listening();
    harness.handle(announced("W/\"v\""));
    harness.advance(250);
    assert_eq!(
        harness.take_journal(),
        ["250: emit refresh:start", "250: fetch 0 with W/\"v1.a\"",]
    );
}

#[test]
fn a_new_config_document_is_fetched_for_the_context() {
    let mut harness = listening();
    harness.handle(announced("W/\"v2\""));
    harness.advance(250);
    harness.respond(configuration("W/\"v2.a\"", &[None]));
    harness.advance(31_000);
    assert_eq!(
        harness.take_journal(),
        [
            "250: emit refresh:start",
            "250: fetch 0 with W/\"v1.a\"",
            "250: apply",
            "250: emit refresh:success",
        ]
    );
}

#[test]
fn a_stream_does_not_confirm_the_previous_context() {
    let mut harness = listening();
    harness.handle(Event::ContextChanged);
    harness.fail_request();
    harness.take_journal();
    harness.handle(Event::StreamAlive);
    assert!(harness.take_journal().is_empty());
}
