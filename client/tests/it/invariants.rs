//! Invariants of every sequence of events, even unlikely ones.

use std::collections::BTreeSet;

use pennon_client::{
    Call, Command, Event, InitializeOptions, Lifecycle, Machine, Moment, Options, Reply, Retry,
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
            .prop_map(|(timeout, retry)| Event::Initialize(InitializeOptions { timeout, retry })),
        (prop::collection::vec(0_u64..100_000, 0..3), any::<bool>())
            .prop_map(|(times, is_ready)| Event::Served { times, is_ready }),
        Just(Event::Refresh),
        Just(Event::ContextChanged),
        (request.clone(), reply).prop_map(|(request, (status, retry_after, flags))| Event::Reply {
            request,
            reply: Reply {
                status,
                etag: Some("tag".into()),
                retry_after,
                age: 20_000,
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
        prop::sample::select(vec!["tag", "other"]).prop_map(|tag| Event::StreamAnnounced {
            etag: tag.into(),
            spread: None,
        }),
        Just(Event::StreamAlive),
        prop::sample::select(vec![0, 401, 503]).prop_map(|status| Event::StreamEnded {
            status,
            retry_after: None,
        }),
        Just(Event::Bootstrap {
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
            report_usage: true,
            ..Options::default()
        });
        let mut listening = false;
        let mut now = 0;
        let (mut initialize_pending, mut refresh_pending) = (false, false);
        let mut set_context_pending = false;
        let mut pending = None;
        let mut requests = BTreeSet::new();
        let initialize = Event::Initialize(InitializeOptions::default());
        let end = [Event::Shutdown, Event::Timer, initialize, Event::Refresh].map(|event| (event, 1, 0));
        let mut ended = false;
        for (event, wait, random) in steps.into_iter().chain(end) {
            now += wait;
            match &event {
                Event::Initialize(_) | Event::Bootstrap { .. } => initialize_pending = true,
                Event::StreamEnded { .. } => listening = false,
                Event::Refresh => refresh_pending = true,
                Event::ContextChanged => set_context_pending = true,
                Event::Reply { request, .. } | Event::Unreachable { request } if pending == Some(*request) => {
                    pending = None;
                }
                _ => {}
            }
            for command in machine.handle(event, Moment { now, random }) {
                match command {
                    Command::Fetch { request, .. } => {
                        prop_assert!(!ended && pending.is_none());
                        prop_assert!(requests.insert(request), "each request has its own number");
                        pending = Some(request);
                    }
                    Command::Abort => pending = None,
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
                    Command::Settle(Call::Initialize, _) => initialize_pending = false,
                    Command::Settle(Call::Refresh, _) => refresh_pending = false,
                    Command::Settle(Call::SetContext, _) => set_context_pending = false,
                    _ => {}
                }
            }
            if ended {
                prop_assert!(!initialize_pending && !refresh_pending && !set_context_pending);
            }
        }
        prop_assert!(ended && !listening);
    }
}
