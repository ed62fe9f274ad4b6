//! The parts of the fake port behind the pages of a flag, the audit log, the playground and the palette.

use async_trait::async_trait;
use pennon_core::{FlagConfig, ttl::Ttl};
use pennon_dashboard::{
    error::AdminError,
    model::Naming,
    port::{
        Expected,
        audit::{AuditAdmin, JointReversal, RecentActions, Record, Reversal, SelectedAction},
        flag_page::{
            ConfigurationCopy, CopyPreview, CopyRevisions, ExpectedTargeting, FlagDetails,
            FlagPageAdmin,
        },
        playground::{Choices, PlaygroundAdmin},
        search::{SearchAdmin, SearchResults},
    },
    recipe_form::RecipeForm,
    targeting_form::{RolloutForm, RuleForm},
};
use pennon_model::{
    audit::{AuditAction, AuditEntry, AuditFilter},
    client::Client,
    configuration::{
        Configuration, FlagComparison, FlagConfiguration, FlagEnvironment, FlagEnvironmentId,
        FlagOverview,
    },
    environment::Environment,
    flag::Flag,
    flag_table::FlagCell,
    id::{AuditId, EnvironmentId, FlagId, RuleId},
    page::{Page, PageRequest},
    plan::Plan,
    time::Timestamp,
};
use serde_json::json;
use uuid::Uuid;

use crate::fake::{Fake, NOW};

impl Fake {
    fn with_key(&self, key: &str) -> Result<&(Flag, Vec<Option<FlagCell>>), AdminError> {
        let mut flags = self.flags.iter();
        let found = flags.find(|(flag, _)| flag.key.as_str() == key);
        found.ok_or(AdminError::NotFound)
    }
}

fn configuration(flag: &Flag, environment: &Environment, cell: FlagCell) -> FlagConfiguration {
    FlagConfiguration {
        target: FlagEnvironment {
            flag: flag.clone(),
            environment: environment.clone(),
            configuration: Configuration {
                flag_id: flag.id,
                environment_id: environment.id,
                is_enabled: cell.enabled,
                ttl: None,
                revision: cell.revision,
                config_revision: 1,
            },
        },
        rules: Vec::new(),
        rollout: None,
    }
}

#[async_trait]
impl FlagPageAdmin for Fake {
    async fn flag(
        &self,
        key: &str,
        environment: Option<EnvironmentId>,
        product: Option<&str>,
    ) -> Result<FlagOverview, AdminError> {
        let (flag, cells) = self.with_key(key)?;
        let all = self.environments.iter().cloned().zip(cells.iter().copied());
        let listed = all.filter(|(each, _)| {
            flag.exists_in(each) && product.is_none_or(|name| each.product.as_str() == name)
        });
        let environments: Vec<_> = listed.collect();
        let mut each = environments.iter();
        let chosen = match environment {
            Some(id) => each.find(|(each, _)| each.id == id),
            None => each.next(),
        };
        let configuration = chosen.and_then(|(environment, cell)| {
            cell.map(|cell| configuration(flag, environment, cell))
        });
        Ok(FlagOverview {
            flag: flag.clone(),
            environment: chosen.map(|(environment, _)| environment.clone()),
            environments,
            configuration,
        })
    }

    async fn comparison(&self, _: &str, _: Option<&str>) -> Result<FlagComparison, AdminError> {
        Err(AdminError::Internal)
    }

    async fn attributes(&self, _: EnvironmentId) -> Result<Vec<String>, AdminError> {
        Ok(Vec::new())
    }

    async fn describe(
        &self,
        flag: Expected<FlagId>,
        details: FlagDetails,
    ) -> Result<(), AdminError> {
        let FlagDetails {
            name,
            products,
            is_public,
            disable,
            ..
        } = details;
        self.record_call(format!(
            "describe at {}: {name}, {products:?}, public: {is_public}, disable: {disable}",
            flag.revision
        ))
    }

    async fn archive(&self, _: FlagId, _: i64) -> Result<(), AdminError> {
        self.record_call("archive".to_owned())
    }

    async fn restore(&self, _: FlagId, _: i64) -> Result<(), AdminError> {
        Err(AdminError::Internal)
    }

    async fn set_ttl(
        &self,
        _: FlagEnvironmentId,
        _: Option<Ttl>,
        _: Option<Ttl>,
    ) -> Result<(), AdminError> {
        self.record_call("set TTL".to_owned())
    }

    async fn add_rule(
        &self,
        _: FlagEnvironmentId,
        _: &[Expected<RuleId>],
        _: &RuleForm,
    ) -> Result<RuleId, AdminError> {
        Err(AdminError::Internal)
    }

    async fn replace_rule(
        &self,
        _: FlagEnvironmentId,
        _: RuleId,
        _: i64,
        _: &RuleForm,
    ) -> Result<(), AdminError> {
        Err(AdminError::Internal)
    }

    async fn delete_rule(&self, _: RuleId, _: i64) -> Result<(), AdminError> {
        Err(AdminError::Internal)
    }

    async fn reorder_rules(
        &self,
        _: FlagEnvironmentId,
        _: &[Expected<RuleId>],
        _: &[RuleId],
    ) -> Result<(), AdminError> {
        Err(AdminError::Internal)
    }

    async fn apply_recipe(
        &self,
        _: FlagEnvironmentId,
        _: &ExpectedTargeting,
        _: &RecipeForm,
    ) -> Result<(), AdminError> {
        Err(AdminError::Internal)
    }

    async fn set_rollout(
        &self,
        _: FlagEnvironmentId,
        _: Option<i64>,
        _: &RolloutForm,
    ) -> Result<(), AdminError> {
        Err(AdminError::Internal)
    }

    async fn remove_rollout(&self, _: FlagEnvironmentId, _: i64) -> Result<(), AdminError> {
        Err(AdminError::Internal)
    }

    async fn preview_copy(&self, _: ConfigurationCopy) -> Result<CopyPreview, AdminError> {
        Err(AdminError::Internal)
    }

    async fn copy(&self, _: ConfigurationCopy, _: CopyRevisions) -> Result<(), AdminError> {
        Err(AdminError::Internal)
    }
}

#[async_trait]
impl AuditAdmin for Fake {
    /// Returns an entry for each environment.
    async fn changes(
        &self,
        filter: &AuditFilter,
        page: PageRequest,
    ) -> Result<Page<Record>, AdminError> {
        let by = filter.actor.iter().map(|actor| format!(" by {actor}"));
        let action = filter.action.map(|action| format!(" {action:?}"));
        let times = [("from", filter.from), ("to", filter.to)].into_iter();
        let times = times.filter_map(|(name, at)| Some(format!(" {name} {}", at?)));
        let more: String = by.chain(action).chain(times).collect();
        self.record_call(format!(
            "audit {:?} {:?}{more}",
            filter.product, filter.environment
        ))?;
        let records = self.environments.iter().map(record);
        // More than a page, for its links to others.
        Ok(page.page_of(records.collect(), 1000))
    }

    async fn own_last_action(&self, _: Timestamp) -> Result<Vec<Record>, AdminError> {
        Ok(Vec::new())
    }

    /// Returns an action for each environment, and two changes of the first flag in the first environment.
    async fn recent_actions(&self, filter: &AuditFilter) -> Result<RecentActions, AdminError> {
        let from = filter.from.map(|from| from.to_string());
        self.record_call(format!(
            "recent {:?} {:?} from {}",
            filter.product,
            filter.environment,
            from.unwrap_or_default()
        ))?;
        Ok(RecentActions {
            actions: self.actions(),
            has_more: true,
        })
    }

    async fn reversal(&self, _: AuditId) -> Result<Reversal, AdminError> {
        Err(AdminError::Internal)
    }

    async fn revert(&self, _: AuditId, _: &str) -> Result<(), AdminError> {
        Err(AdminError::Internal)
    }

    /// Plans to revert all actions but the last, without any change.
    async fn joint_reversal(&self, ids: &[AuditId]) -> Result<JointReversal, AdminError> {
        self.record_call(format!("plan the revert of {}", ids.len()))?;
        let mut actions: Vec<_> = self
            .actions()
            .into_iter()
            .map(|records| SelectedAction {
                records,
                omitted: None,
            })
            .collect();
        if let Some(last) = actions.last_mut() {
            last.omitted = Some("The flag is archived.".to_owned());
        }
        let plan = Plan {
            changes: Vec::new(),
            effects: Vec::new(),
            overwrites: false,
            fingerprint: "f".to_owned(),
        };
        Ok(JointReversal {
            actions,
            plan: Ok(plan),
        })
    }

    async fn revert_jointly(&self, ids: &[AuditId], fingerprint: &str) -> Result<(), AdminError> {
        self.record_call(format!("revert {} at {fingerprint}", ids.len()))
    }
}

/// Returns the record of the creation of an environment.
fn record(environment: &Environment) -> Record {
    Record {
        entry: AuditEntry {
            id: AuditId::new(Uuid::from_u128(7)),
            group_id: AuditId::new(environment.id.uuid()),
            action: AuditAction::EnvironmentCreated,
            actor_identity: "ana@example.com".to_owned(),
            occurred_at: NOW,
            reason: None,
            flag_key: None,
            environment: Some(environment.name.to_string()),
            product: Some(environment.product.to_string()),
            old_value: None,
            new_value: None,
        },
        environment: Some(environment.id),
        revertible: true,
    }
}

impl Fake {
    /// Returns recent actions: two changes of the first flag in the first environment, by two people, and the creation
    /// of each environment, which cannot be reverted.
    fn actions(&self) -> Vec<Vec<Record>> {
        let mut actions = Vec::new();
        if let (Some((flag, _)), Some(environment)) =
            (self.flags.first(), self.environments.first())
        {
            let plain = record(environment);
            let rollout =
                |percentage: u8| json!({ "percentage": percentage, "strategy": "per_user" });
            let changes = [
                (
                    AuditAction::RolloutConfigured,
                    "ana@example.com",
                    [rollout(10), rollout(50)],
                ),
                (
                    AuditAction::FlagEnvironmentUpdated,
                    "bob@example.com",
                    [json!({ "isEnabled": false }), json!({ "isEnabled": true })],
                ),
            ];
            let changes = changes.into_iter().zip(20..);
            actions.extend(changes.map(|((action, actor, [old, new]), number)| {
                let id = AuditId::new(Uuid::from_u128(number));
                let entry = AuditEntry {
                    id,
                    group_id: id,
                    action,
                    actor_identity: actor.to_owned(),
                    flag_key: Some(flag.key.to_string()),
                    old_value: Some(old),
                    new_value: Some(new),
                    ..plain.entry.clone()
                };
                vec![Record {
                    entry,
                    ..plain.clone()
                }]
            }));
        }
        let created = self.environments.iter().map(|environment| {
            vec![Record {
                revertible: false,
                ..record(environment)
            }]
        });
        actions.extend(created);
        actions
    }
}

#[async_trait]
impl PlaygroundAdmin for Fake {
    async fn choices(&self, product: Option<&str>) -> Result<Choices, AdminError> {
        self.record_call(format!("choices {product:?}"))?;
        let mut environments = self.environments.clone();
        environments.retain(|each| product.is_none_or(|name| each.product.as_str() == name));
        let keys = self.flags.iter().map(|(flag, _)| flag.key.to_string());
        Ok(Choices {
            keys: keys.collect(),
            environments,
        })
    }

    async fn config(&self, _: FlagId, _: EnvironmentId) -> Result<FlagConfig, AdminError> {
        Err(AdminError::Internal)
    }

    async fn outdated_clients(&self, _: EnvironmentId) -> Result<Vec<Client>, AdminError> {
        Ok(Vec::new())
    }
}

#[async_trait]
impl SearchAdmin for Fake {
    async fn find(&self, text: &str, product: Option<&str>) -> Result<SearchResults, AdminError> {
        self.record_call(format!("find {text} {product:?}"))?;
        let flags = self.flags.iter().map(|(flag, _)| flag.clone());
        Ok(SearchResults {
            flags: flags.collect(),
            has_more_flags: false,
            environments: self.environments.clone(),
            naming: Naming::of_environments(&self.environments),
        })
    }
}
