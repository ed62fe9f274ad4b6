//! The dashboard's access to usage.

use async_trait::async_trait;
use pennon_dashboard::error::AdminError;
use pennon_dashboard::port::usage::{FlagUsage, UsageAdmin};
use pennon_model::environment::{self, Environment};
use pennon_model::time::Timestamp;

use super::SignedIn;
use crate::admin::usage::Period;
use crate::admin::{environments, flags, usage};

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
        let mut active = environments::active(&self.admin, &self.actor).await?;
        environment::sort(&mut active);
        environments.sort_by_cached_key(|each| {
            let name = each.environment.clone();
            let is_it = |active: &Environment| {
                active.product.as_str() == each.product && active.name.as_str() == name
            };
            let position = active.iter().position(is_it).unwrap_or(usize::MAX);
            (each.product.clone(), position, name)
        });
        Ok(FlagUsage { flag, environments })
    }
}
