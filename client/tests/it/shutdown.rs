use pennon_client::{Event, InitializeOptions, Options};

use crate::harness::{Harness, QUIET, configuration, status};

#[test]
fn shutting_down_aborts_clears_and_then_emits_its_event() {
    let mut harness = Harness::ready(QUIET, &[None]);
    harness.handle(Event::Refresh);
    harness.handle(Event::Shutdown);
    harness.respond(configuration("v2", &[]));
    harness.advance(1_000_000);
    assert_eq!(
        harness.take_journal(),
        [
            "0: emit refresh:start",
            "0: fetch 0 with v1",
            "0: abort",
            "0: clear",
            "0: refresh Err(ShutDown)",
            "0: emit shutdown",
        ]
    );
    assert_eq!(harness.timer(), None);
}

#[test]
fn shutting_down_while_initializing_fails_that_call() {
    let mut harness = Harness::new(QUIET);
    harness.handle(Event::Initialize(InitializeOptions::default()));
    harness.handle(Event::Shutdown);
    assert_eq!(
        harness.take_journal(),
        [
            "0: fetch 0 with nothing",
            "0: abort",
            "0: clear",
            "0: initialize Err(ShutDown)",
            "0: emit shutdown",
        ]
    );
}

#[test]
fn shutting_down_while_the_host_looks_for_flags_fails_the_call_too() {
    let mut harness = Harness::new(QUIET);
    harness.handle(Event::Initialize(InitializeOptions::default()));
    harness.fail_request();
    harness.handle(Event::Shutdown);
    harness.handle(Event::Restored(vec![60_000]));
    assert_eq!(
        harness.take_journal()[1..],
        [
            "0: restore",
            "0: clear",
            "0: initialize Err(ShutDown)",
            "0: emit shutdown",
        ]
    );
}

#[test]
fn shutting_down_before_initializing_is_fine() {
    let mut harness = Harness::new(QUIET);
    harness.handle(Event::Shutdown);
    assert_eq!(harness.take_journal(), ["0: clear", "0: emit shutdown"]);
}

#[test]
fn shutting_down_between_two_attempts_ends_them() {
    let mut harness = Harness::ready(
        Options {
            retries: 3,
            ..QUIET
        },
        &[None],
    );
    harness.handle(Event::Refresh);
    harness.respond(status(500));
    harness.take_journal();
    harness.handle(Event::Shutdown);
    harness.advance(1_000_000);
    assert_eq!(
        harness.take_journal(),
        ["0: clear", "0: refresh Err(ShutDown)", "0: emit shutdown",]
    );
}

#[test]
fn shutting_down_twice_emits_one_event_and_later_calls_fail() {
    let mut harness = Harness::ready(QUIET, &[None]);
    harness.handle(Event::Shutdown);
    harness.take_journal();
    harness.handle(Event::Shutdown);
    harness.handle(Event::Initialize(InitializeOptions::default()));
    harness.handle(Event::Refresh);
    harness.handle(Event::Restored(vec![1]));
    harness.handle(Event::Served {
        times: vec![60_000],
        is_ready: true,
    });
    assert_eq!(
        harness.take_journal(),
        ["0: initialize Err(ShutDown)", "0: refresh Err(ShutDown)"]
    );
}
