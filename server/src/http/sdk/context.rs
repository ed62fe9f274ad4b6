//! Evaluation contexts out of requests.

use std::borrow::Cow;
use std::collections::BTreeMap;

use pennon_core::Context;
use pennon_core::model::context::{CustomValue, is_email};

use super::json::Json;
use crate::error::Fault;

/// Reads a context; absent and null mean empty. Members that are not known are ignored, bad ones are reported.
pub(super) fn context<'a>(
    mut json: Json<'a>,
    pointer: &str,
    faults: &mut Vec<Fault>,
) -> Context<'a> {
    match json {
        Json::Object(_) => {}
        Json::Null => return Context::default(),
        _ => {
            faults.push(Fault::pointer(pointer, "must be an object"));
            return Context::default();
        }
    }
    let mut text = |name: &str, faults: &mut Vec<Fault>| match json.take(name) {
        Json::String(text) => Some(text),
        Json::Null => None,
        _ => {
            faults.push(Fault::pointer(
                format!("{pointer}/{name}"),
                "must be a string",
            ));
            None
        }
    };
    let user_id = text("userId", faults);
    let tenant_id = text("tenantId", faults);
    let email = text("email", faults);
    let country = text("country", faults);
    if email.as_deref().is_some_and(|email| !is_email(email)) {
        faults.push(Fault::pointer(
            format!("{pointer}/email"),
            "must be an e-mail address",
        ));
    }
    let custom = custom_attributes(json.take("customAttributes"), pointer, faults);
    Context {
        user_id,
        tenant_id,
        email,
        country,
        custom,
    }
}

fn custom_attributes<'a>(
    json: Json<'a>,
    pointer: &str,
    faults: &mut Vec<Fault>,
) -> BTreeMap<Cow<'a, str>, CustomValue<'a>> {
    let members = match json {
        Json::Object(members) => members,
        Json::Null => return BTreeMap::new(),
        _ => {
            faults.push(Fault::pointer(
                format!("{pointer}/customAttributes"),
                "must be an object",
            ));
            return BTreeMap::new();
        }
    };
    let mut attributes = BTreeMap::new();
    for (name, value) in members {
        let value = match value {
            Json::String(text) => CustomValue::String(text),
            Json::Number(number) if number.is_finite() => CustomValue::Number(number),
            Json::Boolean(boolean) => CustomValue::Boolean(boolean),
            Json::Null => {
                attributes.remove(&name);
                continue;
            }
            _ => {
                let name = name.replace('~', "~0").replace('/', "~1");
                let pointer = format!("{pointer}/customAttributes/{name}");
                faults.push(Fault::pointer(
                    pointer,
                    "must be a string, a number or a boolean",
                ));
                continue;
            }
        };
        attributes.insert(name, value);
    }
    attributes
}
