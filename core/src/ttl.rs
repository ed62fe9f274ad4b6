//! TTLs of flags in clients.

use core::num::NonZeroU32;

use crate::Invalid;

/// The time for which a client may use a flag without a new confirmation, 1 second to 365 days.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "i64")]
#[cfg_attr(
    feature = "schema",
    derive(utoipa::ToSchema),
    schema(value_type = i64, format = Int64, minimum = 1, maximum = 31_536_000, example = 30)
)]
pub struct Ttl(NonZeroU32);

impl Ttl {
    /// The TTL of flags without an override, in seconds.
    pub const DEFAULT_SECONDS: u32 = 60;

    /// 365 days, in seconds.
    pub const MAX: u32 = 31_536_000;

    /// Returns the TTL in whole seconds.
    pub const fn seconds(self) -> u32 {
        self.0.get()
    }
}

impl TryFrom<i64> for Ttl {
    type Error = Invalid;

    fn try_from(seconds: i64) -> Result<Self, Invalid> {
        match u32::try_from(seconds).map(NonZeroU32::new) {
            Ok(Some(seconds)) if seconds.get() <= Self::MAX => Ok(Self(seconds)),
            _ => Err(Invalid::new("must be an integer from 1 to 31536000")),
        }
    }
}
