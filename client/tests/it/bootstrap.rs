//! Initialization without a request.

use pennon_client::{Event, InitializeOptions, Options, Retry};

use crate::harness::{Harness, QUIET, configuration, status};

const POLLING: Options = Options {
    poll_interval: 30_000,
    ..QUIET
};

fn bootstrap(etag: Option<&str>) -> Event {
    Event::Bootstrap {
        flags: vec![None],
        etag: etag.map(Into::into),
    }
}

#[test]
fn a_bootstrap_document_needs_no_request() {
    let mut harness = Harness::new(QUIET);
    harness.handle(bootstrap(None));
    harness.handle(Event::Initialize(InitializeOptions::default()));
    assert_eq!(
        harness.take_journal(),
        [
            "0: apply",
            "0: emit ready",
            "0: initialize Ok(())",
            "0: initialize Ok(())"
        ]
    );
}

#[test]
fn a_bootstrap_document_is_polled_by_its_tag_and_expires_like_any_other() {
    let mut harness = Harness::new(POLLING);
    harness.handle(bootstrap(Some("given")));
    harness.take_journal();
    harness.advance(30_000);
    harness.fail_request();
    harness.advance(30_000);
    harness.fail_request();
    assert_eq!(
        harness.take_journal(),
        [
            "30000: emit refresh:start",
            "30000: fetch 0 with given",
            "30000: emit refresh:error Unreachable",
            "60000: expire [0]",
            "60000: emit refresh:start",
            "60000: fetch 0 with given",
            "60000: emit refresh:error Unreachable",
        ]
    );
}

#[test]
fn a_second_bootstrap_document_is_harmless() {
    let mut harness = Harness::ready(QUIET, &[None]);
    harness.handle(bootstrap(None));
    assert_eq!(harness.take_journal(), ["0: initialize Ok(())"]);
}

#[test]
fn a_client_whose_engine_trapped_continues_without_a_second_ready_event() {
    let mut harness = Harness::new(POLLING);
    harness.handle(Event::Resumed {
        flags: vec![None],
        refreshing: false,
    });
    harness.advance(30_000);
    assert_eq!(
        harness.take_journal(),
        [
            "0: apply",
            "30000: emit refresh:start",
            "30000: fetch 0 with nothing",
        ]
    );
    harness.fail_request();
    harness.take_journal();
    harness.advance(30_000);
    assert_eq!(harness.take_journal()[0], "60000: expire [0]");
}

#[test]
fn a_refresh_that_trapped_has_failed_and_the_next_one_is_delayed() {
    for (random, wait) in [(0, 15_000), (u32::MAX, 30_000)] {
        let mut harness = Harness::new(Options {
            poll_interval: 50,
            ..QUIET
        });
        harness.set_random(random);
        harness.handle(Event::Resumed {
            flags: vec![None],
            refreshing: true,
        });
        harness.advance(wait - 1);
        assert_eq!(
            harness.take_journal(),
            [
                "0: apply",
                "0: refresh Err(Trapped)",
                "0: emit refresh:error Trapped",
            ]
        );
        harness.advance(1);
        harness.respond(status(500));
        assert_eq!(harness.take_journal().len(), 3);
    }
}

#[test]
fn resuming_is_for_new_machines_only() {
    let mut harness = Harness::ready(QUIET, &[None]);
    harness.handle(Event::Resumed {
        flags: vec![],
        refreshing: true,
    });
    assert!(harness.take_journal().is_empty());
}

fn served(is_ready: bool) -> Event {
    Event::Served {
        times: vec![60_000],
        is_ready,
    }
}

#[test]
fn a_client_that_is_ready_before_its_first_request_never_stops_trying() {
    for code in [401, 404, 503] {
        let mut harness = Harness::new(Options {
            timeout: 100_000,
            ..POLLING
        });
        harness.handle(served(true));
        harness.respond(status(code));
        assert_eq!(
            harness.take_journal(),
            [
                "0: initialize Ok(())".to_owned(),
                "0: emit refresh:start".to_owned(),
                "0: fetch 0 with nothing".to_owned(),
                format!("0: emit refresh:error {code}"),
            ]
        );
        harness.advance(60_000);
        let journal = harness.take_journal().join(", ");
        assert!(journal.contains("60000: expire [0]"), "{journal}");
        harness.respond(configuration("v1", &[None]));
        assert_eq!(
            harness.take_journal(),
            ["60000: apply", "60000: emit refresh:success"]
        );
    }
}

#[test]
fn a_client_that_is_ready_before_its_first_request_listens_at_once() {
    let mut harness = Harness::new(Options {
        streaming: true,
        ..POLLING
    });
    harness.handle(served(true));
    assert!(harness.take_journal().contains(&"0: listen".to_owned()));
}

#[test]
fn a_request_that_is_pending_when_the_client_becomes_ready_continues_as_a_refresh() {
    let mut harness = Harness::new(Options {
        timeout: 100_000,
        ..POLLING
    });
    harness.handle(Event::Initialize(InitializeOptions::default()));
    harness.handle(served(true));
    harness.advance(40_000);
    harness.respond(status(403));
    assert_eq!(
        harness.take_journal(),
        [
            "0: fetch 0 with nothing",
            "0: initialize Ok(())",
            "0: emit refresh:start",
            "40000: emit refresh:error 403",
        ]
    );
    assert_eq!(harness.timer(), Some(60_000));
}

#[test]
fn the_flags_of_a_bootstrap_expire_although_the_key_is_refused() {
    for (retry, attempts) in [(Retry::None, 0), (Retry::Background, 1)] {
        let mut harness = Harness::new(QUIET);
        harness.handle(served(false));
        harness.handle(Event::Initialize(InitializeOptions {
            timeout: None,
            retry,
        }));
        harness.advance(1_000);
        harness.respond(status(401));
        harness.advance(58_999);
        assert_eq!(
            harness.take_journal(),
            [
                "0: fetch 0 with nothing",
                "1000: initialize Err(Status(401))",
            ]
        );
        harness.advance(1);
        assert_eq!(harness.take_journal(), ["60000: expire [0]"]);
        harness.advance(1_000);
        assert_eq!(harness.take_journal().len(), attempts);
    }
}

#[test]
fn the_flags_of_a_bootstrap_expire_with_a_refusal_that_arrives_after_their_ttl() {
    let mut harness = Harness::new(Options {
        timeout: 100_000,
        ..QUIET
    });
    harness.handle(served(false));
    harness.handle(Event::Initialize(InitializeOptions::default()));
    harness.advance(70_000);
    harness.respond(status(401));
    assert_eq!(
        harness.take_journal(),
        [
            "0: fetch 0 with nothing",
            "70000: expire [0]",
            "70000: initialize Err(Status(401))",
        ]
    );
}

#[test]
fn expired_flags_do_not_make_a_client_ready() {
    let mut harness = Harness::new(QUIET);
    harness.handle(Event::Initialize(InitializeOptions::default()));
    harness.fail_request();
    harness.handle(Event::Restored(vec![0, 0]));
    assert_eq!(
        harness.take_journal()[1..],
        ["0: restore", "0: initialize Err(Unreachable)"]
    );
}

#[test]
fn flags_that_are_served_elsewhere_are_for_machines_without_flags_only() {
    let mut harness = Harness::ready(QUIET, &[Some(10)]);
    harness.handle(served(true));
    assert!(harness.take_journal().is_empty());
    assert_eq!(harness.timer(), Some(10_000));
}
