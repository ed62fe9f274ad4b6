//! The engine with one config document. A flag's number is its position in the document, sorted by key.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use pennon_core::evaluate::{self, decide};
use pennon_core::ttl::Ttl;
use pennon_core::{CompiledFlag, MissingBucketingKey, Snapshot, UnsupportedFlag};
use spin::Mutex;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::instance::borrow;
use crate::json::{Trace, array};
use crate::protocol::FlagBit;
use crate::slots::Slots;

/// The result for an unknown flag.
const NO_EVALUATION: u32 = u32::MAX;

/// The engine of this instance.
pub(crate) static ENGINE: Mutex<Engine> = Mutex::new(Engine {
    config_buffer: Vec::new(),
    snapshot: Snapshot::new(),
    slots: Slots::new(),
    changes: String::new(),
    has_loaded: false,
});

/// A config document, and what the evaluation of its flags needs.
pub(crate) struct Engine {
    config_buffer: Vec<u8>,
    pub(crate) snapshot: Snapshot,
    slots: Slots,
    changes: String,
    has_loaded: bool,
}

/// Returns the address of a buffer of `length` bytes, for the text of a config document. The buffer is reused and has a
/// small reserve; a larger document replaces it.
#[wasm_bindgen]
pub fn config_buffer(length: usize) -> *const u8 {
    let mut engine = borrow(&ENGINE);
    if engine.config_buffer.len() < length {
        engine.config_buffer = Vec::new();
        engine.config_buffer = vec![0; length.saturating_add(length / 16)];
    }
    engine.config_buffer.as_ptr()
}

/// Loads the first `length` bytes of the config buffer as the new config document. If they are not a config document,
/// returns false and keeps the previous one.
#[wasm_bindgen]
pub fn load(length: usize) -> bool {
    let mut engine = borrow(&ENGINE);
    let text = engine.config_buffer.get(..length).unwrap_or_default();
    match engine.snapshot.parse_next(text) {
        Ok(snapshot) => {
            if engine.has_loaded {
                engine.changes = array(snapshot.changes_since(&engine.snapshot));
            }
            engine.has_loaded = true;
            engine.snapshot = snapshot;
            true
        }
        Err(_) => false,
    }
}

/// Returns the concatenated keys of all flags.
#[wasm_bindgen]
pub fn keys() -> Vec<u8> {
    let engine = borrow(&ENGINE);
    let mut text = Vec::with_capacity(engine.snapshot.key_bytes());
    for key in engine.snapshot.keys() {
        text.extend_from_slice(key.as_bytes());
    }
    text
}

/// Returns the position at which each key ends.
#[wasm_bindgen]
pub fn key_ends() -> Vec<u32> {
    let engine = borrow(&ENGINE);
    let mut end: u32 = 0;
    let ends = engine.snapshot.keys().map(|key| {
        end = end.saturating_add(u32::try_from(key.len()).unwrap_or(u32::MAX));
        end
    });
    ends.collect()
}

/// Returns the keys of the flags that differ from the previous config document, as a JSON array. Returns them only
/// once, and none for the first document. Without changes, the string may be empty.
#[wasm_bindgen]
pub fn changes() -> String {
    let mut engine = borrow(&ENGINE);
    core::mem::take(&mut engine.changes)
}

/// Returns the evaluation of each flag without a context: for a subject without attributes, and without rollouts. Each
/// number is that of `Evaluation::encode` plus [`FlagBit`]s.
#[wasm_bindgen]
pub fn without_context() -> Vec<u8> {
    let engine = borrow(&ENGINE);
    engine
        .snapshot
        .flags()
        .map(evaluate_without_context)
        .collect()
}

/// Returns the position in the config buffer of the value that makes a flag unsupported; 2^32 - 1 if the flag is
/// supported.
#[wasm_bindgen]
pub fn unsupported(flag: usize) -> usize {
    let engine = borrow(&ENGINE);
    match engine.snapshot.get(flag) {
        Some(Err(unsupported)) => unsupported.offset(),
        _ => usize::MAX,
    }
}

/// Returns the number of skipped entries, which have no usable key or switch.
#[wasm_bindgen]
pub fn skipped() -> usize {
    let engine = borrow(&ENGINE);
    engine.snapshot.skipped()
}

/// Returns the TTL of each flag in seconds, or 0 for the client's default.
#[wasm_bindgen]
pub fn ttls() -> Vec<u32> {
    let engine = borrow(&ENGINE);
    let seconds = |ttl: Option<Ttl>| ttl.map_or(0, Ttl::seconds);
    engine.snapshot.ttls().map(seconds).collect()
}

/// Returns the name of the attribute in this slot of a flag.
#[wasm_bindgen]
pub fn attribute(flag: usize, slot: usize) -> Option<String> {
    let engine = borrow(&ENGINE);
    let attribute = engine.snapshot.get(flag)?.ok()?.attributes().get(slot)?;
    Some(attribute.as_str().into())
}

/// Allocates this many slots. Invalidates addresses from earlier calls.
#[wasm_bindgen]
pub fn reserve(slots: usize) {
    let mut engine = borrow(&ENGINE);
    engine.slots.reserve(slots);
}

/// Returns the address of the slots' heads. Each has two 32-bit numbers: a [`SlotTag`](crate::protocol::SlotTag),
/// and the position of a string in the text.
#[wasm_bindgen]
pub fn heads() -> *const u32 {
    let engine = borrow(&ENGINE);
    engine.slots.heads().cast()
}

/// Returns the address of the slots' numbers.
#[wasm_bindgen]
pub fn numbers() -> *const f64 {
    let engine = borrow(&ENGINE);
    engine.slots.numbers()
}

/// Returns the address of the text buffer, whose [`MAX_CONTEXT_BYTES`](pennon_core::context::MAX_CONTEXT_BYTES) all
/// slots share. The host treats values that do not fit as absent.
#[wasm_bindgen]
pub fn text() -> *const u8 {
    let engine = borrow(&ENGINE);
    engine.slots.text()
}

/// Evaluates a flag for the subject in the slots. Returns the number of `Evaluation::encode`, or 2^32 - 1 if the flag
/// is unknown or unsupported.
#[wasm_bindgen]
pub fn evaluate(flag: usize) -> u32 {
    let engine = borrow(&ENGINE);
    match engine.snapshot.get(flag) {
        Some(Ok(flag)) => {
            evaluate::evaluate(flag, &engine.slots, MissingBucketingKey::Excluded).encode()
        }
        _ => NO_EVALUATION,
    }
}

/// Explains the evaluation of a flag for the subject in the slots. Returns the complete trace as JSON, with `null` for
/// the actual values, because the host has them.
#[wasm_bindgen]
pub fn explain(flag: usize) -> Option<String> {
    let engine = borrow(&ENGINE);
    let flag = engine.snapshot.get(flag)?.ok()?;
    let mut trace = Trace::default();
    let missing = MissingBucketingKey::Excluded;
    let evaluation = decide(flag, &engine.slots, missing, &mut trace);
    Some(trace.finish(evaluation))
}

fn evaluate_without_context(flag: Result<&CompiledFlag, &UnsupportedFlag>) -> u8 {
    let number = match flag {
        Ok(flag) => {
            let evaluation = evaluate::evaluate_without_context(flag);
            let targeted = if flag.is_targeted() {
                FlagBit::Targeted as u32
            } else {
                0
            };
            evaluation.encode() | targeted
        }
        Err(_) => {
            UnsupportedFlag::WITHOUT_CONTEXT.encode()
                | FlagBit::Targeted as u32
                | FlagBit::Unsupported as u32
        }
    };
    u8::try_from(number).unwrap_or(u8::MAX)
}
