//! Detects duplicate members of JSON objects.

use std::collections::HashSet;

use pennon_model::json::Json;

use crate::error::{Fault, MAX_FAULT_BYTES, MAX_FAULTS, escaped};

/// Returns all duplicate members at any depth. Otherwise, all but the last of them would be ignored.
pub(crate) fn duplicates(json: &Json<'_>) -> Vec<Fault> {
    let mut search = Search::default();
    search.visit(json);
    search.faults
}

/// A search for duplicate members.
#[derive(Default)]
struct Search {
    /// The position of the search, as a JSON pointer.
    pointer: String,
    bytes: usize,
    faults: Vec<Fault>,
}

impl Search {
    fn visit(&mut self, value: &Json<'_>) {
        match value {
            Json::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.visit_at(&index.to_string(), item);
                }
            }
            Json::Object(members) => {
                let (mut names, mut reported) = (HashSet::new(), HashSet::new());
                for (name, value) in members {
                    if !names.insert(name) && reported.insert(name) {
                        self.report(name);
                    }
                    self.visit_at(name, value);
                }
            }
            Json::Null | Json::Boolean(_) | Json::Number(_) | Json::String(_) => {}
        }
    }

    fn visit_at(&mut self, name: &str, value: &Json<'_>) {
        if matches!(value, Json::Array(_) | Json::Object(_)) {
            let length = self.pointer.len();
            self.pointer.push('/');
            self.pointer.push_str(&escaped(name));
            self.visit(value);
            self.pointer.truncate(length);
        }
    }

    fn report(&mut self, name: &str) {
        self.bytes = self.bytes.saturating_add(self.pointer.len() + name.len());
        let has_room = self.faults.len() < MAX_FAULTS && self.bytes <= MAX_FAULT_BYTES;
        if has_room || self.faults.is_empty() {
            let fault = Fault::member(&self.pointer, name, "is given more than once");
            self.faults.push(fault);
        }
    }
}
