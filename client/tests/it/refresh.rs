use pennon_client::{Event, Options, Start};

use crate::world::{QUIET, World, configuration, status};

const POLLING: Options = Options {
    poll_interval: 30_000,
    ..QUIET
};

#[test]
fn refreshing_before_initializing_fails() {
    let mut world = World::new(QUIET);
    world.happens(Event::Refresh);
    assert_eq!(world.journal(), ["0: refresh Err(NotInitialized)"]);
}

#[test]
fn refreshing_sends_the_last_tag_and_adopts_the_new_one() {
    let mut world = World::ready(QUIET, &[None]);
    world.happens(Event::Refresh);
    world.answers(configuration("v2", &[None]));
    world.happens(Event::Refresh);
    world.answers(status(304));
    assert_eq!(
        world.journal(),
        [
            "0: emit refresh:start",
            "0: fetch 0 with v1",
            "0: apply",
            "0: refresh Ok(())",
            "0: emit refresh:success",
            "0: emit refresh:start",
            "0: fetch 0 with v2",
            "0: renew",
            "0: refresh Ok(())",
            "0: emit refresh:success",
        ]
    );
}

#[test]
fn concurrent_refreshes_share_one_request() {
    let mut world = World::ready(QUIET, &[None]);
    world.happens(Event::Refresh);
    world.happens(Event::Refresh);
    assert_eq!(
        world.journal(),
        ["0: emit refresh:start", "0: fetch 0 with v1"]
    );
}

#[test]
fn polls_come_at_the_interval_and_never_overlap() {
    let mut world = World::ready(POLLING, &[None]);
    world.passes(32_000);
    assert_eq!(
        world.journal(),
        ["30000: emit refresh:start", "30000: fetch 0 with v1"]
    );
    world.answers(status(304));
    world.passes(30_000);
    assert_eq!(
        world.journal(),
        [
            "32000: renew",
            "32000: emit refresh:success",
            "62000: emit refresh:start",
            "62000: fetch 0 with v1",
        ]
    );
}

#[test]
fn a_refresh_postpones_the_next_poll() {
    let mut world = World::ready(POLLING, &[None]);
    world.passes(20_000);
    world.happens(Event::Refresh);
    world.answers(status(304));
    world.journal();
    world.passes(29_999);
    assert!(world.journal().is_empty());
    world.passes(1);
    assert_eq!(
        world.journal(),
        ["50000: emit refresh:start", "50000: fetch 0 with v1"]
    );
}

#[test]
fn without_polling_nothing_is_fetched_until_flags_expire() {
    let mut world = World::ready(QUIET, &[None]);
    world.passes(59_999);
    assert!(world.journal().is_empty());
}

#[test]
fn the_response_to_an_aborted_request_is_ignored() {
    let mut world = World::ready(
        Options {
            retries: 1,
            ..QUIET
        },
        &[None],
    );
    world.happens(Event::Refresh);
    world.passes(4_000);
    world.answers_request(2, configuration("older", &[]));
    world.answers(configuration("newer", &[]));
    world.answers_request(2, configuration("older", &[]));
    world.happens(Event::Unreachable { request: 2 });
    world.happens(Event::Refresh);
    assert_eq!(
        world.journal(),
        [
            "0: emit refresh:start",
            "0: fetch 0 with v1",
            "3000: abort",
            "4000: fetch 1 with v1",
            "4000: apply",
            "4000: refresh Ok(())",
            "4000: emit refresh:success",
            "4000: emit refresh:start",
            "4000: fetch 0 with newer",
        ]
    );
}

#[test]
fn a_malformed_response_keeps_flags_and_tag_and_is_retried_like_an_outage() {
    let mut world = World::ready(
        Options {
            retries: 1,
            ..QUIET
        },
        &[None],
    );
    world.happens(Event::Refresh);
    world.answers(status(200));
    world.passes(1_000);
    world.answers(status(200));
    world.happens(Event::Refresh);
    assert_eq!(
        world.journal(),
        [
            "0: emit refresh:start",
            "0: fetch 0 with v1",
            "1000: fetch 1 with v1",
            "1000: refresh Err(Malformed)",
            "1000: emit refresh:error Malformed",
            "1000: emit refresh:start",
            "1000: fetch 0 with v1",
        ]
    );
}

#[test]
fn a_host_that_slept_refreshes_once() {
    let mut world = World::ready(POLLING, &[None]);
    world.sleeps(86_400_000);
    assert_eq!(
        world.journal(),
        ["86400000: emit refresh:start", "86400000: fetch 0 with v1"]
    );
}

#[test]
fn an_interval_longer_than_any_timer_uses_several_timers() {
    let interval = 5_000_000_000;
    let mut world = World::ready(
        Options {
            poll_interval: interval,
            ttl: u64::MAX,
            ..QUIET
        },
        &[None],
    );
    world.happens(Event::Refresh);
    world.answers(status(304));
    world.journal();
    assert_eq!(world.timer(), Some(0x7fff_ffff));
    world.passes(interval);
    assert_eq!(
        world.journal(),
        [
            "5000000000: emit refresh:start",
            "5000000000: fetch 0 with v1"
        ]
    );
}

#[test]
fn the_first_poll_is_random_within_the_interval_and_later_ones_keep_it() {
    for (random, first) in [(0, 0), (1 << 31, 15_000), (u32::MAX, 30_000)] {
        let mut world = World::new(POLLING);
        world.random(random);
        world.happens(Event::Initialize(Start::default()));
        world.answers(configuration("v1", &[None]));
        world.journal();
        world.passes(first);
        assert_eq!(
            world.journal(),
            [
                format!("{first}: emit refresh:start"),
                format!("{first}: fetch 0 with v1")
            ]
        );
        world.answers(status(304));
        world.journal();
        world.passes(29_999);
        assert!(world.journal().is_empty());
        world.passes(1);
        assert_eq!(world.journal().len(), 2);
    }
}
