//! The dashboard's search for flags and environments.

use async_trait::async_trait;
use pennon_dashboard::error::AdminError;
use pennon_dashboard::model::Naming;
use pennon_dashboard::port::search::{SearchAdmin, SearchResults};
use pennon_model::environment::{Environment, ProductName};
use pennon_model::flag::{Flag, FlagFilter};
use pennon_model::page::PageRequest;

use super::SignedIn;
use crate::admin::{environments, flags};

/// The maximum number of flags.
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
        let is_misspelled = flags.is_empty();
        if is_misspelled {
            flags = self.misspelled(&wanted, product).await?;
        } else {
            flags.sort_by_cached_key(|flag| distance(flag, &wanted));
        }
        flags.dedup_by_key(|flag| flag.id);
        let has_more_flags = flags.len() > SHOWN && !is_misspelled;
        flags.truncate(SHOWN);
        let mut environments = environments::active(&self.admin, &self.actor).await?;
        environments.retain(|environment| is_selected(&environment.product));
        let naming = Naming::of_environments(&environments);
        environments.retain(|Environment { product, name, .. }| {
            // As typed, and as the dashboard shows it.
            let names = [format!("{product} {name}"), format!("{product} / {name}")];
            names
                .iter()
                .any(|name| name.to_lowercase().contains(&wanted))
        });
        Ok(SearchResults {
            flags,
            has_more_flags,
            environments,
            naming,
        })
    }
}

/// The number of pieces of a text of which a single typing error leaves at least one intact.
const PIECES: usize = 3;

impl SignedIn {
    /// Returns the flags of which a word, the key or the name is like a text with a typing error or two, best match
    /// first. They have at least one piece of the text in common.
    async fn misspelled(
        &self,
        wanted: &str,
        product: Option<&str>,
    ) -> Result<Vec<Flag>, AdminError> {
        let letters: Vec<char> = wanted.chars().collect();
        if letters.len() < 2 * PIECES - 1 {
            return Ok(Vec::new());
        }
        let mut found: Vec<(usize, Flag)> = Vec::new();
        for piece in letters.chunks(letters.len().div_ceil(PIECES)) {
            let filter = FlagFilter {
                search: Some(piece.iter().collect()),
                archived: Some(false),
                product: product.map(str::to_owned),
                ..FlagFilter::default()
            };
            let page = flags::list(&self.admin, &self.actor, &filter, PageRequest::LONGEST).await?;
            for flag in page.items {
                if let Some(errors) = typing_errors(&flag, wanted) {
                    found.push((errors, flag));
                }
            }
        }
        found.sort_by_cached_key(|(errors, flag)| (*errors, flag.key.to_string()));
        Ok(found.into_iter().map(|(_, flag)| flag).collect())
    }
}

/// Returns the number of typing errors that lead from a text to a part of a flag's key or name; none if there are too
/// many for a text of this length. A typing error is a letter too many, too few, wrong, or swapped with its neighbor.
fn typing_errors(flag: &Flag, wanted: &str) -> Option<usize> {
    let length = wanted.chars().count();
    let limit = if length < 8 { 1 } else { 2 };
    let texts = [
        flag.key.as_str().to_lowercase(),
        flag.name.as_str().to_lowercase(),
    ];
    let parts = texts.iter().flat_map(|text| {
        let beginning: String = text.chars().take(length).collect();
        let words = text.split(|letter: char| !letter.is_alphanumeric());
        let words = words.map(str::to_owned);
        words.chain([text.clone(), beginning])
    });
    let errors = parts
        .map(|part| strsim::osa_distance(wanted, &part))
        .min()?;
    (errors <= limit).then_some(errors)
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
