//! Percentage rollouts.

use crate::Invalid;
use crate::rule::Attribute;
use crate::string_enum;

/// How much of the subjects a rollout admits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Rollout {
    /// How many of the 100 buckets are in.
    pub percentage: Percentage,
    /// Whose bucket counts.
    pub strategy: Strategy,
}

/// A whole percentage, 0 to 100.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "i64")]
#[cfg_attr(
    feature = "schema",
    derive(utoipa::ToSchema),
    schema(value_type = i64, format = Int64, minimum = 0, maximum = 100, example = 25)
)]
pub struct Percentage(u8);

impl Percentage {
    /// The number.
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
    /// Whose bucket decides.
    pub enum Strategy {
        /// The bucket of `userId`.
        PerUser = "per_user",
        /// The bucket of `tenantId`.
        PerTenant = "per_tenant",
    }
    else "must be `per_user` or `per_tenant`"
}

impl Strategy {
    /// The attribute that holds the bucketing value.
    pub const fn attribute(self) -> Attribute {
        match self {
            Self::PerUser => Attribute::UserId,
            Self::PerTenant => Attribute::TenantId,
        }
    }
}
