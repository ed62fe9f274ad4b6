//! The overview of a flag in all environments, with its whole configuration in one of them.

use std::collections::HashSet;

use pennon_core::rule::Attribute;
use pennon_model::configuration::{FlagComparison, FlagEnvironmentId, FlagOverview};
use pennon_model::environment::{self, Environment};
use pennon_model::flag::Flag;
use pennon_model::id::EnvironmentId;

use super::with_targeting;
use crate::admin::{Admin, environments, flags};
use crate::auth::actor::Actor;
use crate::error::{Entity, Error};
use crate::store::{self, Tx};

/// Returns the flag with this key, its state in the active environments of its products, and its configuration in the
/// one that `choose` picks, or in the one that replaced it after key rotations. With a `product`, only its environments
/// are listed.
pub(crate) async fn overview(
    admin: &Admin,
    _actor: &Actor,
    key: &str,
    product: Option<&str>,
    choose: impl FnOnce(&[Environment]) -> Option<EnvironmentId>,
) -> Result<FlagOverview, Error> {
    let mut tx = admin.db.read().await?;
    let flag = flags::find_by_key(&mut tx, key).await?;
    let flag = flag.ok_or(Error::NotFound(Entity::Flag))?;
    let mut active = active_with(&mut tx, &flag, product).await?;
    let cells = store::configurations::cells(&mut tx, &[flag.id]).await?;
    let environment = match choose(&active) {
        Some(id) => Some(environments::find_current(&mut tx, id).await?),
        None => None,
    };
    environment::sort(&mut active);
    let target = match &environment {
        Some(environment) => {
            let (flag, environment) = (flag.id, environment.id);
            let id = FlagEnvironmentId { flag, environment };
            store::configurations::find(&mut tx, id).await?
        }
        None => None,
    };
    let configuration = match target {
        Some(target) => Some(with_targeting(&mut tx, target).await?),
        None => None,
    };
    let with_cell = |environment: Environment| {
        let cell = cells.get(&(flag.id, environment.id)).copied();
        (environment, cell)
    };
    Ok(FlagOverview {
        environments: active.into_iter().map(with_cell).collect(),
        flag,
        environment,
        configuration,
    })
}

/// Returns the flag with this key, and its configurations in the active environments of its products. With a `product`,
/// only its environments are listed.
pub(crate) async fn comparison(
    admin: &Admin,
    _actor: &Actor,
    key: &str,
    product: Option<&str>,
) -> Result<FlagComparison, Error> {
    let mut tx = admin.db.read().await?;
    let flag = flags::find_by_key(&mut tx, key).await?;
    let flag = flag.ok_or(Error::NotFound(Entity::Flag))?;
    let mut active = active_with(&mut tx, &flag, product).await?;
    environment::sort(&mut active);
    let mut environments = Vec::new();
    for environment in active {
        let id = FlagEnvironmentId {
            flag: flag.id,
            environment: environment.id,
        };
        let configuration = match store::configurations::find(&mut tx, id).await? {
            Some(target) => Some(with_targeting(&mut tx, target).await?),
            None => None,
        };
        environments.push((environment, configuration));
    }
    Ok(FlagComparison { flag, environments })
}

/// Returns the active environments in which a flag exists; with a `product`, only its environments.
async fn active_with(
    tx: &mut Tx,
    flag: &Flag,
    product: Option<&str>,
) -> Result<Vec<Environment>, Error> {
    let mut active = store::environments::active(tx).await?;
    active.retain(|environment| {
        flag.exists_in(environment)
            && product.is_none_or(|product| environment.product.as_str() == product)
    });
    Ok(active)
}

/// Returns the custom attributes in the newest rules of an environment, newest first.
pub(crate) async fn attributes(
    admin: &Admin,
    _actor: &Actor,
    environment: EnvironmentId,
) -> Result<Vec<Attribute>, Error> {
    let rules = store::rules::newest(&mut admin.db.read().await?, environment).await?;
    let conditions = rules.into_iter().flat_map(|rule| rule.rule.conditions);
    let mut seen = HashSet::new();
    let custom = conditions
        .map(|condition| condition.attribute)
        .filter(|attribute| matches!(attribute, Attribute::Custom(_)))
        .filter(|attribute| seen.insert(attribute.as_str().to_owned()));
    Ok(custom.collect())
}
