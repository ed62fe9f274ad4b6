//! The networks from which users have signed in to their accounts.

use std::collections::HashMap;
use std::net::IpAddr;

use parking_lot::Mutex;
use pennon_model::secret::SecretHash;
use pennon_model::time::{DAY_MILLIS, Timestamp};

use super::SESSION_DAYS;

/// The period for which to remember a sign-in, in milliseconds: the lifetime of a session.
const LIFETIME: i64 = SESSION_DAYS * DAY_MILLIS;

/// The maximum number of sign-ins to remember. Beyond it, the oldest one is forgotten.
const CAPACITY: usize = 10_000;

/// An account, by the hash of its e-mail address, at a network.
pub(super) type AccountAtNetwork = (SecretHash, IpAddr);

/// Successful sign-ins, in memory. A restart forgets them.
#[derive(Default)]
pub(super) struct SignIns(Mutex<HashMap<AccountAtNetwork, i64>>);

impl SignIns {
    /// Returns true if somebody has signed in to the account from the network before.
    pub(super) fn contains(&self, account: &AccountAtNetwork, now: Timestamp) -> bool {
        let last = self.0.lock();
        let last = last.get(account);
        last.is_some_and(|last| now.millis().saturating_sub(*last) < LIFETIME)
    }

    /// Remembers a sign-in.
    pub(super) fn insert(&self, account: AccountAtNetwork, now: Timestamp) {
        let mut last = self.0.lock();
        if last.len() >= CAPACITY && !last.contains_key(&account) {
            let oldest = last.iter().min_by_key(|(_, at)| **at);
            if let Some(oldest) = oldest.map(|(account, _)| *account) {
                last.remove(&oldest);
            }
        }
        last.insert(account, now.millis());
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    fn account(number: usize) -> AccountAtNetwork {
        let hash = SecretHash::of(&number.to_string());
        (hash, Ipv4Addr::LOCALHOST.into())
    }

    #[test]
    fn the_oldest_sign_in_makes_room_for_the_newest() {
        let (sign_ins, at) = (SignIns::default(), Timestamp::from_millis);
        for number in 0..CAPACITY {
            sign_ins.insert(account(number), at(number.try_into().unwrap()));
        }
        let now = at(CAPACITY.try_into().unwrap());
        sign_ins.insert(account(0), now);
        sign_ins.insert(account(CAPACITY), now);
        assert!(sign_ins.contains(&account(0), now) && sign_ins.contains(&account(2), now));
        assert!(!sign_ins.contains(&account(1), now));
        assert!(!sign_ins.contains(&account(2), at(LIFETIME + 2)));
    }
}
