//! Formatting of times.

use leptos::prelude::*;
use pennon_model::time::Timestamp;

use crate::{
    html::{Html, IntoHtml as _, html},
    port::{LocalTime, local, visit},
};

const SECOND: i64 = 1000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// A relative time, with the exact time on hover; after a month, only the date.
#[component]
pub fn Time(
    /// The time.
    at: Timestamp,
) -> impl IntoView {
    let now = visit().map_or(at, |visit| visit.now());
    let text = ago(at, now).unwrap_or_else(|| local(at).date);
    time_element(at, text)
}

/// Renders a relative time, or the word for never.
pub fn time_or(at: Option<Timestamp>, never: &'static str) -> Html {
    match at {
        Some(at) => html! { <Time at/> },
        None => never.into_html(),
    }
}

/// A time of day in the visitor's time zone.
#[component]
pub fn Clock(
    /// The time.
    at: Timestamp,
) -> impl IntoView {
    time_element(at, local(at).hour_and_minute().to_owned())
}

/// A date in the visitor's time zone.
#[component]
pub fn Date(
    /// The time.
    at: Timestamp,
) -> impl IntoView {
    time_element(at, local(at).date)
}

/// A date in UTC, and its time zone, because the other times of the page may be in another.
#[component]
pub fn UtcDate(
    /// The time.
    at: Timestamp,
) -> impl IntoView {
    time_element(at, format!("{} (UTC)", LocalTime::in_utc(at).date))
}

/// A time as text, with UTC on hover.
fn time_element(at: Timestamp, text: String) -> impl IntoView {
    let utc = LocalTime::in_utc(at);
    view! {
        <time datetime=at.to_string() title=format!("{} {} UTC", utc.date, utc.clock)>
            {text}
        </time>
    }
}

/// Names the day of a time: `Today`, `Yesterday`, or the date.
pub fn day(at: &LocalTime, today: &LocalTime) -> String {
    let name = match today.day.saturating_sub(at.day) {
        0 => "Today · ",
        1 => "Yesterday · ",
        _ => "",
    };
    format!("{name}{}", at.date)
}

/// Formats the time between the two in one unit; none after 30 days, when a date is clearer.
fn ago(at: Timestamp, now: Timestamp) -> Option<String> {
    let elapsed = now.millis().saturating_sub(at.millis());
    match elapsed {
        ..MINUTE => Some("just now".to_owned()),
        MINUTE..HOUR => Some(format!("{} min ago", elapsed / MINUTE)),
        HOUR..DAY => Some(format!("{} h ago", elapsed / HOUR)),
        _ if elapsed < 30 * DAY => Some(format!("{} d ago", elapsed / DAY)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_shown_in_the_largest_unit_that_fits() {
        let at = Timestamp::from_millis(0);
        let formatted = |millis| ago(at, Timestamp::from_millis(millis));
        assert_eq!(formatted(0).as_deref(), Some("just now"));
        assert_eq!(formatted(59 * SECOND).as_deref(), Some("just now"));
        assert_eq!(formatted(MINUTE).as_deref(), Some("1 min ago"));
        assert_eq!(formatted(2 * HOUR).as_deref(), Some("2 h ago"));
        assert_eq!(formatted(29 * DAY).as_deref(), Some("29 d ago"));
        assert_eq!(formatted(30 * DAY), None);
    }

    #[test]
    fn the_last_two_days_have_a_name() {
        let at = |millis| LocalTime::in_utc(Timestamp::from_millis(millis));
        let formatted = |millis| day(&at(millis), &at(3 * DAY + HOUR));
        assert_eq!(formatted(3 * DAY), "Today · 1970-01-04");
        assert_eq!(formatted(3 * DAY - 1), "Yesterday · 1970-01-03");
        assert_eq!(formatted(DAY), "1970-01-02");
    }

    #[test]
    fn a_slow_clock_never_shows_a_time_in_the_future() {
        let formatted = ago(Timestamp::from_millis(HOUR), Timestamp::from_millis(0));
        assert_eq!(formatted.as_deref(), Some("just now"));
    }
}
