use pennon_client::{Event, Options, Start};

use crate::world::{QUIET, World, configuration, status};

#[test]
fn shutting_down_aborts_clears_and_then_emits_its_event() {
    let mut world = World::ready(QUIET, &[None]);
    world.happens(Event::Refresh);
    world.happens(Event::Shutdown);
    world.answers(configuration("v2", &[]));
    world.passes(1_000_000);
    assert_eq!(
        world.journal(),
        [
            "0: emit refresh:start",
            "0: fetch 0 with v1",
            "0: abort",
            "0: clear",
            "0: refresh Err(ShutDown)",
            "0: emit shutdown",
        ]
    );
    assert_eq!(world.timer(), None);
}

#[test]
fn shutting_down_while_initializing_fails_that_call() {
    let mut world = World::new(QUIET);
    world.happens(Event::Initialize(Start::default()));
    world.happens(Event::Shutdown);
    assert_eq!(
        world.journal(),
        [
            "0: fetch 0 with nothing",
            "0: abort",
            "0: clear",
            "0: initialize Err(ShutDown)",
            "0: emit shutdown",
        ]
    );
}

#[test]
fn shutting_down_before_initializing_is_fine() {
    let mut world = World::new(QUIET);
    world.happens(Event::Shutdown);
    assert_eq!(world.journal(), ["0: clear", "0: emit shutdown"]);
}

#[test]
fn shutting_down_between_two_attempts_ends_them() {
    let mut world = World::ready(
        Options {
            retries: 3,
            ..QUIET
        },
        &[None],
    );
    world.happens(Event::Refresh);
    world.answers(status(500));
    world.journal();
    world.happens(Event::Shutdown);
    world.passes(1_000_000);
    assert_eq!(
        world.journal(),
        ["0: clear", "0: refresh Err(ShutDown)", "0: emit shutdown",]
    );
}

#[test]
fn shutting_down_twice_emits_one_event_and_later_calls_fail() {
    let mut world = World::ready(QUIET, &[None]);
    world.happens(Event::Shutdown);
    world.journal();
    world.happens(Event::Shutdown);
    world.happens(Event::Initialize(Start::default()));
    world.happens(Event::Refresh);
    world.happens(Event::Restored(vec![1]));
    assert_eq!(
        world.journal(),
        ["0: initialize Err(ShutDown)", "0: refresh Err(ShutDown)"]
    );
}
