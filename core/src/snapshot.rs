//! A whole config document, compiled.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::compiled::CompiledFlag;
use crate::config::{self, ParseError};

/// The flags of one environment, in the order of their keys; a flag is known by its index.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    flags: Box<[CompiledFlag]>,
}

impl Snapshot {
    /// Reads and compiles a config document. Of two flags with one key, the later one counts.
    pub fn parse(text: &[u8]) -> Result<Self, ParseError> {
        let mut flags: Vec<CompiledFlag> = config::parse(text)?
            .into_iter()
            .map(CompiledFlag::from)
            .collect();
        flags.reverse();
        flags.sort_by(|one, other| one.key().cmp(other.key()));
        flags.dedup_by(|later, earlier| later.key() == earlier.key());
        Ok(Self {
            flags: flags.into(),
        })
    }

    /// All flags.
    pub fn flags(&self) -> &[CompiledFlag] {
        &self.flags
    }

    /// The flag at `index`.
    pub fn get(&self, index: usize) -> Option<&CompiledFlag> {
        self.flags.get(index)
    }

    /// The index of the flag with this key.
    pub fn find(&self, key: &str) -> Option<usize> {
        self.flags.binary_search_by(|flag| flag.key().cmp(key)).ok()
    }
}
