//! A brake on guessing passwords.
//!
//! Failed attempts are counted, for a minute. Passwords are checked only a few at once, and the count is looked at when
//! an attempt's turn has come, so that many at the same time do not slip through. Nothing is counted per account alone,
//! or anybody could lock somebody else out.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};

use pennon_core::model::time::Timestamp;

use super::secret::SecretHash;
use crate::error::Error;

/// How long an attempt counts, in milliseconds.
const WINDOW: i64 = 60_000;

/// How many times as many attempts an address has for all accounts together as it has for one.
const ACCOUNTS_PER_ADDRESS: u32 = 6;

/// How many windows are kept at most. When an attack from very many addresses fills the table, it is emptied.
const MOST_WINDOWS: usize = 100_000;

/// Counts attempts to sign in.
pub(crate) struct Throttle {
    per_account_and_address: u32,
    windows: Mutex<HashMap<Source, Window>>,
}

/// Whose attempts are counted together.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Source {
    Address(IpAddr),
    AccountAtAddress(SecretHash, IpAddr),
}

struct Window {
    ends: i64,
    failed: u32,
}

/// Somebody who tries to sign in to an account.
#[derive(Clone, Copy)]
pub(crate) struct Attempt([Source; 2]);

impl Attempt {
    pub(crate) fn new(email: &str, address: IpAddr) -> Self {
        let address = network(address);
        Self([
            Source::Address(address),
            Source::AccountAtAddress(SecretHash::of(email), address),
        ])
    }
}

impl Throttle {
    /// Allows so many failed attempts a minute for each account from each address.
    pub(crate) fn new(per_account_and_address: u32) -> Self {
        Self {
            per_account_and_address,
            windows: Mutex::default(),
        }
    }

    /// Refuses an attempt that comes after too many failed ones.
    pub(crate) fn check(&self, Attempt(sources): Attempt, now: Timestamp) -> Result<(), Error> {
        let now = now.millis();
        let windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        for source in &sources {
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
    pub(crate) fn failed(&self, Attempt(sources): Attempt, now: Timestamp) {
        let now = now.millis();
        let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        if windows.len() >= MOST_WINDOWS {
            windows.retain(|_, window| window.ends > now);
        }
        if windows.len() >= MOST_WINDOWS {
            windows.clear();
        }
        for source in sources {
            let fresh = || Window {
                ends: now.saturating_add(WINDOW),
                failed: 0,
            };
            let window = windows.entry(source).or_insert_with(fresh);
            if window.ends <= now {
                *window = fresh();
            }
            window.failed = window.failed.saturating_add(1);
        }
    }

    fn limit(&self, source: &Source) -> u32 {
        match source {
            Source::AccountAtAddress(..) => self.per_account_and_address,
            Source::Address(_) => self
                .per_account_and_address
                .saturating_mul(ACCOUNTS_PER_ADDRESS),
        }
    }
}

/// The part of an address that its holder cannot choose: of IPv6 the first 64 bits.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
        v4 @ IpAddr::V4(_) => v4,
    }
}
