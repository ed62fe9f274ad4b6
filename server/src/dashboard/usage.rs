//! What the dashboard asks about use.

use async_trait::async_trait;
use pennon_core::Reason;
use pennon_dashboard::error::AdminError;
use pennon_dashboard::port::usage::{Count, EnvironmentUsage, FlagUsage, UsageAdmin};
use pennon_model::environment::nearness_to_users;
use pennon_model::flag::FlagFilter;
use pennon_model::page::PageRequest;
use pennon_model::time::Timestamp;

use super::{SignedIn, told};
use crate::admin::usage::{FlagHour, Period};
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
            .map_err(told)?
            .items
            .pop()
            .ok_or(AdminError::NotFound)?;
        let period = Period {
            from: Some(from),
            to: None,
        };
        let usage = usage::of_flag(&self.admin, &self.actor, flag.id, period)
            .await
            .map_err(told)?;
        let mut environments = usage.environments;
        environments.sort_by_cached_key(|each| {
            let name = each.environment.clone();
            (each.product.clone(), nearness_to_users(&name), name)
        });
        let environments = environments
            .into_iter()
            .map(|environment| EnvironmentUsage {
                id: environment.environment_id,
                product: environment.product,
                name: environment.environment,
                last_evaluated_at: environment.last_evaluated_at,
                counts: environment.hours.into_iter().flat_map(counts).collect(),
            });
        Ok(FlagUsage {
            environments: environments.collect(),
            flag,
        })
    }
}

fn counts(hour: FlagHour) -> impl Iterator<Item = Count> {
    let counts = hour.evaluations.into_iter();
    counts.filter_map(move |(reason, evaluations)| {
        Some(Count {
            hour: hour.hour,
            reason: Reason::parse(&reason).ok()?,
            evaluations,
        })
    })
}
