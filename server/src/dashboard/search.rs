//! The dashboard's search for flags and environments.

use async_trait::async_trait;
use pennon_dashboard::error::AdminError;
use pennon_dashboard::port::search::{SearchAdmin, SearchResults};
use pennon_model::environment::ProductName;
use pennon_model::flag::{Flag, FlagFilter};
use pennon_model::page::PageRequest;

use super::SignedIn;
use crate::admin::{environments, flags};

/// The maximum number of results of each kind.
const SHOWN: usize = 8;

#[async_trait]
impl SearchAdmin for SignedIn {
    async fn find(&self, text: &str, product: Option<&str>) -> Result<SearchResults, AdminError> {
        let is_selected =
            |name: &ProductName| product.is_none_or(|product| name.as_str() == product);
        let wanted = text.to_lowercase();
        // Fetch the flag with exactly this key separately, because more flags may match than are read.
        let exact = FlagFilter {
            key: Some(text.to_owned()),
            product: product.map(str::to_owned),
            ..FlagFilter::default()
        };
        let similar = FlagFilter {
            search: exact.key.clone(),
            key: None,
            ..exact.clone()
        };
        let mut flags = Vec::new();
        for filter in [similar, exact] {
            let page = flags::list(&self.admin, &self.actor, &filter, PageRequest::LONGEST);
            flags.extend(page.await?.items);
        }
        flags.sort_by_cached_key(|flag| distance(flag, &wanted));
        flags.dedup_by_key(|flag| flag.id);
        flags.truncate(SHOWN);
        let mut environments = environments::active(&self.admin, &self.actor).await?;
        environments.retain(|environment| {
            let name = format!("{} {}", environment.product, environment.name);
            is_selected(&environment.product) && name.to_lowercase().contains(&wanted)
        });
        environments.truncate(SHOWN);
        Ok(SearchResults {
            flags,
            environments,
        })
    }
}

/// Returns the sort key of a flag for the search text. Active flags come first, and among them exact matches, then
/// flags whose key or name begins with the text.
fn distance(flag: &Flag, wanted: &str) -> (bool, u8, String) {
    let (key, name) = (
        flag.key.as_str().to_lowercase(),
        flag.name.as_str().to_lowercase(),
    );
    let step = match () {
        () if key == wanted || name == wanted => 0,
        () if key.starts_with(wanted) || name.starts_with(wanted) => 1,
        () => 2,
    };
    (flag.archived_at.is_some(), step, key)
}
