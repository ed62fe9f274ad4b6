//! The rate limit on failed sign-ins.
//!
//! An attempt counts as failed from its admission until it succeeds, so concurrent attempts cannot exceed the limit.
//! Failures count for a minute and for an hour. There is no count per account alone, because it would let anybody lock
//! out the owner of an account.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};

use parking_lot::Mutex;
use pennon_model::secret::SecretHash;
use pennon_model::time::Timestamp;

use super::queue::Class;
use super::sign_ins::{AccountAtNetwork, SignIns};
use crate::error::Error;

/// The lengths of the windows in which attempts are counted, in milliseconds.
const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;

/// The maximum number of windows. When an attack from very many addresses fills the table, windows with a single
/// attempt are removed first, and then all windows.
const MAX_WINDOWS: usize = 100_000;

/// Counts attempts to sign in.
pub(crate) struct Throttle {
    per_account_and_address: u32,
    windows: Mutex<HashMap<Source, Window>>,
    sign_ins: SignIns,
}

/// The source of attempts that are counted together.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Source {
    /// An address, or the IPv6 network of this prefix length.
    Network(IpAddr, u8),
    AccountAtNetwork(AccountAtNetwork),
    /// An account at a network, over an hour.
    AccountAtNetworkHourly(AccountAtNetwork),
}

struct Window {
    ends: i64,
    counted: u32,
    /// The number of counted attempts that may still succeed.
    in_progress: u32,
}

impl Window {
    /// Returns the remaining milliseconds of a window of this length; none if it has ended. One that began long after
    /// `now` has ended too, because the clock was set back. (An attempt may have waited since it read the clock.)
    fn remaining(&self, length: i64, now: i64) -> Option<i64> {
        let remaining = self.ends.saturating_sub(now);
        (1..=length + MINUTE)
            .contains(&remaining)
            .then_some(remaining)
    }
}

/// An attempt to prove ownership of an account.
pub(crate) struct Attempt {
    account: AccountAtNetwork,
    sources: Vec<Source>,
    class: Class,
}

impl Attempt {
    /// Returns the class of the sign-in.
    pub(crate) fn class(&self) -> Class {
        self.class
    }
}

impl Source {
    /// Returns the number of failures allowed, as a multiple of the limit for one account from one address in a minute,
    /// and the window in milliseconds. Many people in a house, an office or a data center may share a network, but an
    /// attacker can choose among only a few networks.
    fn rule(&self) -> (u32, i64) {
        match self {
            Self::AccountAtNetwork(_) => (1, MINUTE),
            Self::AccountAtNetworkHourly(_) => (6, HOUR),
            Self::Network(_, 48) => (24, MINUTE),
            Self::Network(_, 56) => (12, MINUTE),
            Self::Network(..) => (6, MINUTE),
        }
    }
}

/// An admitted attempt. It counts as failed unless it is marked as successful, even if its caller disconnects.
pub(crate) struct Admitted<'t> {
    throttle: &'t Throttle,
    attempt: &'t Attempt,
    succeeded: bool,
}

impl Admitted<'_> {
    /// Marks the attempt as successful, which removes it from the count.
    pub(crate) fn succeed(mut self) {
        self.succeeded = true;
    }
}

impl Drop for Admitted<'_> {
    fn drop(&mut self) {
        let mut windows = self.throttle.windows.lock();
        for source in &self.attempt.sources {
            if let Some(window) = windows.get_mut(source) {
                window.in_progress = window.in_progress.saturating_sub(1);
                let given_back = u32::from(self.succeeded);
                window.counted = window.counted.saturating_sub(given_back);
            }
        }
    }
}

impl Throttle {
    /// Creates a throttle that allows this number of failed attempts per minute for each account from each address.
    pub(crate) fn new(per_account_and_address: u32) -> Self {
        Self {
            per_account_and_address,
            windows: Mutex::default(),
            sign_ins: SignIns::default(),
        }
    }

    /// Creates an attempt on an account; the case of the e-mail address is ignored. If somebody has signed in to the
    /// account from this network before, the attempt counts for its innermost network only, not for the wider ones.
    pub(crate) fn attempt(&self, email: &str, address: IpAddr, now: Timestamp) -> Attempt {
        let networks = networks(address);
        let innermost = networks.first().map_or(address, |(network, _)| *network);
        let account = (SecretHash::of(&email.to_lowercase()), innermost);
        let is_returning = self.sign_ins.contains(&account, now);
        let counted = if is_returning { 1 } else { networks.len() };
        let networks = networks.into_iter().take(counted);
        let networks = networks.map(|(network, length)| Source::Network(network, length));
        let own = [
            Source::AccountAtNetwork(account),
            Source::AccountAtNetworkHourly(account),
        ];
        Attempt {
            account,
            sources: networks.chain(own).collect(),
            class: if is_returning {
                Class::Returning
            } else {
                Class::New
            },
        }
    }

    /// Refuses an attempt after too many failed attempts.
    pub(crate) fn check(&self, attempt: &Attempt, now: Timestamp) -> Result<(), Error> {
        let failed = |window: &Window| window.counted.saturating_sub(window.in_progress);
        self.refuse(&self.windows.lock(), attempt, now.millis(), failed)
    }

    /// Admits and counts an attempt; refuses it after too many attempts that failed or may still fail.
    pub(crate) fn admit<'t>(
        &'t self,
        attempt: &'t Attempt,
        now: Timestamp,
    ) -> Result<Admitted<'t>, Error> {
        let now = now.millis();
        let mut windows = self.windows.lock();
        self.refuse(&windows, attempt, now, |window| window.counted)?;
        evict(&mut windows, now);
        for source in &attempt.sources {
            let (_, length) = source.rule();
            let fresh = || Window {
                ends: now.saturating_add(length),
                counted: 0,
                in_progress: 0,
            };
            let window = windows.entry(*source).or_insert_with(fresh);
            if window.remaining(length, now).is_none() {
                *window = fresh();
            }
            window.counted = window.counted.saturating_add(1);
            window.in_progress = window.in_progress.saturating_add(1);
        }
        Ok(Admitted {
            throttle: self,
            attempt,
            succeeded: false,
        })
    }

    /// Remembers the network of a successful sign-in.
    pub(crate) fn remember(&self, attempt: &Attempt, now: Timestamp) {
        self.sign_ins.insert(attempt.account, now);
    }

    fn refuse(
        &self,
        windows: &HashMap<Source, Window>,
        attempt: &Attempt,
        now: i64,
        counted: impl Fn(&Window) -> u32,
    ) -> Result<(), Error> {
        let waits = attempt.sources.iter().filter_map(|source| {
            let window = windows.get(source)?;
            let (multiple, length) = source.rule();
            let limit = self.per_account_and_address.saturating_mul(multiple);
            let remaining = window.remaining(length, now)?;
            (counted(window) >= limit).then_some(remaining)
        });
        match waits.max() {
            Some(wait) => Err(Error::TooManyAttempts {
                retry_after_seconds: u64::try_from(wait).unwrap_or(0).div_ceil(1000),
            }),
            None => Ok(()),
        }
    }
}

fn evict(windows: &mut HashMap<Source, Window>, now: i64) {
    if windows.len() >= MAX_WINDOWS {
        windows.retain(|_, window| window.ends > now);
    }
    if windows.len() >= MAX_WINDOWS {
        windows.retain(|_, window| window.counted > 1);
    }
    if windows.len() >= MAX_WINDOWS {
        windows.clear();
    }
}

/// Returns the networks for which an address counts, innermost first: for IPv4, the address itself; for IPv6, the
/// prefixes that a provider may have assigned to the holder, who can choose any address within them.
fn networks(address: IpAddr) -> Vec<(IpAddr, u8)> {
    match address.to_canonical() {
        IpAddr::V6(address) => [64, 56, 48]
            .map(|length| (prefix(address, length).into(), length))
            .to_vec(),
        v4 @ IpAddr::V4(_) => vec![(v4, 32)],
    }
}

fn prefix(address: Ipv6Addr, length: u8) -> Ipv6Addr {
    let host = u128::MAX.checked_shr(length.into()).unwrap_or(0);
    Ipv6Addr::from_bits(address.to_bits() & !host)
}
