//! A compiled config document.

use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Ordering;
use core::ops::Range;

use crate::compiled::CompiledFlag;
use crate::config::{self, FlagBody, ParseError};
use crate::evaluation::{Evaluation, Reason};
use crate::ttl::Ttl;

/// The minimum size of a flag without rules in a config document of the service, in bytes.
const BYTES_PER_FLAG: usize = 80;

/// The approximate size of a flag's key, in bytes.
const KEY_BYTES: usize = 12;

/// The allocation step for keys, in bytes. A coarse step keeps the size of the allocations stable across documents.
const KEYS_STEP: usize = 4_096;
/// The allocation step for flags.
const FLAGS_STEP: usize = 256;

/// The flags of one environment, sorted by key. Callers refer to a flag by its index.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// All keys in one string: 10,000 separate strings would need several times the memory.
    keys: String,
    flags: Vec<Entry>,
    skipped: usize,
}

#[derive(Clone, Debug)]
struct Entry {
    key: Range<usize>,
    ttl: Option<Ttl>,
    flag: Result<CompiledFlag, UnsupportedFlag>,
}

/// An enabled flag with a part that this version cannot read, such as a newer operator. It can be evaluated only
/// [without a context](Self::WITHOUT_CONTEXT).
#[derive(Clone, Copy, Debug)]
pub struct UnsupportedFlag {
    offset: usize,
}

impl UnsupportedFlag {
    /// The evaluation without a context, which skips rules and rollout.
    pub const WITHOUT_CONTEXT: Evaluation = Evaluation {
        enabled: true,
        reason: Reason::FlagEnabled,
    };

    /// Returns the position of the first unknown value, in bytes from the start of the document. For a missing member,
    /// this is the end of the object that lacks it.
    pub fn offset(&self) -> usize {
        self.offset
    }
}

/// Unsupported flags are equal regardless of the position, because none can be evaluated.
impl PartialEq for UnsupportedFlag {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Snapshot {
    /// Creates a snapshot without flags.
    pub const fn new() -> Self {
        Self {
            keys: String::new(),
            flags: Vec::new(),
            skipped: 0,
        }
    }

    /// Reads and compiles a config document. If two flags have the same key, the later one wins.
    ///
    /// A value that this version does not know makes its flag [unsupported](UnsupportedFlag), unless the flag is
    /// archived or disabled. An entry without a usable key or switch is [skipped](Self::skipped).
    ///
    /// # Errors
    ///
    /// Fails if the text is not JSON in UTF-8, nests too deeply, or has no array `flags`.
    pub fn parse(text: &[u8]) -> Result<Self, ParseError> {
        Self::new().parse_next(text)
    }

    /// Reads the next document of this environment. A flag shares its rules and rollout with the flag of this snapshot
    /// that has the same key, or else the next one in order, if the two flags are equal.
    pub fn parse_next(&self, text: &[u8]) -> Result<Self, ParseError> {
        if self.is_empty() {
            let flags = text.len() / BYTES_PER_FLAG;
            return self.read(text, flags, flags * KEY_BYTES);
        }
        self.read(text, self.flags.len(), self.keys.len())
    }

    /// Allocates memory for this many flags and bytes of keys in advance, and keeps a small reserve. Allocations that
    /// grow step by step, or differ in size each time, would fragment wasm memory, which never shrinks.
    fn read(&self, text: &[u8], flags: usize, key_bytes: usize) -> Result<Self, ParseError> {
        let mut before = self.flags.iter().peekable();
        let mut keys = String::with_capacity(key_bytes.next_multiple_of(KEYS_STEP));
        let mut flags = Vec::with_capacity(flags.next_multiple_of(FLAGS_STEP));
        let mut skipped = 0;
        config::for_each_entry(text, |entry| {
            let Ok((key, flag)) = entry else {
                skipped += 1;
                return;
            };
            let found = search(&keys, &flags, key);
            let start = keys.len();
            keys.push_str(key);
            let mut entry = Entry {
                key: start..keys.len(),
                ttl: flag.ttl,
                flag: compile(flag),
            };
            while before.next_if(|old| old.key(&self.keys) < key).is_some() {}
            if let Some(same) = before
                .peek()
                .filter(|old| entry.flag.is_ok() && old.flag_is(&entry))
            {
                entry.flag.clone_from(&same.flag);
            }
            match found.map(|index| flags.get_mut(index)) {
                Ok(Some(existing)) => *existing = entry,
                Ok(None) => {}
                Err(index) => flags.insert(index, entry),
            }
        })?;
        keys.shrink_to(keys.len().next_multiple_of(KEYS_STEP));
        flags.shrink_to(flags.len().next_multiple_of(FLAGS_STEP));
        Ok(Self {
            keys,
            flags,
            skipped,
        })
    }

    /// Returns the number of flags.
    pub fn len(&self) -> usize {
        self.flags.len()
    }

    /// Returns true if there are no flags.
    pub fn is_empty(&self) -> bool {
        self.flags.is_empty()
    }

    /// Returns all flags.
    pub fn flags(&self) -> impl ExactSizeIterator<Item = Result<&CompiledFlag, &UnsupportedFlag>> {
        self.flags.iter().map(Entry::flag)
    }

    /// Returns the number of skipped entries, whose `key` is not a string or whose `enabled` is not a boolean.
    pub fn skipped(&self) -> usize {
        self.skipped
    }

    /// Returns the keys of all flags.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &str> {
        self.flags.iter().map(|entry| entry.key(&self.keys))
    }

    /// Returns the size of all keys in bytes, or slightly more.
    pub fn key_bytes(&self) -> usize {
        self.keys.len()
    }

    /// Returns the TTL of each flag, if it overrides the clients' default.
    pub fn ttls(&self) -> impl ExactSizeIterator<Item = Option<Ttl>> {
        self.flags.iter().map(|entry| entry.ttl)
    }

    /// Returns the flag at `index`.
    pub fn get(&self, index: usize) -> Option<Result<&CompiledFlag, &UnsupportedFlag>> {
        self.flags.get(index).map(Entry::flag)
    }

    /// Returns the index of the flag with this key.
    pub fn find(&self, key: &str) -> Option<usize> {
        search(&self.keys, &self.flags, key).ok()
    }

    /// Returns the keys of the flags that are new, changed or removed since another snapshot, in order. Another TTL
    /// alone is no change, because it affects no evaluation.
    pub fn changes_since<'a>(&'a self, before: &'a Self) -> impl Iterator<Item = &'a str> {
        let (mut mine, mut theirs) = (self.flags.iter().peekable(), before.flags.iter().peekable());
        core::iter::from_fn(move || {
            loop {
                let order = match (mine.peek(), theirs.peek()) {
                    (Some(new), Some(old)) => new.key(&self.keys).cmp(old.key(&before.keys)),
                    (Some(_), None) => Ordering::Less,
                    (None, Some(_)) => Ordering::Greater,
                    (None, None) => return None,
                };
                let new = mine.next_if(|_| order.is_le());
                let old = theirs.next_if(|_| order.is_ge());
                match (new, old) {
                    (Some(new), Some(old)) if new.flag_is(old) => {}
                    (Some(new), _) => return Some(new.key(&self.keys)),
                    (None, old) => return old.map(|old| old.key(&before.keys)),
                }
            }
        })
    }
}

impl Entry {
    fn key<'k>(&self, keys: &'k str) -> &'k str {
        keys.get(self.key.clone()).unwrap_or_default()
    }

    fn flag(&self) -> Result<&CompiledFlag, &UnsupportedFlag> {
        self.flag.as_ref()
    }

    /// Returns true if both flags are equal. It is not inlined, because its copies would make up a hundredth of the
    /// wasm engine.
    #[inline(never)]
    fn flag_is(&self, other: &Self) -> bool {
        self.flag == other.flag
    }
}

/// Compiles a flag. A kill switch must work even if other values are unknown, so a flag that is off is never
/// unsupported.
fn compile(flag: FlagBody) -> Result<CompiledFlag, UnsupportedFlag> {
    match flag.unreadable {
        Some(ParseError { offset, .. }) if flag.enabled && !flag.archived => {
            Err(UnsupportedFlag { offset })
        }
        _ => Ok(CompiledFlag::new(
            flag.archived,
            flag.enabled,
            flag.rules,
            flag.rollout,
        )),
    }
}

/// Finds the flag with this key, or the index at which to insert it. The service sends flags sorted, so the index is
/// usually after the last flag.
fn search(keys: &str, flags: &[Entry], key: &str) -> Result<usize, usize> {
    match flags.last() {
        Some(last) if last.key(keys) < key => Err(flags.len()),
        _ => flags.binary_search_by(|entry| entry.key(keys).cmp(key)),
    }
}
