use pennon_client::{Event, InitializeOptions, Options};

use crate::harness::{Harness, QUIET, configuration, status};

const STREAMING: Options = Options {
    poll_interval: 30_000,
    streaming: true,
    ..QUIET
};

fn announced(etag: &str) -> Event {
    announced_with(etag, None)
}

fn announced_with(etag: &str, spread: Option<u64>) -> Event {
    Event::StreamAnnounced {
        etag: etag.into(),
        spread,
    }
}

const STREAM_LOST: Event = Event::StreamEnded {
    status: 0,
    retry_after: None,
};

/// Returns a harness in which the stream has confirmed the fetched config document.
fn listening() -> Harness {
    let mut harness = Harness::ready(STREAMING, &[None]);
    harness.handle(announced("v1"));
    harness.take_journal();
    harness
}

#[test]
fn the_stream_is_opened_when_the_client_is_ready() {
    let mut harness = Harness::new(STREAMING);
    harness.handle(Event::Initialize(InitializeOptions::default()));
    harness.respond(configuration("v1", &[None]));
    assert_eq!(
        harness.take_journal()[1..],
        [
            "0: apply",
            "0: listen",
            "0: emit ready",
            "0: initialize Ok(())"
        ]
    );
}

#[test]
fn without_the_option_no_stream_is_opened() {
    let mut harness = Harness::ready(QUIET, &[None]);
    harness.handle(announced("v2"));
    harness.handle(Event::StreamAlive);
    harness.handle(STREAM_LOST);
    assert!(harness.take_journal().is_empty());
}

#[test]
fn a_live_stream_replaces_polls_and_confirms_flags() {
    let mut harness = listening();
    for _ in 0..20 {
        harness.advance(15_000);
        harness.handle(Event::StreamAlive);
    }
    let journal = harness.take_journal();
    assert_eq!(journal.len(), 20);
    assert!(journal.iter().all(|line| line.ends_with("renew")));
}

#[test]
fn a_change_is_fetched_soon_after_the_stream_announces_it() {
    let mut harness = listening();
    harness.advance(1_000);
    harness.handle(announced("v2"));
    harness.advance(250);
    harness.respond(configuration("v2", &[None]));
    harness.advance(60_000);
    assert_eq!(
        harness.take_journal(),
        [
            "1250: emit refresh:start",
            "1250: fetch 0 with v1",
            "1250: apply",
            "1250: emit refresh:success",
            "46000: unlisten",
            "47000: listen",
            "61250: emit refresh:start",
            "61250: fetch 0 with v2",
        ],
        "no poll, but TTLs expire if the stream sends nothing"
    );
}

#[test]
fn clients_fetch_a_change_within_the_period_that_the_server_sets() {
    for (spread, random, wait) in [
        (None, 0, 0),
        (None, u32::MAX, 250),
        (Some(4_000), 1 << 31, 2_000),
        (Some(0), u32::MAX, 0),
        (Some(u64::MAX), 1 << 31, 30_000),
    ] {
        let mut harness = Harness::ready(STREAMING, &[Some(86_400)]);
        harness.handle(announced("v1"));
        harness.set_random(random);
        harness.handle(announced_with("v2", spread));
        assert_eq!(harness.timer(), Some(wait.min(45_000)), "{spread:?}");
    }
}

#[test]
fn a_change_that_is_reverted_before_its_fetch_needs_no_request() {
    let mut harness = listening();
    harness.handle(announced("v2"));
    harness.advance(100);
    harness.handle(announced("v1"));
    harness.advance(10_000);
    assert_eq!(harness.take_journal(), ["100: renew"]);
}

#[test]
fn many_changes_do_not_postpone_the_fetch() {
    let mut harness = listening();
    for etag in ["v2", "v3", "v4"] {
        harness.handle(announced(etag));
        harness.advance(100);
    }
    assert_eq!(
        harness.take_journal(),
        ["250: emit refresh:start", "250: fetch 0 with v1"]
    );
}

#[test]
fn a_response_older_than_the_announced_tag_is_requested_once_more() {
    let mut harness = listening();
    harness.set_random(0);
    harness.handle(announced("v2"));
    harness.advance(0);
    harness.respond(status(304));
    harness.take_journal();
    harness.advance(500);
    harness.respond(status(304));
    harness.advance(29_999);
    assert_eq!(
        harness.take_journal(),
        [
            "500: emit refresh:start",
            "500: fetch 0 with v1",
            "500: renew",
            "500: emit refresh:success",
        ]
    );
    harness.advance(1);
    assert_eq!(
        harness.take_journal().len(),
        2,
        "polling continues at the usual interval"
    );
    harness.handle(announced("v3"));
    harness.respond(status(304));
    assert_eq!(
        harness.timer(),
        Some(31_000),
        "each announcement may be ahead of a response"
    );
}

#[test]
fn after_an_outage_an_older_response_is_requested_once_more_too() {
    let mut harness = listening();
    harness.handle(Event::Refresh);
    harness.fail_request();
    harness.set_random(0);
    harness.handle(announced("v2"));
    harness.advance(0);
    harness.respond(status(304));
    assert_eq!(harness.timer(), Some(500));
}

#[test]
fn an_older_response_after_a_confirmed_one_is_requested_once_more() {
    let mut harness = listening();
    harness.handle(Event::Refresh);
    harness.respond(status(304));
    harness.handle(Event::Refresh);
    harness.respond(configuration("v0", &[None]));
    assert_eq!(harness.timer(), Some(500));
}

#[test]
fn before_its_first_event_a_stream_replaces_no_poll() {
    let mut harness = Harness::ready(STREAMING, &[Some(86_400)]);
    harness.advance(30_000);
    harness.respond(status(304));
    harness.handle(Event::StreamAlive);
    harness.take_journal();
    harness.advance(30_000);
    assert_eq!(
        harness.take_journal(),
        ["60000: emit refresh:start", "60000: fetch 0 with v1"]
    );
}

#[test]
fn a_stream_leaves_the_outcome_of_a_pending_request_alone() {
    let mut harness = listening();
    harness.set_random(0);
    harness.handle(Event::Refresh);
    harness.take_journal();
    harness.handle(Event::StreamAlive);
    harness.handle(announced("v2"));
    assert!(harness.take_journal().is_empty());
    assert_eq!(harness.timer(), Some(3_000), "the timeout of the request");
    harness.handle(STREAM_LOST);
    assert_eq!(harness.timer(), Some(500), "the next stream");
}

#[test]
fn polls_that_replace_a_stream_begin_at_a_random_time() {
    let mut harness = listening();
    harness.set_random(1 << 31);
    harness.handle(STREAM_LOST);
    harness.advance(15_000);
    assert_eq!(
        harness.take_journal(),
        [
            "750: listen",
            "15000: emit refresh:start",
            "15000: fetch 0 with v1",
        ]
    );
}

#[test]
fn streams_are_at_least_a_second_apart_whatever_the_retry_delay() {
    let mut harness = Harness::ready(
        Options {
            retry_delay: 0,
            ..STREAMING
        },
        &[Some(86_400)],
    );
    harness.handle(STREAM_LOST);
    harness.advance(1_000);
    assert_eq!(harness.take_journal(), ["1000: listen"]);
}

#[test]
fn a_stream_that_ends_is_reopened_with_backoff_while_polls_replace_it() {
    let mut harness = listening();
    let mut lines = Vec::new();
    for wait in [1_000, 2_000, 4_000, 8_000] {
        harness.handle(STREAM_LOST);
        harness.advance(wait);
        lines.extend(harness.take_journal());
    }
    assert_eq!(
        lines,
        [
            "1000: listen",
            "3000: listen",
            "7000: listen",
            "15000: listen"
        ]
    );
    harness.advance(15_000);
    assert_eq!(
        harness.take_journal(),
        ["30000: emit refresh:start", "30000: fetch 0 with v1"]
    );
    harness.handle(announced("v1"));
    harness.respond(status(304));
    harness.advance(15_000);
    harness.handle(STREAM_LOST);
    harness.take_journal();
    harness.advance(1_000);
    assert_eq!(
        harness.take_journal(),
        ["46000: listen"],
        "the stream has worked in the meantime"
    );
}

#[test]
fn a_stream_that_confirms_the_flags_ends_an_outage() {
    let mut harness = listening();
    harness.handle(Event::Refresh);
    harness.fail_request();
    harness.take_journal();
    harness.advance(15_000);
    for _ in 0..2 {
        harness.handle(Event::StreamAlive);
    }
    assert_eq!(
        harness.take_journal(),
        [
            "15000: renew",
            "15000: emit refresh:success",
            "15000: renew"
        ]
    );
}

#[test]
fn a_stream_that_is_cut_after_its_first_event_is_reopened_with_backoff() {
    let mut harness = listening();
    let mut now = 0;
    for wait in [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000] {
        harness.handle(announced("v1"));
        harness.handle(STREAM_LOST);
        harness.take_journal();
        harness.advance(wait);
        now += wait;
        let journal = harness.take_journal();
        let opened: Vec<_> = journal
            .iter()
            .filter(|line| line.ends_with("listen"))
            .collect();
        assert_eq!(opened, [&format!("{now}: listen")]);
    }
}

#[test]
fn a_huge_retry_after_does_not_keep_the_stream_closed_forever() {
    let mut harness = listening();
    harness.handle(Event::StreamEnded {
        status: 503,
        retry_after: Some(u64::MAX),
    });
    harness.take_journal();
    harness.advance(60 * 60 * 1_000);
    assert!(
        harness
            .take_journal()
            .iter()
            .any(|line| line == "3600000: listen")
    );
}

#[test]
fn a_refused_stream_is_retried_after_minutes() {
    for status in [400, 401, 403, 404, 499] {
        let mut harness = Harness::ready(
            Options {
                poll_interval: 0,
                ..STREAMING
            },
            &[Some(86_400)],
        );
        let refused = Event::StreamEnded {
            status,
            retry_after: None,
        };
        harness.handle(refused.clone());
        harness.advance(60_000);
        harness.handle(refused);
        harness.advance(120_000);
        assert_eq!(harness.take_journal(), ["60000: listen", "180000: listen"]);
    }
}

#[test]
fn a_stream_for_which_the_server_lacks_capacity_is_retried_soon() {
    for status in [429, 500, 503] {
        let mut harness = listening();
        harness.handle(Event::StreamEnded {
            status,
            retry_after: None,
        });
        harness.advance(1_000);
        assert_eq!(harness.take_journal(), ["1000: listen"]);
    }
}

#[test]
fn the_stream_respects_retry_after() {
    let mut harness = listening();
    harness.handle(Event::StreamEnded {
        status: 503,
        retry_after: Some(7_000),
    });
    harness.advance(7_000);
    assert_eq!(harness.take_journal(), ["7000: listen"]);
}

#[test]
fn a_silent_stream_is_closed() {
    let mut harness = Harness::ready(
        Options {
            poll_interval: 0,
            ..STREAMING
        },
        &[Some(86_400)],
    );
    harness.advance(46_000);
    assert_eq!(harness.take_journal(), ["45000: unlisten", "46000: listen"]);
}

#[test]
fn a_refusal_delays_fetches_that_the_stream_triggers() {
    let mut harness = listening();
    harness.handle(Event::Refresh);
    harness.respond(status(401));
    harness.take_journal();
    harness.handle(announced("v2"));
    harness.advance(59_999);
    assert!(
        harness
            .take_journal()
            .iter()
            .all(|line| !line.contains("fetch"))
    );
    harness.advance(1);
    assert!(
        harness
            .take_journal()
            .iter()
            .any(|line| line.contains("fetch"))
    );
}

#[test]
fn the_stream_ends_with_the_client() {
    let mut harness = listening();
    harness.handle(Event::Shutdown);
    assert_eq!(
        harness.take_journal(),
        ["0: unlisten", "0: clear", "0: emit shutdown"]
    );
    assert_eq!(harness.timer(), None);
}

#[test]
fn usage_is_reported_about_once_a_minute() {
    let mut harness = Harness::ready(
        Options {
            report_usage: true,
            ..QUIET
        },
        &[Some(86_400)],
    );
    harness.advance(59_999);
    harness.set_random(0);
    harness.advance(1);
    harness.set_random(u32::MAX);
    harness.advance(90_000);
    assert_eq!(
        harness.take_journal(),
        ["60000: report", "90000: report", "150000: report"]
    );
    harness.handle(Event::Shutdown);
    assert_eq!(harness.timer(), None);
}

#[test]
fn the_first_usage_report_waits_a_whole_minute() {
    for random in [0, u32::MAX / 2, u32::MAX] {
        let mut harness = Harness::new(Options {
            report_usage: true,
            ..QUIET
        });
        harness.set_random(random);
        harness.handle(Event::Initialize(InitializeOptions::default()));
        harness.respond(configuration("v1", &[Some(86_400)]));
        harness.take_journal();
        harness.advance(60_000);
        assert_eq!(harness.take_journal(), ["60000: report"]);
    }
}

#[test]
fn evaluations_belong_to_the_document_whose_tag_they_continue() {
    let mut harness = Harness::new(STREAMING);
    harness.handle(Event::Initialize(InitializeOptions::default()));
    harness.respond(configuration("W/\"v1.ada\"", &[None]));
    harness.take_journal();
    harness.handle(announced("W/\"v1\""));
    harness.advance(20_000);
    assert_eq!(harness.take_journal(), ["0: renew"]);
    for other in ["W/\"v\"", "W/\"v1.\"", "W/\"v2\""] {
        harness.handle(announced(other));
        harness.advance(250);
        let fetched = harness.take_journal();
        assert!(
            fetched
                .iter()
                .any(|line| line.ends_with("with W/\"v1.ada\"")),
            "{other}: {fetched:?}"
        );
        harness.respond(configuration("W/\"v1.ada\"", &[None]));
        harness.take_journal();
    }
}
