//! The evaluation vectors, read from the files that every runner shares.

use std::path::PathBuf;

use serde_json::Value;

/// One file of vectors.
pub struct VectorFile {
    /// The file's name.
    pub name: String,
    /// The flags of its environment.
    pub flags: Vec<Value>,
    /// Its cases: `description`, `key`, `context`, `expected`.
    pub cases: Vec<Value>,
}

/// Reads all files in the index. Returns them with the number of cases that the index declares.
pub fn read() -> (Vec<VectorFile>, u64) {
    listed(&json("index.json"))
}

/// Reads the files about documents of newer servers, likewise.
pub fn read_future() -> (Vec<VectorFile>, u64) {
    listed(&json("index.json")["future"])
}

fn listed(index: &Value) -> (Vec<VectorFile>, u64) {
    let names = index["files"].as_array().expect("the index lists files");
    let files = names
        .iter()
        .map(|name| file(name.as_str().expect("a file has a name")));
    (
        files.collect(),
        index["cases"].as_u64().expect("the index counts cases"),
    )
}

fn file(name: &str) -> VectorFile {
    let file = json(name);
    let list = |value: &Value| value.as_array().expect("a vector file has lists").clone();
    VectorFile {
        name: name.to_owned(),
        flags: list(&file["config"]["flags"]),
        cases: list(&file["cases"]),
    }
}

fn json(name: &str) -> Value {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("vectors")
        .join(name);
    let text = std::fs::read(&path).expect("the vectors are beside the tests");
    serde_json::from_slice(&text).expect("the vectors are JSON")
}
