//! Points in time, as people speak of them.

use leptos::prelude::*;
use pennon_core::model::time::Timestamp;

use crate::port::visit;

const SECOND: i64 = 1000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// How long ago something happened, with the exact time on hover; the date alone once it is a month past.
#[component]
pub fn Time(
    /// When it happened.
    at: Timestamp,
) -> impl IntoView {
    let exact = at.to_string();
    let date = exact.split('T').next().unwrap_or_default().to_owned();
    let clock: String = exact.chars().skip(11).take(5).collect();
    let now = visit().map_or(at, |visit| visit.now());
    let told = ago(at, now).unwrap_or_else(|| date.clone());
    view! {
        <time datetime=exact title=format!("{date} {clock} UTC")>
            {told}
        </time>
    }
}

/// At what time of its day something happened, in UTC.
#[component]
pub fn Clock(
    /// When it happened.
    at: Timestamp,
) -> impl IntoView {
    let exact = at.to_string();
    let date = exact.split('T').next().unwrap_or_default().to_owned();
    let clock: String = exact.chars().skip(11).take(5).collect();
    let seconds: String = exact.chars().skip(11).take(8).collect();
    view! {
        <time datetime=exact title=format!("{date} {seconds} UTC")>
            {clock}
        </time>
    }
}

/// The day on which something happened, in UTC: `Today`, `Yesterday`, or the date alone.
pub fn day(at: Timestamp, now: Timestamp) -> String {
    let date = |at: Timestamp| {
        let exact = at.to_string();
        exact.split('T').next().unwrap_or_default().to_owned()
    };
    let name = match now.millis().div_euclid(DAY) - at.millis().div_euclid(DAY) {
        0 => "Today · ",
        1 => "Yesterday · ",
        _ => "",
    };
    format!("{name}{}", date(at))
}

/// The distance in one unit; none when it is better told as a date.
fn ago(at: Timestamp, now: Timestamp) -> Option<String> {
    let passed = now.millis().saturating_sub(at.millis());
    match passed {
        ..MINUTE => Some("just now".to_owned()),
        MINUTE..HOUR => Some(format!("{} min ago", passed / MINUTE)),
        HOUR..DAY => Some(format!("{} h ago", passed / HOUR)),
        _ if passed < 30 * DAY => Some(format!("{} d ago", passed / DAY)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_told_in_the_largest_unit_that_fits() {
        let at = Timestamp::from_millis(0);
        let told = |millis| ago(at, Timestamp::from_millis(millis));
        assert_eq!(told(0).as_deref(), Some("just now"));
        assert_eq!(told(59 * SECOND).as_deref(), Some("just now"));
        assert_eq!(told(MINUTE).as_deref(), Some("1 min ago"));
        assert_eq!(told(2 * HOUR).as_deref(), Some("2 h ago"));
        assert_eq!(told(29 * DAY).as_deref(), Some("29 d ago"));
        assert_eq!(told(30 * DAY), None);
    }

    #[test]
    fn the_last_two_days_have_a_name() {
        let now = Timestamp::from_millis(3 * DAY + HOUR);
        let told = |millis| day(Timestamp::from_millis(millis), now);
        assert_eq!(told(3 * DAY), "Today · 1970-01-04");
        assert_eq!(told(3 * DAY - 1), "Yesterday · 1970-01-03");
        assert_eq!(told(DAY), "1970-01-02");
    }

    #[test]
    fn a_clock_that_runs_behind_does_not_tell_of_the_future() {
        let told = ago(Timestamp::from_millis(HOUR), Timestamp::from_millis(0));
        assert_eq!(told.as_deref(), Some("just now"));
    }
}
