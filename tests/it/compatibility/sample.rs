//! A small API description that contains everything that the comparison covers.

use serde_json::{Value, json};

/// Returns the description.
pub(super) fn sample() -> Value {
    let item = json!({
        "type": "object",
        "required": ["id", "state", "size"],
        "properties": {
            "id": { "type": "string", "format": "uuid" },
            "state": { "$ref": "#/components/schemas/State" },
            "size": { "type": "integer" },
            "note": { "type": ["string", "null"] },
            "value": { "oneOf": [{ "type": "string" }, { "type": "boolean" }] },
            "children": { "type": "array", "items": { "$ref": "#/components/schemas/Item" } },
            "extras": { "type": "object", "additionalProperties": { "type": "integer" } },
        },
    });
    let input = json!({
        "type": "object",
        "required": ["name"],
        "properties": {
            "name": { "type": "string", "maxLength": 64, "minLength": 1, "pattern": "^a" },
            "state": { "$ref": "#/components/schemas/State" },
            "size": { "type": "number", "minimum": 0, "maximum": 9 },
            "note": { "type": ["string", "null"] },
        },
    });
    let problem = json!({ "type": "object", "properties": { "code": { "$ref": "#/components/schemas/Code" } } });
    let taken = json!({ "allOf": [
        { "$ref": "#/components/schemas/Problem" },
        { "type": "object", "properties": { "code": { "type": "string", "enum": ["TAKEN", "STALE"] } } },
    ] });
    let parameters = json!([
        { "name": "item", "in": "path", "required": true, "schema": { "type": "string" } },
        { "name": "limit", "in": "query", "schema": { "type": "integer", "maximum": 100 } },
        { "name": "If-Match", "in": "header", "schema": { "type": "string" } },
    ]);
    json!({
        "paths": { "/items/{item}": { "put": {
            "operationId": "items.put",
            "parameters": parameters,
            "requestBody": { "required": false, "content": { "application/json": { "schema": input } } },
            "responses": {
                "200": {
                    "headers": { "ETag": { "schema": { "type": "string" } } },
                    "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Item" } } },
                },
                "409": { "content": { "application/problem+json": { "schema": taken } } },
            },
            "security": [{ "key": [] }],
        } } },
        "components": {
            "schemas": {
                "Item": item,
                "State": { "type": "string", "enum": ["active", "revoked"] },
                "Code": { "type": "string", "enum": ["TAKEN", "STALE", "OTHER"] },
                "Problem": problem,
            },
            "securitySchemes": { "key": { "type": "http", "scheme": "bearer" } },
        },
    })
}
