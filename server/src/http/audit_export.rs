//! Exports the audit log as a file.

use axum::body::{Body, Bytes};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_TYPE};
use http::request::Parts;
use pennon_model::audit::AuditFilter;
use pennon_model::page::{Limit, PageRequest};
use pennon_model::time::Timestamp;

use super::query;
use crate::admin::Admin;
use crate::admin::audit;
use crate::auth::actor::Actor;
use crate::error::Error;

/// Returns every entry that the query selects, as a JSON array in a file, newest first.
///
/// Entries are read and sent page by page. Entries that are added during the export are excluded, so that no entry
/// occurs twice.
pub(super) async fn export(admin: Admin, actor: Actor, parts: &Parts) -> Result<Response, Error> {
    let mut filter: AuditFilter = query::read(parts)?;
    // The same entries as on the page with the same query.
    filter.flags_of_product = true;
    let now = Timestamp::from_millis(admin.clock.now().millis() - 1);
    filter.to = Some(filter.to.map_or(now, |to| to.min(now)));
    let first = Export {
        admin,
        actor,
        filter,
        page: 1,
        sent: 0,
    };
    // Read the first page before the response begins, so that an error can still set the status.
    let Some((beginning, rest)) = first.next().await? else {
        return Ok(file(Body::from("[]\n")));
    };
    let pages = stream::try_unfold(Some(rest), async |export| match export {
        Some(export) => Ok::<_, Error>(match export.next().await? {
            Some((bytes, rest)) => Some((bytes, Some(rest))),
            None => Some((Bytes::from_static(b"\n]\n"), None)),
        }),
        None => Ok(None),
    });
    let beginning = stream::once(async { Ok(beginning) });
    let lines = futures_util::StreamExt::chain(beginning, pages);
    Ok(file(Body::from_stream(lines)))
}

fn file(body: Body) -> Response {
    let headers = [
        (CONTENT_TYPE, "application/json"),
        (
            CONTENT_DISPOSITION,
            "attachment; filename=\"pennon-audit.json\"",
        ),
        (CACHE_CONTROL, "no-store"),
    ];
    (headers, body).into_response()
}

/// An export in progress.
struct Export {
    admin: Admin,
    actor: Actor,
    filter: AuditFilter,
    page: i64,
    sent: i64,
}

impl Export {
    /// Returns the next page and the rest of the export; none at the end.
    async fn next(mut self) -> Result<Option<(Bytes, Self)>, Error> {
        let request = PageRequest {
            page: self.page.try_into().unwrap_or_default(),
            limit: Limit::MAX,
        };
        let page = audit::list(&self.admin, &self.actor, &self.filter, request).await?;
        if page.items.is_empty() {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        for recorded in page.items {
            let before: &[u8] = if self.sent == 0 { b"[\n" } else { b",\n" };
            bytes.extend_from_slice(before);
            serde_json::to_writer(&mut bytes, &recorded.entry)
                .map_err(|error| Error::Internal(format!("an entry is no JSON: {error}")))?;
            self.sent += 1;
        }
        self.page += 1;
        Ok(Some((Bytes::from(bytes), self)))
    }
}
