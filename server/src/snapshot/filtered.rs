//! Partial config documents, for clients that request only some flags.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;

use super::document::Document;

/// The number of filters to remember. Applications repeat the same few filters.
const MOST: usize = 8;

/// The documents of the most recent filters, so that the server does not hash and compress them for each request.
#[derive(Default)]
pub(super) struct Filtered(Mutex<VecDeque<CachedDocument>>);

/// The keys that were found, in order, and their document.
type CachedDocument = (Box<[Arc<str>]>, Arc<Document>);

impl Filtered {
    /// Returns the document with the flags of these keys, and builds it if it is not remembered.
    pub(super) fn get_or_make(
        &self,
        keys: &[&Arc<str>],
        make: impl FnOnce() -> Document,
    ) -> Arc<Document> {
        if let Some(document) = self.get(keys) {
            return document;
        }
        // Other callers need not wait for this. If two build the document at once, both results are right.
        let document = Arc::new(make());
        let keys = keys.iter().map(|key| Arc::clone(key)).collect();
        let mut remembered = self.0.lock();
        remembered.truncate(MOST - 1);
        remembered.push_front((keys, Arc::clone(&document)));
        document
    }

    fn get(&self, keys: &[&Arc<str>]) -> Option<Arc<Document>> {
        let mut remembered = self.0.lock();
        let position = remembered
            .iter()
            .position(|(of, _)| of.iter().eq(keys.iter().copied()))?;
        let found = remembered.remove(position)?;
        let document = Arc::clone(&found.1);
        remembered.push_front(found);
        Some(document)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn get(filtered: &Filtered, key: usize) -> Arc<Document> {
        let key = Arc::from(key.to_string());
        filtered.get_or_make(&[&key], || Document::new(std::iter::once(&*key), None))
    }

    #[test]
    fn filters_that_are_asked_for_again_are_remembered_and_only_so_many() {
        let filtered = Filtered::default();
        let first = get(&filtered, 0);
        let second = get(&filtered, 1);
        assert_ne!(first.etag(), second.etag());
        for key in 2..MOST {
            get(&filtered, key);
        }
        assert!(Arc::ptr_eq(&first, &get(&filtered, 0)));
        // The second filter is now the least recent.
        get(&filtered, MOST);
        assert!(Arc::ptr_eq(&first, &get(&filtered, 0)));
        let anew = get(&filtered, 1);
        assert!(!Arc::ptr_eq(&second, &anew) && second.etag() == anew.etag());
    }
}
