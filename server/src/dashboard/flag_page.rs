//! The dashboard's access to one flag.

use async_trait::async_trait;
use pennon_core::rule::Priority;
use pennon_core::ttl::Ttl;
use pennon_dashboard::error::{AdminError, FieldErrors};
use pennon_dashboard::port::Expected;
use pennon_dashboard::port::flag_page::{
    ConfigurationCopy, CopyPreview, CopyRevisions, ExpectedTargeting, FlagDetails, FlagPageAdmin,
};
use pennon_dashboard::recipe_form::{Audience, RecipeForm};
use pennon_dashboard::targeting_form::{RolloutForm, RuleForm};
use pennon_model::configuration::{
    ConfigurationDiff, FlagComparison, FlagEnvironmentId, FlagOverview,
};
use pennon_model::environment::{Environment, looks_like_production};
use pennon_model::id::{EnvironmentId, FlagId, RuleId};

use super::{SignedIn, expected, flag_metadata, flag_products, optional_description};
use crate::admin::flags::{FlagPatch, MetadataPatch};
use crate::admin::patch::Patch;
use crate::admin::precondition::Precondition;
use crate::admin::scope::WhenEnabled;
use crate::admin::targeting::{self, ConfigurationPatch, Rules};
use crate::admin::{flags, warnings};
use crate::error::{Entity, Error};

#[async_trait]
impl FlagPageAdmin for SignedIn {
    async fn flag(
        &self,
        key: &str,
        environment: Option<EnvironmentId>,
        product: Option<&str>,
    ) -> Result<FlagOverview, AdminError> {
        let choose = |active: &[Environment]| environment.or_else(|| default_environment(active));
        Ok(targeting::overview(&self.admin, &self.actor, key, product, choose).await?)
    }

    async fn comparison(
        &self,
        key: &str,
        product: Option<&str>,
    ) -> Result<FlagComparison, AdminError> {
        Ok(targeting::comparison(&self.admin, &self.actor, key, product).await?)
    }

    async fn attributes(&self, environment: EnvironmentId) -> Result<Vec<String>, AdminError> {
        let attributes = targeting::attributes(&self.admin, &self.actor, environment).await?;
        let names = attributes
            .iter()
            .map(|attribute| attribute.as_str().to_owned());
        Ok(names.collect())
    }

    async fn describe(
        &self,
        flag: Expected<FlagId>,
        details: FlagDetails,
    ) -> Result<(), AdminError> {
        let actor = self.actor.any_editor()?;
        let mut errors = FieldErrors::default();
        let name = errors.keep("name", details.name.try_into());
        let description = errors.keep("description", optional_description(details.description));
        let products = errors.keep("products", flag_products(details.products));
        let metadata = flag_metadata(&mut errors, &details.metadata);
        let (Some(name), Some(description), Some(products), Some(metadata)) =
            (name, description, products, metadata)
        else {
            return Err(errors.into());
        };
        let patch = FlagPatch {
            name: Some(name),
            description: description.map_or(Patch::Clear, Patch::Set),
            products: products.map_or(Patch::Clear, Patch::Set),
            is_public: Some(details.is_public),
            metadata: MetadataPatch::to(metadata),
            when_enabled: if details.disable {
                WhenEnabled::Disable
            } else {
                WhenEnabled::Refuse
            },
        };
        flags::update(
            &self.admin,
            &actor,
            flag.id,
            &expected(flag.revision),
            patch,
        )
        .await?;
        Ok(())
    }

    async fn archive(&self, flag: FlagId, revision: i64) -> Result<(), AdminError> {
        let actor = self.actor.any_editor()?;
        Ok(flags::archive(&self.admin, &actor, flag, &expected(revision)).await?)
    }

    async fn restore(&self, flag: FlagId, revision: i64) -> Result<(), AdminError> {
        let actor = self.actor.any_editor()?;
        flags::restore(&self.admin, &actor, flag, &expected(revision)).await?;
        Ok(())
    }

    async fn set_ttl(
        &self,
        id: FlagEnvironmentId,
        expected_ttl: Option<Ttl>,
        ttl: Option<Ttl>,
    ) -> Result<(), AdminError> {
        let actor = self.actor.any_editor()?;
        let id = self.current_id(id).await?;
        let admin = &self.admin;
        let current = targeting::configuration(admin, &actor, id).await?;
        if current.ttl != expected_ttl {
            return Err(AdminError::Stale);
        }
        let patch = ConfigurationPatch {
            is_enabled: None,
            ttl: ttl.map_or(Patch::Clear, Patch::Set),
        };
        let unchanged = expected(current.revision);
        targeting::configure(admin, &actor, id, &unchanged, patch).await?;
        Ok(())
    }

    async fn add_rule(
        &self,
        id: FlagEnvironmentId,
        shown: &[Expected<RuleId>],
        input: &RuleForm,
    ) -> Result<RuleId, AdminError> {
        let actor = self.actor.any_editor()?;
        let id = self.current_id(id).await?;
        let Rules { revision, .. } = self.rules_as_shown(id, shown).await?;
        let rule = input.rule(Priority::LAST).map_err(AdminError::Invalid)?;
        let (admin, unchanged) = (&self.admin, expected(revision));
        let (rule, rollout) = (Some(rule), Patch::Keep);
        let rules =
            targeting::extend_targeting(admin, &actor, id, &unchanged, rule, rollout).await?;
        let added = rules.last().ok_or(AdminError::NotFound)?;
        Ok(added.id)
    }

    async fn replace_rule(
        &self,
        id: FlagEnvironmentId,
        rule: RuleId,
        revision: i64,
        input: &RuleForm,
    ) -> Result<(), AdminError> {
        let actor = self.actor.any_editor()?;
        let id = self.current_id(id).await?;
        let Rules { rules, .. } = targeting::rules(&self.admin, &actor, id).await?;
        let old = rules.into_iter().find(|each| each.id == rule);
        let priority = old.ok_or(AdminError::NotFound)?.rule.priority;
        let new = input.rule(priority).map_err(AdminError::Invalid)?;
        targeting::replace_rule(&self.admin, &actor, rule, &expected(revision), new).await?;
        Ok(())
    }

    async fn delete_rule(&self, rule: RuleId, revision: i64) -> Result<(), AdminError> {
        let actor = self.actor.any_editor()?;
        Ok(targeting::delete_rule(&self.admin, &actor, rule, &expected(revision)).await?)
    }

    async fn reorder_rules(
        &self,
        id: FlagEnvironmentId,
        shown: &[Expected<RuleId>],
        order: &[RuleId],
    ) -> Result<(), AdminError> {
        let actor = self.actor.any_editor()?;
        let id = self.current_id(id).await?;
        let Rules { revision, .. } = self.rules_as_shown(id, shown).await?;
        let (admin, unchanged) = (&self.admin, expected(revision));
        targeting::reorder_rules(admin, &actor, id, &unchanged, order).await?;
        Ok(())
    }

    async fn apply_recipe(
        &self,
        id: FlagEnvironmentId,
        shown: &ExpectedTargeting,
        input: &RecipeForm,
    ) -> Result<(), AdminError> {
        let actor = self.actor.any_editor()?;
        let id = self.current_id(id).await?;
        let Rules { revision, .. } = self.rules_as_shown(id, &shown.rules).await?;
        let rollout = match targeting::rollout(&self.admin, &self.actor, id).await {
            Ok(rollout) => Some(rollout.revision),
            Err(Error::NotFound(Entity::Rollout)) => None,
            Err(error) => return Err(error.into()),
        };
        if rollout != shown.rollout {
            return Err(AdminError::Stale);
        }
        let audience = input.audience(Priority::LAST);
        let Audience { rule, rollout, .. } = audience.map_err(AdminError::Invalid)?;
        let (admin, unchanged) = (&self.admin, expected(revision));
        let rollout = rollout.map_or(Patch::Clear, Patch::Set);
        targeting::extend_targeting(admin, &actor, id, &unchanged, rule, rollout).await?;
        Ok(())
    }

    async fn set_rollout(
        &self,
        id: FlagEnvironmentId,
        revision: Option<i64>,
        input: &RolloutForm,
    ) -> Result<(), AdminError> {
        let actor = self.actor.any_editor()?;
        let id = self.current_id(id).await?;
        let rollout = input.rollout().map_err(AdminError::Invalid)?;
        let (admin, unchanged) = (&self.admin, revision.map_or(Precondition::Absent, expected));
        targeting::set_rollout(admin, &actor, id, &unchanged, rollout).await?;
        Ok(())
    }

    async fn remove_rollout(&self, id: FlagEnvironmentId, revision: i64) -> Result<(), AdminError> {
        let actor = self.actor.any_editor()?;
        let id = self.current_id(id).await?;
        Ok(targeting::delete_rollout(&self.admin, &actor, id, &expected(revision)).await?)
    }

    async fn preview_copy(&self, copy: ConfigurationCopy) -> Result<CopyPreview, AdminError> {
        let preconditions = targeting::CopyPreconditions::default();
        let diff = self.copied(copy, &preconditions, true).await?;
        let source = FlagEnvironmentId {
            flag: copy.flag,
            environment: copy.from,
        };
        let warnings = warnings::about_flag(&self.admin, &self.actor, source, copy.to).await;
        Ok(CopyPreview {
            warnings: warnings.into_iter().map(|warning| warning.detail).collect(),
            diff,
        })
    }

    async fn copy(
        &self,
        copy: ConfigurationCopy,
        revisions: CopyRevisions,
    ) -> Result<(), AdminError> {
        let preconditions = targeting::CopyPreconditions {
            from: expected(revisions.from),
            to: expected(revisions.to),
        };
        self.copied(copy, &preconditions, false).await.map(drop)
    }
}

impl SignedIn {
    /// Returns the flag in the current environment, like [`Self::current`].
    async fn current_id(&self, id: FlagEnvironmentId) -> Result<FlagEnvironmentId, AdminError> {
        Ok(FlagEnvironmentId {
            environment: self.current(id.environment).await?,
            ..id
        })
    }

    /// Returns the rules of a flag in an environment, if they are the ones that the page shows. The `revision` of the
    /// result covers the whole configuration: while it is unchanged, so are the rules.
    async fn rules_as_shown(
        &self,
        id: FlagEnvironmentId,
        shown: &[Expected<RuleId>],
    ) -> Result<Rules, AdminError> {
        let rules = targeting::rules(&self.admin, &self.actor, id).await?;
        let current = rules.rules.iter().map(|rule| Expected {
            id: rule.id,
            revision: rule.revision,
        });
        if current.eq(shown.iter().copied()) {
            Ok(rules)
        } else {
            Err(AdminError::Stale)
        }
    }

    async fn copied(
        &self,
        copy: ConfigurationCopy,
        preconditions: &targeting::CopyPreconditions,
        dry_run: bool,
    ) -> Result<ConfigurationDiff, AdminError> {
        let actor = self.actor.any_editor()?;
        let to = FlagEnvironmentId {
            flag: copy.flag,
            environment: self.current(copy.to).await?,
        };
        let from = self.current(copy.from).await?;
        Ok(targeting::copy(
            &self.admin,
            &actor,
            to,
            from,
            copy.part,
            preconditions,
            dry_run,
        )
        .await?)
    }
}

/// Returns the environment to show first: a protected one, or else one that looks like production, or else the first.
fn default_environment(active: &[Environment]) -> Option<EnvironmentId> {
    let mut all = active.iter();
    let chosen = all
        .clone()
        .find(|environment| environment.is_protected)
        .or_else(|| all.find(|environment| looks_like_production(environment.name.as_str())))
        .or(active.first());
    chosen.map(|environment| environment.id)
}
