//! A brake on guessing passwords.
//!
//! Attempts are counted before the password is looked at, so that many at once do not slip through, and taken back when
//! it was right: what remains are the failed ones of the current minute. Nothing is counted per account alone, or
//! anybody could lock somebody else out.

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
    attempts: u32,
}

/// An attempt that has been counted.
pub(crate) struct Attempt([Source; 2]);

impl Throttle {
    /// Allows so many failed attempts a minute for each account from each address.
    pub(crate) fn new(per_account_and_address: u32) -> Self {
        Self {
            per_account_and_address,
            windows: Mutex::default(),
        }
    }

    /// Counts an attempt, or refuses it.
    pub(crate) fn begin(
        &self,
        email: &str,
        address: IpAddr,
        now: Timestamp,
    ) -> Result<Attempt, Error> {
        let address = network(address);
        let sources = [
            Source::Address(address),
            Source::AccountAtAddress(SecretHash::of(email), address),
        ];
        let now = now.millis();
        let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        for source in &sources {
            if let Some(window) = windows.get(source)
                && window.ends > now
                && window.attempts >= self.limit(source)
            {
                let wait = u64::try_from(window.ends - now).unwrap_or(0).div_ceil(1000);
                return Err(Error::TooManyAttempts {
                    retry_after_seconds: wait,
                });
            }
        }
        if windows.len() >= MOST_WINDOWS {
            windows.retain(|_, window| window.ends > now);
        }
        if windows.len() >= MOST_WINDOWS {
            windows.clear();
        }
        for source in sources {
            let fresh = || Window {
                ends: now.saturating_add(WINDOW),
                attempts: 0,
            };
            let window = windows.entry(source).or_insert_with(fresh);
            if window.ends <= now {
                *window = fresh();
            }
            window.attempts = window.attempts.saturating_add(1);
        }
        Ok(Attempt(sources))
    }

    /// Takes an attempt back, because it succeeded.
    pub(crate) fn succeeded(&self, Attempt(sources): Attempt) {
        let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        for source in sources {
            if let Some(window) = windows.get_mut(&source) {
                window.attempts = window.attempts.saturating_sub(1);
            }
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
