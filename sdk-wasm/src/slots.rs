//! The attribute values of the current subject, which the host writes.

use alloc::vec::Vec;

use pennon_core::context::MAX_CONTEXT_BYTES;
use pennon_core::rule::Attribute;
use pennon_core::{Subject, Value};

use crate::protocol::SlotTag;

const ABSENT: u32 = SlotTag::Absent as u32;
const FALSE: u32 = SlotTag::False as u32;
const TRUE: u32 = SlotTag::True as u32;
const NUMBER: u32 = SlotTag::Number as u32;
const STRING: u32 = SlotTag::String as u32;

/// The tag, text position and number of each slot, and the text that all slots share.
pub(crate) struct Slots {
    heads: Vec<[u32; 2]>,
    numbers: Vec<f64>,
    text: Vec<u8>,
}

impl Slots {
    /// Creates an object without slots.
    pub(crate) const fn new() -> Self {
        Self {
            heads: Vec::new(),
            numbers: Vec::new(),
            text: Vec::new(),
        }
    }

    /// Allocates this many slots, and the text. Keeps existing values, and never shrinks.
    pub(crate) fn reserve(&mut self, slots: usize) {
        let slots = slots.max(self.heads.len());
        self.heads.resize(slots, [ABSENT, 0]);
        self.numbers.resize(slots, 0.0);
        self.text.resize(MAX_CONTEXT_BYTES, 0);
    }

    pub(crate) fn heads(&self) -> *const [u32; 2] {
        self.heads.as_ptr()
    }

    pub(crate) fn numbers(&self) -> *const f64 {
        self.numbers.as_ptr()
    }

    pub(crate) fn text(&self) -> *const u8 {
        self.text.as_ptr()
    }

    fn string(&self, start: u32, length: u32) -> Option<&[u8]> {
        let start = usize::try_from(start).ok()?;
        let end = start.checked_add(usize::try_from(length).ok()?)?;
        self.text.get(start..end)
    }
}

impl Subject for Slots {
    fn value(&self, _: &Attribute, slot: usize) -> Option<Value<'_>> {
        let [tag, start] = *self.heads.get(slot)?;
        match tag {
            ABSENT => None,
            FALSE => Some(Value::Boolean(false)),
            TRUE => Some(Value::Boolean(true)),
            NUMBER => self.numbers.get(slot).copied().map(Value::Number),
            _ => self
                .string(start, tag.saturating_sub(STRING))
                .map(Value::String),
        }
    }
}

#[cfg(test)]
mod tests {
    use pennon_core::rule::Attribute;
    use pennon_core::{Subject, Value};

    use super::Slots;

    #[test]
    fn slots_hold_values_of_every_type() {
        let mut slots = Slots::new();
        slots.reserve(16);
        slots.text[3..7].copy_from_slice("né!".as_bytes());
        slots.heads[..6].copy_from_slice(&[[0, 0], [1, 0], [2, 0], [3, 0], [8, 3], [4, 0]]);
        slots.numbers[3] = 1.5;
        let values = [0, 1, 2, 3, 4, 5].map(|slot| slots.value(&Attribute::Email, slot));
        assert_eq!(
            values,
            [
                None,
                Some(Value::Boolean(false)),
                Some(Value::Boolean(true)),
                Some(Value::Number(1.5)),
                Some(Value::String("né!".as_bytes())),
                Some(Value::String(b"")),
            ]
        );
    }

    #[test]
    fn oversized_text_is_absent() {
        let mut slots = Slots::new();
        slots.reserve(16);
        slots.heads[..2].copy_from_slice(&[[u32::MAX, 0], [9, u32::MAX]]);
        for slot in [0, 1, 1_000] {
            assert_eq!(slots.value(&Attribute::Email, slot), None);
        }
    }
}
