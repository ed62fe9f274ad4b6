//! What would take a recorded change back, as things stand now.

use pennon_core::model::audit::{AuditAction, AuditEntry};
use pennon_core::model::configuration::Configuration;
use pennon_core::model::environment::{Environment, EnvironmentName, EnvironmentStatus};
use pennon_core::model::flag::Flag;
use pennon_core::model::id::EnvironmentId;
use pennon_core::model::rollout::Rollout;
use pennon_core::model::rule::Rule;
use serde::Serialize;
use serde_json::Value;

use super::super::audit::value;
use super::super::flags::{self, FlagPatch};
use super::super::targeting::{self, ConfigurationPatch, PairId, Rules};
use super::recorded::{before, changed, patch};
use super::step::Step;
use super::{Obstacle, Plan};
use crate::auth::actor::Actor;
use crate::error::Error;
use crate::service::Service;
use crate::store;
use crate::store::audit::Recorded;

type Planned = Result<Result<Plan, Obstacle>, Error>;

/// What would take a change back, or why nothing does.
pub(super) async fn of(service: &Service, actor: &Actor, recorded: &Recorded) -> Planned {
    let entry = &recorded.entry;
    match entry.action {
        AuditAction::FlagCreated | AuditAction::FlagUpdated | AuditAction::FlagArchived => {
            let Some(id) = recorded.flag else {
                return Ok(Err(Obstacle::Gone));
            };
            let flag = flags::get(service, actor, id).await?;
            of_flag(entry, &flag)
        }
        AuditAction::EnvironmentUpdated => match current(service, recorded.environment).await? {
            Some(environment) => of_environment(entry, &environment),
            None => Ok(Err(Obstacle::Gone)),
        },
        AuditAction::FlagEnvironmentUpdated
        | AuditAction::RuleCreated
        | AuditAction::RuleUpdated
        | AuditAction::RuleDeleted
        | AuditAction::RolloutConfigured
        | AuditAction::RolloutDeleted => of_pair(service, actor, recorded).await,
        AuditAction::EnvironmentCreated => Ok(Err(Obstacle::NewEnvironment)),
        AuditAction::EnvironmentRevoked | AuditAction::SdkKeyRotated => Ok(Err(Obstacle::KeyGone)),
        AuditAction::UserCreated
        | AuditAction::UserUpdated
        | AuditAction::UserDeleted
        | AuditAction::PasswordChanged
        | AuditAction::TokenCreated
        | AuditAction::TokenRevoked => Ok(Err(Obstacle::Never)),
    }
}

/// The environment that is in an environment's place now, after the keys that it got meanwhile.
async fn current(
    service: &Service,
    id: Option<EnvironmentId>,
) -> Result<Option<Environment>, Error> {
    let Some(id) = id else { return Ok(None) };
    store::environments::newest_of_lineage(&mut service.db.read().await?, id).await
}

fn of_flag(entry: &AuditEntry, flag: &Flag) -> Planned {
    let archived = flag.archived_at.is_some();
    let was_archived = |value: &Option<Value>| {
        let at = value.as_ref().and_then(|value| value.get("archivedAt"));
        at.is_some_and(|at| !at.is_null())
    };
    let came_back = was_archived(&entry.old_value) && !was_archived(&entry.new_value);
    match entry.action {
        AuditAction::FlagArchived if archived => {
            let restored = Flag {
                archived_at: None,
                ..flag.clone()
            };
            let step = Step::RestoreFlag(flag.id, flag.revision);
            planned(
                AuditAction::FlagUpdated,
                flag,
                &restored,
                flag.revision,
                step,
            )
        }
        AuditAction::FlagArchived => Ok(Err(Obstacle::AlreadySo)),
        _ if archived && (came_back || entry.action == AuditAction::FlagCreated) => {
            Ok(Err(Obstacle::AlreadySo))
        }
        _ if archived => Ok(Err(Obstacle::FlagArchived)),
        AuditAction::FlagCreated => archive(flag),
        _ if came_back => archive(flag),
        _ => describe(entry, flag),
    }
}

fn archive(flag: &Flag) -> Planned {
    let step = Step::ArchiveFlag(flag.id, flag.revision);
    planned(AuditAction::FlagArchived, flag, flag, flag.revision, step)
}

/// Gives a flag back the name and the description that an entry took from it.
fn describe(entry: &AuditEntry, flag: &Flag) -> Planned {
    let name = changed(entry, "name")?;
    let description = patch(entry, "description")?;
    let then = Flag {
        name: name.clone().unwrap_or_else(|| flag.name.clone()),
        description: description.clone().applied_to(flag.description.clone()),
        ..flag.clone()
    };
    let patch = FlagPatch { name, description };
    let step = Step::UpdateFlag(flag.id, flag.revision, patch);
    planned(AuditAction::FlagUpdated, flag, &then, flag.revision, step)
}

fn of_environment(entry: &AuditEntry, environment: &Environment) -> Planned {
    if environment.status == EnvironmentStatus::Revoked {
        return Ok(Err(Obstacle::EnvironmentRevoked));
    }
    let Some(name) = changed::<EnvironmentName>(entry, "name")? else {
        return Ok(Err(Obstacle::AlreadySo));
    };
    let then = Environment {
        name: name.clone(),
        ..environment.clone()
    };
    let revision = environment.revision;
    let step = Step::RenameEnvironment(environment.id, revision, name);
    planned(
        AuditAction::EnvironmentUpdated,
        environment,
        &then,
        revision,
        step,
    )
}

/// What takes back a change of a flag in an environment. Its revision is that of all that the two have in common.
async fn of_pair(service: &Service, actor: &Actor, recorded: &Recorded) -> Planned {
    let (Some(flag), Some(environment)) =
        (recorded.flag, current(service, recorded.environment).await?)
    else {
        return Ok(Err(Obstacle::Gone));
    };
    if environment.status == EnvironmentStatus::Revoked {
        return Ok(Err(Obstacle::EnvironmentRevoked));
    }
    if flags::get(service, actor, flag)
        .await?
        .archived_at
        .is_some()
    {
        return Ok(Err(Obstacle::FlagArchived));
    }
    let environment = environment.id;
    let pair = PairId { flag, environment };
    let entry = &recorded.entry;
    let rules = targeting::rules(service, actor, pair).await?;
    let revision = rules.revision;
    match entry.action {
        AuditAction::FlagEnvironmentUpdated => {
            let now = targeting::configuration(service, actor, pair).await?;
            configure(entry, pair, &now, revision)
        }
        AuditAction::RuleCreated | AuditAction::RuleUpdated | AuditAction::RuleDeleted => {
            of_rule(recorded, pair, &rules)
        }
        _ => {
            let now = match targeting::rollout(service, actor, pair).await {
                Err(Error::NotFound(_)) => None,
                rollout => Some(rollout?),
            };
            let now = now.map(|now| (now.rollout, now.revision));
            roll_back(entry, pair, now, revision)
        }
    }
}

/// What takes back a change of a rule. One that was deleted comes back under another id.
fn of_rule(recorded: &Recorded, pair: PairId, rules: &Rules) -> Planned {
    let Rules { rules, revision } = rules;
    let revision = *revision;
    let entry = &recorded.entry;
    let mut there = rules.iter();
    let now = there.find(|rule| Some(rule.id) == recorded.rule);
    if entry.action == AuditAction::RuleCreated {
        let Some(now) = now else {
            return Ok(Err(Obstacle::AlreadySo));
        };
        let step = Step::DeleteRule(now.id, now.revision);
        let now = Some(value(&now.rule)?);
        return Ok(Plan::new(
            AuditAction::RuleDeleted,
            now,
            None,
            revision,
            step,
        ));
    }
    let then: Rule = before(entry)?;
    let mut others = rules.iter().filter(|other| Some(other.id) != recorded.rule);
    let in_place = others.find(|other| other.rule.priority == then.priority);
    match (now, in_place) {
        (None, _) if entry.action == AuditAction::RuleUpdated => Ok(Err(Obstacle::Gone)),
        (None, Some(other)) if other.rule == then => Ok(Err(Obstacle::AlreadySo)),
        (_, Some(_)) => Ok(Err(Obstacle::PlaceTaken)),
        (Some(now), None) => {
            let step = Step::ReplaceRule(now.id, now.revision, then.clone());
            planned(AuditAction::RuleUpdated, &now.rule, &then, revision, step)
        }
        (None, None) => {
            let value = Some(value(&then)?);
            let step = Step::CreateRule(pair, then);
            Ok(Plan::new(
                AuditAction::RuleCreated,
                None,
                value,
                revision,
                step,
            ))
        }
    }
}

fn configure(entry: &AuditEntry, pair: PairId, now: &Configuration, revision: i64) -> Planned {
    let is_enabled: Option<bool> = changed(entry, "isEnabled")?;
    let ttl = patch(entry, "ttlOverrideSeconds")?;
    let then = Configuration {
        is_enabled: is_enabled.unwrap_or(now.is_enabled),
        ttl: ttl.applied_to(now.ttl),
        ..now.clone()
    };
    let patch = ConfigurationPatch { is_enabled, ttl };
    let step = Step::Configure(pair, now.revision, patch);
    planned(
        AuditAction::FlagEnvironmentUpdated,
        now,
        &then,
        revision,
        step,
    )
}

/// Brings a rollout back to what it was before an entry, be that none.
fn roll_back(
    entry: &AuditEntry,
    pair: PairId,
    now: Option<(Rollout, i64)>,
    revision: i64,
) -> Planned {
    if entry.old_value.is_none() {
        let Some((rollout, current)) = now else {
            return Ok(Err(Obstacle::AlreadySo));
        };
        let step = Step::DeleteRollout(pair, current);
        let now = Some(value(&rollout)?);
        let action = AuditAction::RolloutDeleted;
        return Ok(Plan::new(action, now, None, revision, step));
    }
    let then: Rollout = before(entry)?;
    let step = Step::SetRollout(pair, now.map(|(_, current)| current), then);
    let now = now.map(|(rollout, _)| value(&rollout)).transpose()?;
    let then = Some(value(&then)?);
    let action = AuditAction::RolloutConfigured;
    Ok(Plan::new(action, now, then, revision, step))
}

fn planned<T: Serialize>(
    action: AuditAction,
    now: &T,
    then: &T,
    revision: i64,
    step: Step,
) -> Planned {
    let (now, then) = (Some(value(now)?), Some(value(then)?));
    Ok(Plan::new(action, now, then, revision, step))
}

impl Plan {
    /// A plan that changes something. To archive does, although the object says so only afterwards.
    fn new(
        action: AuditAction,
        now: Option<Value>,
        then: Option<Value>,
        revision: i64,
        step: Step,
    ) -> Result<Self, Obstacle> {
        if now == then && action != AuditAction::FlagArchived {
            return Err(Obstacle::AlreadySo);
        }
        Ok(Self {
            action,
            now,
            then,
            revision,
            step,
        })
    }
}
