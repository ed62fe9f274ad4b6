//! Environments: creating and listing them.

use pennon_core::model::audit::AuditAction;
use pennon_core::model::environment::{
    Environment, EnvironmentName, EnvironmentStatus, ProductName,
};
use pennon_core::model::id::EnvironmentId;
use pennon_core::model::page::{Page, PageRequest};
use pennon_core::model::text::Secret;

use super::audit::Subject;
use super::changes::Change;
use super::{Service, audit, changes};
use crate::auth::actor::{Actor, Administrator};
use crate::auth::secret::{SdkKey, SecretHash};
use crate::error::{Entity, Error, Fault};
use crate::store::environments::EnvironmentFilter;
use crate::store::{self, Tx};

/// An environment to create.
pub(crate) struct NewEnvironment {
    pub(crate) product: ProductName,
    pub(crate) name: EnvironmentName,
}

/// An environment and its key, which is shown this once.
pub(crate) struct CreatedEnvironment {
    pub(crate) environment: Environment,
    pub(crate) sdk_key: Secret,
}

/// Creates an environment with every active flag, disabled, in it.
pub(crate) async fn create(
    service: &Service,
    actor: &Administrator,
    new: NewEnvironment,
) -> Result<CreatedEnvironment, Error> {
    let products = &service.settings.products;
    if !products.is_empty()
        && !products
            .iter()
            .any(|product| product == new.product.as_str())
    {
        let detail = format!("must be one of {}", products.join(", "));
        return Err(Error::Invalid(vec![Fault::pointer("/product", detail)]));
    }
    let now = service.clock.now();
    let SdkKey { secret, prefix } = SdkKey::generate(&service.entropy);
    let environment = Environment {
        id: EnvironmentId::new(service.entropy.id(now)),
        product: new.product,
        name: new.name,
        sdk_key_prefix: prefix,
        status: EnvironmentStatus::Active,
        created_at: now,
        revision: 1,
    };
    let mut tx = service.db.write().await?;
    store::environments::insert(&mut tx, &environment, SecretHash::of(secret.expose())).await?;
    let revision = store::configurations::insert_for_environment(&mut tx, environment.id).await?;
    let subject = Subject {
        environment: Some(&environment),
        ..Subject::default()
    };
    let values = (None::<&Environment>, Some(&environment));
    audit::record(
        service,
        &mut tx,
        actor,
        AuditAction::EnvironmentCreated,
        subject,
        values,
    )
    .await?;
    let change = Change {
        environment: environment.id,
        flag: None,
        revision,
    };
    changes::commit(service, tx, vec![change]).await?;
    Ok(CreatedEnvironment {
        environment,
        sdk_key: secret,
    })
}

/// One page of environments, newest first.
pub(crate) async fn list(
    service: &Service,
    _actor: &Actor,
    filter: &EnvironmentFilter,
    page: PageRequest,
) -> Result<Page<Environment>, Error> {
    store::environments::list(&mut service.db.read().await?, filter, page).await
}

/// One environment.
pub(crate) async fn get(
    service: &Service,
    _actor: &Actor,
    id: EnvironmentId,
) -> Result<Environment, Error> {
    find(&mut service.db.read().await?, id).await
}

/// One environment, within a transaction.
pub(super) async fn find(tx: &mut Tx, id: EnvironmentId) -> Result<Environment, Error> {
    store::environments::find(tx, id)
        .await?
        .ok_or(Error::NotFound(Entity::Environment))
}
