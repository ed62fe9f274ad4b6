use pennon_client::{Event, Options, Reply};

use crate::harness::{Harness, QUIET, configuration, status};

const WITH_RETRIES: Options = Options {
    retries: 3,
    ..QUIET
};

fn retry_later(code: u16, retry_after: u64) -> Reply {
    Reply {
        retry_after: Some(retry_after),
        ..status(code)
    }
}

#[test]
fn an_unreachable_server_is_retried_with_doubling_delays() {
    let mut harness = Harness::ready(WITH_RETRIES, &[None]);
    harness.handle(Event::Refresh);
    for _ in 0..4 {
        harness.fail_request();
        harness.advance(10_000);
    }
    assert_eq!(
        harness.take_journal(),
        [
            "0: emit refresh:start",
            "0: fetch 0 with v1",
            "1000: fetch 1 with v1",
            "4000: abort",
            "6000: fetch 2 with v1",
            "9000: abort",
            "13000: fetch 3 with v1",
            "16000: abort",
            "16000: refresh Err(TimedOut)",
            "16000: emit refresh:error TimedOut",
        ]
    );
}

#[test]
fn the_wait_is_shortened_at_random_by_up_to_a_half() {
    let mut harness = Harness::ready(WITH_RETRIES, &[None]);
    harness.set_random(0);
    harness.handle(Event::Refresh);
    harness.fail_request();
    assert_eq!(harness.timer(), Some(500));
}

#[test]
fn too_many_requests_and_server_errors_are_retried() {
    for code in [429, 500, 503, 599] {
        let mut harness = Harness::ready(WITH_RETRIES, &[None]);
        harness.handle(Event::Refresh);
        harness.respond(status(code));
        harness.advance(1_000);
        harness.respond(configuration("v2", &[]));
        assert_eq!(
            harness.take_journal(),
            [
                "0: emit refresh:start",
                "0: fetch 0 with v1",
                "1000: fetch 1 with v1",
                "1000: apply",
                "1000: refresh Ok(())",
                "1000: emit refresh:success",
            ]
        );
    }
}

#[test]
fn other_statuses_are_not_retried() {
    for code in [204, 302, 400, 401, 403, 404, 408, 428, 430, 499, 600, 0] {
        let mut harness = Harness::ready(WITH_RETRIES, &[None]);
        harness.handle(Event::Refresh);
        harness.respond(status(code));
        assert_eq!(
            harness.take_journal()[2..],
            [
                format!("0: refresh Err(Status({code}))"),
                format!("0: emit refresh:error {code}"),
            ]
        );
    }
}

#[test]
fn retry_after_is_respected() {
    for wait in [20_000, 30_000] {
        let mut harness = Harness::ready(WITH_RETRIES, &[None]);
        harness.handle(Event::Refresh);
        harness.respond(retry_later(429, wait));
        assert_eq!(harness.timer(), Some(wait));
    }
}

#[test]
fn a_shorter_retry_after_than_the_backoff_changes_nothing() {
    let mut harness = Harness::ready(WITH_RETRIES, &[None]);
    harness.handle(Event::Refresh);
    harness.respond(retry_later(503, 1));
    assert_eq!(harness.timer(), Some(1_000));
}

#[test]
fn a_very_long_retry_after_ends_the_attempts_and_delays_polls_and_renewals() {
    let mut harness = Harness::ready(
        Options {
            poll_interval: 30_000,
            ..WITH_RETRIES
        },
        &[None],
    );
    harness.handle(Event::Refresh);
    harness.respond(retry_later(429, 100_000));
    harness.advance(100_000);
    assert_eq!(
        harness.take_journal(),
        [
            "0: emit refresh:start",
            "0: fetch 0 with v1",
            "0: refresh Err(Status(429))",
            "0: emit refresh:error 429",
            "60000: expire [0]",
            "100000: emit refresh:start",
            "100000: fetch 0 with v1",
        ]
    );
}

#[test]
fn the_newest_retry_after_holds_until_a_success() {
    let polling = Options {
        poll_interval: 30_000,
        ..QUIET
    };
    for (reply, next_poll) in [
        (status(503), 100_000),
        (retry_later(503, 50_000), 60_000),
        // The first poll after an outage is later than usual.
        (status(304), 55_000),
    ] {
        let mut harness = Harness::ready(polling, &[None]);
        harness.handle(Event::Refresh);
        harness.respond(retry_later(429, 100_000));
        harness.advance(10_000);
        harness.handle(Event::Refresh);
        harness.respond(reply);
        harness.take_journal();
        harness.advance(100_000);
        let journal = harness.take_journal();
        let first_fetch = journal.iter().find(|entry| entry.contains("fetch"));
        let expected = format!("{next_poll}: fetch 0 with v1");
        assert_eq!(first_fetch, Some(&expected), "{journal:?}");
    }
}

#[test]
fn a_huge_retry_after_delays_polls_by_an_hour() {
    let mut harness = Harness::ready(
        Options {
            poll_interval: 30_000,
            ..WITH_RETRIES
        },
        &[Some(86_400)],
    );
    harness.handle(Event::Refresh);
    harness.respond(retry_later(503, u64::MAX));
    assert_eq!(harness.timer(), Some(60 * 60 * 1_000));
}

#[test]
fn a_refresh_between_two_attempts_does_not_wait() {
    let mut harness = Harness::ready(WITH_RETRIES, &[None]);
    harness.handle(Event::Refresh);
    harness.fail_request();
    harness.advance(100);
    harness.handle(Event::Refresh);
    assert_eq!(
        harness.take_journal(),
        [
            "0: emit refresh:start",
            "0: fetch 0 with v1",
            "100: fetch 0 with v1",
        ]
    );
}

#[test]
fn in_a_known_outage_attempts_are_as_far_apart_as_polls_unless_a_caller_waits() {
    let mut harness = Harness::ready(
        Options {
            poll_interval: 20_000,
            ..WITH_RETRIES
        },
        &[Some(86_400)],
    );
    harness.handle(Event::Refresh);
    for wait in [1_000, 2_000, 4_000] {
        harness.fail_request();
        harness.advance(wait);
    }
    harness.fail_request();
    harness.advance(20_000);
    harness.take_journal();
    // From half an interval to a whole interval.
    for random in [0, 1 << 31, u32::MAX] {
        harness.set_random(random);
        harness.fail_request();
        let wait =
            [10_000, 15_000, 20_000][usize::from(random > 0) + usize::from(random > 1 << 31)];
        harness.advance(wait - 1);
        assert!(harness.take_journal().is_empty(), "{random}");
        harness.advance(1);
        assert_eq!(harness.take_journal().len(), 1, "{random}");
    }
    harness.handle(Event::Refresh);
    harness.fail_request();
    harness.take_journal();
    harness.advance(20_000);
    harness.handle(Event::Refresh);
    harness.fail_request();
    harness.take_journal();
    harness.advance(1_000);
    assert_eq!(harness.take_journal(), ["93000: fetch 1 with v1"]);
}

#[test]
fn in_a_known_outage_attempts_are_at_most_30_seconds_apart() {
    let mut harness = Harness::ready(
        Options {
            poll_interval: 300_000,
            retries: 1,
            ..QUIET
        },
        &[Some(86_400)],
    );
    harness.handle(Event::Refresh);
    harness.fail_request();
    harness.advance(1_000);
    harness.fail_request();
    harness.advance(300_000);
    harness.fail_request();
    assert_eq!(harness.timer(), Some(331_000));
}

#[test]
fn flags_expire_on_time_although_attempts_are_far_apart() {
    let mut harness = Harness::ready(
        Options {
            poll_interval: 30_000,
            retries: 1,
            ..QUIET
        },
        &[Some(70)],
    );
    harness.advance(30_000);
    harness.fail_request();
    harness.advance(1_000);
    harness.fail_request();
    harness.advance(30_000);
    harness.fail_request();
    harness.take_journal();
    harness.advance(10_000);
    assert_eq!(harness.take_journal(), ["70000: expire [0]"]);
}

#[test]
fn a_refused_key_is_retried_after_minutes_that_double_up_to_ten() {
    for code in [401, 403] {
        let mut harness = Harness::ready(
            Options {
                poll_interval: 30_000,
                ..WITH_RETRIES
            },
            &[Some(86_400)],
        );
        harness.advance(30_000);
        let mut polls = Vec::new();
        for minutes in [1, 2, 4, 8, 10, 10] {
            harness.respond(status(code));
            harness.take_journal();
            harness.advance(minutes * 60_000 - 1);
            assert!(harness.take_journal().is_empty());
            harness.advance(1);
            polls.extend(harness.take_journal());
        }
        assert_eq!(polls.len(), 12);
        harness.respond(status(304));
        harness.take_journal();
        harness.advance(45_000);
        assert_eq!(
            harness.take_journal().len(),
            2,
            "the usual interval is back"
        );
        harness.respond(status(code));
        harness.take_journal();
        harness.advance(60_000);
        assert_eq!(harness.take_journal().len(), 2, "the delays begin anew");
    }
}

#[test]
fn expiring_flags_do_not_retry_a_refused_key_early() {
    let mut harness = Harness::ready(WITH_RETRIES, &[None]);
    harness.advance(59_000);
    harness.handle(Event::Refresh);
    harness.respond(status(401));
    harness.take_journal();
    harness.advance(59_999);
    assert_eq!(harness.take_journal(), ["60000: expire [0]"]);
    harness.advance(1);
    assert_eq!(
        harness.take_journal(),
        ["119000: emit refresh:start", "119000: fetch 0 with v1"]
    );
}

#[test]
fn a_requested_refresh_does_not_wait_for_refused_polls() {
    let mut harness = Harness::ready(
        Options {
            poll_interval: 20_000,
            ..WITH_RETRIES
        },
        &[None],
    );
    harness.handle(Event::Refresh);
    harness.respond(status(403));
    harness.handle(Event::Refresh);
    harness.respond(status(304));
    // The next poll does not wait either: 1.5 intervals is the maximum after an outage.
    assert_eq!(harness.timer(), Some(30_000));
    assert_eq!(
        harness.take_journal()[4..],
        [
            "0: emit refresh:start",
            "0: fetch 0 with v1",
            "0: renew",
            "0: refresh Ok(())",
            "0: emit refresh:success",
        ]
    );
}
