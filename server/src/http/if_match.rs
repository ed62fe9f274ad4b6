//! Conditional requests: `If-Match` (RFC 9110, section 13.1.1) with the revision from an `ETag`.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use http::header::IF_MATCH;
use http::request::Parts;

use crate::admin::precondition::Precondition;

/// The precondition of a change; none without the header.
///
/// The comparison is strong: a weak tag matches nothing, and neither does a tag that the server did not issue.
pub(crate) struct IfMatch(pub(crate) Precondition);

impl<S: Sync> FromRequestParts<S> for IfMatch {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let mut lines = parts.headers.get_all(IF_MATCH).iter().peekable();
        if lines.peek().is_none() {
            return Ok(Self(Precondition::None));
        }
        let tags: Vec<&str> = lines
            .filter_map(|line| line.to_str().ok())
            .flat_map(|line| line.split(','))
            .map(str::trim)
            .collect();
        Ok(Self(if tags.contains(&"*") {
            Precondition::Exists
        } else {
            Precondition::OneOf(tags.into_iter().filter_map(revision).collect())
        }))
    }
}

fn revision(tag: &str) -> Option<i64> {
    let text = tag.strip_prefix('"')?.strip_suffix('"')?;
    let revision: i64 = text.parse().ok()?;
    (revision.to_string() == text).then_some(revision)
}
