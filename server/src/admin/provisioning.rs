//! Provisioning: creation of environments with SDK keys, flags, and a personal access token from a file. A file is
//! applied only to a database that has never held an environment, so a revoked or rotated key never works again.

use std::collections::HashSet;
use std::path::PathBuf;

use pennon_model::grant::Grants;
use pennon_model::id::TokenId;
use pennon_model::text::NewName;
use pennon_model::token::{Token, TokenName};
use pennon_model::user::Role;

use super::changes::EnvironmentChange;
use super::environments::{self, NewEnvironment};
use super::tokens::TokenDays;
use super::{Admin, tokens, transfer};
use crate::auth::actor::Actor;
use crate::auth::authority::{Administrator, Authorized};
use crate::auth::secret::{GivenSdkKey, GivenToken, PrefixedSecret};
use crate::error::{Conflict, Error, Fault, no_faults};
use crate::store::{self, Tx};

/// The file that the first start applies.
pub struct BootstrapFile {
    pub(crate) path: PathBuf,
    /// The content, or the reason that it is unusable.
    pub(crate) content: Result<Provisioning, String>,
}

/// The content of a bootstrap file.
pub(crate) struct Provisioning {
    pub(crate) environments: Vec<ProvisionedEnvironment>,
    pub(crate) token: Option<ProvisionedToken>,
    pub(crate) document: transfer::Document,
}

/// An environment to create, with the key from the file.
pub(crate) struct ProvisionedEnvironment {
    pub(crate) new: NewEnvironment,
    pub(crate) sdk_key: GivenSdkKey,
}

/// A personal access token to create for the first administrator.
pub(crate) struct ProvisionedToken {
    pub(crate) name: NewName<TokenName>,
    pub(crate) role: Role,
    pub(crate) token: GivenToken,
    pub(crate) expires_in: TokenDays,
}

/// Applies a file within a transaction, and returns the changes to publish after the commit.
///
/// Fails with all faults of the file at once. Then the caller must drop the transaction.
pub(super) async fn apply(
    admin: &Admin,
    tx: &mut Tx,
    file: &Provisioning,
) -> Result<Vec<EnvironmentChange>, Error> {
    let actor = &Actor::command_line().administrator()?;
    let mut faults = Vec::new();
    let mut changes = create_environments(admin, tx, actor, file, &mut faults).await?;
    match transfer::import_within(admin, actor, &file.document, tx).await {
        Ok((_, imported)) => changes.extend(imported),
        Err(Error::Invalid(others)) => faults.extend(others),
        Err(error) => return Err(error),
    }
    if let Some(token) = &file.token {
        tx.begin_action();
        create_token(admin, tx, actor, token, &mut faults).await?;
    }
    no_faults(faults).map(|()| changes)
}

async fn create_environments(
    admin: &Admin,
    tx: &mut Tx,
    actor: &Administrator,
    file: &Provisioning,
    faults: &mut Vec<Fault>,
) -> Result<Vec<EnvironmentChange>, Error> {
    let mut changes = Vec::new();
    let (mut names, mut keys) = (HashSet::new(), HashSet::new());
    for (index, ProvisionedEnvironment { new, sdk_key }) in file.environments.iter().enumerate() {
        let mut fault = |member: &str, detail: String| {
            faults.push(Fault::pointer(
                format!("/environments/{index}/{member}"),
                detail,
            ));
        };
        for (member, detail) in environments::faults(admin, new) {
            fault(member, detail);
        }
        if sdk_key.visibility != new.visibility {
            let detail = format!(
                "does not fit an environment with the visibility `{}`; `pennon generate` prints keys of both kinds",
                new.visibility
            );
            fault("sdkKey", detail);
        }
        let (product, name) = (new.product.as_inner(), new.name.as_inner());
        if !names.insert((product, name)) {
            let detail = format!("{product}/{name} occurs twice in the file");
            fault("name", detail);
            continue;
        }
        // It is rolled back: it is needed only to validate the flags of the environment.
        let substitute;
        let key = if keys.insert(sdk_key.key.secret.expose()) {
            &sdk_key.key
        } else {
            let detail = "another environment in the file has this SDK key";
            fault("sdkKey", detail.to_owned());
            substitute = PrefixedSecret::sdk_key(new.visibility, &admin.entropy);
            &substitute
        };
        let environment = environments::new_environment(admin, new, key);
        let creator = actor.any_administrator()?.of_product(product)?;
        let change = environments::create_within(admin, tx, &creator, &environment, key);
        changes.push(change.await?);
    }
    Ok(changes)
}

async fn create_token(
    admin: &Admin,
    tx: &mut Tx,
    actor: &Authorized,
    new: &ProvisionedToken,
    faults: &mut Vec<Fault>,
) -> Result<(), Error> {
    let owner = store::users::first_administrator(tx).await?;
    let owner = owner.ok_or_else(|| Error::Internal("there is no administrator".to_owned()))?;
    let now = admin.clock.now();
    let token = Token {
        id: TokenId::new(admin.entropy.id(now)),
        user_id: owner.id,
        name: new.name.clone().into_inner(),
        role: new.role,
        grants: Grants::default(),
        token_prefix: new.token.0.prefix.clone(),
        created_at: now,
        expires_at: new.expires_in.after(now),
    };
    match tokens::create_within(admin, tx, actor, &token, &new.token.0.secret).await {
        Err(Error::Conflict(conflict @ (Conflict::TokenNameTaken | Conflict::TooManyTokens))) => {
            faults.push(Fault::pointer(
                "/personalAccessToken/name",
                conflict.to_string(),
            ));
            Ok(())
        }
        other => other,
    }
}
