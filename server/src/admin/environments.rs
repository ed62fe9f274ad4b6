//! Environments: creating, listing, changing and revoking them, and rotating their keys.

use pennon_model::audit::AuditAction;
use pennon_model::environment::{
    ClientRules, CreatedEnvironment, Environment, EnvironmentFilter, EnvironmentName,
    EnvironmentStatus, ProductName, Visibility,
};
use pennon_model::id::EnvironmentId;
use pennon_model::page::{Page, PageRequest};
use pennon_model::previous_key::{OverlapSeconds, PreviousKey};
use pennon_model::secret::SecretHash;
use pennon_model::text::NewName;

use super::changes::{EnvironmentChange, KeyChange};
use super::patch::renamed;
use super::precondition::Precondition;
use super::{Admin, Existence, audit, changes, previous_keys};
use crate::auth::actor::Actor;
use crate::auth::authority::{AnyAdministrator, EnvironmentAdministrator};
use crate::auth::secret::PrefixedSecret;
use crate::error::{Conflict, Entity, Error, Fault, no_faults};
use crate::store::environments::Safeguards;
use crate::store::{self, Tx};

/// An environment to create.
pub(crate) struct NewEnvironment {
    pub(crate) product: NewName<ProductName>,
    pub(crate) name: NewName<EnvironmentName>,
    pub(crate) visibility: Visibility,
    pub(crate) client_rules: ClientRules,
    pub(crate) is_protected: bool,
    pub(crate) is_reason_required: bool,
}

/// A change of an environment; absent members stay unchanged.
#[derive(Default)]
pub(crate) struct EnvironmentPatch {
    pub(crate) name: Option<EnvironmentName>,
    /// Fails unless it is the current visibility.
    pub(crate) visibility: Option<Visibility>,
    pub(crate) client_rules: Option<ClientRules>,
    pub(crate) is_protected: Option<bool>,
    pub(crate) is_reason_required: Option<bool>,
}

/// The members of an environment that can change.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct EnvironmentDetails {
    pub(super) name: EnvironmentName,
    pub(super) client_rules: ClientRules,
    pub(super) is_protected: bool,
    pub(super) is_reason_required: bool,
}

impl EnvironmentDetails {
    /// Returns the current members of an environment.
    pub(super) fn of(environment: &Environment) -> Self {
        Self {
            name: environment.name.clone(),
            client_rules: environment.client_rules,
            is_protected: environment.is_protected,
            is_reason_required: environment.is_reason_required,
        }
    }
}

/// Creates an environment in which every active flag is disabled.
pub(crate) async fn create(
    admin: &Admin,
    actor: &AnyAdministrator,
    new: NewEnvironment,
) -> Result<CreatedEnvironment, Error> {
    let actor = &actor.of_product(new.product.as_inner())?;
    check(admin, &new)?;
    let key = PrefixedSecret::sdk_key(new.visibility, &admin.entropy);
    let environment = new_environment(admin, &new, &key);
    let mut tx = admin.db.write().await?;
    let change = create_within(admin, &mut tx, actor, &environment, &key).await?;
    changes::commit(admin, tx, actor, vec![change]).await?;
    Ok(CreatedEnvironment {
        environment,
        sdk_key: key.secret,
    })
}

/// Creates an environment, within a transaction.
pub(super) async fn create_within(
    admin: &Admin,
    tx: &mut Tx,
    actor: &EnvironmentAdministrator,
    environment: &Environment,
    key: &PrefixedSecret,
) -> Result<EnvironmentChange, Error> {
    let change = insert(tx, environment, key).await?;
    entry(AuditAction::EnvironmentCreated, None, environment)?
        .record(admin, tx, actor)
        .await?;
    Ok(change)
}

/// Stores an environment in which every flag is disabled, without an audit entry.
pub(super) async fn insert(
    tx: &mut Tx,
    environment: &Environment,
    key: &PrefixedSecret,
) -> Result<EnvironmentChange, Error> {
    let hash = SecretHash::of(key.secret.expose());
    store::environments::insert(tx, environment, hash).await?;
    let raised = store::configurations::insert_for_environment(tx, environment.id).await?;
    Ok(EnvironmentChange::of_new_environment(raised))
}

/// Checks the members of a new environment.
pub(super) fn check(admin: &Admin, new: &NewEnvironment) -> Result<(), Error> {
    let fault = |(member, detail)| Fault::pointer(format!("/{member}"), detail);
    no_faults(faults(admin, new).into_iter().map(fault).collect())
}

/// Returns the members of a new environment that are invalid, with the reasons.
pub(super) fn faults(admin: &Admin, new: &NewEnvironment) -> Vec<(&'static str, String)> {
    let product = refused_product(admin, new.product.as_inner());
    let client_rules = refused_client_rules(new.visibility, new.client_rules);
    let product = product.map(|detail| ("product", detail));
    let client_rules = client_rules.map(|detail| ("clientRules", detail.to_owned()));
    product.into_iter().chain(client_rules).collect()
}

fn refused_client_rules(visibility: Visibility, client_rules: ClientRules) -> Option<&'static str> {
    let is_refused = visibility == Visibility::Server && client_rules == ClientRules::Answers;
    is_refused.then_some("must be `full`, because the environment is not public")
}

/// Returns the reason that the settings allow no environment of this product; none if they allow it.
pub(super) fn refused_product(admin: &Admin, product: &ProductName) -> Option<String> {
    let products: Vec<&str> = admin
        .products
        .iter()
        .map(String::as_str)
        .filter(|product| !product.is_empty())
        .collect();
    let is_allowed = products.is_empty() || products.contains(&product.as_str());
    (!is_allowed).then(|| format!("must be one of {}", products.join(", ")))
}

/// Changes the name, the client rules or the safeguards of an environment.
pub(crate) async fn update(
    admin: &Admin,
    actor: &AnyAdministrator,
    id: EnvironmentId,
    precondition: &Precondition,
    patch: EnvironmentPatch,
) -> Result<Environment, Error> {
    let mut tx = admin.db.write().await?;
    let (old, actor) = find_active(admin, &mut tx, actor, id, precondition).await?;
    if patch
        .visibility
        .is_some_and(|visibility| visibility != old.visibility)
    {
        return Err(Conflict::VisibilityFixed.into());
    }
    let details = EnvironmentDetails {
        name: renamed(&old.name, patch.name)?,
        client_rules: patch.client_rules.unwrap_or(old.client_rules),
        is_protected: patch.is_protected.unwrap_or(old.is_protected),
        is_reason_required: patch.is_reason_required.unwrap_or(old.is_reason_required),
    };
    if let Some(detail) = refused_client_rules(old.visibility, details.client_rules) {
        return Err(Fault::pointer("/clientRules", detail).into());
    }
    if details == EnvironmentDetails::of(&old) {
        return Ok(old);
    }
    let (new, change) = rewrite(admin, &mut tx, &actor, &old, details).await?;
    changes::commit(admin, tx, &actor, change.into_iter().collect()).await?;
    Ok(new)
}

/// Stores other details of an environment, within a transaction. The actor must pass its present safeguards.
pub(super) async fn rewrite(
    admin: &Admin,
    tx: &mut Tx,
    actor: &EnvironmentAdministrator,
    old: &Environment,
    details: EnvironmentDetails,
) -> Result<(Environment, Option<EnvironmentChange>), Error> {
    let old = &old.clone().at(admin.clock.now());
    actor.check_safeguards([&Safeguards::of(old)])?;
    let new = Environment {
        name: details.name,
        client_rules: details.client_rules,
        is_protected: details.is_protected,
        is_reason_required: details.is_reason_required,
        revision: old.revision + 1,
        ..old.clone()
    };
    store::environments::update(tx, &new).await?;
    entry(AuditAction::EnvironmentUpdated, Some(old), &new)?
        .record(admin, tx, actor)
        .await?;
    if new.client_rules == old.client_rules {
        return Ok((new, None));
    }
    // Every instance then reads the environment again.
    let raised = store::environments::raise_config_revision(tx, new.id).await?;
    let change = EnvironmentChange::of_environment(raised).without_safeguards();
    Ok((new, Some(change)))
}

/// Revokes an environment permanently. Its key stops working at once.
pub(crate) async fn revoke(
    admin: &Admin,
    actor: &AnyAdministrator,
    id: EnvironmentId,
    precondition: &Precondition,
) -> Result<Environment, Error> {
    let mut tx = admin.db.write().await?;
    let (old, actor) = find_active(admin, &mut tx, actor, id, precondition).await?;
    store::environments::revoke(&mut tx, id).await?;
    let new = revoked(&old);
    let raised = store::environments::raise_config_revision(&mut tx, id).await?;
    entry(AuditAction::EnvironmentRevoked, Some(&old), &new)?
        .record(admin, &mut tx, &actor)
        .await?;
    let change = EnvironmentChange::of_environment(raised);
    changes::commit_keys(admin, tx, &actor, KeyChange::Revocation(id), vec![change]).await?;
    Ok(new)
}

/// Rotates the key of an environment: revokes the environment, and creates a new one with the same product, name,
/// visibility and flag configurations. The old key gives access to the new environment until the end of the overlap.
pub(crate) async fn rotate_key(
    admin: &Admin,
    actor: &AnyAdministrator,
    id: EnvironmentId,
    precondition: &Precondition,
    overlap: OverlapSeconds,
) -> Result<CreatedEnvironment, Error> {
    let mut tx = admin.db.write().await?;
    let (old, actor) = find_active(admin, &mut tx, actor, id, precondition).await?;
    store::environments::revoke(&mut tx, id).await?;
    let key = PrefixedSecret::sdk_key(old.visibility, &admin.entropy);
    let new = successor(admin, &old, &key, overlap);
    let hash = SecretHash::of(key.secret.expose());
    store::environments::insert(&mut tx, &new, hash).await?;
    store::configurations::move_all(&mut tx, old.id, new.id).await?;
    let raised = store::environments::inherit_config_revision(&mut tx, new.id, old.id).await?;
    let keys = previous_keys::keep(&mut tx, &old, &new, hash).await?;
    entry(AuditAction::SdkKeyRotated, Some(&old), &new)?
        .record(admin, &mut tx, &actor)
        .await?;
    // After the entry, whose actor may have a grant for the old environment.
    store::grants::move_all(&mut tx, old.id, new.id).await?;
    let change = EnvironmentChange::of_environment(raised);
    changes::commit_keys(admin, tx, &actor, keys, vec![change]).await?;
    Ok(CreatedEnvironment {
        environment: new,
        sdk_key: key.secret,
    })
}

/// Builds a new environment. The caller stores it.
pub(super) fn new_environment(
    admin: &Admin,
    new: &NewEnvironment,
    key: &PrefixedSecret,
) -> Environment {
    let now = admin.clock.now();
    Environment {
        id: EnvironmentId::new(admin.entropy.id(now)),
        product: new.product.as_inner().clone(),
        name: new.name.as_inner().clone(),
        sdk_key_prefix: key.prefix.clone(),
        visibility: new.visibility,
        client_rules: new.client_rules,
        is_protected: new.is_protected,
        is_reason_required: new.is_reason_required,
        status: EnvironmentStatus::Active,
        created_at: now,
        position: None,
        previous_key: None,
        revision: 1,
    }
}

/// Builds the environment that replaces `old`, with another key.
fn successor(
    admin: &Admin,
    old: &Environment,
    key: &PrefixedSecret,
    overlap: OverlapSeconds,
) -> Environment {
    let now = admin.clock.now();
    let previous_key = |ends_at| PreviousKey {
        prefix: old.sdk_key_prefix.clone(),
        ends_at,
    };
    Environment {
        id: EnvironmentId::new(admin.entropy.id(now)),
        sdk_key_prefix: key.prefix.clone(),
        status: EnvironmentStatus::Active,
        // The newest environment of a lineage must stay so, even if a clock was set back.
        created_at: now.max(old.created_at.plus_millis(1)),
        previous_key: overlap.end(now).map(previous_key),
        revision: 1,
        ..old.clone()
    }
}

/// Starts the audit entry of a changed environment.
pub(super) fn entry(
    action: AuditAction,
    old: Option<&Environment>,
    new: &Environment,
) -> Result<audit::Entry, Error> {
    audit::Entry::of(action).environment(new).from(old)?.to(new)
}

/// Returns a revoked environment.
fn revoked(old: &Environment) -> Environment {
    Environment {
        status: EnvironmentStatus::Revoked,
        previous_key: None,
        revision: old.revision + 1,
        ..old.clone()
    }
}

/// Returns one page of environments.
pub(crate) async fn list(
    admin: &Admin,
    _actor: &Actor,
    filter: &EnvironmentFilter,
    page: PageRequest,
) -> Result<Page<Environment>, Error> {
    let page = store::environments::list(&mut admin.db.read().await?, filter, page).await?;
    let now = admin.clock.now();
    Ok(page.map(|environment| environment.at(now)))
}

/// Returns all active environments, by product and name.
pub(crate) async fn active(admin: &Admin, _actor: &Actor) -> Result<Vec<Environment>, Error> {
    let active = store::environments::active(&mut admin.db.read().await?).await?;
    Ok(at_now(admin, active))
}

/// Returns the environments as they are now.
pub(super) fn at_now(admin: &Admin, environments: Vec<Environment>) -> Vec<Environment> {
    let now = admin.clock.now();
    let environments = environments.into_iter();
    environments
        .map(|environment| environment.at(now))
        .collect()
}

/// Returns the products of the active environments, by name.
pub(crate) async fn products(admin: &Admin, _actor: &Actor) -> Result<Vec<ProductName>, Error> {
    store::environments::products(&mut admin.db.read().await?).await
}

/// Returns one environment.
pub(crate) async fn get(
    admin: &Admin,
    _actor: &Actor,
    id: EnvironmentId,
) -> Result<Environment, Error> {
    let environment = find(&mut admin.db.read().await?, id).await?;
    Ok(environment.at(admin.clock.now()))
}

impl Existence<AnyAdministrator> for EnvironmentId {
    async fn check(&self, admin: &Admin, actor: &AnyAdministrator) -> Result<(), Error> {
        let environment = get(admin, actor, *self).await?;
        actor.of(&environment).map(drop)
    }
}

impl Existence for EnvironmentId {
    async fn check(&self, admin: &Admin, actor: &Actor) -> Result<(), Error> {
        get(admin, actor, *self).await.map(drop)
    }
}

/// Returns one environment, within a transaction.
pub(super) async fn find(tx: &mut Tx, id: EnvironmentId) -> Result<Environment, Error> {
    store::environments::find(tx, id)
        .await?
        .ok_or(Error::NotFound(Entity::Environment))
}

/// Returns the environment that replaced this one after key rotations, or this one if none has, within a transaction.
pub(super) async fn find_current(tx: &mut Tx, id: EnvironmentId) -> Result<Environment, Error> {
    store::environments::find_current(tx, id)
        .await?
        .ok_or(Error::NotFound(Entity::Environment))
}

/// Returns the environment that replaced this one after key rotations, or this one if none has.
pub(crate) async fn current(
    admin: &Admin,
    _actor: &Actor,
    id: EnvironmentId,
) -> Result<Environment, Error> {
    find_current(&mut admin.db.read().await?, id).await
}

/// Returns an environment that can be changed, as it is now, and the actor as one who may change it, within a
/// transaction.
pub(super) async fn find_active(
    admin: &Admin,
    tx: &mut Tx,
    actor: &AnyAdministrator,
    id: EnvironmentId,
    precondition: &Precondition,
) -> Result<(Environment, EnvironmentAdministrator), Error> {
    let environment = find(tx, id).await?;
    let actor = actor.of(&environment)?;
    precondition.check(environment.revision)?;
    let environment = not_revoked(environment)?.at(admin.clock.now());
    Ok((environment, actor))
}

/// Returns the environment, unless it is revoked.
pub(super) fn not_revoked(environment: Environment) -> Result<Environment, Error> {
    match environment.status {
        EnvironmentStatus::Active => Ok(environment),
        EnvironmentStatus::Revoked => Err(Conflict::EnvironmentRevoked.into()),
    }
}
