//! The options of `initialize()`: the timeout, and attempts that continue after the call has failed.

use pennon_client::{Event, Options, Reply, Retry, Start};

use crate::world::{QUIET, World, configuration, status};

fn forever(timeout: Option<u64>) -> Event {
    Event::Initialize(Start {
        timeout,
        retry: Retry::Forever,
    })
}

fn background(timeout: Option<u64>) -> Event {
    Event::Initialize(Start {
        timeout,
        retry: Retry::Background,
    })
}

const PATIENT: Options = Options {
    retries: 1,
    ..QUIET
};

#[test]
fn initializing_falls_back_to_the_cache_at_its_timeout() {
    for cached in [vec![], vec![60_000]] {
        let mut world = World::new(PATIENT);
        world.happens(Event::Initialize(Start {
            timeout: Some(2_000),
            retry: Retry::None,
        }));
        world.passes(2_000);
        world.happens(Event::Restored(cached.clone()));
        let journal = world.journal();
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
        world.passes(50_000);
        assert!(world.journal().is_empty(), "no attempt continues");
    }
}

#[test]
fn a_timeout_also_ends_the_wait_for_the_next_attempt() {
    let mut world = World::new(PATIENT);
    world.happens(Event::Initialize(Start {
        timeout: Some(500),
        retry: Retry::None,
    }));
    world.is_unreachable();
    world.passes(500);
    world.happens(Event::Restored(vec![]));
    world.passes(50_000);
    assert_eq!(
        world.journal(),
        [
            "0: fetch 0 with nothing",
            "500: restore",
            "500: initialize Err(TimedOut)",
        ]
    );
}

#[test]
fn initializing_can_continue_until_the_service_is_available() {
    let mut world = World::new(PATIENT);
    world.happens(forever(None));
    world.is_unreachable();
    world.journal();
    for (attempt, wait) in (1..).zip([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]) {
        world.passes(wait - 1);
        assert!(world.journal().is_empty());
        world.passes(1);
        let journal = world.journal();
        assert!(journal[0].ends_with(&format!("fetch {attempt} with nothing")));
        world.answers(status(502));
        assert!(world.journal()[0].ends_with("restore"));
        world.happens(Event::Restored(vec![]));
    }
    world.passes(30_000);
    world.answers(configuration("v1", &[None]));
    assert_eq!(
        world.journal(),
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
    let mut world = World::new(PATIENT);
    world.happens(forever(Some(2_000)));
    world.passes(2_000);
    world.happens(Event::Restored(vec![]));
    world.passes(1_000);
    assert_eq!(
        world.journal(),
        [
            "0: fetch 0 with nothing",
            "2000: restore",
            "2000: initialize Err(TimedOut)",
            "3000: abort",
        ]
    );
    world.passes(1_000);
    assert_eq!(world.journal(), ["4000: fetch 1 with nothing"]);
    // Another call shares the pending request, but has its own deadline.
    world.happens(forever(Some(1_000)));
    world.passes(1_000);
    world.happens(Event::Restored(vec![]));
    assert_eq!(
        world.journal(),
        ["5000: restore", "5000: initialize Err(TimedOut)"]
    );
    world.answers(configuration("v1", &[None]));
    assert_eq!(world.journal()[..2], ["5000: apply", "5000: emit ready"]);
}

#[test]
fn restored_flags_at_the_deadline_abort_the_pending_request() {
    let mut world = World::new(PATIENT);
    world.happens(background(Some(2_000)));
    world.passes(2_000);
    world.happens(Event::Restored(vec![60_000]));
    assert_eq!(
        world.journal()[1..],
        [
            "2000: restore",
            "2000: abort",
            "2000: emit ready",
            "2000: initialize Ok(())"
        ]
    );
}

#[test]
fn a_permanent_failure_ends_the_call_but_not_the_attempts() {
    for start in [forever(None), background(None)] {
        for (code, wait) in [(200, 1_000), (404, 1_000), (401, 60_000), (403, 60_000)] {
            let mut world = World::new(PATIENT);
            world.happens(start.clone());
            world.answers(status(code));
            world.happens(Event::Restored(vec![]));
            let journal = world.journal();
            assert!(
                journal
                    .last()
                    .is_some_and(|line| line.contains("initialize Err")),
                "{journal:?}"
            );
            world.passes(wait - 1);
            assert!(world.journal().is_empty());
            world.passes(1);
            assert_eq!(world.journal(), [format!("{wait}: fetch 1 with nothing")]);
        }
    }
}

#[test]
fn attempts_continue_in_the_background_once_the_call_has_failed() {
    let mut world = World::new(Options {
        retry_delay: 0,
        ..PATIENT
    });
    world.happens(background(None));
    world.is_unreachable();
    world.passes(0);
    world.is_unreachable();
    world.happens(Event::Restored(vec![]));
    assert_eq!(
        world.journal(),
        [
            "0: fetch 0 with nothing",
            "0: fetch 1 with nothing",
            "0: restore",
            "0: initialize Err(Unreachable)",
        ]
    );
    for (attempt, wait) in (2..).zip([2_000, 4_000, 8_000, 16_000, 30_000, 30_000]) {
        world.passes(wait - 1);
        assert!(world.journal().is_empty());
        world.passes(1);
        world.answers(status(502));
        world.happens(Event::Restored(vec![]));
        let journal = world.journal();
        assert!(journal[0].ends_with(&format!("fetch {attempt} with nothing")));
        assert!(journal[1].ends_with("restore"));
        assert_eq!(journal.len(), 2, "no call waits");
    }
    world.passes(30_000);
    world.answers(configuration("v1", &[None]));
    assert_eq!(
        world.journal()[1..3],
        ["120000: apply", "120000: emit ready"]
    );
}

#[test]
fn another_call_during_a_background_delay_starts_an_attempt_at_once() {
    let mut world = World::new(PATIENT);
    world.happens(background(None));
    world.answers(status(401));
    world.journal();
    world.passes(10_000);
    world.happens(Event::Initialize(Start::default()));
    world.answers(status(401));
    assert_eq!(
        world.journal(),
        [
            "10000: fetch 0 with nothing",
            "10000: initialize Err(Status(401))"
        ]
    );
    // The second refusal.
    assert_eq!(world.timer(), Some(130_000));
}

#[test]
fn a_client_that_tries_forever_respects_retry_after() {
    let mut world = World::new(PATIENT);
    world.happens(forever(None));
    world.answers(Reply {
        retry_after: Some(100_000),
        ..status(503)
    });
    world.happens(Event::Restored(vec![]));
    assert_eq!(world.timer(), Some(100_000));
}

#[test]
fn a_client_that_tries_forever_stops_at_shutdown() {
    let mut world = World::new(PATIENT);
    world.happens(forever(Some(2_000)));
    world.is_unreachable();
    world.happens(Event::Shutdown);
    assert_eq!(
        world.journal()[1..],
        [
            "0: clear",
            "0: initialize Err(ShutDown)",
            "0: emit shutdown"
        ]
    );
    assert_eq!(world.timer(), None);
}
