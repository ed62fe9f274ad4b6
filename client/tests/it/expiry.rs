use pennon_client::{Event, InitializeOptions, Options, Reply};

use crate::harness::{Harness, QUIET, configuration, status};

#[test]
fn an_expired_flag_is_served_while_it_is_refreshed_in_the_background() {
    let mut harness = Harness::ready(QUIET, &[None, Some(10)]);
    harness.advance(10_000);
    harness.respond(status(304));
    assert_eq!(
        harness.take_journal(),
        [
            "10000: emit refresh:start",
            "10000: fetch 0 with v1",
            "10000: renew",
            "10000: emit refresh:success",
        ]
    );
    harness.advance(9_999);
    assert!(harness.take_journal().is_empty());
}

#[test]
fn an_expired_flag_is_removed_once_its_refresh_has_finally_failed() {
    let mut harness = Harness::ready(
        Options {
            retries: 1,
            ..QUIET
        },
        &[None, Some(10)],
    );
    harness.advance(10_000);
    harness.fail_request();
    harness.advance(1_000);
    harness.fail_request();
    assert_eq!(
        harness.take_journal(),
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
    let expires_at = |fail: fn(&mut Harness)| {
        let mut harness = Harness::ready(
            Options {
                poll_interval: 55_000,
                retries: 3,
                ..QUIET
            },
            &[None],
        );
        for wait in [55_000, 1_000, 2_000, 4_000] {
            harness.advance(wait);
            fail(&mut harness);
        }
        let journal = harness.take_journal();
        journal.into_iter().find(|line| line.contains("expire"))
    };
    let after_silence = expires_at(Harness::fail_request);
    assert_eq!(after_silence.as_deref(), Some("62000: expire [0]"));
    assert_eq!(
        expires_at(|harness| harness.respond(status(200))),
        after_silence
    );
}

#[test]
fn a_ttl_of_milliseconds_causes_at_most_one_refresh_per_second() {
    assert_eq!(
        starts_of_refreshes(304),
        ["30", "1030", "2030", "3030", "4030"]
    );
}

#[test]
fn a_failure_is_followed_by_at_most_one_refresh_per_second() {
    assert_eq!(
        starts_of_refreshes(404),
        ["30", "1030", "2030", "3030", "4030"]
    );
}

/// Returns the times of the refreshes within 5 seconds, with a TTL of 30 milliseconds, if each has this status.
fn starts_of_refreshes(code: u16) -> Vec<String> {
    let options = Options { ttl: 30, ..QUIET };
    let mut harness = Harness::ready(options, &[None]);
    let mut starts = Vec::new();
    for _ in 0..500 {
        harness.advance(10);
        let journal = harness.take_journal();
        if let Some(line) = journal.iter().find(|line| line.contains("fetch")) {
            starts.extend(line.split(':').next().map(str::to_owned));
            harness.respond(status(code));
        }
    }
    starts
}

#[test]
fn after_a_failed_refresh_a_flag_is_removed_as_soon_as_it_expires() {
    let mut harness = Harness::ready(QUIET, &[None, Some(70)]);
    harness.handle(Event::Refresh);
    harness.fail_request();
    harness.take_journal();
    harness.advance(60_000);
    assert_eq!(
        harness.take_journal(),
        [
            "60000: expire [0]",
            "60000: emit refresh:start",
            "60000: fetch 0 with v1",
        ]
    );
}

#[test]
fn expired_flags_return_when_the_server_confirms_them() {
    let mut harness = Harness::ready(QUIET, &[Some(10)]);
    harness.advance(10_000);
    harness.fail_request();
    harness.handle(Event::Refresh);
    harness.take_journal();
    harness.respond(status(304));
    assert_eq!(
        harness.take_journal(),
        [
            "10000: apply",
            "10000: refresh Ok(())",
            "10000: emit refresh:success",
        ]
    );
}

#[test]
fn an_override_counts_from_the_next_fetch_on() {
    let mut harness = Harness::ready(QUIET, &[None]);
    harness.advance(5_000);
    harness.handle(Event::Refresh);
    harness.respond(configuration("v2", &[Some(2)]));
    harness.take_journal();
    harness.advance(2_000);
    assert_eq!(
        harness.take_journal(),
        ["7000: emit refresh:start", "7000: fetch 0 with v2"]
    );
}

#[test]
fn a_ttl_that_expires_during_a_refresh_needs_no_second_one() {
    let mut harness = Harness::ready(QUIET, &[Some(10)]);
    harness.advance(9_000);
    harness.handle(Event::Refresh);
    harness.advance(2_000);
    harness.fail_request();
    assert_eq!(
        harness.take_journal(),
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
fn without_polling_an_unreachable_server_is_retried_at_the_interval_of_the_ttl() {
    let mut harness = Harness::ready(QUIET, &[None]);
    harness.advance(60_000);
    harness.fail_request();
    harness.take_journal();
    for minute in [120_000, 180_000] {
        harness.advance(60_000);
        harness.fail_request();
        assert_eq!(
            harness.take_journal(),
            [
                format!("{minute}: emit refresh:start"),
                format!("{minute}: fetch 0 with v1"),
                format!("{minute}: emit refresh:error Unreachable"),
            ]
        );
    }
    harness.advance(60_000);
    harness.respond(status(304));
    harness.take_journal();
    harness.advance(59_999);
    assert!(harness.take_journal().is_empty());
}

const STALE_IF_ERROR: Options = Options {
    stale_if_error: true,
    ..QUIET
};

#[test]
fn flags_can_outlive_an_outage_while_requests_continue() {
    let mut harness = Harness::ready(STALE_IF_ERROR, &[None, Some(10)]);
    for _ in 0..3 {
        harness.advance(60_000);
        harness.fail_request();
    }
    let journal = harness.take_journal();
    assert!(!journal.iter().any(|line| line.contains("expire")));
    assert!(journal.len() >= 9, "{journal:?}");
    harness.advance(60_000);
    harness.respond(status(304));
    assert_eq!(
        harness.take_journal()[2..],
        ["240000: renew", "240000: emit refresh:success"]
    );
}

#[test]
fn flags_do_not_outlive_a_refusal() {
    for code in [400, 401, 428, 430, 499] {
        let mut harness = Harness::ready(STALE_IF_ERROR, &[None]);
        harness.advance(60_000);
        harness.respond(status(code));
        let expected = [
            "60000: expire [0]".to_owned(),
            format!("60000: emit refresh:error {code}"),
        ];
        assert_eq!(harness.take_journal()[2..], expected);
    }
    for code in [399, 429, 500] {
        let mut harness = Harness::ready(STALE_IF_ERROR, &[None]);
        harness.advance(60_000);
        harness.respond(status(code));
        let expected = [format!("60000: emit refresh:error {code}")];
        assert_eq!(harness.take_journal()[2..], expected);
    }
}

#[test]
fn a_response_that_a_cache_has_kept_expires_earlier() {
    let mut harness = Harness::new(QUIET);
    harness.handle(Event::Initialize(InitializeOptions::default()));
    harness.respond(Reply {
        age: 20_000,
        ..configuration("tag", &[None])
    });
    assert_eq!(harness.timer(), Some(40_000));
    harness.advance(40_000);
    harness.respond(Reply {
        age: 90_000,
        ..status(304)
    });
    // Flags that a cache confirms too late are not requested again at once.
    assert_eq!(harness.timer(), Some(70_000));
}
