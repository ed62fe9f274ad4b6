use pennon_client::{Event, InitializeOptions, Options};
use pennon_core::ttl::Ttl;

use crate::harness::{Harness, QUIET, configuration, status};

#[test]
fn initializing_fetches_applies_and_is_ready() {
    let mut harness = Harness::new(QUIET);
    harness.handle(Event::Initialize(InitializeOptions::default()));
    harness.respond(configuration("v1", &[None]));
    assert_eq!(
        harness.take_journal(),
        [
            "0: fetch 0 with nothing",
            "0: apply",
            "0: emit ready",
            "0: initialize Ok(())",
        ]
    );
}

#[test]
fn a_second_initialize_shares_the_request_and_a_later_one_succeeds_at_once() {
    let mut harness = Harness::new(QUIET);
    harness.handle(Event::Initialize(InitializeOptions::default()));
    harness.handle(Event::Initialize(InitializeOptions::default()));
    assert_eq!(harness.take_journal(), ["0: fetch 0 with nothing"]);
    harness.respond(configuration("v1", &[]));
    harness.take_journal();
    harness.handle(Event::Initialize(InitializeOptions::default()));
    assert_eq!(harness.take_journal(), ["0: initialize Ok(())"]);
}

#[test]
fn without_server_and_cache_initializing_fails_and_can_be_repeated() {
    let mut harness = Harness::new(QUIET);
    harness.handle(Event::Initialize(InitializeOptions::default()));
    harness.fail_request();
    harness.handle(Event::Restored(vec![]));
    harness.handle(Event::Initialize(InitializeOptions::default()));
    harness.respond(configuration("v1", &[None]));
    assert_eq!(
        harness.take_journal(),
        [
            "0: fetch 0 with nothing",
            "0: restore",
            "0: initialize Err(Unreachable)",
            "0: fetch 0 with nothing",
            "0: apply",
            "0: emit ready",
            "0: initialize Ok(())",
        ]
    );
}

#[test]
fn without_a_server_the_host_s_cache_suffices() {
    let mut harness = Harness::new(Options {
        poll_interval: 30_000,
        ..QUIET
    });
    harness.handle(Event::Initialize(InitializeOptions::default()));
    harness.respond(status(503));
    harness.handle(Event::Restored(vec![10_000, 40_000]));
    assert_eq!(
        harness.take_journal(),
        [
            "0: fetch 0 with nothing",
            "0: restore",
            "0: emit ready",
            "0: initialize Ok(())",
        ]
    );
    harness.advance(30_000);
    assert_eq!(
        harness.take_journal(),
        [
            "10000: expire [0]",
            "10000: emit refresh:start",
            "10000: fetch 0 with nothing",
            "13000: abort",
            "13000: emit refresh:error TimedOut",
        ]
    );
}

#[test]
fn flags_from_the_cache_do_not_fulfill_other_calls() {
    let mut harness = Harness::new(QUIET);
    harness.handle(Event::Initialize(InitializeOptions::default()));
    harness.handle(Event::Refresh);
    harness.fail_request();
    harness.handle(Event::Restored(vec![60_000]));
    assert_eq!(
        harness.take_journal()[1..],
        [
            "0: restore",
            "0: emit ready",
            "0: initialize Ok(())",
            "0: refresh Err(Unreachable)",
        ]
    );
}

#[test]
fn a_refused_key_is_no_outage_and_the_cache_is_not_used() {
    let mut harness = Harness::new(QUIET);
    harness.handle(Event::Initialize(InitializeOptions::default()));
    harness.respond(status(401));
    assert_eq!(
        harness.take_journal(),
        ["0: fetch 0 with nothing", "0: initialize Err(Status(401))"]
    );
}

#[test]
fn an_invalid_first_response_fails_at_once() {
    let mut harness = Harness::new(Options {
        retries: 3,
        ..QUIET
    });
    harness.handle(Event::Initialize(InitializeOptions::default()));
    harness.respond(status(200));
    harness.handle(Event::Restored(vec![]));
    assert_eq!(
        harness.take_journal(),
        [
            "0: fetch 0 with nothing",
            "0: restore",
            "0: initialize Err(Malformed)",
        ]
    );
}

#[test]
fn a_304_as_the_first_response_is_a_failure() {
    let mut harness = Harness::new(QUIET);
    harness.handle(Event::Initialize(InitializeOptions::default()));
    harness.respond(status(304));
    harness.handle(Event::Restored(vec![]));
    assert_eq!(
        harness.take_journal(),
        [
            "0: fetch 0 with nothing",
            "0: restore",
            "0: initialize Err(Status(304))",
        ]
    );
}

#[test]
fn a_refresh_during_initializing_waits_for_the_same_request() {
    let mut harness = Harness::new(QUIET);
    harness.handle(Event::Initialize(InitializeOptions::default()));
    harness.handle(Event::Refresh);
    harness.respond(configuration("v1", &[]));
    assert_eq!(
        harness.take_journal(),
        [
            "0: fetch 0 with nothing",
            "0: apply",
            "0: emit ready",
            "0: initialize Ok(())",
            "0: refresh Ok(())",
        ]
    );
}

#[test]
fn a_stored_configuration_is_served_until_it_is_too_old_or_the_server_answers() {
    let polling = Options {
        poll_interval: 40_000,
        ..QUIET
    };
    let stored = Event::Stored {
        flags: vec![None, Ttl::try_from(500).ok()],
        age: 100_000,
        max_age: 400_000,
    };
    let mut harness = Harness::new(polling);
    harness.handle(Event::Initialize(InitializeOptions::default()));
    harness.fail_request();
    harness.handle(stored.clone());
    assert_eq!(
        harness.take_journal()[1..],
        ["0: restore", "0: emit ready", "0: initialize Ok(())"]
    );
    let mut lines = Vec::new();
    for _ in 0..12 {
        harness.advance(40_000);
        harness.fail_request();
        lines.extend(harness.take_journal());
    }
    lines.retain(|line| line.contains("expire"));
    assert_eq!(lines, ["300000: expire [0]", "400000: expire [1]"]);

    let mut harness = Harness::new(polling);
    harness.handle(Event::Initialize(InitializeOptions::default()));
    harness.fail_request();
    harness.handle(stored.clone());
    harness.advance(40_000);
    harness.respond(configuration("v1", &[None]));
    assert!(
        harness
            .take_journal()
            .contains(&"40000: fetch 0 with nothing".into())
    );
    for _ in 0..2 {
        harness.advance(40_000);
        harness.fail_request();
    }
    let journal = harness.take_journal();
    let expired = journal.iter().find(|line| line.contains("expire"));
    assert_eq!(expired.map(String::as_str), Some("103000: expire [0]"));

    // A refused key ends what is older than its TTL.
    let mut harness = Harness::new(polling);
    harness.handle(Event::Initialize(InitializeOptions::default()));
    harness.fail_request();
    harness.handle(stored.clone());
    harness.advance(40_000);
    harness.respond(status(401));
    let journal = harness.take_journal();
    let expired = journal.iter().find(|line| line.contains("expire"));
    assert_eq!(expired.map(String::as_str), Some("40000: expire [0]"));

    // A client that has not requested a stored config document ignores it.
    let mut harness = Harness::ready(QUIET, &[None]);
    harness.handle(stored);
    assert!(harness.take_journal().is_empty());
}
