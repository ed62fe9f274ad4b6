//! Exports the audit log as a file.

use axum::body::{Body, Bytes};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use http::StatusCode;
use http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_TYPE};
use http::request::Parts;
use pennon_model::audit::{AuditEntry, AuditFilter};

use super::openapi::{Answer, Answered, Schemas};
use super::query;
use crate::admin::Admin;
use crate::admin::audit;
use crate::auth::actor::Actor;
use crate::error::Error;

/// The format of an export.
struct Format {
    content_type: &'static str,
    disposition: &'static str,
    /// The text before the first entry.
    start: &'static [u8],
    /// The text between entries.
    separator: &'static [u8],
    /// The text after the last entry.
    end: &'static [u8],
    /// The text of an export without entries.
    empty: &'static str,
}

/// A JSON array.
const ARRAY: Format = Format {
    content_type: "application/json",
    disposition: "attachment; filename=\"pennon-audit.json\"",
    start: b"[\n",
    separator: b",\n",
    end: b"\n]\n",
    empty: "[]\n",
};

/// One JSON object per line.
const LINES: Format = Format {
    content_type: JSON_LINES,
    disposition: "attachment; filename=\"pennon-audit.jsonl\"",
    start: b"",
    separator: b"\n",
    end: b"\n",
    empty: "",
};

/// The media type of JSON lines.
const JSON_LINES: &str = "application/x-ndjson";

/// 200 with every audit entry on its own line.
pub(crate) struct JsonLines(Response);

impl IntoResponse for JsonLines {
    fn into_response(self) -> Response {
        self.0
    }
}

impl Answer for JsonLines {
    fn answers(schemas: &mut Schemas) -> Vec<Answered> {
        let about = "An audit entry on each line.";
        let entry = schemas.refer::<AuditEntry>();
        vec![Answered {
            media_type: JSON_LINES,
            ..Answered::new(StatusCode::OK, about, Some(entry))
        }]
    }
}

/// Returns every entry that the query of a dashboard page selects, as a JSON array, newest first.
pub(super) async fn export(admin: Admin, actor: Actor, parts: &Parts) -> Result<Response, Error> {
    let mut filter: AuditFilter = query::read(parts)?;
    // The same entries as on the page with the same query.
    filter.flags_of_product = true;
    file(admin, actor, filter, &ARRAY).await
}

/// Returns every entry that a filter selects, as JSON lines, newest first.
pub(crate) async fn lines(
    admin: Admin,
    actor: Actor,
    filter: AuditFilter,
) -> Result<JsonLines, Error> {
    file(admin, actor, filter, &LINES).await.map(JsonLines)
}

/// Returns the entries as a file.
///
/// Entries are read and sent in parts. Each part precedes the last one in time, so entries that are added during the
/// export are excluded.
async fn file(
    admin: Admin,
    actor: Actor,
    filter: AuditFilter,
    format: &'static Format,
) -> Result<Response, Error> {
    let first = Export {
        admin,
        actor,
        filter,
        format,
        last: None,
    };
    // Read the first page before the response begins, so that an error can still set the status.
    let Some((beginning, rest)) = first.next().await? else {
        return Ok(response(format, Body::from(format.empty)));
    };
    let pages = stream::try_unfold(Some(rest), async move |export| match export {
        Some(export) => Ok::<_, Error>(match export.next().await? {
            Some((bytes, rest)) => Some((bytes, Some(rest))),
            None => Some((Bytes::from_static(format.end), None)),
        }),
        None => Ok(None),
    });
    let beginning = stream::once(async { Ok(beginning) });
    let all = futures_util::StreamExt::chain(beginning, pages);
    Ok(response(format, Body::from_stream(all)))
}

fn response(format: &Format, body: Body) -> Response {
    let headers = [
        (CONTENT_TYPE, format.content_type),
        (CONTENT_DISPOSITION, format.disposition),
        (CACHE_CONTROL, "no-store"),
    ];
    (headers, body).into_response()
}

/// An export in progress.
struct Export {
    admin: Admin,
    actor: Actor,
    filter: AuditFilter,
    format: &'static Format,
    /// The last entry that was sent.
    last: Option<AuditEntry>,
}

impl Export {
    /// Returns the next part and the rest of the export; none at the end.
    async fn next(mut self) -> Result<Option<(Bytes, Self)>, Error> {
        let entries = audit::next(&self.admin, &self.actor, &self.filter, self.last.as_ref());
        let entries = entries.await?;
        if entries.is_empty() {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        for recorded in entries {
            let before = match self.last {
                None => self.format.start,
                Some(_) => self.format.separator,
            };
            bytes.extend_from_slice(before);
            serde_json::to_writer(&mut bytes, &recorded.entry)
                .map_err(|error| Error::Internal(format!("an entry is no JSON: {error}")))?;
            self.last = Some(recorded.entry);
        }
        Ok(Some((Bytes::from(bytes), self)))
    }
}
