//! Points in time.

use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, Datelike as _, SecondsFormat, Utc};

use pennon_core::Invalid;

/// A day of 24 hours, in milliseconds.
pub const DAY_MILLIS: i64 = 24 * 60 * 60 * 1000;

/// A point in time in milliseconds, formatted as RFC 3339 in UTC: `2026-03-01T09:30:00.000Z`.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[serde(into = "String", try_from = "String")]
#[cfg_attr(
    feature = "schema",
    derive(utoipa::ToSchema),
    schema(value_type = String, format = DateTime, example = "2026-03-01T09:30:00.000Z")
)]
pub struct Timestamp(i64);

impl Timestamp {
    /// Creates a point in time from milliseconds since the start of 1970 in UTC.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Adds milliseconds, which may be negative.
    #[must_use]
    pub const fn plus_millis(self, millis: i64) -> Self {
        Self(self.0.saturating_add(millis))
    }

    /// Adds days of 24 hours, which may be negative.
    #[must_use]
    pub const fn plus_days(self, days: i64) -> Self {
        self.plus_millis(days.saturating_mul(DAY_MILLIS))
    }

    /// Returns the start of a day in UTC, counted from the start of 1970.
    pub const fn of_day(day: i64) -> Self {
        Self(day.saturating_mul(DAY_MILLIS))
    }

    /// Returns the day in UTC, counted from the start of 1970.
    pub const fn day(self) -> i64 {
        self.0.div_euclid(DAY_MILLIS)
    }

    /// Returns the milliseconds since the start of 1970 in UTC.
    pub const fn millis(self) -> i64 {
        self.0
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time: DateTime<Utc> = DateTime::from_timestamp_millis(self.0).unwrap_or_default();
        formatter.write_str(&time.to_rfc3339_opts(SecondsFormat::Millis, true))
    }
}

impl FromStr for Timestamp {
    type Err = Invalid;

    /// Parses any RFC 3339 date-time, and truncates it to milliseconds. In UTC, its year must have four digits, as the
    /// format requires.
    fn from_str(text: &str) -> Result<Self, Invalid> {
        let time = DateTime::parse_from_rfc3339(text).ok();
        // A leap second counts as the next second, which may be in the next year.
        let millis = time.map(|time| time.timestamp_millis());
        let year = |millis| DateTime::from_timestamp_millis(millis).map(|time| time.year());
        millis
            .filter(|millis| year(*millis).is_some_and(|year| (1..=9999).contains(&year)))
            .map(Self)
            .ok_or_else(|| {
                Invalid::new("must be an RFC 3339 date-time such as 2026-03-01T09:30:00Z")
            })
    }
}

impl TryFrom<String> for Timestamp {
    type Error = Invalid;

    fn try_from(text: String) -> Result<Self, Invalid> {
        text.parse()
    }
}

impl From<Timestamp> for String {
    fn from(time: Timestamp) -> Self {
        time.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::Timestamp;

    #[test]
    fn a_time_is_in_a_year_of_four_digits_in_utc() {
        for text in [
            "0001-01-01T00:00:00Z",
            "9999-12-31T23:59:59.999Z",
            "0000-12-31T23:00:00-01:00",
        ] {
            assert!(text.parse::<Timestamp>().is_ok(), "{text}");
        }
        for text in [
            "0000-12-31T23:59:59Z",
            "0001-01-01T00:59:59+01:00",
            "9999-12-31T23:00:00-01:00",
            "9999-12-31T23:59:60Z",
        ] {
            assert!(text.parse::<Timestamp>().is_err(), "{text}");
        }
    }
}
