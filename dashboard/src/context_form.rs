//! The context form: an evaluation context as JSON, as in the API, and as the fields of a form.

use std::borrow::Cow;

use pennon_core::{
    Context,
    context::CustomValue,
    rule::{Attribute, ValueType},
};
use pennon_model::{
    context::{CUSTOM_ATTRIBUTES, read_context},
    email::is_email,
    json::Json,
};
use serde_json::{Map, Number, Value};

/// A row of the form with a custom attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttributeRow {
    /// Its name; a row without one is ignored.
    pub name: String,
    /// The type of its value.
    pub kind: ValueType,
    /// Its value.
    pub value: String,
}

/// An empty row.
impl Default for AttributeRow {
    fn default() -> Self {
        Self {
            name: String::new(),
            kind: ValueType::String,
            value: String::new(),
        }
    }
}

/// The fields of a form: the four built-in attributes, and a row for each custom one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fields {
    /// The built-in attributes, in the order of [`Attribute::BUILT_IN`]; an empty one is absent.
    pub built_in: [String; 4],
    /// The custom attributes.
    pub rows: Vec<AttributeRow>,
}

impl Fields {
    /// Returns the fields for a context.
    pub fn of(context: &Context<'_>) -> Self {
        let row = |(name, value): (&Cow<'_, str>, &CustomValue<'_>)| {
            let (kind, value) = match value {
                CustomValue::String(text) => (ValueType::String, text.to_string()),
                CustomValue::Number(number) => (ValueType::Number, number.to_string()),
                CustomValue::Boolean(boolean) => (ValueType::Boolean, boolean.to_string()),
            };
            AttributeRow {
                name: name.to_string(),
                kind,
                value,
            }
        };
        Self {
            built_in: built_in(context).map(|text| text.unwrap_or_default().to_owned()),
            rows: context.custom.iter().map(row).collect(),
        }
    }

    /// Returns the context of the fields, or their errors.
    pub fn context(&self) -> Result<Context<'static>, Vec<String>> {
        let mut faults = Vec::new();
        let [user_id, tenant_id, email, country] = &self.built_in;
        let given = |text: &String| (!text.is_empty()).then(|| Cow::Owned(text.clone()));
        let email = given(email);
        if email.as_deref().is_some_and(|email| !is_email(email)) {
            faults.push("email must be an e-mail address.".to_owned());
        }
        let named = self.rows.iter().filter(|row| !row.name.is_empty());
        let mut context = Context {
            user_id: given(user_id),
            tenant_id: given(tenant_id),
            email,
            country: given(country),
            ..Context::default()
        };
        for row in named {
            match custom_value(row) {
                Ok(value) => {
                    context.custom.insert(Cow::Owned(row.name.clone()), value);
                }
                Err(fault) => faults.push(fault),
            }
        }
        if faults.is_empty() {
            Ok(context)
        } else {
            Err(faults)
        }
    }
}

fn custom_value(row: &AttributeRow) -> Result<CustomValue<'static>, String> {
    let AttributeRow { name, kind, value } = row;
    match kind {
        ValueType::String => Ok(CustomValue::String(Cow::Owned(value.clone()))),
        ValueType::Number => match value.trim().parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(CustomValue::Number(number)),
            _ => Err(format!("{name} must be a number.")),
        },
        ValueType::Boolean => match value.trim() {
            "true" => Ok(CustomValue::Boolean(true)),
            "false" => Ok(CustomValue::Boolean(false)),
            _ => Err(format!("{name} must be true or false.")),
        },
    }
}

/// Reads a context as the API does. Blank text is an empty context.
///
/// # Errors
///
/// One sentence per fault.
pub fn read(json: &str) -> Result<Context<'static>, Vec<String>> {
    if json.trim().is_empty() {
        return Ok(Context::default());
    }
    match serde_json::from_str(json) {
        Ok(json) => context(json),
        Err(error) => Err(vec![format!("This is not valid JSON: {error}.")]),
    }
}

/// Reads a context out of a JSON value.
///
/// # Errors
///
/// One sentence per fault.
pub fn context(json: Json<'_>) -> Result<Context<'static>, Vec<String>> {
    if !matches!(json, Json::Object(_)) {
        return Err(vec![
            "A context must be a JSON object, such as {\"userId\": \"ada\"}.".to_owned(),
        ]);
    }
    let mut faults = Vec::new();
    let context = read_context(json, |names, detail| {
        faults.push(format!("{} {detail}.", names.join("/")));
    });
    if faults.is_empty() {
        Ok(context.into_owned())
    } else {
        Err(faults)
    }
}

/// Formats a context as JSON in the API's form, indented.
pub fn write(context: &Context<'_>) -> String {
    serde_json::to_string_pretty(&members(context)).unwrap_or_default()
}

/// Formats a context as one line of JSON.
pub fn compact(context: &Context<'_>) -> String {
    serde_json::to_string(&members(context)).unwrap_or_default()
}

/// Returns the built-in attributes of a context, in the order of [`Attribute::BUILT_IN`].
fn built_in<'c>(context: &'c Context<'_>) -> [Option<&'c str>; 4] {
    [
        context.user_id.as_deref(),
        context.tenant_id.as_deref(),
        context.email.as_deref(),
        context.country.as_deref(),
    ]
}

fn members(context: &Context<'_>) -> Map<String, Value> {
    let mut members = Map::new();
    for (attribute, text) in Attribute::BUILT_IN.iter().zip(built_in(context)) {
        if let Some(text) = text {
            members.insert(attribute.as_str().to_owned(), Value::from(text));
        }
    }
    if !context.custom.is_empty() {
        let custom = context.custom.iter().map(|(name, value)| {
            let value = match value {
                CustomValue::String(text) => Value::from(text.as_ref()),
                CustomValue::Number(number) => number_value(*number),
                CustomValue::Boolean(boolean) => Value::from(*boolean),
            };
            (name.to_string(), value)
        });
        members.insert(
            CUSTOM_ATTRIBUTES.to_owned(),
            Value::Object(custom.collect()),
        );
    }
    members
}

/// Converts a number; an integer has no fraction.
fn number_value(number: f64) -> Value {
    let whole = number.to_string().parse::<i64>().ok().map(Number::from);
    whole
        .or_else(|| Number::from_f64(number))
        .map_or(Value::Null, Value::Number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_and_json_are_equivalent() {
        let json = r#"{"userId": "ada", "customAttributes": {"beta": true, "plan": "pro", "seats": 12, "share": 0.5}}"#;
        let context = read(json).expect("a context");
        assert_eq!(Fields::of(&context).context(), Ok(context.clone()));
        assert_eq!(read(&write(&context)), Ok(context));
    }

    #[test]
    fn absent_null_and_empty_values_are_no_attributes() {
        for json in [
            "",
            " ",
            "{}",
            r#"{"userId": null, "customAttributes": {"plan": null}}"#,
        ] {
            assert_eq!(read(json), Ok(Context::default()), "{json}");
        }
        let unnamed = Fields {
            rows: vec![AttributeRow {
                value: "left over".to_owned(),
                ..AttributeRow::default()
            }],
            ..Fields::default()
        };
        assert_eq!(unnamed.context(), Ok(Context::default()));
    }

    #[test]
    fn all_errors_of_a_context_are_reported_at_once() {
        let json = r#"{"userId": 1, "email": "nobody", "customAttributes": {"plan": []}}"#;
        assert_eq!(read(json).map_err(|faults| faults.len()), Err(3));
        let fields = Fields {
            rows: vec![AttributeRow {
                name: "seats".to_owned(),
                kind: ValueType::Number,
                value: "many".to_owned(),
            }],
            ..Fields::default()
        };
        assert_eq!(
            fields.context(),
            Err(vec!["seats must be a number.".to_owned()])
        );
        assert!(read("[]").is_err());
        assert!(read("{").is_err());
    }
}
