//! The preview of a change: its effect on a sample of contexts, and probable mistakes.

use pennon_core::rollout::Rollout;
use pennon_core::rule::Rule;
use pennon_core::turns_on::may_turn_on;
use pennon_core::{CompiledFlag, Context, Evaluation, FlagConfig, MissingBucketingKey, evaluate};
use pennon_model::configuration::{Difference, FlagConfiguration, FlagEnvironmentId};
use pennon_model::targeting::repeated_priorities;
use serde::Serialize;
use tokio::sync::Semaphore;
use utoipa::ToSchema;

use super::{
    ConfigurationContent, ConfigurationPatch, differences, find_with_targeting, steps_to_content,
};
use crate::admin::lint::{self, LintFinding};
use crate::admin::patch::Patch;
use crate::admin::warnings::{self, Warning};
use crate::admin::{Admin, usage};
use crate::auth::actor::Actor;
use crate::error::{Error, Fault, no_faults};

/// The maximum number of contexts in a sample.
pub(crate) const MAX_CONTEXTS: usize = 1_000;

/// Previews take turns, because one with the maximum number of conditions and contexts takes far longer than other
/// requests. Together they then use one core at most.
static TURN: Semaphore = Semaphore::const_new(1);

/// The places of previews that are in progress or wait for their turn. The contexts of one take up to 16 MB.
static PLACES: Semaphore = Semaphore::const_new(8);

/// A proposed configuration of a flag in an environment, and a sample of contexts.
pub(crate) struct Proposal {
    pub(crate) switch: ConfigurationPatch,
    /// All rules; the current ones if none.
    pub(crate) rules: Option<Vec<Rule>>,
    pub(crate) rollout: Patch<Rollout>,
    pub(crate) contexts: Vec<Context<'static>>,
}

/// The effect of a proposed configuration.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Preview {
    /// The number of contexts in the sample with another result. The reason alone does not count.
    affected: usize,
    /// The number of contexts for which the flag turns on.
    turned_on: usize,
    /// The number of contexts for which the flag turns off.
    turned_off: usize,
    /// False if the flag turns on for no context at all, in the sample or not.
    may_turn_on: bool,
    /// The results for each context of the sample, in its order.
    contexts: Vec<PreviewedContext>,
    /// The differences between the current and the proposed configuration.
    differences: Vec<Difference>,
    /// Probable mistakes in the proposed configuration.
    findings: Vec<LintFinding>,
    /// Warnings about clients in use that cannot read the proposed configuration; absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    warnings: Vec<Warning>,
}

/// The results for a context.
#[derive(Clone, Copy, Serialize, ToSchema)]
struct PreviewedContext {
    /// The result with the current configuration.
    before: Evaluation,
    /// The result with the proposed configuration.
    after: Evaluation,
}

/// Returns the effect of a proposed configuration, without storing or counting anything. This also works in revoked
/// environments and for archived flags. Fails if too many other previews are waiting.
pub(crate) async fn preview(
    admin: &Admin,
    actor: &Actor,
    id: FlagEnvironmentId,
    proposal: Proposal,
) -> Result<Preview, Error> {
    let _place = PLACES.try_acquire().map_err(|_| Error::Overloaded)?;
    let current = find_with_targeting(&mut admin.db.read().await?, id).await?;
    let wanted = proposed(&current, &proposal)?;
    let steps = steps_to_content(admin, &current, &wanted);
    let differences = differences(&current.target, &steps);
    let before = current.config();
    let flag = &current.target.flag;
    let after = wanted.config(&flag.key, flag.archived_at.is_some());
    let clients = usage::outdated_clients(admin, actor, id.environment).await?;
    let warnings = warnings::about([&after], &clients);
    // The closure keeps the turn, even if the caller disconnects.
    let turn = TURN.acquire().await;
    let effect = move || {
        let contexts = &proposal.contexts;
        let effect = Preview::of(&before, &after, contexts, differences, warnings);
        drop(turn);
        effect
    };
    // With many conditions, this takes too long for a thread that serves other requests.
    let effect = tokio::task::spawn_blocking(effect).await;
    effect.map_err(|error| Error::Internal(format!("a preview failed: {error}")))
}

impl Preview {
    fn of(
        before: &FlagConfig,
        after: &FlagConfig,
        contexts: &[Context<'_>],
        differences: Vec<Difference>,
        warnings: Vec<Warning>,
    ) -> Self {
        let flags = [before, after].map(|flag| CompiledFlag::from(flag.clone()));
        let results = |context: &Context<'_>| {
            let [before, after] = flags
                .each_ref()
                .map(|flag| evaluate(flag, context, MissingBucketingKey::Excluded));
            PreviewedContext { before, after }
        };
        let contexts: Vec<PreviewedContext> = contexts.iter().map(results).collect();
        let becomes = |on: bool| {
            let mut each = contexts.iter();
            let is_affected =
                |each: &&PreviewedContext| each.before.enabled != on && each.after.enabled == on;
            each.by_ref().filter(is_affected).count()
        };
        let (turned_on, turned_off) = (becomes(true), becomes(false));
        Self {
            affected: turned_on.saturating_add(turned_off),
            turned_on,
            turned_off,
            may_turn_on: may_turn_on(before, after),
            contexts,
            differences,
            findings: lint::findings(after),
            warnings,
        }
    }
}

/// Returns the proposed configuration. Fails if two rules have the same priority.
fn proposed(
    current: &FlagConfiguration,
    proposal: &Proposal,
) -> Result<ConfigurationContent, Error> {
    let ConfigurationContent {
        switch,
        rules,
        rollout,
    } = current.clone().into();
    let wanted = ConfigurationContent {
        switch: proposal.switch.applied_to(switch),
        rules: proposal.rules.clone().unwrap_or(rules),
        rollout: proposal.rollout.applied_to(rollout),
    };
    no_faults(taken_priorities(&wanted.rules)).map(|()| wanted)
}

fn taken_priorities(rules: &[Rule]) -> Vec<Fault> {
    let fault = |index| {
        let pointer = format!("/rules/{index}/priority");
        Fault::pointer(pointer, "is already the priority of another rule")
    };
    repeated_priorities(rules).map(fault).collect()
}
