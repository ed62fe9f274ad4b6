//! The flags of this installation, as an export or import finds them.

use std::collections::{BTreeMap, HashMap};

use pennon_model::configuration::{Configuration, FlagConfiguration, FlagEnvironment};
use pennon_model::environment::{Environment, EnvironmentPath};
use pennon_model::flag::{Flag, FlagKey};
use pennon_model::id::{EnvironmentId, FlagId};
use pennon_model::targeting::{FlagRollout, TargetingRule};

use super::{PortableConfiguration, PortableFlag};
use crate::error::Error;
use crate::store::{self, Tx};

/// The flags, active environments and flag configurations of a database.
pub(super) struct Installation {
    pub(super) flags: BTreeMap<FlagKey, Flag>,
    pub(super) environments: BTreeMap<EnvironmentPath, Environment>,
    pub(super) configurations: HashMap<(FlagId, EnvironmentId), Configuration>,
    /// The configurations in environments that their flags have left.
    pub(super) hidden: HashMap<(FlagId, EnvironmentId), Configuration>,
    pub(super) rules: HashMap<(FlagId, EnvironmentId), Vec<TargetingRule>>,
    pub(super) rollouts: HashMap<(FlagId, EnvironmentId), FlagRollout>,
    /// The config revision of each active environment.
    pub(super) config_revisions: Vec<(EnvironmentId, i64)>,
}

impl Installation {
    pub(super) async fn read(tx: &mut Tx) -> Result<Self, Error> {
        let flags = store::flags::all(tx).await?;
        let environments = store::environments::active(tx).await?;
        let by_pair = |configurations: Vec<Configuration>| {
            let by_pair = |one: Configuration| ((one.flag_id, one.environment_id), one);
            configurations.into_iter().map(by_pair).collect()
        };
        let configurations = by_pair(store::configurations::all(tx, false).await?);
        let hidden = by_pair(store::configurations::all(tx, true).await?);
        let rollouts = store::rollouts::all(tx).await?;
        let mut rules: HashMap<_, Vec<TargetingRule>> = HashMap::new();
        for rule in store::rules::all(tx).await? {
            let key = (rule.flag_id, rule.environment_id);
            rules.entry(key).or_default().push(rule);
        }
        Ok(Self {
            flags: flags
                .into_iter()
                .map(|flag| (flag.key.clone(), flag))
                .collect(),
            environments: Self::by_path(environments),
            config_revisions: store::environments::config_revisions(tx).await?,
            configurations,
            hidden,
            rules,
            rollouts: rollouts
                .into_iter()
                .map(|one| ((one.flag_id, one.environment_id), one))
                .collect(),
        })
    }

    pub(super) fn by_path(
        environments: Vec<Environment>,
    ) -> BTreeMap<EnvironmentPath, Environment> {
        let by_path = |one: Environment| (one.path(), one);
        environments.into_iter().map(by_path).collect()
    }

    /// Returns the active environments in which a flag is configured.
    pub(super) fn scope(&self, flag: &Flag) -> impl Iterator<Item = &Environment> {
        let environments = self.environments.values();
        environments.filter(|environment| flag.exists_in(environment))
    }

    pub(super) fn portable(&self, flag: &Flag) -> PortableFlag {
        let configuration = |environment: &Environment| {
            Some(PortableConfiguration {
                product: environment.product.clone(),
                environment: environment.name.clone(),
                content: self.current(flag, environment)?.into(),
            })
        };
        PortableFlag {
            key: flag.key.clone(),
            name: flag.name.clone(),
            description: flag.description.clone(),
            flag_type: flag.flag_type,
            products: flag.products.clone(),
            is_public: flag.is_public,
            metadata: flag.metadata.clone(),
            archived: flag.archived_at.is_some(),
            environments: self
                .environments
                .values()
                .filter_map(configuration)
                .collect(),
        }
    }

    /// Returns the flag's configuration in an environment; none if it is not configured there.
    pub(super) fn current(
        &self,
        flag: &Flag,
        environment: &Environment,
    ) -> Option<FlagConfiguration> {
        let configuration = self.configurations.get(&(flag.id, environment.id))?;
        Some(self.current_as(flag.clone(), environment, configuration.clone()))
    }

    /// Returns the flag's configuration in an environment, with `configuration` in place of the stored one.
    pub(super) fn current_as(
        &self,
        flag: Flag,
        environment: &Environment,
        configuration: Configuration,
    ) -> FlagConfiguration {
        let key = (flag.id, environment.id);
        FlagConfiguration {
            target: FlagEnvironment {
                flag,
                environment: environment.clone(),
                configuration,
            },
            rules: self.rules.get(&key).cloned().unwrap_or_default(),
            rollout: self.rollouts.get(&key).cloned(),
        }
    }

    pub(super) fn environment(
        &self,
        configuration: &PortableConfiguration,
    ) -> Option<&Environment> {
        self.environments.get(&configuration.path())
    }
}
