//! JSON of requests that many tests send.

use serde_json::{Value, json};

/// An ID that nothing has.
pub const UNKNOWN_ID: &str = "0190a000-0000-7000-8000-000000000000";

/// Returns the condition that an attribute has a value, which is a text, a whole number, or a truth value.
pub fn equals(attribute: &str, value: impl Into<Value>) -> Value {
    let value = value.into();
    let (value_type, member) = match value {
        Value::Bool(_) => ("boolean", "valueBool"),
        Value::Number(_) => ("number", "valueInt"),
        _ => ("string", "valueString"),
    };
    json!({ "attribute": attribute, "operator": "==", "valueType": value_type, member: value })
}

/// Returns a targeting rule that turns a flag on under one condition.
pub fn rule(priority: usize, condition: Value) -> Value {
    let conditions = vec![condition];
    json!({ "priority": priority, "logic": "and", "value": true, "conditions": conditions })
}

/// Returns a rollout to this percentage of users.
pub fn rollout(percentage: u8) -> Value {
    json!({ "percentage": percentage, "strategy": "per_user" })
}
