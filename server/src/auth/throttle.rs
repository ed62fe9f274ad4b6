//! A rate limit on guessing passwords.
//!
//! Failed attempts are counted, for a minute. Nothing is counted per account alone, or anybody could lock somebody else
//! out.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};

use pennon_core::model::time::Timestamp;

use super::queue::Class;
use super::secret::SecretHash;
use super::sign_ins::{AccountAtNetwork, SignIns};
use crate::error::Error;

/// How long an attempt counts, in milliseconds.
const WINDOW: i64 = 60_000;

/// How many windows are kept at most. When an attack from very many addresses fills the table, it is emptied.
const MOST_WINDOWS: usize = 100_000;

/// Counts attempts to sign in.
pub(crate) struct Throttle {
    per_account_and_address: u32,
    windows: Mutex<HashMap<Source, Window>>,
    sign_ins: SignIns,
}

/// Whose attempts are counted together.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Source {
    /// An address, or the IPv6 network of this prefix length.
    Network(IpAddr, u8),
    AccountAtNetwork(AccountAtNetwork),
}

struct Window {
    ends: i64,
    failed: u32,
}

/// An attempt to prove who owns an account.
pub(crate) struct Attempt {
    account: AccountAtNetwork,
    sources: Vec<Source>,
    class: Class,
}

impl Attempt {
    /// The class that a sign-in belongs to.
    pub(crate) fn class(&self) -> Class {
        self.class
    }
}

impl Source {
    /// How many times as many failures are allowed as for one account from one address. Everybody in a house, an office
    /// or a data center may share a network, but nobody can choose among more than a few.
    fn multiple(&self) -> u32 {
        match self {
            Self::AccountAtNetwork(_) => 1,
            Self::Network(_, 48) => 24,
            Self::Network(_, 56) => 12,
            Self::Network(..) => 6,
        }
    }
}

impl Throttle {
    /// Allows so many failed attempts a minute for each account from each address.
    pub(crate) fn new(per_account_and_address: u32) -> Self {
        Self {
            per_account_and_address,
            windows: Mutex::default(),
            sign_ins: SignIns::default(),
        }
    }

    /// An attempt on an account. One that comes from where the account was signed in to before answers for its own
    /// address alone, and not for what others do in the wider network.
    pub(crate) fn attempt(&self, email: &str, address: IpAddr, now: Timestamp) -> Attempt {
        let networks = networks(address);
        let innermost = networks.first().map_or(address, |(network, _)| *network);
        let account = (SecretHash::of(email), innermost);
        let is_returning = self.sign_ins.contains(&account, now);
        let counted = if is_returning { 1 } else { networks.len() };
        let networks = networks.into_iter().take(counted);
        let networks = networks.map(|(network, length)| Source::Network(network, length));
        Attempt {
            account,
            sources: networks
                .chain([Source::AccountAtNetwork(account)])
                .collect(),
            class: if is_returning {
                Class::Returning
            } else {
                Class::New
            },
        }
    }

    /// Refuses an attempt that comes after too many failed ones.
    pub(crate) fn check(&self, attempt: &Attempt, now: Timestamp) -> Result<(), Error> {
        let now = now.millis();
        let windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        for source in &attempt.sources {
            if let Some(window) = windows.get(source)
                && window.ends > now
                && window.failed >= self.limit(source)
            {
                let wait = u64::try_from(window.ends - now).unwrap_or(0).div_ceil(1000);
                return Err(Error::TooManyAttempts {
                    retry_after_seconds: wait,
                });
            }
        }
        Ok(())
    }

    /// Counts an attempt that failed.
    pub(crate) fn failed(&self, attempt: &Attempt, now: Timestamp) {
        let now = now.millis();
        let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        if windows.len() >= MOST_WINDOWS {
            windows.retain(|_, window| window.ends > now);
        }
        if windows.len() >= MOST_WINDOWS {
            windows.clear();
        }
        for source in &attempt.sources {
            let fresh = || Window {
                ends: now.saturating_add(WINDOW),
                failed: 0,
            };
            let window = windows.entry(*source).or_insert_with(fresh);
            if window.ends <= now {
                *window = fresh();
            }
            window.failed = window.failed.saturating_add(1);
        }
    }

    /// Remembers from where an attempt succeeded.
    pub(crate) fn succeeded(&self, attempt: &Attempt, now: Timestamp) {
        self.sign_ins.insert(attempt.account, now);
    }

    fn limit(&self, source: &Source) -> u32 {
        self.per_account_and_address
            .saturating_mul(source.multiple())
    }
}

/// The networks that an address counts for, the innermost first: an IPv4 address for itself, one of IPv6 for the
/// networks that its holder may have got, within which the rest can be chosen at will.
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
