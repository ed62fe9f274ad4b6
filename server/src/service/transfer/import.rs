//! Bringing a document into an installation.

use std::collections::BTreeMap;

use pennon_core::model::audit::AuditAction;
use pennon_core::model::configuration::Configuration;
use pennon_core::model::flag::{Flag, FlagKey};
use pennon_core::model::id::EnvironmentId;
use pennon_core::model::text::NewName;
use serde_json::{Value, json};

use super::{Document, Installation, PortableFlag, PortableSetup};
use crate::auth::actor::{Actor, Administrator};
use crate::error::Error;
use crate::service::Service;
use crate::service::changes::{self, Change};
use crate::service::flags::{self, NewFlag};
use crate::service::targeting::{PairId, Standing};
use crate::store::{self, Tx};

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
            name: NewName::stored(wanted.name.clone()),
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
