//! The audit log: entries for every change, and queries.

use std::collections::HashMap;

use pennon_model::audit::{AuditAction, AuditEntry, AuditFilter, AuditRecord, AuditSubjects};
use pennon_model::environment::Environment;
use pennon_model::flag::Flag;
use pennon_model::id::{AuditId, RuleId, UserId};
use pennon_model::page::{Limit, Page, PageRequest};
use pennon_model::time::Timestamp;
use pennon_model::token::Token;
use serde::Serialize;
use serde_json::Value;

use super::{Admin, Existence};
use crate::auth::actor::{Actor, Person};
use crate::auth::authority::Authorized;
use crate::error::{Entity, Error};
use crate::store::Tx;
use crate::store::audit;

/// The maximum number of batches of entries from which [`recent`] makes actions, each of up to 100 entries.
const RECENT_BATCHES: usize = 20;

/// A new audit entry: the action, its object, and the values before and after.
pub(crate) struct Entry {
    action: AuditAction,
    flag_key: Option<String>,
    environment: Option<String>,
    product: Option<String>,
    subjects: AuditSubjects,
    old: Option<Value>,
    new: Option<Value>,
}

impl Entry {
    /// Creates an entry with only an action.
    pub(crate) fn of(action: AuditAction) -> Self {
        Self {
            action,
            flag_key: None,
            environment: None,
            product: None,
            subjects: AuditSubjects::default(),
            old: None,
            new: None,
        }
    }

    /// Adds the flag.
    pub(crate) fn flag(mut self, flag: &Flag) -> Self {
        self.flag_key = Some(flag.key.to_string());
        self.subjects.flag = Some(flag.id);
        self
    }

    /// Adds the environment as it is after the change.
    pub(crate) fn environment(mut self, environment: &Environment) -> Self {
        self.environment = Some(environment.name.to_string());
        self.product = Some(environment.product.to_string());
        self.subjects.environment = Some(environment.id);
        self
    }

    /// Adds the rule.
    pub(crate) fn rule(mut self, rule: RuleId) -> Self {
        self.subjects.rule = Some(rule);
        self
    }

    /// Adds the account.
    pub(crate) fn user(mut self, user: UserId) -> Self {
        self.subjects.user = Some(user);
        self
    }

    /// Adds the token and its owner.
    pub(crate) fn token(mut self, token: &Token) -> Self {
        self.subjects.token = Some(token.id);
        self.user(token.user_id)
    }

    /// Adds the object before the change, if it existed.
    pub(crate) fn from(mut self, old: Option<&impl Serialize>) -> Result<Self, Error> {
        self.old = old.map(value).transpose()?;
        Ok(self)
    }

    /// Adds the object after the change.
    pub(crate) fn to(mut self, new: &impl Serialize) -> Result<Self, Error> {
        self.new = Some(value(new)?);
        Ok(self)
    }

    /// Writes the entry in the transaction of the change. Fails if the actor may no longer make the change.
    pub(crate) async fn record(
        self,
        admin: &Admin,
        tx: &mut Tx,
        actor: &Authorized,
    ) -> Result<(), Error> {
        actor.confirm(tx, admin.clock.now()).await?;
        self.record_confirmed(admin, tx, actor).await
    }

    /// Writes the entry like [`record`](Self::record), for callers that write several entries and have confirmed the
    /// actor in the same transaction.
    pub(super) async fn record_confirmed(
        self,
        admin: &Admin,
        tx: &mut Tx,
        actor: &Actor,
    ) -> Result<(), Error> {
        let (entry, subjects) = self.entry(admin, actor);
        audit::insert(tx, &entry, &subjects).await
    }

    /// Returns the entry, dated now, and the IDs of its objects, for callers that write several entries at once and
    /// confirm the actor themselves.
    pub(super) fn entry(self, admin: &Admin, actor: &Actor) -> (AuditEntry, AuditSubjects) {
        let now = admin.clock.now();
        let id = AuditId::new(admin.entropy.id(now));
        let entry = AuditEntry {
            id,
            // The batch replaces it if it writes several entries.
            group_id: id,
            action: self.action,
            actor_identity: actor.identity(),
            occurred_at: now,
            reason: actor.reason().cloned(),
            flag_key: self.flag_key,
            environment: self.environment,
            product: self.product,
            old_value: self.old,
            new_value: self.new,
        };
        let subjects = AuditSubjects {
            actor: actor.user().map(|user| user.id),
            actor_token: actor.token(),
            request: actor.request().cloned(),
            ..self.subjects
        };
        (entry, subjects)
    }
}

/// Returns one page of entries, newest first. Entries about accounts are for administrators only.
pub(crate) async fn list(
    admin: &Admin,
    actor: &Actor,
    filter: &AuditFilter,
    page: PageRequest,
) -> Result<Page<AuditRecord>, Error> {
    check(actor, filter)?;
    let mut tx = admin.db.read().await?;
    let now = admin.clock.now();
    let total = admin.counted_days.total(&mut tx, filter, now).await?;
    // Beyond the last page, a database would skip every entry to find none.
    let entries = if page.offset() < total {
        audit::page(&mut tx, filter, page).await?
    } else {
        Vec::new()
    };
    Ok(page.page_of(entries, total))
}

/// Returns the next entries of an export, newest first: those after `last`, up to 100. Entries about accounts are for
/// administrators only. Fails if the actor's credential or rights have ended since the export began.
pub(crate) async fn next(
    admin: &Admin,
    actor: &Actor,
    filter: &AuditFilter,
    last: Option<&AuditEntry>,
) -> Result<Vec<AuditRecord>, Error> {
    let mut tx = admin.db.read().await?;
    let actor = actor.refreshed(&mut tx, admin.clock.now()).await?;
    check(&actor, filter)?;
    audit::before(&mut tx, filter, last, Limit::MAX.get()).await
}

/// The newest actions that a filter selects.
pub(crate) struct RecentActions {
    /// The selected entries of each action, newest first.
    pub(crate) actions: Vec<Vec<AuditRecord>>,
    /// True if there are older ones.
    pub(crate) has_more: bool,
}

/// Returns the newest actions, up to `limit`, that a filter selects. Entries about accounts are for administrators only.
///
/// Reads a limited number of entries, so there are fewer actions if one of them wrote very many entries.
pub(crate) async fn recent(
    admin: &Admin,
    actor: &Actor,
    filter: &AuditFilter,
    limit: usize,
) -> Result<RecentActions, Error> {
    let mut actions: Vec<Vec<AuditRecord>> = Vec::new();
    let mut known = HashMap::new();
    let mut last = None;
    for _ in 0..RECENT_BATCHES {
        let entries = next(admin, actor, filter, last.as_ref()).await?;
        last = entries.last().map(|recorded| recorded.entry.clone());
        for recorded in entries {
            let end = actions.len();
            let index = *known.entry(recorded.entry.group_id).or_insert(end);
            match actions.get_mut(index) {
                Some(action) => action.push(recorded),
                None if end < limit => actions.push(vec![recorded]),
                None => {
                    return Ok(RecentActions {
                        actions,
                        has_more: true,
                    });
                }
            }
        }
        if last.is_none() {
            return Ok(RecentActions {
                actions,
                has_more: false,
            });
        }
    }
    Ok(RecentActions {
        actions,
        has_more: true,
    })
}

fn check(actor: &Actor, filter: &AuditFilter) -> Result<(), Error> {
    if filter.accounts {
        actor.administrator()?;
    }
    Ok(())
}

impl Existence for AuditId {
    async fn check(&self, admin: &Admin, actor: &Actor) -> Result<(), Error> {
        let mut tx = admin.db.read().await?;
        find(&mut tx, actor, *self).await.map(drop)
    }
}

/// Returns one entry, if the actor may see it, within a transaction.
pub(super) async fn find(tx: &mut Tx, actor: &Actor, id: AuditId) -> Result<AuditRecord, Error> {
    let recorded = audit::find(tx, id).await?;
    let recorded = recorded.ok_or(Error::NotFound(Entity::AuditEntry))?;
    if recorded.entry.action.is_about_accounts() {
        actor.administrator()?;
    }
    Ok(recorded)
}

/// Returns the entries of the user's own last action since a time, newest first, up to 100. Actions of the user's
/// tokens do not count. Of changes of accounts, only those of roles count.
pub(crate) async fn own_last_action(
    admin: &Admin,
    actor: &Person,
    since: Timestamp,
) -> Result<Vec<AuditRecord>, Error> {
    let mut tx = admin.db.read().await?;
    match audit::newest_by(&mut tx, actor.user().id, since).await? {
        Some(newest) => audit::group(&mut tx, newest.entry.group_id, Limit::MAX.get()).await,
        None => Ok(Vec::new()),
    }
}

/// Returns the time of the last change that the actor may see.
pub(crate) async fn newest(admin: &Admin, actor: &Actor) -> Result<Option<Timestamp>, Error> {
    let accounts = actor.administrator().is_ok();
    audit::newest(&mut admin.db.read().await?, accounts).await
}

pub(super) fn value(object: &impl Serialize) -> Result<Value, Error> {
    serde_json::to_value(object)
        .map_err(|error| Error::Internal(format!("an audit value is not JSON: {error}")))
}
