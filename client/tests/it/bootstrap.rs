//! Initialization without a request.

use pennon_client::{Event, InitializeOptions, Options};

use crate::harness::{Harness, QUIET, status};

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
}

#[test]
fn a_refresh_that_trapped_has_failed_and_the_next_one_is_delayed() {
    let mut harness = Harness::new(Options {
        poll_interval: 50,
        ..QUIET
    });
    harness.handle(Event::Resumed {
        flags: vec![None],
        refreshing: true,
    });
    harness.advance(29_999);
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

#[test]
fn resuming_is_for_new_machines_only() {
    let mut harness = Harness::ready(QUIET, &[None]);
    harness.handle(Event::Resumed {
        flags: vec![],
        refreshing: true,
    });
    assert!(harness.take_journal().is_empty());
}
