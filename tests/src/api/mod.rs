//! Checks whether clients of an older API description work with a newer one.

mod compare;
mod shape;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use self::compare::{Comparison, Direction};

/// Returns a sentence for each difference that may break clients of the older description.
///
/// `open` lists the fields whose set of values may grow: a schema's name, or `Schema.member`.
pub fn api_breaks(old: &Value, new: &Value, open: &BTreeSet<String>) -> Vec<String> {
    let mut breaks = BTreeSet::new();
    let (before, after) = (operations(old), operations(new));
    let comparison = |direction| Comparison::new(old, new, open, direction);
    let mut requests = comparison(Direction::Request);
    let mut answers = comparison(Direction::Answer);
    for (key, operation) in &before {
        let name = &operation.name;
        match after.get(key) {
            None => _ = breaks.insert(format!("{name} is gone")),
            Some(other) => {
                let mut operations = Operations {
                    old,
                    new,
                    name,
                    requests: &mut requests,
                    answers: &mut answers,
                    breaks: &mut breaks,
                };
                operations.compare(operation, other);
            }
        }
    }
    let schemes = "/components/securitySchemes";
    for (name, scheme) in members(old.pointer(schemes)) {
        let other = new.pointer(schemes).and_then(|schemes| schemes.get(name));
        if other.is_none_or(|other| without_prose(scheme) != without_prose(other)) {
            breaks.insert(format!("the credential `{name}` has changed"));
        }
    }
    breaks.into_iter().collect()
}

/// Returns true if a description has this field, in the form of the open fields of [`api_breaks`].
pub fn is_field(description: &Value, name: &str) -> bool {
    let (schema, member) = name
        .split_once('.')
        .map_or((name, None), |(schema, member)| (schema, Some(member)));
    let schema = &description["components"]["schemas"][schema];
    match member {
        Some(member) => schema["properties"].get(member).is_some(),
        None => !schema.is_null(),
    }
}

/// A method at a path.
struct Operation<'a> {
    name: String,
    path: &'a str,
    value: &'a Value,
}

/// Returns the operations by method and path, without the names of path parameters.
fn operations(description: &Value) -> BTreeMap<String, Operation<'_>> {
    let paths = members(description.get("paths"));
    let operations = paths.flat_map(|(path, item)| {
        members(Some(item)).map(move |(method, value)| {
            let name = format!("{} {path}", method.to_uppercase());
            (anonymous(&name), Operation { name, path, value })
        })
    });
    operations.collect()
}

/// Returns a path with empty braces.
fn anonymous(path: &str) -> String {
    let mut parts = path.split('{');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |path, part| {
        let rest = part.split_once('}').map_or("", |(_, rest)| rest);
        format!("{path}{{}}{rest}")
    })
}

/// The comparison of an operation with its later version.
struct Operations<'a, 'd> {
    old: &'d Value,
    new: &'d Value,
    name: &'a str,
    requests: &'a mut Comparison<'d>,
    answers: &'a mut Comparison<'d>,
    breaks: &'a mut BTreeSet<String>,
}

impl Operations<'_, '_> {
    fn compare(&mut self, old: &Operation<'_>, new: &Operation<'_>) {
        if old.value["operationId"] != new.value["operationId"] {
            self.add(&format!(
                "its operationId is {} now",
                new.value["operationId"]
            ));
        }
        self.parameters(old, new);
        self.request_body(&old.value["requestBody"], &new.value["requestBody"]);
        self.responses(&old.value["responses"], &new.value["responses"]);
        self.security(&old.value["security"], &new.value["security"]);
    }

    fn add(&mut self, problem: &str) {
        self.breaks.insert(format!("{}: {problem}", self.name));
    }

    fn schema(&mut self, part: &str, direction: Direction, old: &Value, new: &Value) {
        let problems = match direction {
            Direction::Request => self.requests.compare(old, new),
            Direction::Answer => self.answers.compare(old, new),
        };
        for problem in problems {
            self.add(&format!("{part}: {problem}"));
        }
    }

    fn parameters(&mut self, old: &Operation<'_>, new: &Operation<'_>) {
        let (before, mut after) = (parameters(self.old, old), parameters(self.new, new));
        for (key, parameter) in before {
            let Some(other) = after.remove(&key) else {
                self.add(&format!("the {key} is gone"));
                continue;
            };
            if parameter["required"] != true && other["required"] == true {
                self.add(&format!("the {key} is required now"));
            }
            for keyword in ["style", "explode"] {
                if parameter[keyword] != other[keyword] {
                    self.add(&format!(
                        "`{keyword}` of the {key} is {} now",
                        other[keyword]
                    ));
                }
            }
            self.schema(
                &key,
                Direction::Request,
                &parameter["schema"],
                &other["schema"],
            );
        }
        for (key, _) in after
            .iter()
            .filter(|(_, parameter)| parameter["required"] == true)
        {
            self.add(&format!("the {key} is new and required"));
        }
    }

    fn request_body(&mut self, old: &Value, new: &Value) {
        let (old, new) = (resolved(self.old, old), resolved(self.new, new));
        if old["required"] != true && new["required"] == true {
            self.add("a body is required now");
        }
        for (kind, content) in members(old.get("content")) {
            match new["content"].get(kind) {
                None => self.add(&format!("it takes no {kind} any more")),
                Some(other) => {
                    self.schema(
                        "request",
                        Direction::Request,
                        &content["schema"],
                        &other["schema"],
                    );
                }
            }
        }
    }

    fn responses(&mut self, old: &Value, new: &Value) {
        for (status, response) in members(Some(old)) {
            match new.get(status) {
                None => self.add(&format!("it never answers {status} any more")),
                Some(other) => self.response(
                    status,
                    resolved(self.old, response),
                    resolved(self.new, other),
                ),
            }
        }
        let is_new = |(status, _): &(&str, &Value)| {
            old.get(status).is_none() && status.starts_with(['1', '2', '3'])
        };
        for (status, _) in members(Some(new)).filter(is_new) {
            self.add(&format!("it may answer {status} now"));
        }
    }

    fn response(&mut self, status: &str, old: &Value, new: &Value) {
        for (name, _) in members(old.get("headers")) {
            if new["headers"].get(name).is_none() {
                self.add(&format!("answer {status}: the header `{name}` is gone"));
            }
        }
        for (kind, content) in members(old.get("content")) {
            match new["content"].get(kind) {
                None => self.add(&format!("answer {status}: it is no {kind} any more")),
                Some(other) => {
                    let part = format!("answer {status}");
                    self.schema(
                        &part,
                        Direction::Answer,
                        &content["schema"],
                        &other["schema"],
                    );
                }
            }
        }
    }

    /// Compares credentials. Each one that worked must still work, unless the operation needs none any more.
    fn security(&mut self, old: &Value, new: &Value) {
        let alternatives = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let (old, new) = (alternatives(old), alternatives(new));
        if old.is_empty() && !new.is_empty() {
            self.add("it needs a credential now");
        }
        for credential in old
            .iter()
            .filter(|credential| !new.is_empty() && !new.contains(credential))
        {
            self.add(&format!(
                "the credential {credential} does not work any more"
            ));
        }
    }
}

/// Returns the parameters of an operation, by a name that is the same in both descriptions.
fn parameters<'a>(
    description: &'a Value,
    operation: &Operation<'a>,
) -> BTreeMap<String, &'a Value> {
    let named = |parameter: &'a Value| {
        let parameter = resolved(description, parameter);
        let text = |member: &str| parameter[member].as_str().unwrap_or_default();
        let key = match text("in") {
            "path" => {
                let braces = format!("{{{}}}", text("name"));
                let before = operation.path.split(&braces).next().unwrap_or_default();
                format!("path parameter {}", before.matches('{').count() + 1)
            }
            place => format!("{place} parameter `{}`", text("name")),
        };
        (key, parameter)
    };
    let parameters = operation.value["parameters"].as_array();
    parameters.into_iter().flatten().map(named).collect()
}

/// Returns the target of a reference, or the value itself.
fn resolved<'a>(description: &'a Value, value: &'a Value) -> &'a Value {
    let Some(reference) = value["$ref"].as_str() else {
        return value;
    };
    let target = description.pointer(reference.trim_start_matches('#'));
    target.unwrap_or_else(|| panic!("{reference} does not resolve"))
}

fn members(value: Option<&Value>) -> impl Iterator<Item = (&str, &Value)> {
    let members = value
        .and_then(Value::as_object)
        .into_iter()
        .flat_map(Map::iter);
    members.map(|(name, value)| (name.as_str(), value))
}

/// Returns a security scheme without its documentation.
fn without_prose(scheme: &Value) -> Value {
    let mut scheme = scheme.clone();
    if let Some(members) = scheme.as_object_mut() {
        members.retain(|name, _| !matches!(name.as_str(), "description" | "bearerFormat"));
    }
    scheme
}
