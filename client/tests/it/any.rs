//! Invariants of every sequence of events, even unlikely ones.

use pennon_client::{
    Call, Command, Event, Lifecycle, Machine, Moment, Options, Reply, Retry, Start,
};
use proptest::prelude::*;

fn event() -> impl Strategy<Value = Event> {
    let request = 0_u32..8;
    let reply = (
        prop::sample::select(vec![200, 200, 304, 401, 429, 500]),
        prop::option::of(0_u64..60_000),
        prop::option::of(prop::collection::vec(Just(None), 0..3)),
    );
    prop_oneof![
        (
            prop::option::of(0_u64..20_000),
            prop::sample::select(vec![Retry::None, Retry::Background, Retry::Forever]),
        )
            .prop_map(|(timeout, retry)| Event::Initialize(Start { timeout, retry })),
        Just(Event::Refresh),
        (request.clone(), reply).prop_map(|(request, (status, retry_after, flags))| Event::Reply {
            request,
            reply: Reply {
                status,
                etag: Some("tag".into()),
                retry_after,
                flags,
            },
        }),
        request.prop_map(|request| Event::Unreachable { request }),
        prop::collection::vec(0_u64..100_000, 0..3).prop_map(Event::Restored),
        Just(Event::Stored {
            flags: vec![None],
            age: 1_000,
            max_age: 100_000,
        }),
        Just(Event::Timer),
        prop::sample::select(vec!["tag", "other"]).prop_map(|tag| Event::StreamTold {
            etag: tag.into(),
            spread: None,
        }),
        Just(Event::StreamAlive),
        prop::sample::select(vec![0, 401, 503]).prop_map(|status| Event::StreamEnded {
            status,
            retry_after: None,
        }),
        Just(Event::Provided {
            flags: vec![None],
            etag: None,
        }),
    ]
}

proptest! {
    #[test]
    fn requests_never_overlap_every_call_is_settled_and_shutdown_is_the_end(
        steps in prop::collection::vec((event(), 0_u64..70_000, any::<u32>()), 0..60),
    ) {
        let mut machine = Machine::new(Options {
            streaming: true,
            reports: true,
            ..Options::default()
        });
        let mut listening = false;
        let mut now = 0;
        let (mut initialize_waits, mut refresh_waits) = (false, false);
        let mut under_way = None;
        let end = [Event::Shutdown, Event::Timer, Event::Initialize(Start::default()), Event::Refresh].map(|event| (event, 1, 0));
        let mut ended = false;
        for (event, wait, random) in steps.into_iter().chain(end) {
            now += wait;
            match &event {
                Event::Initialize(_) | Event::Provided { .. } => initialize_waits = true,
                Event::StreamEnded { .. } => listening = false,
                Event::Refresh => refresh_waits = true,
                Event::Reply { request, .. } | Event::Unreachable { request } if under_way == Some(*request) => {
                    under_way = None;
                }
                _ => {}
            }
            for command in machine.handle(event, Moment { now, random }) {
                match command {
                    Command::Fetch { request, .. } => {
                        prop_assert!(!ended && under_way.is_none());
                        under_way = Some(request);
                    }
                    Command::Abort => under_way = None,
                    Command::Listen => {
                        prop_assert!(!ended && !listening);
                        listening = true;
                    }
                    Command::Unlisten => listening = false,
                    Command::Emit(event) => {
                        prop_assert!(!ended);
                        ended = event == Lifecycle::Shutdown;
                    }
                    Command::SetTimer(_) => prop_assert!(!ended),
                    Command::Settle(Call::Initialize, _) => initialize_waits = false,
                    Command::Settle(Call::Refresh, _) => refresh_waits = false,
                    _ => {}
                }
            }
        }
        prop_assert!(ended && !initialize_waits && !refresh_waits && !listening);
    }
}
