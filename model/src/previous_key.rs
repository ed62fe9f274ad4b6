//! The SDK key that a rotation replaced, which may keep working for some time.

use serde::Serialize;

use crate::client::Client;
use crate::time::Timestamp;
use pennon_core::Invalid;

/// The SDK key that the last rotation replaced, while it still gives access to the environment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct PreviousKey {
    /// The first characters of the key.
    #[cfg_attr(feature = "schema", schema(example = "pnk_Y2hlY2tv"))]
    pub prefix: String,
    /// The time from which it is refused.
    pub ends_at: Timestamp,
}

/// A client that used the previous SDK key of an environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreviousKeyClient {
    /// The client.
    pub client: Client,
    /// The number of its requests with the key.
    pub requests: i64,
    /// The time of the last request, or of the last minute in which a stream was open; to the minute.
    pub last_seen_at: Timestamp,
}

/// The previous SDK key of an environment, and its use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreviousKeyUsage {
    /// The key.
    pub key: PreviousKey,
    /// The clients that used it, most recently seen first; at most 51.
    pub clients: Vec<PreviousKeyClient>,
}

impl PreviousKeyUsage {
    /// Returns the time of the last use, to the minute.
    pub fn last_used_at(&self) -> Option<Timestamp> {
        self.clients.iter().map(|client| client.last_seen_at).max()
    }
}

/// The time for which the previous SDK key keeps working after a rotation, in seconds: 0 to 604,800, which is 7 days.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "schema",
    derive(utoipa::ToSchema),
    schema(value_type = i64, format = Int64, minimum = 0, maximum = 604_800, default = 0)
)]
pub struct OverlapSeconds(u32);

impl OverlapSeconds {
    /// 7 days.
    const MAX: u32 = 604_800;

    /// Returns the end of an overlap that begins at this time; none if there is no overlap.
    pub fn end(self, now: Timestamp) -> Option<Timestamp> {
        (self.0 > 0).then(|| now.plus_millis(i64::from(self.0).saturating_mul(1000)))
    }
}

impl TryFrom<i64> for OverlapSeconds {
    type Error = Invalid;

    fn try_from(seconds: i64) -> Result<Self, Invalid> {
        match u32::try_from(seconds) {
            Ok(seconds) if seconds <= Self::MAX => Ok(Self(seconds)),
            _ => Err(Invalid::new("must be an integer from 0 to 604800")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_overlap_lasts_at_most_seven_days_and_zero_is_none() {
        let now = Timestamp::from_millis(1_000);
        let end = |seconds| OverlapSeconds::try_from(seconds).map(|overlap| overlap.end(now));
        assert_eq!(end(0), Ok(None));
        assert_eq!(end(1), Ok(Some(Timestamp::from_millis(2_000))));
        assert_eq!(end(604_800), Ok(Some(now.plus_days(7))));
        for seconds in [-1, 604_801, i64::MAX, i64::MIN] {
            assert!(end(seconds).is_err(), "{seconds}");
        }
    }
}
