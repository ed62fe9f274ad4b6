//! Percentage rollouts.

use crate::Invalid;
use crate::rule::Attribute;
use crate::string_enum;

/// A percentage rollout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Rollout {
    /// The number of included buckets, out of 100.
    pub percentage: Percentage,
    /// The strategy, which selects the bucketing key.
    pub strategy: Strategy,
}

/// A percentage, an integer from 0 to 100.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "i64")]
#[cfg_attr(
    feature = "schema",
    derive(utoipa::ToSchema),
    schema(value_type = i64, format = Int64, minimum = 0, maximum = 100, example = 25)
)]
pub struct Percentage(u8);

impl Percentage {
    /// Returns the number.
    pub const fn get(self) -> u8 {
        self.0
    }
}

impl TryFrom<i64> for Percentage {
    type Error = Invalid;

    fn try_from(number: i64) -> Result<Self, Invalid> {
        match u8::try_from(number) {
            Ok(number @ 0..=100) => Ok(Self(number)),
            _ => Err(Invalid::new("must be an integer from 0 to 100")),
        }
    }
}

string_enum! {
    /// The strategy of a rollout, which selects the bucketing key.
    pub enum Strategy {
        /// By `userId`.
        PerUser = "per_user",
        /// By `tenantId`.
        PerTenant = "per_tenant",
    }
    else "must be `per_user` or `per_tenant`"
}

impl Strategy {
    /// Returns the attribute that holds the bucketing key.
    pub const fn attribute(self) -> Attribute {
        match self {
            Self::PerUser => Attribute::UserId,
            Self::PerTenant => Attribute::TenantId,
        }
    }
}
