//! A flag during the planning of an import.

use std::collections::{BTreeMap, BTreeSet};

use pennon_model::configuration::{Configuration, FlagEnvironment};
use pennon_model::environment::Environment;
use pennon_model::flag::Flag;
use pennon_model::id::{EnvironmentId, FlagId};

use super::installation::Installation;

/// One flag after the changes planned so far.
pub(super) struct PlannedFlag {
    pub(super) flag: Flag,
    pub(super) is_changed: bool,
    /// The configurations by active environment.
    pub(super) configurations: BTreeMap<EnvironmentId, Configuration>,
    /// The environments in which the flag changes.
    pub(super) touched: BTreeSet<EnvironmentId>,
}

impl PlannedFlag {
    /// Returns the flag before any change.
    pub(super) fn new(flag: Flag, start: &Installation) -> Self {
        let of_environment = |environment: EnvironmentId| {
            let configuration = start.configurations.get(&(flag.id, environment))?;
            Some((environment, configuration.clone()))
        };
        let active = start.environments.values().map(|one| one.id);
        let configurations = active.filter_map(of_environment).collect();
        Self {
            flag,
            is_changed: false,
            configurations,
            touched: BTreeSet::new(),
        }
    }

    /// Gives the flag a disabled configuration in every active environment of its scope.
    pub(super) fn reset(&mut self, start: &Installation) {
        for environment_id in start.scope(&self.flag).map(|one| one.id) {
            let new = initial(self.flag.id, environment_id);
            let configuration = self.configurations.entry(environment_id).or_insert(new);
            if configuration.is_enabled {
                configuration.is_enabled = false;
                configuration.revision += 1;
            }
            self.touched.insert(environment_id);
        }
        self.is_changed = true;
    }

    pub(super) fn change(&mut self, new: Flag) {
        self.flag = new;
        self.is_changed = true;
    }

    pub(super) fn in_environment(
        &self,
        environment: &Environment,
        configuration: Configuration,
    ) -> FlagEnvironment {
        FlagEnvironment {
            flag: self.flag.clone(),
            environment: environment.clone(),
            configuration,
        }
    }
}

/// Returns the first configuration of a flag in an environment.
pub(super) fn initial(flag_id: FlagId, environment_id: EnvironmentId) -> Configuration {
    Configuration {
        flag_id,
        environment_id,
        is_enabled: false,
        ttl: None,
        revision: 1,
        config_revision: 0,
    }
}
