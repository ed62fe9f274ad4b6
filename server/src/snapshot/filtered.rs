//! Partial config documents, for clients that request only some flags.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::Semaphore;

use super::document::{Document, TagSecret};
use super::environment::ActiveFlags;

/// The number of filters to remember. Applications repeat the same few filters.
const MOST: usize = 8;

/// The documents of the most recent filters of a snapshot, so that the server does not compress them for each request.
/// A caller with an SDK key can ask for any number of others, so one is compressed at a time.
pub(super) struct Filtered {
    remembered: Mutex<VecDeque<(ActiveFlags, Arc<Document>)>>,
    compressing: Arc<Semaphore>,
}

impl Default for Filtered {
    fn default() -> Self {
        Self {
            remembered: Mutex::default(),
            compressing: Arc::new(Semaphore::new(1)),
        }
    }
}

impl Filtered {
    /// Returns the document of these flags.
    pub(super) fn document(&self, flags: ActiveFlags, secret: Option<TagSecret>) -> Arc<Document> {
        if let Some(document) = self.get(&flags) {
            return document;
        }
        let turn = Arc::clone(&self.compressing);
        let document = Arc::new(Document::written(Arc::clone(&flags), secret, turn));
        self.remember(flags, Arc::clone(&document));
        document
    }

    /// Returns the document of these flags, if it is remembered.
    fn get(&self, flags: &ActiveFlags) -> Option<Arc<Document>> {
        let mut remembered = self.remembered.lock();
        let position = remembered
            .iter()
            .position(|(of, _)| keys(of).eq(keys(flags)))?;
        let found = remembered.remove(position)?;
        let document = Arc::clone(&found.1);
        remembered.push_front(found);
        Some(document)
    }

    /// Remembers the document of these flags, and forgets the one that was not asked for the longest.
    fn remember(&self, flags: ActiveFlags, document: Arc<Document>) {
        let mut remembered = self.remembered.lock();
        remembered.truncate(MOST - 1);
        remembered.push_front((flags, document));
    }
}

fn keys(flags: &ActiveFlags) -> impl Iterator<Item = &Arc<str>> {
    flags.iter().map(|(key, _)| key)
}

#[cfg(test)]
mod tests {
    use pennon_model::id::{EnvironmentId, FlagId};
    use uuid::Uuid;

    use super::*;
    use crate::snapshot::document::{Encoding, TagSecret};
    use crate::snapshot::environment::EnvironmentSnapshot;
    use crate::snapshot::usage::Usage;
    use crate::store::snapshots::{ChangedFlag, LoadedFlag};

    fn flag(key: usize) -> ChangedFlag {
        let key: Box<str> = key.to_string().into();
        ChangedFlag {
            id: FlagId::new(Uuid::nil()),
            key: key.clone(),
            revision: 1,
            is_hidden: false,
            loaded: Some(LoadedFlag::off(key, false)),
            fault: None,
        }
    }

    /// Returns a snapshot with more flags than filters are remembered.
    fn snapshot() -> EnvironmentSnapshot {
        let usage = Usage::default().of_environment(EnvironmentId::new(Uuid::nil()));
        let flags = (0..=MOST).map(flag).collect();
        EnvironmentSnapshot::empty(usage, TagSecret::default()).with(flags, 1)
    }

    fn get(snapshot: &EnvironmentSnapshot, key: usize) -> Arc<Document> {
        snapshot.filtered_document(&[key.to_string()])
    }

    #[test]
    fn filters_that_are_asked_for_again_are_remembered_and_only_so_many() {
        let snapshot = snapshot();
        let first = get(&snapshot, 0);
        let second = get(&snapshot, 1);
        assert_ne!(first.etag(), second.etag());
        for key in 2..MOST {
            get(&snapshot, key);
        }
        assert!(Arc::ptr_eq(&first, &get(&snapshot, 0)));
        // The second filter is now the least recent.
        get(&snapshot, MOST);
        assert!(Arc::ptr_eq(&first, &get(&snapshot, 0)));
        let anew = get(&snapshot, 1);
        assert!(!Arc::ptr_eq(&second, &anew) && second.etag() == anew.etag());
    }

    #[tokio::test]
    async fn a_filter_of_all_flags_has_the_document_of_the_whole_environment() {
        let snapshot = Arc::new(snapshot());
        let keys: Vec<String> = (0..=MOST).map(|key| key.to_string()).collect();
        let filtered = snapshot.filtered_document(&keys);
        let whole = snapshot.document().await;
        assert_eq!(filtered.etag(), whole.etag());
        assert_eq!(filtered.length(), whole.length());
        assert_eq!(filtered.content().text(), whole.content().text());
        let brotli = Encoding::Brotli;
        assert_eq!(filtered.encoded(brotli).await, whole.encoded(brotli).await);
    }

    #[tokio::test]
    async fn while_another_document_is_compressed_one_is_sent_as_it_is() {
        let snapshot = snapshot();
        let document = get(&snapshot, 0);
        let turn = snapshot.filtered().compressing.acquire().await;
        assert_eq!(document.encoded(Encoding::Gzip).await, None);
        drop(turn);
        let compressed = document.encoded(Encoding::Gzip).await;
        assert!(compressed.is_some());
        let _turn = snapshot.filtered().compressing.acquire().await;
        assert_eq!(document.encoded(Encoding::Gzip).await, compressed);
    }
}
