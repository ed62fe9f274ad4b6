//! The dashboard's cookies.

use http::HeaderMap;
use http::header::COOKIE;
use pennon_dashboard::model::Theme;

use crate::config::Settings;

/// The session cookie. With an https public URL, its name has a prefix for which browsers accept it only from this
/// exact host.
const SESSION: &str = "pennon_session";
const SECURE_SESSION: &str = "__Host-pennon_session";

/// The cookie with the theme.
pub(super) const THEME: &str = "pennon_theme";

/// The cookie with the time zone, which the dashboard's script sets.
pub(super) const ZONE: &str = "pennon_zone";

/// The cookie of a browser in which an SDK key was copied or stored, which the dashboard's script sets.
pub(super) const STORED_KEY: &str = "pennon_stored_key";

/// The cookie of a browser that has just made a change. It contains nothing.
pub(super) const CHANGED: &str = "pennon_changed";

/// The cookie with the environment that lists of flags show where they have space for one.
pub(super) const ENVIRONMENT: &str = "pennon_environment";

/// Returns the name of the session cookie. It depends only on the settings, so that requests find the cookie
/// independently of what a proxy reports.
pub(super) fn of_session(settings: &Settings) -> &'static str {
    if settings.is_https() {
        SECURE_SESSION
    } else {
        SESSION
    }
}

/// Returns the value of a cookie.
pub(super) fn value<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers
        .get_all(COOKIE)
        .into_iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find_map(|(each, value)| (each == name).then_some(value))
}

/// Returns the theme that the visitor chose.
pub(in crate::http) fn theme(headers: &HeaderMap) -> Theme {
    value(headers, THEME)
        .and_then(Theme::parse)
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn a_cookie_is_found_among_others() {
        let cookies = "a=1; pennon_session=x=y;pennon_theme=dark";
        let headers = HeaderMap::from_iter([(COOKIE, HeaderValue::from_static(cookies))]);
        assert_eq!(value(&headers, SESSION), Some("x=y"));
        assert_eq!(value(&headers, THEME), Some("dark"));
        assert_eq!(value(&headers, "a "), None);
    }
}
