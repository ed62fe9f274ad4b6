//! The states of flags that triggers of the database maintain.

use crate::TestApp;

/// Counts the flags whose states or last evaluation, which triggers maintain, differ from those in the other tables.
const DIFFERENT_FLAGS: &str = "
    with states as (
        select pair.flag_id,
            case
                when not pair.is_enabled then 'off'
                when exists (
                    select 1 from rules
                    where rules.flag_id = pair.flag_id and rules.environment_id = pair.environment_id
                ) or exists (
                    select 1 from rollouts
                    where rollouts.flag_id = pair.flag_id and rollouts.environment_id = pair.environment_id
                ) then 'partly'
                else 'on'
            end as state
        from flag_environments pair
        join environments on environments.id = pair.environment_id and environments.status = 'active'
        where not pair.is_hidden
    )
    select count(*) from flags
    where off_count <> (select count(*) from states where flag_id = flags.id and state = 'off')
       or partly_count <> (select count(*) from states where flag_id = flags.id and state = 'partly')
       or on_count <> (select count(*) from states where flag_id = flags.id and state = 'on')
       or evaluated_at is distinct from (
           select max(seen.evaluated_at) from flags_last_seen seen where seen.flag_id = flags.id
       )";

impl TestApp {
    /// Fails the test if a flag's stored states or last evaluation are wrong after a step, which the message names.
    pub async fn check_stored_states(&self, step: &str) {
        let different = self.database().count(DIFFERENT_FLAGS).await;
        assert_eq!(different, 0, "after {step}");
    }
}
