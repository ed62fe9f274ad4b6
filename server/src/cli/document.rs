//! Reads JSON files by the rules of the API.

use std::path::Path;

use pennon_model::json::Json;

use crate::admin::transfer::FORMAT_VERSION;
use crate::error::Fault;
use crate::http::fields::{Fields, FromFields};

/// The member with the version of the format.
const VERSION: &str = "formatVersion";

/// The reason why a file is refused. It contains no value from the file.
pub(super) enum Problem {
    /// The file is not a JSON document of this format version.
    Unreadable(String),
    /// The document has these faults.
    Faults(Vec<Fault>),
}

impl Problem {
    /// Describes the problem of a file. `refusal` introduces the faults, which are on lines of their own.
    pub(super) fn in_file(&self, file: &Path, refusal: &str) -> String {
        match self {
            Self::Unreadable(problem) => format!("{}: {problem}", file.display()),
            Self::Faults(faults) => {
                let line = |fault: &Fault| format!("\n  {}: {}", fault.location, fault.detail);
                let lines: String = faults.iter().map(line).collect();
                format!("{}: {refusal}:{lines}", file.display())
            }
        }
    }
}

/// Reads a document with a `formatVersion`. It reports all faults at once, including unknown and duplicate members.
pub(super) fn parse<T: FromFields>(text: &[u8]) -> Result<T, Problem> {
    let invalid = |error| Problem::Unreadable(format!("is not valid JSON: {error}"));
    let document: Json<'_> = serde_json::from_slice(text).map_err(invalid)?;
    let Json::Object(members) = &document else {
        return Err(Problem::Unreadable("is not a JSON object".to_owned()));
    };
    // The version determines how the rest is read.
    let version = members.iter().rfind(|(name, _)| name == VERSION);
    if version.is_none_or(|(_, version)| *version != Json::Number(FORMAT_VERSION.into())) {
        let problem = format!("must have `{VERSION}` {FORMAT_VERSION}");
        return Err(Problem::Unreadable(problem));
    }
    let reader = |fields: &mut Fields<'_>| {
        fields.skip(VERSION);
        T::from_fields(fields)
    };
    Fields::read(document, reader).map_err(Problem::Faults)
}
