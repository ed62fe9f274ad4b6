//! Evaluation contexts in JSON, for the API, OpenFeature's protocol, and the dashboard.

use std::borrow::Cow;
use std::collections::BTreeMap;

use pennon_core::Context;
use pennon_core::context::CustomValue;
use pennon_core::rule::Attribute;

use crate::email::is_email;
use crate::json::Json;

/// The member of a context that holds the custom attributes.
pub const CUSTOM_ATTRIBUTES: &str = "customAttributes";

/// Reads a context. `null` stands for an empty context or an absent attribute. Unknown members are ignored.
///
/// Calls `report` for each fault, with the path to the member and a message. The context lacks members of the wrong
/// type.
pub fn read_context(
    mut json: Json<'_>,
    mut report: impl FnMut(&[&str], &'static str),
) -> Context<'_> {
    if !matches!(json, Json::Object(_) | Json::Null) {
        report(&[], "must be an object");
    }
    let [user_id, tenant_id, email, country] = Attribute::BUILT_IN.map(|attribute| {
        let name = attribute.as_str();
        match json.take(name) {
            Json::String(text) => Some(text),
            Json::Null => None,
            _ => {
                report(&[name], "must be a string");
                None
            }
        }
    });
    if email.as_deref().is_some_and(|email| !is_email(email)) {
        report(&[Attribute::Email.as_str()], "must be an e-mail address");
    }
    let custom = custom_attributes(json.take(CUSTOM_ATTRIBUTES), report);
    Context {
        user_id,
        tenant_id,
        email,
        country,
        custom,
    }
}

fn custom_attributes(
    json: Json<'_>,
    mut report: impl FnMut(&[&str], &'static str),
) -> BTreeMap<Cow<'_, str>, CustomValue<'_>> {
    let members = match json {
        Json::Object(members) => members,
        Json::Null => Vec::new(),
        _ => {
            report(&[CUSTOM_ATTRIBUTES], "must be an object");
            Vec::new()
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
                let detail = "must be a string, a number or a boolean";
                report(&[CUSTOM_ATTRIBUTES, &name], detail);
                continue;
            }
        };
        attributes.insert(name, value);
    }
    attributes
}

#[cfg(test)]
mod tests {
    use pennon_core::Context;
    use pennon_core::context::CustomValue;

    use super::read_context;

    /// As in JavaScript's `JSON.parse`.
    #[test]
    fn the_last_of_several_members_with_the_same_name_counts() {
        let text = r#"{
            "userId": "ada", "userId": "eve", "email": "ada@example.com", "email": null,
            "customAttributes": { "seats": 1 },
            "customAttributes": { "plan": "pro", "plan": 2, "beta": true, "beta": null }
        }"#;
        let json = serde_json::from_str(text).expect("valid JSON");
        let context = read_context(json, |names, detail| panic!("{names:?} {detail}"));
        let expected = Context {
            user_id: Some("eve".into()),
            custom: [("plan".into(), CustomValue::Number(2.0))].into(),
            ..Context::default()
        };
        assert_eq!(context, expected);
    }
}
