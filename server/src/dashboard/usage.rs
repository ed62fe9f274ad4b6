//! The dashboard's access to usage.

use async_trait::async_trait;
use pennon_dashboard::error::AdminError;
use pennon_dashboard::port::usage::{FlagUsage, UsageAdmin};
use pennon_model::environment;
use pennon_model::time::Timestamp;

use super::SignedIn;
use crate::admin::usage::Period;
use crate::admin::{flags, usage};

#[async_trait]
impl UsageAdmin for SignedIn {
    async fn flag_usage(&self, key: &str, from: Timestamp) -> Result<FlagUsage, AdminError> {
        let flag = flags::by_key(&self.admin, &self.actor, key).await?;
        let flag = flag.ok_or(AdminError::NotFound)?;
        let period = Period {
            from: Some(from),
            to: None,
        };
        let usage = usage::of_flag(&self.admin, &self.actor, flag.id, period).await?;
        let mut environments = usage.environments;
        environments.sort_by_cached_key(|each| {
            let name = each.environment.clone();
            (each.product.clone(), environment::rank(&name), name)
        });
        Ok(FlagUsage { flag, environments })
    }
}
