//! The results of all flags for a context, for OpenFeature providers and for clients that do not evaluate locally.

use std::marker::PhantomData;
use std::vec;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, StatusCode};
use pennon_core::Context;
use serde::Serialize;
use sha2::{Digest, Sha256};
use utoipa::ToSchema;

use super::if_none_match::{Caching, IfNoneMatch};
use super::openapi::{Answer, Answered, Schemas, unless_known};
use super::parts::{Pieces, in_parts};
use super::respond::Json;
use crate::error::Error;
use crate::evaluation::Evaluator;
use crate::evaluation::sdk_environment::SdkEnvironment;
use crate::snapshot::{ActiveFlags, Document, ServedFlag};

/// The results of all active flags, or 304 if the client already has them. `T` describes the JSON.
pub(super) enum AllResults<T> {
    Evaluated(Caching, Body),
    Unchanged(Caching, PhantomData<T>),
}

/// JSON with lists of flags. The flags are evaluated while the JSON is sent.
pub(super) trait FlagLists {
    /// The JSON after the last list.
    const END: &'static str;

    /// Returns the lists in their order.
    fn lists(context: &Context<'_>) -> Vec<FlagList>;
}

/// A list of flags in JSON.
pub(super) struct FlagList {
    /// The JSON before the first flag.
    pub(super) start: String,
    /// Adds an active flag, if it belongs to the list.
    pub(super) add: fn(&Evaluator, &str, &ServedFlag, &mut Items<'_>),
}

/// The JSON of a list in progress.
pub(super) struct Items<'t> {
    text: &'t mut Vec<u8>,
    is_empty: &'t mut bool,
}

impl<T: FlagLists> AllResults<T> {
    /// Returns the results for a context, unless the client has them. `question` is the body of the request, and
    /// `caching` returns the headers for their tag.
    pub(super) async fn of(
        environment: &SdkEnvironment,
        known: &IfNoneMatch,
        question: &[u8],
        caching: impl FnOnce(&str) -> Result<Caching, Error>,
        context: Context<'_>,
    ) -> Result<Self, Error> {
        let snapshot = environment.snapshot();
        let etag = etag(&*snapshot.document().await, question);
        let caching = caching(&etag)?;
        if known.has(&etag) {
            return Ok(Self::Unchanged(caching, PhantomData));
        }
        let results = Results {
            flags: snapshot.active_flags(),
            lists: T::lists(&context).into_iter(),
            list: None,
            end: Some(T::END),
            evaluator: Evaluator::new(environment, context),
        };
        Ok(Self::Evaluated(caching, in_parts(results)))
    }

    /// Returns true if the client already has the results.
    pub(super) fn is_unchanged(&self) -> bool {
        matches!(self, Self::Unchanged(..))
    }
}

/// Returns the tag of the results: the ID of the config document, which is also the ID of events of the stream, and a
/// hash of the request's body.
fn etag(document: &Document, question: &[u8]) -> String {
    let hash = BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(question));
    format!("W/\"{}.{hash}\"", document.id())
}

impl Items<'_> {
    /// Appends an item.
    pub(super) fn push(&mut self, item: &impl Serialize) {
        if !std::mem::replace(self.is_empty, false) {
            self.text.push(b',');
        }
        // Writing to memory does not fail.
        let _written = serde_json::to_writer(&mut *self.text, item);
    }
}

/// The JSON of results in progress. It keeps flags in memory, but not their environment's config document.
struct Results {
    flags: ActiveFlags,
    evaluator: Evaluator,
    /// The lists that have not begun.
    lists: vec::IntoIter<FlagList>,
    /// The list in progress.
    list: Option<ListInProgress>,
    /// The JSON after the lists, if it is not written yet.
    end: Option<&'static str>,
}

struct ListInProgress {
    add: fn(&Evaluator, &str, &ServedFlag, &mut Items<'_>),
    /// The position of the next flag.
    next: usize,
    is_empty: bool,
}

impl Pieces for Results {
    fn append(&mut self, text: &mut Vec<u8>) -> Option<usize> {
        if let Some(list) = &mut self.list
            && let Some((key, flag)) = self.flags.get(list.next)
        {
            list.next += 1;
            let is_empty = &mut list.is_empty;
            (list.add)(&self.evaluator, key, flag, &mut Items { text, is_empty });
            return Some(flag.entry().len());
        }
        self.list = self.lists.next().map(|list| {
            text.extend_from_slice(list.start.as_bytes());
            ListInProgress {
                add: list.add,
                next: 0,
                is_empty: true,
            }
        });
        if self.list.is_none() {
            text.extend_from_slice(self.end.take()?.as_bytes());
        }
        Some(0)
    }
}

impl<T> IntoResponse for AllResults<T> {
    fn into_response(self) -> Response {
        let json = [(CONTENT_TYPE, HeaderValue::from_static("application/json"))];
        match self {
            Self::Evaluated(caching, body) => (caching, json, body).into_response(),
            Self::Unchanged(caching, _) => (StatusCode::NOT_MODIFIED, caching).into_response(),
        }
    }
}

impl<T: ToSchema> Answer for AllResults<T> {
    fn answers(schemas: &mut Schemas) -> Vec<Answered> {
        unless_known(
            Json::<T>::answers(schemas),
            "Flags and context are unchanged since the response in `If-None-Match`.",
            "An identifier of flags and context, for `If-None-Match`.",
        )
    }
}
