//! Initialization without a request.

use pennon_client::{Event, Options, Start};

use crate::world::{QUIET, World, status};

const POLLING: Options = Options {
    poll_interval: 30_000,
    ..QUIET
};

fn provided(etag: Option<&str>) -> Event {
    Event::Provided {
        flags: vec![None],
        etag: etag.map(Into::into),
    }
}

#[test]
fn a_provided_configuration_needs_no_request() {
    let mut world = World::new(QUIET);
    world.happens(provided(None));
    world.happens(Event::Initialize(Start::default()));
    assert_eq!(
        world.journal(),
        [
            "0: apply",
            "0: emit ready",
            "0: initialize Ok(())",
            "0: initialize Ok(())"
        ]
    );
}

#[test]
fn a_provided_configuration_is_polled_by_its_tag_and_expires_like_any_other() {
    let mut world = World::new(POLLING);
    world.happens(provided(Some("given")));
    world.journal();
    world.passes(30_000);
    world.is_unreachable();
    world.passes(30_000);
    world.is_unreachable();
    assert_eq!(
        world.journal(),
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
fn providing_a_configuration_again_is_harmless() {
    let mut world = World::ready(QUIET, &[None]);
    world.happens(provided(None));
    assert_eq!(world.journal(), ["0: initialize Ok(())"]);
}

#[test]
fn a_client_whose_engine_trapped_continues_without_a_second_ready_event() {
    let mut world = World::new(POLLING);
    world.happens(Event::Resumed {
        flags: vec![None],
        refreshing: false,
    });
    world.passes(30_000);
    assert_eq!(
        world.journal(),
        [
            "0: apply",
            "30000: emit refresh:start",
            "30000: fetch 0 with nothing",
        ]
    );
}

#[test]
fn a_refresh_that_trapped_has_failed_and_the_next_one_is_delayed() {
    let mut world = World::new(Options {
        poll_interval: 50,
        ..QUIET
    });
    world.happens(Event::Resumed {
        flags: vec![None],
        refreshing: true,
    });
    world.passes(29_999);
    assert_eq!(
        world.journal(),
        [
            "0: apply",
            "0: refresh Err(Trapped)",
            "0: emit refresh:error Trapped",
        ]
    );
    world.passes(1);
    world.answers(status(500));
    assert_eq!(world.journal().len(), 3);
}

#[test]
fn resuming_is_for_new_machines_only() {
    let mut world = World::ready(QUIET, &[None]);
    world.happens(Event::Resumed {
        flags: vec![],
        refreshing: true,
    });
    assert!(world.journal().is_empty());
}
