use pennon_client::{Event, Options, Start};

use crate::world::{QUIET, World, configuration, status};

const STREAMING: Options = Options {
    poll_interval: 30_000,
    streaming: true,
    ..QUIET
};

fn told(etag: &str) -> Event {
    told_with(etag, None)
}

fn told_with(etag: &str, spread: Option<u64>) -> Event {
    Event::StreamTold {
        etag: etag.into(),
        spread,
    }
}

const LOST: Event = Event::StreamEnded {
    status: 0,
    retry_after: None,
};

/// Returns a world in which the stream has confirmed the fetched config document.
fn listening() -> World {
    let mut world = World::ready(STREAMING, &[None]);
    world.happens(told("v1"));
    world.journal();
    world
}

#[test]
fn the_stream_is_opened_when_the_client_is_ready() {
    let mut world = World::new(STREAMING);
    world.happens(Event::Initialize(Start::default()));
    world.answers(configuration("v1", &[None]));
    assert_eq!(
        world.journal()[1..],
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
    let mut world = World::ready(QUIET, &[None]);
    world.happens(told("v2"));
    world.happens(Event::StreamAlive);
    world.happens(LOST);
    assert!(world.journal().is_empty());
}

#[test]
fn a_live_stream_replaces_polls_and_confirms_flags() {
    let mut world = listening();
    for _ in 0..20 {
        world.passes(15_000);
        world.happens(Event::StreamAlive);
    }
    let journal = world.journal();
    assert_eq!(journal.len(), 20);
    assert!(journal.iter().all(|line| line.ends_with("renew")));
}

#[test]
fn a_change_is_fetched_soon_after_the_stream_announces_it() {
    let mut world = listening();
    world.passes(1_000);
    world.happens(told("v2"));
    world.passes(250);
    world.answers(configuration("v2", &[None]));
    world.passes(60_000);
    assert_eq!(
        world.journal(),
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
fn clients_fetch_a_change_within_the_period_that_the_service_sets() {
    for (spread, random, wait) in [
        (None, 0, 0),
        (None, u32::MAX, 250),
        (Some(4_000), 1 << 31, 2_000),
        (Some(0), u32::MAX, 0),
        (Some(u64::MAX), u32::MAX, 60_000),
    ] {
        let mut world = World::ready(STREAMING, &[Some(86_400)]);
        world.happens(told("v1"));
        world.random(random);
        world.happens(told_with("v2", spread));
        assert_eq!(world.timer(), Some(wait.min(45_000)), "{spread:?}");
    }
}

#[test]
fn a_change_that_is_reverted_before_its_fetch_needs_no_request() {
    let mut world = listening();
    world.happens(told("v2"));
    world.passes(100);
    world.happens(told("v1"));
    world.passes(10_000);
    assert_eq!(world.journal(), ["100: renew"]);
}

#[test]
fn many_changes_do_not_postpone_the_fetch() {
    let mut world = listening();
    for etag in ["v2", "v3", "v4"] {
        world.happens(told(etag));
        world.passes(100);
    }
    assert_eq!(
        world.journal(),
        ["250: emit refresh:start", "250: fetch 0 with v1"]
    );
}

#[test]
fn a_response_older_than_the_announced_tag_is_requested_once_more() {
    let mut world = listening();
    world.random(0);
    world.happens(told("v2"));
    world.passes(0);
    world.answers(status(304));
    world.journal();
    world.passes(500);
    world.answers(status(304));
    world.passes(29_999);
    assert_eq!(
        world.journal(),
        [
            "500: emit refresh:start",
            "500: fetch 0 with v1",
            "500: renew",
            "500: emit refresh:success",
        ]
    );
    world.passes(1);
    assert_eq!(
        world.journal().len(),
        2,
        "polling continues at the usual interval"
    );
}

#[test]
fn a_stream_that_ends_is_reopened_with_backoff_while_polls_replace_it() {
    let mut world = listening();
    let mut lines = Vec::new();
    for wait in [1_000, 2_000, 4_000, 8_000] {
        world.happens(LOST);
        world.passes(wait);
        lines.extend(world.journal());
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
    world.passes(15_000);
    assert_eq!(
        world.journal(),
        ["30000: emit refresh:start", "30000: fetch 0 with v1"]
    );
    world.happens(told("v1"));
    world.answers(status(304));
    world.passes(30_000);
    world.happens(LOST);
    world.journal();
    world.passes(1_000);
    assert_eq!(
        world.journal(),
        ["61000: listen"],
        "the stream has worked in the meantime"
    );
}

#[test]
fn a_stream_that_is_cut_after_its_first_event_is_reopened_with_backoff() {
    let mut world = listening();
    let mut now = 0;
    for wait in [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000] {
        world.happens(told("v1"));
        world.happens(LOST);
        world.journal();
        world.passes(wait);
        now += wait;
        let journal = world.journal();
        let opened: Vec<_> = journal
            .iter()
            .filter(|line| line.ends_with("listen"))
            .collect();
        assert_eq!(opened, [&format!("{now}: listen")]);
    }
}

#[test]
fn a_huge_retry_after_does_not_keep_the_stream_closed_forever() {
    let mut world = listening();
    world.happens(Event::StreamEnded {
        status: 503,
        retry_after: Some(u64::MAX),
    });
    world.journal();
    world.passes(60 * 60 * 1_000);
    assert!(world.journal().iter().any(|line| line == "3600000: listen"));
}

#[test]
fn a_refused_stream_is_retried_after_minutes() {
    for status in [401, 403, 404] {
        let mut world = World::ready(
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
        world.happens(refused.clone());
        world.passes(60_000);
        world.happens(refused);
        world.passes(120_000);
        assert_eq!(world.journal(), ["60000: listen", "180000: listen"]);
    }
}

#[test]
fn the_stream_respects_retry_after() {
    let mut world = listening();
    world.happens(Event::StreamEnded {
        status: 503,
        retry_after: Some(7_000),
    });
    world.passes(7_000);
    assert_eq!(world.journal(), ["7000: listen"]);
}

#[test]
fn a_silent_stream_is_closed() {
    let mut world = World::ready(
        Options {
            poll_interval: 0,
            ..STREAMING
        },
        &[Some(86_400)],
    );
    world.passes(46_000);
    assert_eq!(world.journal(), ["45000: unlisten", "46000: listen"]);
}

#[test]
fn a_refusal_delays_fetches_that_the_stream_triggers() {
    let mut world = listening();
    world.happens(Event::Refresh);
    world.answers(status(401));
    world.journal();
    world.happens(told("v2"));
    world.passes(59_999);
    assert!(world.journal().iter().all(|line| !line.contains("fetch")));
    world.passes(1);
    assert!(world.journal().iter().any(|line| line.contains("fetch")));
}

#[test]
fn the_stream_ends_with_the_client() {
    let mut world = listening();
    world.happens(Event::Shutdown);
    assert_eq!(
        world.journal(),
        ["0: unlisten", "0: clear", "0: emit shutdown"]
    );
    assert_eq!(world.timer(), None);
}

#[test]
fn usage_is_reported_about_once_a_minute() {
    let mut world = World::ready(
        Options {
            reports: true,
            ..QUIET
        },
        &[Some(86_400)],
    );
    world.passes(59_999);
    world.random(0);
    world.passes(1);
    world.passes(30_000);
    assert_eq!(world.journal(), ["60000: report", "90000: report"]);
    world.happens(Event::Shutdown);
    assert_eq!(world.timer(), None);
}
