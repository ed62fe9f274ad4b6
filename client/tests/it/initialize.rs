use pennon_client::{Event, Options, Start};
use pennon_core::ttl::Ttl;

use crate::world::{QUIET, World, configuration, status};

#[test]
fn initializing_fetches_applies_and_is_ready() {
    let mut world = World::new(QUIET);
    world.happens(Event::Initialize(Start::default()));
    world.answers(configuration("v1", &[None]));
    assert_eq!(
        world.journal(),
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
    let mut world = World::new(QUIET);
    world.happens(Event::Initialize(Start::default()));
    world.happens(Event::Initialize(Start::default()));
    assert_eq!(world.journal(), ["0: fetch 0 with nothing"]);
    world.answers(configuration("v1", &[]));
    world.journal();
    world.happens(Event::Initialize(Start::default()));
    assert_eq!(world.journal(), ["0: initialize Ok(())"]);
}

#[test]
fn without_service_and_cache_initializing_fails_and_can_be_repeated() {
    let mut world = World::new(QUIET);
    world.happens(Event::Initialize(Start::default()));
    world.is_unreachable();
    world.happens(Event::Restored(vec![]));
    world.happens(Event::Initialize(Start::default()));
    world.answers(configuration("v1", &[None]));
    assert_eq!(
        world.journal(),
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
fn without_a_service_the_host_s_cache_suffices() {
    let mut world = World::new(Options {
        poll_interval: 30_000,
        ..QUIET
    });
    world.happens(Event::Initialize(Start::default()));
    world.answers(status(503));
    world.happens(Event::Restored(vec![10_000, 40_000]));
    assert_eq!(
        world.journal(),
        [
            "0: fetch 0 with nothing",
            "0: restore",
            "0: emit ready",
            "0: initialize Ok(())",
        ]
    );
    world.passes(30_000);
    assert_eq!(
        world.journal(),
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
fn a_refused_key_is_no_outage_and_the_cache_is_not_used() {
    let mut world = World::new(QUIET);
    world.happens(Event::Initialize(Start::default()));
    world.answers(status(401));
    assert_eq!(
        world.journal(),
        ["0: fetch 0 with nothing", "0: initialize Err(Status(401))"]
    );
}

#[test]
fn an_invalid_first_response_fails_at_once() {
    let mut world = World::new(Options {
        retries: 3,
        ..QUIET
    });
    world.happens(Event::Initialize(Start::default()));
    world.answers(status(200));
    world.happens(Event::Restored(vec![]));
    assert_eq!(
        world.journal(),
        [
            "0: fetch 0 with nothing",
            "0: restore",
            "0: initialize Err(Malformed)",
        ]
    );
}

#[test]
fn a_304_as_the_first_response_is_a_failure() {
    let mut world = World::new(QUIET);
    world.happens(Event::Initialize(Start::default()));
    world.answers(status(304));
    world.happens(Event::Restored(vec![]));
    assert_eq!(
        world.journal(),
        [
            "0: fetch 0 with nothing",
            "0: restore",
            "0: initialize Err(Status(304))",
        ]
    );
}

#[test]
fn a_refresh_during_initializing_waits_for_the_same_request() {
    let mut world = World::new(QUIET);
    world.happens(Event::Initialize(Start::default()));
    world.happens(Event::Refresh);
    world.answers(configuration("v1", &[]));
    assert_eq!(
        world.journal(),
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
fn a_stored_configuration_is_served_until_it_is_too_old_or_the_service_answers() {
    let polling = Options {
        poll_interval: 40_000,
        ..QUIET
    };
    let stored = Event::Stored {
        flags: vec![None, Ttl::try_from(500).ok()],
        age: 100_000,
        max_age: 400_000,
    };
    let mut world = World::new(polling);
    world.happens(Event::Initialize(Start::default()));
    world.is_unreachable();
    world.happens(stored.clone());
    assert_eq!(
        world.journal()[1..],
        ["0: restore", "0: emit ready", "0: initialize Ok(())"]
    );
    let mut lines = Vec::new();
    for _ in 0..12 {
        world.passes(40_000);
        world.is_unreachable();
        lines.extend(world.journal());
    }
    lines.retain(|line| line.contains("expire"));
    assert_eq!(lines, ["300000: expire [0]", "400000: expire [1]"]);

    let mut world = World::new(polling);
    world.happens(Event::Initialize(Start::default()));
    world.is_unreachable();
    world.happens(stored.clone());
    world.passes(40_000);
    world.answers(configuration("v1", &[None]));
    assert!(
        world
            .journal()
            .contains(&"40000: fetch 0 with nothing".into())
    );
    for _ in 0..2 {
        world.passes(40_000);
        world.is_unreachable();
    }
    let journal = world.journal();
    let expired = journal.iter().find(|line| line.contains("expire"));
    assert_eq!(expired.map(String::as_str), Some("103000: expire [0]"));

    // A client that has not requested a stored config document ignores it.
    let mut world = World::ready(QUIET, &[None]);
    world.happens(stored);
    assert!(world.journal().is_empty());
}
