use pennon_client::{Event, InitializeOptions, Options};

use crate::harness::{Harness, QUIET, configuration, status};

const INITIALIZE: Event = Event::Initialize(InitializeOptions {
    timeout: None,
    retry: pennon_client::Retry::None,
});

#[test]
fn another_context_is_requested_at_once_and_without_a_tag() {
    let mut harness = Harness::ready(QUIET, &[None]);
    harness.handle(Event::ContextChanged);
    harness.respond(configuration("v2", &[None]));
    assert_eq!(
        harness.take_journal(),
        [
            "0: emit refresh:start",
            "0: fetch 0 with nothing",
            "0: apply",
            "0: setContext Ok(())",
            "0: emit refresh:success",
        ]
    );
}

#[test]
fn a_response_for_the_previous_context_is_ignored() {
    let mut harness = Harness::ready(QUIET, &[None]);
    harness.handle(Event::Refresh);
    harness.handle(Event::ContextChanged);
    assert_eq!(
        harness.take_journal(),
        [
            "0: emit refresh:start",
            "0: fetch 0 with v1",
            "0: abort",
            "0: fetch 0 with nothing",
        ]
    );
    harness.respond_to(2, configuration("old", &[None]));
    harness.respond_to(2, status(304));
    assert!(harness.take_journal().is_empty());
    harness.respond_to(3, configuration("v2", &[None]));
    assert_eq!(
        harness.take_journal(),
        [
            "0: apply",
            "0: refresh Ok(())",
            "0: setContext Ok(())",
            "0: emit refresh:success",
        ]
    );
}

#[test]
fn a_context_set_before_the_first_request_needs_none() {
    let mut harness = Harness::new(QUIET);
    harness.handle(Event::ContextChanged);
    assert_eq!(harness.take_journal(), ["0: setContext Ok(())"]);
}

#[test]
fn a_context_set_during_initialization_replaces_the_first_request() {
    let mut harness = Harness::new(QUIET);
    harness.handle(INITIALIZE);
    harness.handle(Event::ContextChanged);
    harness.respond_to(1, configuration("old", &[None]));
    harness.respond(configuration("v1", &[None]));
    assert_eq!(
        harness.take_journal(),
        [
            "0: fetch 0 with nothing",
            "0: abort",
            "0: fetch 0 with nothing",
            "0: apply",
            "0: emit ready",
            "0: initialize Ok(())",
            "0: setContext Ok(())",
        ]
    );
}

#[test]
fn a_failed_request_for_a_context_is_reported_and_repeated_by_the_next_poll() {
    let polling = Options {
        poll_interval: 30_000,
        ..QUIET
    };
    let mut harness = Harness::ready(polling, &[None]);
    harness.handle(Event::ContextChanged);
    harness.respond(status(500));
    harness.advance(30_000);
    assert_eq!(
        harness.take_journal(),
        [
            "0: emit refresh:start",
            "0: fetch 0 with nothing",
            "0: setContext Err(Status(500))",
            "0: emit refresh:error 500",
            "30000: emit refresh:start",
            "30000: fetch 0 with nothing",
        ]
    );
}

#[test]
fn after_a_shutdown_no_context_can_be_set() {
    let mut harness = Harness::ready(QUIET, &[None]);
    harness.handle(Event::ContextChanged);
    harness.handle(Event::Shutdown);
    harness.handle(Event::ContextChanged);
    let journal = harness.take_journal();
    let settled: Vec<&String> = journal
        .iter()
        .filter(|line| line.contains("setContext"))
        .collect();
    assert_eq!(settled, ["0: setContext Err(ShutDown)"; 2]);
}
