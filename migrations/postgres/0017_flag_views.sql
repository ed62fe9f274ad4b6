-- The list of flags, by state, by last use and by whether a flag can go.

-- The state of each flag in each active environment.
create view flag_states as
select pair.flag_id, pair.environment_id,
    case
        when not pair.is_enabled then 'off'
        when exists (
            select 1 from rules
            where rules.flag_id = pair.flag_id and rules.environment_id = pair.environment_id
        ) then 'partly'
        when exists (
            select 1 from rollouts
            where rollouts.flag_id = pair.flag_id and rollouts.environment_id = pair.environment_id
        ) then 'partly'
        else 'on'
    end as state
from flag_environments pair
join environments on environments.id = pair.environment_id and environments.status = 'active';

-- Flags with their last change, their last evaluation anywhere, and whether they are the same for everyone in every active
-- environment.
create view flag_table as
select flags.id, flags.key, flags.name, flags.description, flags.type, flags.created_by, flags.created_at, flags.archived_at,
    flags.revision,
    (select max(audit_entries.occurred_at) from audit_entries where audit_entries.flag_key = flags.key) as changed_at,
    (select max(seen.evaluated_at) from flags_last_seen seen where seen.flag_id = flags.id) as evaluated_at,
    exists (select 1 from environments where environments.status = 'active')
    and (
        not exists (select 1 from flag_states where flag_states.flag_id = flags.id and flag_states.state <> 'off')
        or not exists (select 1 from flag_states where flag_states.flag_id = flags.id and flag_states.state <> 'on')
    ) as is_constant
from flags;
