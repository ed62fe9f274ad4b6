-- The list of flags filters and sorts thousands of flags by their states and their last use. Triggers keep both in the
-- row of each flag, so that the list reads one table. An instance of the last release may write during an update, which
-- is why the server does not do this itself.

-- True for a configuration with rules or a rollout.
alter table flag_environments add column is_targeted boolean not null default false;

update flag_environments set is_targeted = true
where exists (
    select 1 from rules
    where rules.flag_id = flag_environments.flag_id and rules.environment_id = flag_environments.environment_id
) or exists (
    select 1 from rollouts
    where rollouts.flag_id = flag_environments.flag_id and rollouts.environment_id = flag_environments.environment_id
);

-- Null for a hidden configuration.
alter table flag_environments add column state text generated always as (
    case when is_hidden then null when not is_enabled then 'off' when is_targeted then 'partly' else 'on' end
) stored;

drop index flag_environments_states;
create index flag_environments_by_state on flag_environments (environment_id, state, flag_id);

-- The number of active environments in which a flag is in each state.
alter table flags add column off_count bigint not null default 0;
alter table flags add column partly_count bigint not null default 0;
alter table flags add column on_count bigint not null default 0;
-- The time of the last evaluation of a flag in any environment, to the minute.
alter table flags add column evaluated_at bigint;

update flags set
    (off_count, partly_count, on_count) = (
        select count(*) filter (where pair.state = 'off'), count(*) filter (where pair.state = 'partly'),
            count(*) filter (where pair.state = 'on')
        from flag_environments pair
        join environments on environments.id = pair.environment_id and environments.status = 'active'
        where pair.flag_id = flags.id
    ),
    evaluated_at = (select max(seen.evaluated_at) from flags_last_seen seen where seen.flag_id = flags.id);

drop view flag_table;
drop view flag_states;

-- The state of each flag in each active environment.
create view flag_states as
select pair.flag_id, pair.environment_id, pair.state
from flag_environments pair
join environments on environments.id = pair.environment_id and environments.status = 'active'
where pair.state is not null;

-- Flags with their last change, and whether they are the same for everyone in every active environment.
create view flag_table as
select flags.id, flags.key, flags.name, flags.description, flags.type, flags.created_by, flags.created_at,
    flags.archived_at, flags.revision, flags.is_public, flags.owner, flags.kind, flags.expires_at,
    (select max(audit_entries.occurred_at) from audit_entries where audit_entries.flag_key = flags.key) as changed_at,
    flags.evaluated_at,
    (flags.partly_count + flags.on_count = 0 or flags.partly_count + flags.off_count = 0)
    and exists (select 1 from environments where environments.status = 'active') as is_constant,
    flags.off_count, flags.partly_count, flags.on_count
from flags;

create function target_configurations() returns trigger language plpgsql as $$
begin
    update flag_environments pair set is_targeted = true
    from added
    where pair.flag_id = added.flag_id and pair.environment_id = added.environment_id and not pair.is_targeted;
    return null;
end $$;

create trigger rules_added after insert on rules
referencing new table as added for each statement execute function target_configurations();

create trigger rollouts_added after insert on rollouts
referencing new table as added for each statement execute function target_configurations();

create function untarget_configurations() returns trigger language plpgsql as $$
begin
    update flag_environments pair set is_targeted = false
    from removed
    where pair.flag_id = removed.flag_id and pair.environment_id = removed.environment_id
      and not exists (
          select 1 from rules
          where rules.flag_id = pair.flag_id and rules.environment_id = pair.environment_id
      ) and not exists (
          select 1 from rollouts
          where rollouts.flag_id = pair.flag_id and rollouts.environment_id = pair.environment_id
      );
    return null;
end $$;

create trigger rules_removed after delete on rules
referencing old table as removed for each statement execute function untarget_configurations();

create trigger rollouts_removed after delete on rollouts
referencing old table as removed for each statement execute function untarget_configurations();

create function count_added_states() returns trigger language plpgsql as $$
begin
    update flags set
        off_count = flags.off_count + counted.off_count,
        partly_count = flags.partly_count + counted.partly_count,
        on_count = flags.on_count + counted.on_count
    from (
        select flag_id, count(*) filter (where state = 'off') as off_count,
            count(*) filter (where state = 'partly') as partly_count, count(*) filter (where state = 'on') as on_count
        from added
        join environments on environments.id = added.environment_id and environments.status = 'active'
        where state is not null
        group by flag_id
    ) counted
    where flags.id = counted.flag_id;
    return null;
end $$;

create trigger flag_environments_added after insert on flag_environments
referencing new table as added for each statement execute function count_added_states();

-- The two following triggers are for each row, because only such triggers can have a condition, and most updates do not
-- change a state.
create function count_changed_state() returns trigger language plpgsql as $$
begin
    update flags set
        off_count = off_count + coalesce(new.state = 'off', false)::int - coalesce(old.state = 'off', false)::int,
        partly_count =
            partly_count + coalesce(new.state = 'partly', false)::int - coalesce(old.state = 'partly', false)::int,
        on_count = on_count + coalesce(new.state = 'on', false)::int - coalesce(old.state = 'on', false)::int
    where id = new.flag_id
      and exists (select 1 from environments where id = new.environment_id and status = 'active');
    return null;
end $$;

create trigger flag_environments_changed after update of is_enabled, is_hidden, is_targeted on flag_environments
for each row when (old.state is distinct from new.state and old.environment_id = new.environment_id)
execute function count_changed_state();

create function count_moved_state() returns trigger language plpgsql as $$
begin
    update flags set
        off_count = off_count - (old.state = 'off')::int,
        partly_count = partly_count - (old.state = 'partly')::int,
        on_count = on_count - (old.state = 'on')::int
    where id = old.flag_id and old.state is not null
      and exists (select 1 from environments where id = old.environment_id and status = 'active');
    update flags set
        off_count = off_count + (new.state = 'off')::int,
        partly_count = partly_count + (new.state = 'partly')::int,
        on_count = on_count + (new.state = 'on')::int
    where id = new.flag_id and new.state is not null
      and exists (select 1 from environments where id = new.environment_id and status = 'active');
    return null;
end $$;

-- A rotation moves configurations to another environment.
create trigger flag_environments_moved after update of environment_id on flag_environments
for each row when (old.environment_id <> new.environment_id)
execute function count_moved_state();

create function subtract_revoked_states() returns trigger language plpgsql as $$
begin
    update flags set
        off_count = off_count - (pair.state = 'off')::int,
        partly_count = partly_count - (pair.state = 'partly')::int,
        on_count = on_count - (pair.state = 'on')::int
    from flag_environments pair
    where pair.environment_id = new.id and pair.state is not null and flags.id = pair.flag_id;
    return null;
end $$;

-- An environment is active from its creation until it is revoked.
create trigger environments_revoked after update of status on environments
for each row when (old.status = 'active' and new.status <> 'active')
execute function subtract_revoked_states();

create function note_last_evaluation() returns trigger language plpgsql as $$
begin
    update flags set evaluated_at = seen.evaluated_at
    from (select flag_id, max(evaluated_at) as evaluated_at from added group by flag_id) seen
    where flags.id = seen.flag_id and (flags.evaluated_at is null or flags.evaluated_at < seen.evaluated_at);
    return null;
end $$;

create trigger flags_last_seen_added after insert on flags_last_seen
referencing new table as added for each statement execute function note_last_evaluation();

create trigger flags_last_seen_changed after update on flags_last_seen
referencing new table as added for each statement execute function note_last_evaluation();
