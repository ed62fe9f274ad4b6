use pennon_client::{Event, InitializeOptions, Options};

use crate::harness::{Harness, QUIET, configuration, status};

const POLLING: Options = Options {
    poll_interval: 30_000,
    ..QUIET
};

#[test]
fn refreshing_before_initializing_fails() {
    let mut harness = Harness::new(QUIET);
    harness.handle(Event::Refresh);
    assert_eq!(harness.take_journal(), ["0: refresh Err(NotInitialized)"]);
}

#[test]
fn refreshing_sends_the_last_tag_and_adopts_the_new_one() {
    let mut harness = Harness::ready(QUIET, &[None]);
    harness.handle(Event::Refresh);
    harness.respond(configuration("v2", &[None]));
    harness.handle(Event::Refresh);
    harness.respond(status(304));
    assert_eq!(
        harness.take_journal(),
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
    let mut harness = Harness::ready(QUIET, &[None]);
    harness.handle(Event::Refresh);
    harness.handle(Event::Refresh);
    assert_eq!(
        harness.take_journal(),
        ["0: emit refresh:start", "0: fetch 0 with v1"]
    );
    harness.respond(status(304));
    assert_eq!(
        harness.take_journal(),
        ["0: renew", "0: refresh Ok(())", "0: emit refresh:success"]
    );
}

#[test]
fn polls_come_at_the_interval_and_never_overlap() {
    let mut harness = Harness::ready(POLLING, &[None]);
    harness.advance(32_000);
    assert_eq!(
        harness.take_journal(),
        ["30000: emit refresh:start", "30000: fetch 0 with v1"]
    );
    harness.respond(status(304));
    harness.advance(30_000);
    assert_eq!(
        harness.take_journal(),
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
    let mut harness = Harness::ready(POLLING, &[None]);
    harness.advance(20_000);
    harness.handle(Event::Refresh);
    harness.respond(status(304));
    harness.take_journal();
    harness.advance(29_999);
    assert!(harness.take_journal().is_empty());
    harness.advance(1);
    assert_eq!(
        harness.take_journal(),
        ["50000: emit refresh:start", "50000: fetch 0 with v1"]
    );
}

#[test]
fn without_polling_nothing_is_fetched_until_flags_expire() {
    let mut harness = Harness::ready(QUIET, &[None]);
    harness.advance(59_999);
    assert!(harness.take_journal().is_empty());
}

#[test]
fn the_response_to_an_aborted_request_is_ignored() {
    let mut harness = Harness::ready(
        Options {
            retries: 1,
            ..QUIET
        },
        &[None],
    );
    harness.handle(Event::Refresh);
    harness.advance(4_000);
    let awaited = [1, 2, 3, 4].map(|request| harness.awaits(request));
    assert_eq!(awaited, [false, false, true, false]);
    harness.respond_to(2, configuration("older", &[]));
    harness.respond(configuration("newer", &[]));
    assert!(!harness.awaits(3));
    harness.respond_to(2, configuration("older", &[]));
    harness.handle(Event::Unreachable { request: 2 });
    harness.handle(Event::Refresh);
    assert_eq!(
        harness.take_journal(),
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
    let mut harness = Harness::ready(
        Options {
            retries: 1,
            ..QUIET
        },
        &[None],
    );
    harness.handle(Event::Refresh);
    harness.respond(status(200));
    harness.advance(1_000);
    harness.respond(status(200));
    harness.handle(Event::Refresh);
    assert_eq!(
        harness.take_journal(),
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
    let mut harness = Harness::ready(POLLING, &[None]);
    harness.suspend(86_400_000);
    assert_eq!(
        harness.take_journal(),
        ["86400000: emit refresh:start", "86400000: fetch 0 with v1"]
    );
}

#[test]
fn an_interval_longer_than_any_timer_uses_several_timers() {
    let interval = 5_000_000_000;
    let mut harness = Harness::ready(
        Options {
            poll_interval: interval,
            ttl: u64::MAX,
            ..QUIET
        },
        &[None],
    );
    harness.handle(Event::Refresh);
    harness.respond(status(304));
    harness.take_journal();
    assert_eq!(harness.timer(), Some(0x7fff_ffff));
    harness.advance(interval);
    assert_eq!(
        harness.take_journal(),
        [
            "5000000000: emit refresh:start",
            "5000000000: fetch 0 with v1"
        ]
    );
}

#[test]
fn the_first_poll_is_random_within_the_interval_and_later_ones_keep_it() {
    for (random, first) in [(0, 0), (1 << 31, 15_000), (u32::MAX, 30_000)] {
        let mut harness = Harness::new(POLLING);
        harness.set_random(random);
        harness.handle(Event::Initialize(InitializeOptions::default()));
        harness.respond(configuration("v1", &[None]));
        harness.take_journal();
        harness.advance(first);
        assert_eq!(
            harness.take_journal(),
            [
                format!("{first}: emit refresh:start"),
                format!("{first}: fetch 0 with v1")
            ]
        );
        harness.respond(status(304));
        harness.take_journal();
        harness.advance(29_999);
        assert!(harness.take_journal().is_empty());
        harness.advance(1);
        assert_eq!(harness.take_journal().len(), 2);
    }
}
