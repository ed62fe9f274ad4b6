//! A thousand clients of one server, in virtual time: the number of requests in the busiest second.

use std::collections::BTreeMap;

use pennon_client::{Command, Event, InitializeOptions, Machine, Moment, Options};

use crate::harness::{configuration, status};

const CLIENTS: u64 = 1_000;
const MINUTE: u64 = 60_000;

/// The response time of the server, in milliseconds.
const LATENCY: u64 = 5;

/// The failure mode of the server during an outage.
#[derive(Clone, Copy, Debug)]
enum Outage {
    /// Connections are refused at once.
    Refused,
    /// The server does not respond.
    Silent,
    /// A proxy responds in its place.
    Status(u16),
}

/// Clients, their future events, and their past requests.
struct Fleet {
    clients: Vec<Machine>,
    timers: Vec<Option<u64>>,
    /// The client and its event, by time and order of scheduling.
    events: BTreeMap<(u64, u64), (usize, Event)>,
    event_count: u64,
    requests: Vec<u64>,
    seed: u64,
    /// The tag of the server's config document.
    etag: &'static str,
}

impl Fleet {
    /// Creates clients that start within one poll interval.
    fn new(options: Options) -> Self {
        let mut fleet = Self {
            clients: (0..CLIENTS).map(|_| Machine::new(options)).collect(),
            timers: (0..CLIENTS).map(|_| None).collect(),
            events: BTreeMap::new(),
            event_count: 0,
            requests: Vec::new(),
            seed: 0x9e37_79b9_7f4a_7c15,
            etag: "v1",
        };
        for client in 0..fleet.clients.len() {
            let at = u64::from(fleet.random()) % 30_000;
            fleet.schedule(at, client, Event::Initialize(InitializeOptions::default()));
        }
        fleet
    }

    /// Advances the time. During an outage, requests fail in this mode.
    fn advance_until(&mut self, end: u64, outage: Option<Outage>) {
        while let Some(entry) = self.events.first_entry() {
            let now = entry.key().0;
            if now >= end {
                return;
            }
            let (client, event) = entry.remove();
            if event == Event::Timer && self.timers[client] != Some(now) {
                continue;
            }
            self.handle(client, event, now, outage);
        }
    }

    fn handle(&mut self, client: usize, event: Event, now: u64, outage: Option<Outage>) {
        let random = self.random();
        for command in self.clients[client].handle(event, Moment { now, random }) {
            match command {
                Command::SetTimer(wait) => {
                    self.timers[client] = Some(now + wait);
                    self.schedule(now + wait, client, Event::Timer);
                }
                Command::ClearTimer => self.timers[client] = None,
                Command::Fetch { request, .. } => {
                    self.requests.push(now);
                    self.respond(client, request, now, outage);
                }
                Command::Restore => self.schedule(now, client, Event::Restored(vec![])),
                Command::Listen => {
                    let etag = self.etag.into();
                    self.schedule(now + LATENCY, client, announced(etag));
                }
                _ => {}
            }
        }
    }

    fn respond(&mut self, client: usize, request: u32, now: u64, outage: Option<Outage>) {
        let reply = match outage {
            None if self.clients[client].etag() == Some(self.etag) => status(304),
            None => configuration(self.etag, &[None]),
            Some(Outage::Status(code)) => status(code),
            Some(Outage::Refused) => {
                return self.schedule(now, client, Event::Unreachable { request });
            }
            Some(Outage::Silent) => return,
        };
        self.schedule(now + LATENCY, client, Event::Reply { request, reply });
    }

    fn schedule(&mut self, at: u64, client: usize, event: Event) {
        self.event_count += 1;
        self.events.insert((at, self.event_count), (client, event));
    }

    /// Returns the maximum number of requests within any one second between two times.
    fn busiest_second(&self, from: u64, to: u64) -> usize {
        let within: Vec<u64> = self
            .requests
            .iter()
            .copied()
            .filter(|at| (from..to).contains(at))
            .collect();
        (0..within.len())
            .map(|first| {
                let end = within[first] + 1_000;
                within[first..].iter().take_while(|at| **at < end).count()
            })
            .max()
            .unwrap_or(0)
    }

    /// Returns a pseudo-random number, from the same sequence in every run.
    fn random(&mut self) -> u32 {
        self.seed ^= self.seed << 13;
        self.seed ^= self.seed >> 7;
        self.seed ^= self.seed << 17;
        (self.seed >> 32) as u32
    }
}

fn announced(etag: String) -> Event {
    Event::StreamAnnounced { etag, spread: None }
}

#[test]
fn after_an_outage_the_busiest_second_has_at_most_twice_the_mean() {
    let mean = usize::try_from(CLIENTS / 30).expect("a small number");
    for outage in [Outage::Refused, Outage::Silent, Outage::Status(503)] {
        let mut fleet = Fleet::new(Options::default());
        fleet.advance_until(5 * MINUTE, None);
        let before = fleet.busiest_second(2 * MINUTE, 5 * MINUTE);
        fleet.advance_until(6 * MINUTE, Some(outage));
        let during = fleet.busiest_second(5 * MINUTE, 6 * MINUTE);
        fleet.advance_until(16 * MINUTE, None);
        let after = fleet.busiest_second(6 * MINUTE, 16 * MINUTE);
        println!("{outage:?}: {before} before, {during} during, {after} after the outage");
        assert!(after <= 2 * mean, "{outage:?}: {after}");
    }
}

#[test]
fn clients_that_receive_a_change_together_do_not_fetch_it_together() {
    let mut fleet = Fleet::new(Options {
        streaming: true,
        ..Options::default()
    });
    // Early enough that no silent stream has timed out.
    let change = 40_000;
    fleet.advance_until(change, None);
    fleet.etag = "v2";
    let before = fleet.requests.len();
    for client in 0..fleet.clients.len() {
        fleet.schedule(change, client, announced("v2".into()));
    }
    fleet.advance_until(change + 250 + LATENCY, None);
    let fetches = &fleet.requests[before..];
    assert_eq!(fetches.len(), fleet.clients.len());
    // The average is four per millisecond.
    let mut by_time = BTreeMap::<u64, usize>::new();
    for at in fetches {
        *by_time.entry(*at).or_default() += 1;
    }
    let most = by_time.values().max();
    assert!(most.is_some_and(|most| *most <= 20), "{most:?}");
}
