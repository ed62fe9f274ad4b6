//! Export and import of all flags and their configurations, to move them to another installation or to keep them next
//! to the code that uses them. An export contains no secrets. An import requires that its environments exist, and does
//! not change their keys.

mod import;
mod plan;
mod warnings;

use std::collections::{BTreeMap, HashMap, HashSet};

use pennon_model::configuration::{Configuration, FlagConfiguration, FlagEnvironment};
use pennon_model::environment::{Environment, EnvironmentName, EnvironmentPath, ProductName};
use pennon_model::flag::{Flag, FlagKey, FlagName, FlagProducts, FlagType, exists_in};
use pennon_model::id::{EnvironmentId, FlagId};
use pennon_model::metadata::FlagMetadata;
use pennon_model::targeting::{FlagRollout, TargetingRule};
use pennon_model::text::Description;
use serde::Serialize;

pub(crate) use self::import::{Imported, import, import_within};
pub(crate) use self::plan::ImportedChange;
pub(crate) use self::warnings::warnings;

use super::Admin;
use super::targeting::ConfigurationContent;
use crate::auth::authority::Administrator;
use crate::error::{Error, Fault};
use crate::store::{self, Tx};

/// The version of the document format.
pub(crate) const FORMAT_VERSION: u32 = 1;

/// All flags, by key.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Document {
    pub(crate) format_version: u32,
    pub(crate) flags: Vec<PortableFlag>,
}

/// A flag and its configuration in each active environment, by product and name.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PortableFlag {
    pub(crate) key: FlagKey,
    pub(crate) name: FlagName,
    pub(crate) description: Option<Description>,
    #[serde(rename = "type")]
    pub(crate) kind: FlagType,
    /// The products in whose environments the flag is configured. Every product if none, which is omitted: earlier
    /// releases do not know the member.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) products: Option<FlagProducts>,
    /// True if the flag exists in public environments. False is omitted for the same reason.
    #[serde(rename = "public", skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_public: bool,
    /// The tags, owner, kind and expiry, those that the flag has.
    #[serde(flatten)]
    pub(crate) metadata: FlagMetadata,
    pub(crate) archived: bool,
    pub(crate) environments: Vec<PortableConfiguration>,
}

/// The configuration of a flag in one environment.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PortableConfiguration {
    pub(crate) product: ProductName,
    pub(crate) environment: EnvironmentName,
    #[serde(flatten)]
    pub(crate) content: ConfigurationContent,
}

impl PortableConfiguration {
    /// Returns the product and the name of the environment.
    pub(crate) fn path(&self) -> EnvironmentPath {
        EnvironmentPath {
            product: self.product.to_string(),
            name: self.environment.to_string(),
        }
    }
}

/// Exports all flags.
pub(crate) async fn export(admin: &Admin, _actor: &Administrator) -> Result<Document, Error> {
    let here = Installation::read(&mut admin.db.read().await?).await?;
    Ok(Document {
        format_version: FORMAT_VERSION,
        flags: here
            .flags
            .values()
            .map(|flag| here.portable(flag))
            .collect(),
    })
}

/// The flags, active environments and flag configurations of a database.
struct Installation {
    flags: BTreeMap<FlagKey, Flag>,
    environments: BTreeMap<EnvironmentPath, Environment>,
    configurations: HashMap<(FlagId, EnvironmentId), Configuration>,
    /// The configurations in environments that their flags have left.
    hidden: HashMap<(FlagId, EnvironmentId), Configuration>,
    rules: HashMap<(FlagId, EnvironmentId), Vec<TargetingRule>>,
    rollouts: HashMap<(FlagId, EnvironmentId), FlagRollout>,
    /// The config revision of each active environment.
    config_revisions: Vec<(EnvironmentId, i64)>,
}

impl Installation {
    async fn read(tx: &mut Tx) -> Result<Self, Error> {
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

    fn by_path(environments: Vec<Environment>) -> BTreeMap<EnvironmentPath, Environment> {
        let by_path = |one: Environment| (one.path(), one);
        environments.into_iter().map(by_path).collect()
    }

    /// Returns the active environments in which a flag is configured.
    fn scope(&self, flag: &Flag) -> impl Iterator<Item = &Environment> {
        let environments = self.environments.values();
        environments.filter(|environment| flag.exists_in(environment))
    }

    fn portable(&self, flag: &Flag) -> PortableFlag {
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
            kind: flag.kind,
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
    fn current(&self, flag: &Flag, environment: &Environment) -> Option<FlagConfiguration> {
        let configuration = self.configurations.get(&(flag.id, environment.id))?;
        Some(self.current_as(flag.clone(), environment, configuration.clone()))
    }

    /// Returns the flag's configuration in an environment, with `configuration` in place of the stored one.
    fn current_as(
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

    fn environment(&self, configuration: &PortableConfiguration) -> Option<&Environment> {
        self.environments.get(&configuration.path())
    }

    /// Returns all reasons that the document cannot be imported here.
    fn faults(&self, document: &Document) -> Vec<Fault> {
        let mut faults = Vec::new();
        let mut keys = HashSet::new();
        let mut missing = HashSet::new();
        for (index, flag) in document.flags.iter().enumerate() {
            let at = |place: &str, detail: String| {
                Fault::pointer(format!("/flags/{index}{place}"), detail)
            };
            if !keys.insert(&flag.key) {
                faults.push(at("/key", format!("`{}` occurs twice", flag.key)));
            }
            if let Some(old) = self.flags.get(&flag.key)
                && old.kind != flag.kind
            {
                let detail = format!(
                    "the flag has type `{}` here, and a type cannot be changed",
                    old.kind
                );
                faults.push(at("/type", detail));
            }
            let mut names = HashSet::new();
            for (index, configuration) in flag.environments.iter().enumerate() {
                let name = (&configuration.product, &configuration.environment);
                let path = configuration.path();
                let place = format!("/environments/{index}");
                if !names.insert(name) {
                    faults.push(at(&place, format!("{path} occurs twice")));
                }
                let environment = self.environment(configuration);
                if environment.is_none() && missing.insert(name) {
                    let detail = format!("there is no active environment {path}");
                    faults.push(at(&place, detail));
                }
                let is_of_flag =
                    |products: &FlagProducts| products.contains(&configuration.product);
                if !flag.products.as_ref().is_none_or(is_of_flag) {
                    let detail = format!(
                        "the flag's `products` do not include `{}`",
                        configuration.product
                    );
                    faults.push(at(&format!("{place}/product"), detail));
                } else if environment
                    .is_some_and(|one| !exists_in(flag.products.as_ref(), flag.is_public, one))
                {
                    let detail =
                        format!("{path} is public here, so the flag needs `\"public\": true`");
                    faults.push(at(&place, detail));
                }
                if flag.archived && configuration.content.switch.is_enabled {
                    let detail = "an archived flag cannot be enabled".to_owned();
                    faults.push(at(&format!("{place}/isEnabled"), detail));
                }
                let mut priorities = HashSet::new();
                for (index, rule) in configuration.content.rules.iter().enumerate() {
                    if !priorities.insert(rule.priority.get()) {
                        let detail = "another rule has this priority".to_owned();
                        faults.push(at(&format!("{place}/rules/{index}/priority"), detail));
                    }
                }
            }
        }
        faults
    }
}
