//! Clones of environments: new environments with the flag configurations of others.

use pennon_model::audit::AuditAction;
use pennon_model::environment::{
    ClientRules, CreatedEnvironment, Environment, EnvironmentName, ProductName, Visibility,
};
use pennon_model::id::{EnvironmentId, RuleId};
use pennon_model::targeting::TargetingRule;
use pennon_model::text::NewName;
use serde::Serialize;

use super::environments::{self, NewEnvironment};
use super::{Admin, audit, changes};
use crate::auth::authority::AnyAdministrator;
use crate::auth::secret::PrefixedSecret;
use crate::error::Error;
use crate::store::{self, Tx};

/// The members in which a clone may differ from its original; the others are the same.
pub(crate) struct CloneOptions {
    pub(crate) product: Option<NewName<ProductName>>,
    pub(crate) name: NewName<EnvironmentName>,
    pub(crate) visibility: Option<Visibility>,
    pub(crate) client_rules: Option<ClientRules>,
    pub(crate) is_protected: Option<bool>,
    pub(crate) is_reason_required: Option<bool>,
}

/// A cloned environment in the audit log.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Cloned<'e> {
    #[serde(flatten)]
    environment: &'e Environment,
    cloned_from: EnvironmentId,
}

/// Creates an environment with all flag configurations, rules and rollouts of another one. Flags that do not exist in
/// the original are disabled. Usage is not cloned.
pub(crate) async fn clone(
    admin: &Admin,
    actor: &AnyAdministrator,
    original: EnvironmentId,
    options: CloneOptions,
) -> Result<CreatedEnvironment, Error> {
    let mut tx = admin.db.write().await?;
    let original = environments::find(&mut tx, original).await?;
    let new = options.applied_to(&original);
    let actor = actor.of_product(new.product.as_inner())?;
    let original = environments::not_revoked(original)?;
    environments::check(admin, &new)?;
    let key = PrefixedSecret::sdk_key(new.visibility, &admin.entropy);
    let environment = environments::new_environment(admin, &new, &key);
    let change = environments::insert(&mut tx, &environment, &key).await?;
    copy_configurations(admin, &mut tx, original.id, environment.id).await?;
    let cloned = Cloned {
        environment: &environment,
        cloned_from: original.id,
    };
    audit::Entry::of(AuditAction::EnvironmentCreated)
        .environment(&environment)
        .to(&cloned)?
        .record(admin, &mut tx, &actor)
        .await?;
    changes::commit(admin, tx, &actor, vec![change]).await?;
    Ok(CreatedEnvironment {
        environment,
        sdk_key: key.secret,
    })
}

async fn copy_configurations(
    admin: &Admin,
    tx: &mut Tx,
    from: EnvironmentId,
    to: EnvironmentId,
) -> Result<(), Error> {
    let now = admin.clock.now();
    store::configurations::copy_all(tx, from, to).await?;
    store::rollouts::copy_all(tx, from, to, now).await?;
    let copy = |rule: TargetingRule| TargetingRule {
        id: RuleId::new(admin.entropy.id(now)),
        environment_id: to,
        created_at: now,
        updated_at: now,
        revision: 1,
        ..rule
    };
    let rules = store::rules::of_environment(tx, from).await?;
    let rules: Vec<TargetingRule> = rules.into_iter().map(copy).collect();
    store::rules::insert_all(tx, &rules).await
}

impl CloneOptions {
    fn applied_to(self, original: &Environment) -> NewEnvironment {
        let visibility = self.visibility.unwrap_or(original.visibility);
        let client_rules = match visibility {
            Visibility::Public => original.client_rules,
            Visibility::Server => ClientRules::Full,
        };
        NewEnvironment {
            product: self
                .product
                .unwrap_or_else(|| NewName::stored(original.product.clone())),
            name: self.name,
            visibility,
            client_rules: self.client_rules.unwrap_or(client_rules),
            is_protected: self.is_protected.unwrap_or(original.is_protected),
            is_reason_required: self
                .is_reason_required
                .unwrap_or(original.is_reason_required),
        }
    }
}
