//! The options of `initialize()`: the timeout, and attempts that continue after the call has failed.

use pennon_client::{Event, InitializeOptions, Options, Reply, Retry};

use crate::harness::{Harness, QUIET, configuration, status};

fn forever(timeout: Option<u64>) -> Event {
    Event::Initialize(InitializeOptions {
        timeout,
        retry: Retry::Forever,
    })
}

fn background(timeout: Option<u64>) -> Event {
    Event::Initialize(InitializeOptions {
        timeout,
        retry: Retry::Background,
    })
}

const ONE_RETRY: Options = Options {
    retries: 1,
    ..QUIET
};

#[test]
fn initializing_falls_back_to_the_cache_at_its_timeout() {
    for cached in [vec![], vec![60_000]] {
        let mut harness = Harness::new(ONE_RETRY);
        harness.handle(Event::Initialize(InitializeOptions {
            timeout: Some(2_000),
            retry: Retry::None,
        }));
        harness.advance(2_000);
        harness.handle(Event::Restored(cached.clone()));
        let journal = harness.take_journal();
        assert_eq!(
            journal[..3],
            ["0: fetch 0 with nothing", "2000: abort", "2000: restore"]
        );
        let expected = if cached.is_empty() {
            vec!["2000: initialize Err(TimedOut)"]
        } else {
            vec!["2000: emit ready", "2000: initialize Ok(())"]
        };
        assert_eq!(journal[3..], expected);
        harness.advance(50_000);
        assert!(harness.take_journal().is_empty(), "no attempt continues");
    }
}

#[test]
fn an_attempt_that_times_out_does_not_end_a_call_with_a_longer_timeout() {
    let mut harness = Harness::new(ONE_RETRY);
    harness.handle(Event::Initialize(InitializeOptions {
        timeout: Some(5_000),
        retry: Retry::None,
    }));
    harness.advance(4_000);
    harness.respond(configuration("v1", &[None]));
    assert_eq!(
        harness.take_journal(),
        [
            "0: fetch 0 with nothing",
            "3000: abort",
            "4000: fetch 1 with nothing",
            "4000: apply",
            "4000: emit ready",
            "4000: initialize Ok(())",
        ]
    );
}

#[test]
fn a_timeout_also_ends_the_wait_for_the_next_attempt() {
    let mut harness = Harness::new(ONE_RETRY);
    harness.handle(Event::Initialize(InitializeOptions {
        timeout: Some(500),
        retry: Retry::None,
    }));
    harness.fail_request();
    harness.advance(500);
    harness.handle(Event::Restored(vec![]));
    harness.advance(50_000);
    assert_eq!(
        harness.take_journal(),
        [
            "0: fetch 0 with nothing",
            "500: restore",
            "500: initialize Err(Unreachable)",
        ]
    );
}

#[test]
fn an_attempt_that_a_timeout_has_put_off_still_follows() {
    let mut harness = Harness::new(ONE_RETRY);
    harness.handle(background(Some(500)));
    harness.fail_request();
    harness.advance(500);
    harness.handle(Event::Restored(vec![]));
    harness.take_journal();
    harness.advance(1_000);
    assert_eq!(harness.take_journal(), ["1500: fetch 1 with nothing"]);
}

#[test]
fn a_call_between_two_attempts_does_not_start_one() {
    let mut harness = Harness::new(ONE_RETRY);
    harness.handle(background(None));
    harness.fail_request();
    harness.handle(background(None));
    assert_eq!(harness.take_journal(), ["0: fetch 0 with nothing"]);
    assert_eq!(harness.timer(), Some(1_000));
}

#[test]
fn the_most_patient_of_several_calls_determines_the_further_attempts() {
    let mut harness = Harness::new(QUIET);
    harness.handle(Event::Initialize(InitializeOptions::default()));
    harness.handle(background(None));
    harness.fail_request();
    harness.handle(Event::Restored(vec![]));
    harness.take_journal();
    harness.advance(1_000);
    assert_eq!(harness.take_journal(), ["1000: fetch 1 with nothing"]);
}

#[test]
fn a_call_without_a_timeout_outlasts_an_earlier_one_that_timed_out() {
    let mut harness = Harness::new(QUIET);
    harness.handle(forever(Some(2_000)));
    harness.advance(2_000);
    harness.handle(Event::Restored(vec![]));
    harness.handle(forever(None));
    harness.take_journal();
    harness.fail_request();
    harness.handle(Event::Restored(vec![]));
    assert_eq!(harness.take_journal(), ["2000: restore"]);
}

#[test]
fn initializing_can_continue_until_the_server_is_available() {
    let mut harness = Harness::new(ONE_RETRY);
    harness.handle(forever(None));
    harness.fail_request();
    harness.take_journal();
    for (attempt, wait) in (1..).zip([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]) {
        harness.advance(wait - 1);
        assert!(harness.take_journal().is_empty());
        harness.advance(1);
        let journal = harness.take_journal();
        assert!(journal[0].ends_with(&format!("fetch {attempt} with nothing")));
        harness.respond(status(502));
        assert!(harness.take_journal()[0].ends_with("restore"));
        harness.handle(Event::Restored(vec![]));
    }
    harness.advance(30_000);
    harness.respond(configuration("v1", &[None]));
    assert_eq!(
        harness.take_journal(),
        [
            "121000: fetch 8 with nothing",
            "121000: apply",
            "121000: emit ready",
            "121000: initialize Ok(())",
        ]
    );
}

#[test]
fn a_client_that_tries_forever_becomes_ready_after_its_call_has_timed_out() {
    let mut harness = Harness::new(ONE_RETRY);
    harness.handle(forever(Some(2_000)));
    harness.advance(2_000);
    harness.handle(Event::Restored(vec![]));
    harness.advance(1_000);
    assert_eq!(
        harness.take_journal(),
        [
            "0: fetch 0 with nothing",
            "2000: restore",
            "2000: initialize Err(TimedOut)",
            "3000: abort",
        ]
    );
    harness.advance(1_000);
    assert_eq!(harness.take_journal(), ["4000: fetch 1 with nothing"]);
    // Another call shares the pending request, but has its own deadline.
    harness.handle(forever(Some(1_000)));
    harness.advance(1_000);
    harness.handle(Event::Restored(vec![]));
    assert_eq!(
        harness.take_journal(),
        ["5000: restore", "5000: initialize Err(TimedOut)"]
    );
    harness.respond(configuration("v1", &[None]));
    assert_eq!(
        harness.take_journal()[..2],
        ["5000: apply", "5000: emit ready"]
    );
}

#[test]
fn restored_flags_at_the_deadline_abort_the_pending_request() {
    let mut harness = Harness::new(ONE_RETRY);
    harness.handle(background(Some(2_000)));
    harness.advance(2_000);
    harness.handle(Event::Restored(vec![60_000]));
    assert_eq!(
        harness.take_journal()[1..],
        [
            "2000: restore",
            "2000: abort",
            "2000: emit ready",
            "2000: initialize Ok(())"
        ]
    );
}

#[test]
fn a_stored_configuration_at_the_deadline_is_confirmed_soon() {
    let mut harness = Harness::new(QUIET);
    harness.handle(background(Some(2_000)));
    harness.advance(2_000);
    harness.handle(Event::Stored {
        flags: vec![None],
        age: 1_000,
        max_age: 604_800_000,
    });
    harness.take_journal();
    harness.advance(60_000);
    let journal = harness.take_journal();
    assert!(
        journal.iter().any(|line| line.contains("fetch 0")),
        "the aborted request is repeated: {journal:?}"
    );
}

#[test]
fn the_deadline_does_not_end_other_calls() {
    let mut harness = Harness::new(QUIET);
    harness.handle(background(Some(2_000)));
    harness.handle(Event::Refresh);
    harness.advance(2_000);
    harness.handle(Event::Restored(vec![]));
    assert_eq!(
        harness.take_journal(),
        [
            "0: fetch 0 with nothing",
            "2000: restore",
            "2000: initialize Err(TimedOut)"
        ]
    );
    harness.respond(configuration("v1", &[None]));
    assert_eq!(
        harness.take_journal(),
        [
            "2000: apply",
            "2000: emit ready",
            "2000: initialize Ok(())",
            "2000: refresh Ok(())"
        ]
    );
}

#[test]
fn a_permanent_failure_ends_the_call_but_not_the_attempts() {
    for start in [forever(None), background(None)] {
        for (code, wait) in [(200, 1_000), (404, 1_000), (401, 60_000), (403, 60_000)] {
            let mut harness = Harness::new(ONE_RETRY);
            harness.handle(start.clone());
            harness.respond(status(code));
            harness.handle(Event::Restored(vec![]));
            let journal = harness.take_journal();
            assert!(
                journal
                    .last()
                    .is_some_and(|line| line.contains("initialize Err")),
                "{journal:?}"
            );
            harness.advance(wait - 1);
            assert!(harness.take_journal().is_empty());
            harness.advance(1);
            assert_eq!(
                harness.take_journal(),
                [format!("{wait}: fetch 1 with nothing")]
            );
        }
    }
}

#[test]
fn attempts_continue_in_the_background_once_the_call_has_failed() {
    let mut harness = Harness::new(Options {
        retry_delay: 0,
        ..ONE_RETRY
    });
    harness.handle(background(None));
    harness.fail_request();
    harness.advance(0);
    harness.fail_request();
    harness.handle(Event::Restored(vec![]));
    assert_eq!(
        harness.take_journal(),
        [
            "0: fetch 0 with nothing",
            "0: fetch 1 with nothing",
            "0: restore",
            "0: initialize Err(Unreachable)",
        ]
    );
    for (attempt, wait) in (2..).zip([2_000, 4_000, 8_000, 16_000, 30_000, 30_000]) {
        harness.advance(wait - 1);
        assert!(harness.take_journal().is_empty());
        harness.advance(1);
        harness.respond(status(502));
        harness.handle(Event::Restored(vec![]));
        let journal = harness.take_journal();
        assert!(journal[0].ends_with(&format!("fetch {attempt} with nothing")));
        assert!(journal[1].ends_with("restore"));
        assert_eq!(journal.len(), 2, "no call waits");
    }
    harness.advance(30_000);
    harness.respond(configuration("v1", &[None]));
    assert_eq!(
        harness.take_journal()[1..3],
        ["120000: apply", "120000: emit ready"]
    );
}

#[test]
fn another_call_during_a_background_delay_starts_an_attempt_at_once() {
    let mut harness = Harness::new(ONE_RETRY);
    harness.handle(background(None));
    harness.respond(status(401));
    harness.take_journal();
    harness.advance(10_000);
    harness.handle(Event::Initialize(InitializeOptions::default()));
    harness.respond(status(401));
    assert_eq!(
        harness.take_journal(),
        [
            "10000: fetch 0 with nothing",
            "10000: initialize Err(Status(401))"
        ]
    );
    // The second refusal.
    assert_eq!(harness.timer(), Some(130_000));
}

#[test]
fn the_attempts_of_another_call_are_not_as_far_apart_as_polls() {
    let mut harness = Harness::new(Options {
        poll_interval: 30_000,
        ..ONE_RETRY
    });
    harness.handle(background(None));
    harness.fail_request();
    harness.advance(1_000);
    harness.fail_request();
    harness.handle(Event::Restored(vec![]));
    harness.handle(background(None));
    harness.take_journal();
    harness.fail_request();
    harness.advance(1_000);
    harness.fail_request();
    harness.handle(Event::Restored(vec![]));
    assert_eq!(
        harness.take_journal(),
        [
            "2000: fetch 1 with nothing",
            "2000: restore",
            "2000: initialize Err(Unreachable)",
        ]
    );
}

#[test]
fn calls_between_the_attempts_in_the_background_fail_with_theirs() {
    for (event, call) in [
        (Event::Refresh, "refresh"),
        (Event::ContextChanged, "set_context"),
    ] {
        let mut harness = Harness::new(ONE_RETRY);
        harness.handle(background(None));
        for _ in 0..2 {
            harness.fail_request();
            harness.advance(1_000);
        }
        harness.handle(Event::Restored(vec![]));
        harness.take_journal();
        harness.handle(event);
        harness.fail_request();
        harness.advance(1_000);
        harness.fail_request();
        harness.handle(Event::Restored(vec![]));
        let journal = harness.take_journal();
        let expected = [
            "2000: fetch 0 with nothing".to_owned(),
            "3000: fetch 1 with nothing".to_owned(),
            "3000: restore".to_owned(),
            format!("3000: {call} Err(Unreachable)"),
        ];
        assert_eq!(journal, expected);
    }
}

#[test]
fn a_client_that_tries_forever_respects_retry_after() {
    let mut harness = Harness::new(ONE_RETRY);
    harness.handle(forever(None));
    harness.respond(Reply {
        retry_after: Some(100_000),
        ..status(503)
    });
    harness.handle(Event::Restored(vec![]));
    assert_eq!(harness.timer(), Some(100_000));
}

#[test]
fn a_client_that_tries_forever_stops_at_shutdown() {
    let mut harness = Harness::new(ONE_RETRY);
    harness.handle(forever(Some(2_000)));
    harness.fail_request();
    harness.handle(Event::Shutdown);
    assert_eq!(
        harness.take_journal()[1..],
        [
            "0: clear",
            "0: initialize Err(ShutDown)",
            "0: emit shutdown"
        ]
    );
    assert_eq!(harness.timer(), None);
}
