//! The visitor's time zone.

use jiff::civil::{Date, DateTime, date};
use jiff::tz::TimeZone;
use pennon_dashboard::port::LocalTime;
use pennon_model::time::Timestamp;

/// Returns the time zone with this name (<https://www.iana.org/time-zones>), or UTC if the name is absent or unknown.
pub(super) fn named(name: Option<&str>) -> TimeZone {
    known(name).map_or(TimeZone::UTC, |(_, zone)| zone)
}

/// Returns the name of a known time zone, or `UTC` if the name is absent or unknown.
pub(super) fn name(name: Option<&str>) -> &str {
    known(name).map_or("UTC", |(name, _)| name)
}

fn known(name: Option<&str>) -> Option<(&str, TimeZone)> {
    let name = name?;
    Some((name, TimeZone::get(name).ok()?))
}

/// Returns a time as local date and time in a time zone.
pub(super) fn local(zone: TimeZone, at: Timestamp) -> LocalTime {
    let utc = jiff::Timestamp::from_millisecond(at.millis()).unwrap_or_default();
    let local = utc.to_zoned_datetime(zone);
    let since_year_one = local.date().duration_since(date(1, 1, 1));
    LocalTime {
        date: local.date().to_string(),
        day: since_year_one.as_hours() / 24,
        clock: local.strftime("%H:%M:%S").to_string(),
    }
}

/// Returns the first and last moment of a date such as `2026-03-01` in a time zone.
pub(super) fn day(zone: &TimeZone, date: &str) -> Option<(Timestamp, Timestamp)> {
    let date = Date::strptime("%Y-%m-%d", date).ok()?;
    let (first, next) = (
        beginning(zone, date)?,
        beginning(zone, date.tomorrow().ok()?)?,
    );
    let last = Timestamp::from_millis(next.millis().saturating_sub(1));
    Some((first, last))
}

/// Returns the first and last moment of a minute such as `2026-03-01T09:30` in a time zone. A minute that clocks skip
/// is moved by the length of the gap, and the first of two is meant by a minute that they repeat.
pub(super) fn minute(zone: &TimeZone, minute: &str) -> Option<(Timestamp, Timestamp)> {
    let minute = DateTime::strptime("%Y-%m-%dT%H:%M", minute).ok()?;
    let first = minute.to_zoned_datetime(zone.clone()).ok()?.timestamp();
    let first = Timestamp::from_millis(first.as_millisecond());
    Some((first, first.plus_millis(59_999)))
}

/// Returns the first moment of a date. If clocks go forward at midnight, the date begins at 01:00.
fn beginning(zone: &TimeZone, date: Date) -> Option<Timestamp> {
    let midnight = date.to_zoned_datetime(zone.clone()).ok()?;
    Some(Timestamp::from_millis(
        midnight.timestamp().as_millisecond(),
    ))
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
        let shown = local(tokyo.clone(), at("2026-02-28T15:30:00Z"));
        assert_eq!((&*shown.date, &*shown.clock), ("2026-03-01", "00:30:00"));
        let before = local(tokyo, at("2026-02-28T14:59:59Z"));
        assert_eq!(shown.day - before.day, 1);
    }

    #[test]
    fn an_unknown_zone_is_utc() {
        assert_eq!(named(Some("Middle/Earth")), TimeZone::UTC);
        assert_eq!(name(Some("Middle/Earth")), "UTC");
        assert_eq!(named(None), TimeZone::UTC);
    }

    #[test]
    fn a_minute_is_read_on_the_clocks_of_the_zone() {
        let berlin = named(Some("Europe/Berlin"));
        let expected = (at("2026-03-01T08:30:00Z"), at("2026-03-01T08:30:59.999Z"));
        assert_eq!(minute(&berlin, "2026-03-01T09:30"), Some(expected));
        let first_of = |text| minute(&berlin, text).map(|(first, _)| first);
        assert_eq!(
            first_of("2026-03-29T02:30"),
            Some(at("2026-03-29T01:30:00Z"))
        );
        assert_eq!(
            first_of("2026-10-25T02:30"),
            Some(at("2026-10-25T00:30:00Z"))
        );
        for other in ["2026-03-01", "2026-03-01T09:30:00Z", "now", ""] {
            assert_eq!(minute(&berlin, other), None);
        }
    }

    #[test]
    fn a_day_is_as_long_as_its_clocks_say() {
        let berlin = named(Some("Europe/Berlin"));
        let spring = (at("2026-03-28T23:00:00Z"), at("2026-03-29T21:59:59.999Z"));
        assert_eq!(day(&berlin, "2026-03-29"), Some(spring));
        let autumn = (at("2026-10-24T22:00:00Z"), at("2026-10-25T22:59:59.999Z"));
        assert_eq!(day(&berlin, "2026-10-25"), Some(autumn));
        // This day has no midnight.
        let beirut = day(&named(Some("Asia/Beirut")), "2026-03-29");
        assert_eq!(
            beirut.map(|(first, _)| first),
            Some(at("2026-03-28T22:00:00Z"))
        );
        assert_eq!(day(&berlin, "today"), None);
        assert_eq!(day(&berlin, "2026-02-30"), None);
    }
}
