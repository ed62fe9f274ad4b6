//! Reading JSON files by the rules of the API.

use serde_json::Value;

use crate::admin::transfer::FORMAT_VERSION;
use crate::error::Fault;
use crate::http::fields::{Fields, FromFields};
use crate::http::json::Json;

/// The reason that a file is refused. It contains no value of the file.
pub(super) enum Problem {
    /// The file is not such a document at all.
    Unreadable(String),
    /// Everything that is wrong with the document.
    Faults(Vec<Fault>),
}

/// Reads a document with a `formatVersion`. It reports all faults at once, unknown and duplicate members among them.
pub(super) fn parse<T: FromFields>(text: &[u8]) -> Result<T, Problem> {
    let invalid = |error| Problem::Unreadable(format!("is not valid JSON: {error}"));
    let mut faults = Vec::new();
    let document: Json<'_> = serde_json::from_slice(text).map_err(invalid)?;
    document.report_duplicates(&mut faults);
    let Value::Object(mut members) = serde_json::from_slice(text).map_err(invalid)? else {
        return Err(Problem::Unreadable("is not a JSON object".to_owned()));
    };
    // The version decides how the rest is read.
    if members.remove("formatVersion") != Some(Value::from(FORMAT_VERSION)) {
        let problem = format!("is not of `formatVersion` {FORMAT_VERSION}");
        return Err(Problem::Unreadable(problem));
    }
    match Fields::read(members, T::from_fields) {
        Ok(document) if faults.is_empty() => return Ok(document),
        Ok(_) => {}
        Err(others) => faults.extend(others),
    }
    Err(Problem::Faults(faults))
}
