//! What the dashboard needs to try a flag.

use async_trait::async_trait;
use pennon_core::FlagConfig;
use pennon_core::model::id::{EnvironmentId, FlagId};
use pennon_dashboard::error::AdminError;
use pennon_dashboard::port::trial::TrialAdmin;

use super::{SignedIn, told};
use crate::service::targeting::{self, PairId};

#[async_trait]
impl TrialAdmin for SignedIn {
    async fn config(
        &self,
        flag: FlagId,
        environment: EnvironmentId,
    ) -> Result<FlagConfig, AdminError> {
        let pair = PairId { flag, environment };
        targeting::flag_config(&self.service, &self.actor, pair)
            .await
            .map_err(told)
    }
}
