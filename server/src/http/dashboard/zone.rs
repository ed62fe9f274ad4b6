//! The visitor's time zone.

use chrono::{DateTime, Datelike as _, Days, NaiveDate, NaiveTime, TimeZone as _, Utc};
use chrono_tz::Tz;
use pennon_core::model::time::Timestamp;
use pennon_dashboard::port::LocalTime;

/// The time zone of this name (<https://www.iana.org/time-zones>); UTC if there is none, or it is not known.
pub(super) fn named(name: Option<&str>) -> Tz {
    name.and_then(|name| name.parse().ok()).unwrap_or(Tz::UTC)
}

/// A moment in a time zone.
pub(super) fn local(zone: Tz, at: Timestamp) -> LocalTime {
    let utc: DateTime<Utc> = DateTime::from_timestamp_millis(at.millis()).unwrap_or_default();
    let local = utc.with_timezone(&zone);
    LocalTime {
        date: local.format("%Y-%m-%d").to_string(),
        day: local.num_days_from_ce().into(),
        clock: local.format("%H:%M:%S").to_string(),
    }
}

/// The first and the last moment of a date in a time zone.
pub(super) fn day(zone: Tz, date: &str) -> Option<(Timestamp, Timestamp)> {
    let date: NaiveDate = date.parse().ok()?;
    let (first, next) = (
        beginning(zone, date)?,
        beginning(zone, date.checked_add_days(Days::new(1))?)?,
    );
    let last = Timestamp::from_millis(next.millis().saturating_sub(1));
    Some((first, last))
}

/// Returns the first moment of a date. Where clocks go forward at midnight, the date begins at 01:00.
fn beginning(zone: Tz, date: NaiveDate) -> Option<Timestamp> {
    let hours = (0..24).filter_map(|hour| NaiveTime::from_hms_opt(hour, 0, 0));
    let mut moments = hours.map(|time| zone.from_local_datetime(&date.and_time(time)).earliest());
    let first = moments.find_map(|moment| moment)?;
    Some(Timestamp::from_millis(first.timestamp_millis()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().expect("a moment")
    }

    #[test]
    fn a_moment_is_told_by_the_clocks_of_the_zone() {
        let tokyo = named(Some("Asia/Tokyo"));
        let told = local(tokyo, at("2026-02-28T15:30:00Z"));
        assert_eq!((&*told.date, &*told.clock), ("2026-03-01", "00:30:00"));
        let before = local(tokyo, at("2026-02-28T14:59:59Z"));
        assert_eq!(told.day - before.day, 1);
    }

    #[test]
    fn an_unknown_zone_is_utc() {
        assert_eq!(named(Some("Middle/Earth")), Tz::UTC);
        assert_eq!(named(None), Tz::UTC);
    }

    #[test]
    fn a_day_is_as_long_as_its_clocks_say() {
        let berlin = named(Some("Europe/Berlin"));
        let spring = (at("2026-03-28T23:00:00Z"), at("2026-03-29T21:59:59.999Z"));
        assert_eq!(day(berlin, "2026-03-29"), Some(spring));
        let autumn = (at("2026-10-24T22:00:00Z"), at("2026-10-25T22:59:59.999Z"));
        assert_eq!(day(berlin, "2026-10-25"), Some(autumn));
        // There is no midnight on this day.
        let beirut = day(named(Some("Asia/Beirut")), "2026-03-29");
        assert_eq!(
            beirut.map(|(first, _)| first),
            Some(at("2026-03-28T22:00:00Z"))
        );
        assert_eq!(day(berlin, "today"), None);
        assert_eq!(day(berlin, "2026-02-30"), None);
    }
}
