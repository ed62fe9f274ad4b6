//! How the dashboard finds flags and environments by a few letters.

use async_trait::async_trait;
use pennon_dashboard::error::AdminError;
use pennon_dashboard::port::search::{Found, SearchAdmin};
use pennon_model::flag::{Flag, FlagFilter};
use pennon_model::page::{Limit, PageNumber, PageRequest};

use super::{SignedIn, to_admin_error};
use crate::admin::{environments, flags};

/// How many of each are shown.
const SHOWN: usize = 8;

#[async_trait]
impl SearchAdmin for SignedIn {
    async fn find(&self, text: &str) -> Result<Found, AdminError> {
        let wanted = text.to_lowercase();
        // The one with exactly this key is asked for by itself: there may be more that contain it than are read.
        let mut flags = self.select(Some(text), None).await?;
        flags.extend(self.select(None, Some(text)).await?);
        flags.sort_by_cached_key(|flag| distance(flag, &wanted));
        flags.dedup_by_key(|flag| flag.id);
        flags.truncate(SHOWN);
        let mut environments = environments::active(&self.admin, &self.actor)
            .await
            .map_err(to_admin_error)?;
        environments.retain(|environment| {
            let name = format!("{} {}", environment.product, environment.name);
            name.to_lowercase().contains(&wanted)
        });
        environments.truncate(SHOWN);
        Ok(Found {
            flags,
            environments,
        })
    }
}

impl SignedIn {
    async fn select(
        &self,
        key: Option<&str>,
        search: Option<&str>,
    ) -> Result<Vec<Flag>, AdminError> {
        let selection = FlagFilter {
            key: key.map(str::to_owned),
            search: search.map(str::to_owned),
            ..FlagFilter::default()
        };
        let page = PageRequest {
            page: PageNumber::default(),
            limit: Limit::MAX,
        };
        let flags = flags::list(&self.admin, &self.actor, &selection, page)
            .await
            .map_err(to_admin_error)?;
        Ok(flags.items)
    }
}

/// How far a flag is from what was typed: one that is in use, and whose key or name begins with it, is nearer.
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
