use pennon_client::{Event, Options};

use crate::world::{QUIET, World, configuration, status};

#[test]
fn an_expired_flag_is_served_while_it_is_refreshed_in_the_background() {
    let mut world = World::ready(QUIET, &[None, Some(10)]);
    world.passes(10_000);
    world.answers(status(304));
    assert_eq!(
        world.journal(),
        [
            "10000: emit refresh:start",
            "10000: fetch 0 with v1",
            "10000: renew",
            "10000: emit refresh:success",
        ]
    );
    world.passes(9_999);
    assert!(world.journal().is_empty());
}

#[test]
fn an_expired_flag_is_removed_once_its_refresh_has_finally_failed() {
    let mut world = World::ready(
        Options {
            retries: 1,
            ..QUIET
        },
        &[None, Some(10)],
    );
    world.passes(10_000);
    world.is_unreachable();
    world.passes(1_000);
    world.is_unreachable();
    assert_eq!(
        world.journal(),
        [
            "10000: emit refresh:start",
            "10000: fetch 0 with v1",
            "11000: fetch 1 with v1",
            "11000: expire [1]",
            "11000: emit refresh:error Unreachable",
        ]
    );
}

#[test]
fn an_invalid_response_expires_a_flag_no_earlier_than_no_response() {
    let expires_at = |fails: fn(&mut World)| {
        let mut world = World::ready(
            Options {
                poll_interval: 55_000,
                retries: 3,
                ..QUIET
            },
            &[None],
        );
        for wait in [55_000, 1_000, 2_000, 4_000] {
            world.passes(wait);
            fails(&mut world);
        }
        let journal = world.journal();
        journal.into_iter().find(|line| line.contains("expire"))
    };
    let after_silence = expires_at(World::is_unreachable);
    assert_eq!(after_silence.as_deref(), Some("62000: expire [0]"));
    assert_eq!(
        expires_at(|world| world.answers(status(200))),
        after_silence
    );
}

#[test]
fn after_a_failed_refresh_a_flag_is_removed_as_soon_as_it_expires() {
    let mut world = World::ready(QUIET, &[None, Some(70)]);
    world.happens(Event::Refresh);
    world.is_unreachable();
    world.journal();
    world.passes(60_000);
    assert_eq!(
        world.journal(),
        [
            "60000: expire [0]",
            "60000: emit refresh:start",
            "60000: fetch 0 with v1",
        ]
    );
}

#[test]
fn expired_flags_return_when_the_service_confirms_them() {
    let mut world = World::ready(QUIET, &[Some(10)]);
    world.passes(10_000);
    world.is_unreachable();
    world.happens(Event::Refresh);
    world.journal();
    world.answers(status(304));
    assert_eq!(
        world.journal(),
        [
            "10000: apply",
            "10000: refresh Ok(())",
            "10000: emit refresh:success",
        ]
    );
}

#[test]
fn an_override_counts_from_the_next_fetch_on() {
    let mut world = World::ready(QUIET, &[None]);
    world.passes(5_000);
    world.happens(Event::Refresh);
    world.answers(configuration("v2", &[Some(2)]));
    world.journal();
    world.passes(2_000);
    assert_eq!(
        world.journal(),
        ["7000: emit refresh:start", "7000: fetch 0 with v2"]
    );
}

#[test]
fn a_ttl_that_expires_during_a_refresh_needs_no_second_one() {
    let mut world = World::ready(QUIET, &[Some(10)]);
    world.passes(9_000);
    world.happens(Event::Refresh);
    world.passes(2_000);
    world.is_unreachable();
    assert_eq!(
        world.journal(),
        [
            "9000: emit refresh:start",
            "9000: fetch 0 with v1",
            "11000: expire [0]",
            "11000: refresh Err(Unreachable)",
            "11000: emit refresh:error Unreachable",
        ]
    );
}

#[test]
fn without_polling_an_unreachable_service_is_retried_at_the_interval_of_the_ttl() {
    let mut world = World::ready(QUIET, &[None]);
    world.passes(60_000);
    world.is_unreachable();
    world.journal();
    for minute in [120_000, 180_000] {
        world.passes(60_000);
        world.is_unreachable();
        assert_eq!(
            world.journal(),
            [
                format!("{minute}: emit refresh:start"),
                format!("{minute}: fetch 0 with v1"),
                format!("{minute}: emit refresh:error Unreachable"),
            ]
        );
    }
    world.passes(60_000);
    world.answers(status(304));
    world.journal();
    world.passes(59_999);
    assert!(world.journal().is_empty());
}

const STALE: Options = Options {
    stale_if_error: true,
    ..QUIET
};

#[test]
fn flags_can_outlive_an_outage_while_requests_continue() {
    let mut world = World::ready(STALE, &[None, Some(10)]);
    for _ in 0..3 {
        world.passes(60_000);
        world.is_unreachable();
    }
    let journal = world.journal();
    assert!(!journal.iter().any(|line| line.contains("expire")));
    assert!(journal.len() >= 9, "{journal:?}");
    world.passes(60_000);
    world.answers(status(304));
    assert_eq!(
        world.journal()[2..],
        ["240000: renew", "240000: emit refresh:success"]
    );
}

#[test]
fn flags_do_not_outlive_a_refusal() {
    let mut world = World::ready(STALE, &[None]);
    world.passes(60_000);
    world.answers(status(401));
    assert_eq!(
        world.journal()[2..],
        ["60000: expire [0]", "60000: emit refresh:error 401"]
    );
}
