//! What the dashboard asks about use.

use async_trait::async_trait;
use pennon_dashboard::error::AdminError;
use pennon_dashboard::port::usage::{FlagUsage, UsageAdmin};
use pennon_model::environment::nearness_to_users;
use pennon_model::flag::FlagFilter;
use pennon_model::page::PageRequest;
use pennon_model::time::Timestamp;

use super::{SignedIn, to_admin_error};
use crate::admin::usage::Period;
use crate::admin::{flags, usage};

#[async_trait]
impl UsageAdmin for SignedIn {
    async fn flag_usage(&self, key: &str, from: Timestamp) -> Result<FlagUsage, AdminError> {
        let selection = FlagFilter {
            key: Some(key.to_owned()),
            ..FlagFilter::default()
        };
        let page = PageRequest::default();
        let found = flags::list(&self.admin, &self.actor, &selection, page).await;
        let flag = found
            .map_err(to_admin_error)?
            .items
            .pop()
            .ok_or(AdminError::NotFound)?;
        let period = Period {
            from: Some(from),
            to: None,
        };
        let usage = usage::of_flag(&self.admin, &self.actor, flag.id, period)
            .await
            .map_err(to_admin_error)?;
        let mut environments = usage.environments;
        environments.sort_by_cached_key(|each| {
            let name = each.environment.clone();
            (each.product.clone(), nearness_to_users(&name), name)
        });
        Ok(FlagUsage { flag, environments })
    }
}
