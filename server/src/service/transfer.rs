//! All flags and how they are set up, carried from one installation to another, or kept beside the code that asks for
//! them. No secret is among them: environments must be there already, and keep their keys.

use std::collections::{BTreeMap, HashMap, HashSet};

use pennon_core::model::audit::AuditAction;
use pennon_core::model::configuration::Configuration;
use pennon_core::model::environment::{Environment, EnvironmentName, ProductName};
use pennon_core::model::flag::{Flag, FlagKey, FlagName, FlagType};
use pennon_core::model::id::{EnvironmentId, FlagId};
use pennon_core::model::targeting::{FlagRollout, TargetingRule};
use pennon_core::model::text::Description;
use serde::Serialize;
use serde_json::{Value, json};

use super::Service;
use super::changes::{self, Change};
use super::flags::{self, NewFlag};
use super::targeting::{PairId, Setup, Standing};
use crate::auth::actor::{Actor, Administrator};
use crate::error::{Error, Fault};
use crate::store::{self, Tx};

/// The version of the document.
pub(crate) const FORMAT_VERSION: i64 = 1;

/// All flags, by key.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Document {
    pub(crate) format_version: i64,
    pub(crate) flags: Vec<PortableFlag>,
}

/// A flag and how it is set up in each active environment, by product and name.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PortableFlag {
    pub(crate) key: FlagKey,
    pub(crate) name: FlagName,
    pub(crate) description: Option<Description>,
    #[serde(rename = "type")]
    pub(crate) kind: FlagType,
    pub(crate) archived: bool,
    pub(crate) environments: Vec<PortableSetup>,
}

/// How a flag is set up in one environment.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PortableSetup {
    pub(crate) product: ProductName,
    pub(crate) environment: EnvironmentName,
    #[serde(flatten)]
    pub(crate) setup: Setup,
}

/// One change that an import makes, or would make.
pub(crate) struct Carried {
    /// What the audit log calls it.
    pub(crate) action: AuditAction,
    pub(crate) flag: FlagKey,
    /// The environment, as `product/name`.
    pub(crate) environment: Option<String>,
    pub(crate) old: Option<Value>,
    pub(crate) new: Option<Value>,
}

/// All flags as they are at this moment.
pub(crate) async fn export(service: &Service, _actor: &Administrator) -> Result<Document, Error> {
    let here = Installation::read(&mut service.db.read().await?).await?;
    Ok(Document {
        format_version: FORMAT_VERSION,
        flags: here
            .flags
            .values()
            .map(|flag| here.portable(flag))
            .collect(),
    })
}

/// Makes the flags of a document be as it says, all of them or none, and answers what changed. What the document does not
/// speak of stays as it is. A dry run does all the same, and then takes it back.
pub(crate) async fn import(
    service: &Service,
    actor: &Administrator,
    document: &Document,
    dry_run: bool,
) -> Result<Vec<Carried>, Error> {
    let mut tx = service.db.write().await?;
    let here = Installation::read(&mut tx).await?;
    let faults = here.faults(document);
    if !faults.is_empty() {
        return Err(Error::Invalid(faults));
    }
    let mut import = Import {
        service,
        actor,
        tx,
        here,
        touched: BTreeMap::new(),
        carried: Vec::new(),
    };
    for flag in &document.flags {
        import.flag(flag).await?;
    }
    let Import {
        tx,
        touched,
        carried,
        ..
    } = import;
    if !dry_run && !carried.is_empty() {
        let change = |(environment, revision)| Change {
            environment,
            flag: None,
            revision,
        };
        changes::commit(service, tx, touched.into_iter().map(change).collect()).await?;
    }
    Ok(carried)
}

/// The flags, active environments and set-ups of a database.
struct Installation {
    flags: BTreeMap<FlagKey, Flag>,
    environments: BTreeMap<(ProductName, EnvironmentName), Environment>,
    configurations: HashMap<(FlagId, EnvironmentId), Configuration>,
    rules: HashMap<(FlagId, EnvironmentId), Vec<TargetingRule>>,
    rollouts: HashMap<(FlagId, EnvironmentId), FlagRollout>,
}

impl Installation {
    async fn read(tx: &mut Tx) -> Result<Self, Error> {
        let flags = store::flags::all(tx).await?;
        let environments = store::environments::active(tx).await?;
        let configurations = store::configurations::all(tx).await?;
        let rollouts = store::rollouts::all(tx).await?;
        let mut rules: HashMap<_, Vec<TargetingRule>> = HashMap::new();
        for rule in store::rules::all(tx).await? {
            let pair = (rule.flag_id, rule.environment_id);
            rules.entry(pair).or_default().push(rule);
        }
        Ok(Self {
            flags: flags
                .into_iter()
                .map(|flag| (flag.key.clone(), flag))
                .collect(),
            environments: environments
                .into_iter()
                .map(|one| ((one.product.clone(), one.name.clone()), one))
                .collect(),
            configurations: configurations
                .into_iter()
                .map(|one| ((one.flag_id, one.environment_id), one))
                .collect(),
            rules,
            rollouts: rollouts
                .into_iter()
                .map(|one| ((one.flag_id, one.environment_id), one))
                .collect(),
        })
    }

    fn portable(&self, flag: &Flag) -> PortableFlag {
        let setup = |((product, name), environment): (&(_, _), &Environment)| {
            let (product, name): (&ProductName, &EnvironmentName) = (product, name);
            Some(PortableSetup {
                product: product.clone(),
                environment: name.clone(),
                setup: self.standing(flag, environment)?.setup(),
            })
        };
        PortableFlag {
            key: flag.key.clone(),
            name: flag.name.clone(),
            description: flag.description.clone(),
            kind: flag.kind,
            archived: flag.archived_at.is_some(),
            environments: self.environments.iter().filter_map(setup).collect(),
        }
    }

    /// How a flag is set up in an environment; none if it is not configured there.
    fn standing(&self, flag: &Flag, environment: &Environment) -> Option<Standing> {
        let pair = (flag.id, environment.id);
        Some(Standing::new(
            flag.clone(),
            environment.clone(),
            self.configurations.get(&pair)?.clone(),
            self.rules.get(&pair).cloned().unwrap_or_default(),
            self.rollouts.get(&pair).cloned(),
        ))
    }

    fn environment(&self, setup: &PortableSetup) -> Option<&Environment> {
        self.environments
            .get(&(setup.product.clone(), setup.environment.clone()))
    }

    /// Everything for which the document cannot be imported here.
    fn faults(&self, document: &Document) -> Vec<Fault> {
        let mut faults = Vec::new();
        let mut keys = HashSet::new();
        let mut missing = HashSet::new();
        for (index, flag) in document.flags.iter().enumerate() {
            let at = |place: &str, detail: String| {
                Fault::pointer(format!("/flags/{index}{place}"), detail)
            };
            if !keys.insert(&flag.key) {
                faults.push(at("/key", format!("`{}` is there twice", flag.key)));
            }
            if let Some(old) = self.flags.get(&flag.key)
                && old.kind != flag.kind
            {
                let detail = format!(
                    "the flag is of type `{}` here, which never changes",
                    old.kind
                );
                faults.push(at("/type", detail));
            }
            let mut names = HashSet::new();
            for (index, setup) in flag.environments.iter().enumerate() {
                let name = (&setup.product, &setup.environment);
                let called = format!("{}/{}", setup.product, setup.environment);
                let place = format!("/environments/{index}");
                if !names.insert(name) {
                    faults.push(at(&place, format!("{called} is there twice")));
                }
                if self.environment(setup).is_none() && missing.insert(name) {
                    let detail =
                        format!("there is no active environment {called}; create it first");
                    faults.push(at(&place, detail));
                }
                if flag.archived && setup.setup.switch.is_enabled {
                    let detail = "an archived flag cannot be enabled".to_owned();
                    faults.push(at(&format!("{place}/isEnabled"), detail));
                }
                let mut priorities = HashSet::new();
                for (index, rule) in setup.setup.rules.iter().enumerate() {
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

/// An import on its way.
struct Import<'a> {
    service: &'a Service,
    actor: &'a Actor,
    tx: Tx,
    /// How it was before.
    here: Installation,
    /// The environments that serve something else now, and their new revisions.
    touched: BTreeMap<EnvironmentId, i64>,
    carried: Vec<Carried>,
}

impl Import<'_> {
    async fn flag(&mut self, wanted: &PortableFlag) -> Result<(), Error> {
        let flag = match self.here.flags.get(&wanted.key).cloned() {
            None => self.create(wanted).await?,
            Some(flag) if self.is_so(&flag, wanted) => return Ok(()),
            Some(flag) => self.make_writable(flag, wanted).await?,
        };
        for setup in &wanted.environments {
            self.set_up(&flag, setup).await?;
        }
        if wanted.archived {
            let changes = flags::put_away(self.service, &mut self.tx, self.actor, &flag).await?;
            self.touch(&changes);
            self.carry(AuditAction::FlagArchived, wanted, None, None);
        }
        Ok(())
    }

    /// Whether there is nothing to do for a flag.
    fn is_so(&self, flag: &Flag, wanted: &PortableFlag) -> bool {
        let is_set_up = |wanted: &PortableSetup| {
            let environment = self.here.environment(wanted);
            let standing = environment.and_then(|one| self.here.standing(flag, one));
            standing.map(Standing::setup).unwrap_or_default() == wanted.setup
        };
        let texts = (&flag.name, &flag.description) == (&wanted.name, &wanted.description);
        texts
            && flag.archived_at.is_some() == wanted.archived
            && wanted.environments.iter().all(is_set_up)
    }

    async fn create(&mut self, wanted: &PortableFlag) -> Result<Flag, Error> {
        let new = NewFlag {
            key: wanted.key.clone(),
            name: wanted.name.clone(),
            description: wanted.description.clone(),
            kind: wanted.kind,
        };
        let (flag, changes) = flags::insert(self.service, &mut self.tx, self.actor, new).await?;
        self.touch(&changes);
        for environment in self.here.environments.values() {
            let configuration = Configuration {
                flag_id: flag.id,
                environment_id: environment.id,
                is_enabled: false,
                ttl: None,
                revision: 1,
            };
            let pair = (flag.id, environment.id);
            self.here.configurations.insert(pair, configuration);
        }
        let new = json!({
            "name": wanted.name, "description": wanted.description, "type": wanted.kind,
        });
        self.carry(AuditAction::FlagCreated, wanted, None, Some(new));
        Ok(flag)
    }

    /// Brings a flag out of the archive, where nothing can be changed, and gives it its texts.
    async fn make_writable(&mut self, old: Flag, wanted: &PortableFlag) -> Result<Flag, Error> {
        let (service, actor) = (self.service, self.actor);
        let mut flag = old;
        if flag.archived_at.is_some() {
            let (restored, changes) =
                flags::bring_back(service, &mut self.tx, actor, &flag).await?;
            self.touch(&changes);
            let archived = |is: bool| Some(json!({ "archived": is }));
            self.carry(
                AuditAction::FlagUpdated,
                wanted,
                archived(true),
                archived(false),
            );
            flag = restored;
            // What was read before is no longer so.
            for environment in self.here.environments.values() {
                self.here.configurations.remove(&(flag.id, environment.id));
            }
        }
        if (&flag.name, &flag.description) != (&wanted.name, &wanted.description) {
            let (name, description) = (wanted.name.clone(), wanted.description.clone());
            let old = json!({ "name": flag.name, "description": flag.description });
            let new = json!({ "name": name, "description": description });
            flag = flags::rewrite(service, &mut self.tx, actor, &flag, name, description).await?;
            self.carry(AuditAction::FlagUpdated, wanted, Some(old), Some(new));
        }
        Ok(flag)
    }

    async fn set_up(&mut self, flag: &Flag, wanted: &PortableSetup) -> Result<(), Error> {
        let Some(environment) = self.here.environment(wanted) else {
            return Ok(());
        };
        let id = PairId {
            flag: flag.id,
            environment: environment.id,
        };
        let standing = match self.here.standing(flag, environment) {
            Some(standing) => standing,
            None => Standing::find(&mut self.tx, id).await?,
        };
        let differences = standing
            .reach(self.service, &mut self.tx, self.actor, &wanted.setup)
            .await?;
        if differences.is_empty() {
            return Ok(());
        }
        let revision = store::configurations::touch(&mut self.tx, id.flag, id.environment).await?;
        self.touched.insert(id.environment, revision);
        let called = format!("{}/{}", wanted.product, wanted.environment);
        for difference in differences {
            self.carried.push(Carried {
                action: difference.action,
                flag: flag.key.clone(),
                environment: Some(called.clone()),
                old: difference.old_value.map(|value| json!(value)),
                new: difference.new_value.map(|value| json!(value)),
            });
        }
        Ok(())
    }

    fn touch(&mut self, changes: &[Change]) {
        for change in changes {
            self.touched.insert(change.environment, change.revision);
        }
    }

    fn carry(
        &mut self,
        action: AuditAction,
        flag: &PortableFlag,
        old: Option<Value>,
        new: Option<Value>,
    ) {
        self.carried.push(Carried {
            action,
            flag: flag.key.clone(),
            environment: None,
            old,
            new,
        });
    }
}
