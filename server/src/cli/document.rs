//! Reading JSON files by the rules of the API.

use pennon_model::json::Json;

use crate::admin::transfer::FORMAT_VERSION;
use crate::error::Fault;
use crate::http::fields::{Fields, FromFields};

/// The member that holds the version of the format.
const VERSION: &str = "formatVersion";

/// The reason that a file is refused. It contains no value of the file.
pub(super) enum Problem {
    /// The file is not such a document.
    Unreadable(String),
    /// Everything that is wrong with the document.
    Faults(Vec<Fault>),
}

/// Reads a document with a `formatVersion`. It reports all faults at once, unknown and duplicate members among them.
pub(super) fn parse<T: FromFields>(text: &[u8]) -> Result<T, Problem> {
    let invalid = |error| Problem::Unreadable(format!("is not valid JSON: {error}"));
    let document: Json<'_> = serde_json::from_slice(text).map_err(invalid)?;
    let Json::Object(members) = &document else {
        return Err(Problem::Unreadable("is not a JSON object".to_owned()));
    };
    // The version decides how the rest is read.
    let version = members.iter().rfind(|(name, _)| name == VERSION);
    if version.is_none_or(|(_, version)| *version != Json::Number(FORMAT_VERSION.into())) {
        let problem = format!("is not of `{VERSION}` {FORMAT_VERSION}");
        return Err(Problem::Unreadable(problem));
    }
    let reader = |fields: &mut Fields<'_>| {
        fields.skip(VERSION);
        T::from_fields(fields)
    };
    Fields::read(document, reader).map_err(Problem::Faults)
}
