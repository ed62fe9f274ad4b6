//! Percentage rollouts.

use pennon_core::bucketing::{BUCKETS, bucket};
use pennon_core::config::FlagConfig;
use pennon_core::context::Context;
use pennon_core::rollout::{Percentage, Rollout, Strategy as Bucketing};
use pennon_core::{CompiledFlag, Evaluation, MissingBucketingKey, Reason, evaluate};
use proptest::prelude::*;
use proptest::sample::select;

use crate::oracle;

/// Returns IDs of every kind: short and long, in any script, with control characters.
fn id() -> impl Strategy<Value = String> {
    prop_oneof![
        "(?s).{1,40}",
        "user-[0-9]{1,6}",
        "[a-f0-9]{8}-[a-f0-9]{4}",
        "(?s).{200,300}"
    ]
}

fn strategy() -> impl Strategy<Value = Bucketing> {
    select(Bucketing::ALL)
}

/// Returns a context with only `id`, in the attribute that `strategy` uses.
fn context_with_id(strategy: Bucketing, id: &str) -> Context<'_> {
    let (user_id, tenant_id) = match strategy {
        Bucketing::PerUser => (Some(id.into()), None),
        Bucketing::PerTenant => (None, Some(id.into())),
    };
    Context {
        user_id,
        tenant_id,
        ..Context::default()
    }
}

/// Returns true if a rollout includes the subject of `context`.
fn is_included(
    percentage: i64,
    strategy: Bucketing,
    context: &Context<'_>,
) -> Result<bool, TestCaseError> {
    let percentage = Percentage::try_from(percentage)
        .map_err(|invalid| TestCaseError::fail(invalid.detail()))?;
    let flag = CompiledFlag::from(FlagConfig {
        key: "flag".into(),
        archived: false,
        enabled: true,
        rules: Vec::new(),
        rollout: Some(Rollout {
            percentage,
            strategy,
        }),
        ttl: None,
    });
    let Evaluation { enabled, reason } = evaluate(&flag, context, MissingBucketingKey::Excluded);
    prop_assert_eq!(reason, Reason::Rollout);
    Ok(enabled)
}

proptest! {
    #[test]
    fn a_bucket_is_the_hash_modulo_100(id in id()) {
        prop_assert!(bucket(id.as_bytes()) < BUCKETS);
        prop_assert_eq!(u64::from(bucket(id.as_bytes())), oracle::bucket(&id));
    }

    #[test]
    fn a_rollout_includes_the_buckets_below_its_percentage(
        id in id(), strategy in strategy(), percentage in 0..=100i64,
    ) {
        let included = is_included(percentage, strategy, &context_with_id(strategy, &id))?;
        prop_assert_eq!(included, i64::from(bucket(id.as_bytes())) < percentage);
    }

    #[test]
    fn an_included_subject_stays_included_when_the_percentage_rises(
        id in id(), strategy in strategy(), percentage in 0..100i64,
    ) {
        let context = context_with_id(strategy, &id);
        if is_included(percentage, strategy, &context)? {
            prop_assert!(is_included(percentage + 1, strategy, &context)?);
        }
    }

    #[test]
    fn no_subject_is_included_at_0_and_every_subject_at_100(id in id(), strategy in strategy()) {
        let context = context_with_id(strategy, &id);
        prop_assert!(!is_included(0, strategy, &context)?);
        prop_assert!(is_included(100, strategy, &context)?);
    }

    #[test]
    fn a_subject_without_a_bucketing_key_is_excluded(
        id in id(), empty in any::<bool>(), percentage in 0..=100i64,
    ) {
        let nothing = empty.then(|| "".into());
        let mut context = context_with_id(Bucketing::PerTenant, &id);
        context.user_id.clone_from(&nothing);
        prop_assert!(!is_included(percentage, Bucketing::PerUser, &context)?);
        let mut context = context_with_id(Bucketing::PerUser, &id);
        context.tenant_id = nothing;
        prop_assert!(!is_included(percentage, Bucketing::PerTenant, &context)?);
    }
}

#[test]
fn ten_thousand_numbered_users_spread_over_all_buckets() {
    let mut users_in = [0_u32; BUCKETS as usize];
    for number in 0..10_000 {
        if let Some(users) = users_in.get_mut(bucket(format!("user-{number}").as_bytes()) as usize)
        {
            *users += 1;
        }
    }
    assert!(
        users_in.iter().all(|users| (60..=140).contains(users)),
        "{users_in:?}"
    );
}
