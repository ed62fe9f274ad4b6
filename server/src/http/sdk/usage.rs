//! Usage reports of applications that evaluate locally.

use pennon_core::Reason;
use pennon_model::json::Json;
use pennon_model::usage::Outcome;
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, SchemaFormat, Type};
use utoipa::openapi::{RefOr, Schema};
use uuid::Uuid;
use uuid::fmt::Hyphenated;

use super::items;
use crate::admin::usage::{self, Report};
use crate::error::{Error, Fault, no_faults};
use crate::evaluation::sdk_environment::SdkKey;
use crate::http::body::{Body, object};
use crate::http::openapi::shape::{nullable, text};
use crate::http::openapi::{InBody, Schemas};
use crate::http::respond::NoContent;

/// The maximum size of a report, in bytes. It is sufficient for the maximum number of counts with the longest keys.
const LIMIT: usize = 256 * 1024;

/// The permitted number of counts in a report.
const ITEMS: std::ops::RangeInclusive<usize> = 1..=1000;

/// The permitted range of one count.
const COUNT: std::ops::RangeInclusive<f64> = 1.0..=1_000_000_000.0;

/// Reports local evaluations.
///
/// The evaluations count as if they had been made now. Flags that do not exist in the environment are ignored. A report
/// with an `id` is counted once within an hour, even if it reaches several instances. If no response arrives, send it
/// again with the same `id`.
///
/// The server counts at most 2,000,000,000 reported evaluations of a flag in an environment in an hour, and ignores the
/// rest. Of clients with the key of a public environment, a random tenth should report: the server multiplies their
/// counts by ten.
#[utoipa::path(post, path = "/usage")]
pub(super) async fn report(key: SdkKey, body: Body<Counts>) -> Result<NoContent, Error> {
    let sampling = usage::Sampling::of(&key);
    let environment = key.for_report()?;
    let bytes = body.bytes(LIMIT).await?;
    let mut faults = Vec::new();
    let mut body = object(&bytes)?;
    let mut members = Members {
        object: &mut body,
        pointer: "",
        faults: &mut faults,
    };
    let expected = "must be a UUID such as 6f1c2a52-0f0b-4f0e-9d5e-3b1c7a9e2d41";
    let id = members.read("id", expected, |id| match id {
        Json::Null => Some(None),
        id => uuid(id).map(Some),
    });
    let counts = body.take("counts");
    let reports = items(counts, "/counts", &ITEMS, &mut faults, one);
    no_faults(faults)?;
    usage::report(&environment, sampling, id.flatten(), &reports)?;
    Ok(NoContent)
}

fn one(mut item: Json<'_>, pointer: &str, faults: &mut Vec<Fault>) -> Option<Report> {
    if !matches!(item, Json::Object(_)) {
        faults.push(Fault::pointer(pointer, "must be an object"));
        return None;
    }
    let mut members = Members {
        object: &mut item,
        pointer,
        faults,
    };
    let flag_key = members.read("flagKey", "must be a string", |key| {
        string(key).map(str::to_owned)
    });
    let reason = members.read("reason", "must be a reason of evaluations", |reason| {
        Reason::parse(string(reason)?).ok()
    });
    let enabled = members.read("enabled", "must be a boolean", |enabled| match enabled {
        Json::Null => Some(None),
        Json::Boolean(enabled) => Some(Some(*enabled)),
        _ => None,
    });
    let count = members.read("count", "must be an integer from 1 to 1000000000", count);
    Some(Report {
        flag_key: flag_key?,
        outcome: Outcome::new(reason?, enabled?),
        count: count?,
    })
}

/// The members of an object, and the faults of the body.
struct Members<'a, 'j> {
    object: &'a mut Json<'j>,
    /// The location of the object.
    pointer: &'a str,
    faults: &'a mut Vec<Fault>,
}

impl Members<'_, '_> {
    /// Reads a member, and adds a fault if `read` returns none.
    fn read<T>(
        &mut self,
        name: &str,
        expected: &str,
        read: impl FnOnce(&Json<'_>) -> Option<T>,
    ) -> Option<T> {
        let given = self.object.take(name);
        let value = read(&given);
        if value.is_none() {
            let wrong = match given {
                Json::Null => "is required",
                _ => expected,
            };
            self.faults.push(Fault::member(self.pointer, name, wrong));
        }
        value
    }
}

fn string<'g>(given: &'g Json<'_>) -> Option<&'g str> {
    match given {
        Json::String(text) => Some(text),
        _ => None,
    }
}

/// Reads a UUID in the usual form with hyphens.
fn uuid(given: &Json<'_>) -> Option<Uuid> {
    let text = string(given).filter(|text| text.len() == Hyphenated::LENGTH)?;
    Uuid::try_parse(text).ok()
}

fn count(given: &Json<'_>) -> Option<u64> {
    let &Json::Number(number) = given else {
        return None;
    };
    if !COUNT.contains(&number) || number.fract() != 0.0 {
        return None;
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the value is an integer within the range"
    )]
    Some(number as u64)
}

/// The body of a report.
pub(super) enum Counts {}

impl InBody for Counts {
    fn schema(schemas: &mut Schemas) -> RefOr<Schema> {
        let reason = schemas.refer::<Reason>();
        schemas.define("UsageReport", |_| {
            let count = ObjectBuilder::new()
                .schema_type(Type::Integer)
                .minimum(Some(*COUNT.start()))
                .maximum(Some(*COUNT.end()))
                .description(Some("The number of evaluations since the last report."));
            let enabled = ObjectBuilder::new()
                .schema_type(Type::Boolean)
                .description(Some(
                    "The result. It only matters for the reasons `targeting_rule` and `rollout`, because the others imply it.",
                ));
            let item = ObjectBuilder::new()
                .schema_type(Type::Object)
                .property("flagKey", text("The flag's key."))
                .required("flagKey")
                .property("reason", reason)
                .required("reason")
                .property("enabled", nullable(enabled.into()))
                .property("count", count)
                .required("count");
            let counts = ArrayBuilder::new()
                .items(item)
                .min_items(Some(*ITEMS.start()))
                .max_items(Some(*ITEMS.end()));
            let id = text("A random UUID. A report with the same id counts once within an hour.")
                .format(Some(SchemaFormat::Custom("uuid".to_owned())));
            ObjectBuilder::new()
                .schema_type(Type::Object)
                .description(Some(
                    "Evaluations since the last report. Other members are ignored.",
                ))
                .property("id", nullable(id.into()))
                .property("counts", counts)
                .required("counts")
                .into()
        })
    }
}
