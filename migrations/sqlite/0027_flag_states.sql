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
) virtual;

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
        select coalesce(sum(pair.state = 'off'), 0), coalesce(sum(pair.state = 'partly'), 0),
            coalesce(sum(pair.state = 'on'), 0)
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

create trigger rules_added after insert on rules begin
    update flag_environments set is_targeted = true
    where flag_id = new.flag_id and environment_id = new.environment_id and not is_targeted;
end;

create trigger rules_removed after delete on rules begin
    update flag_environments set is_targeted =
        exists (select 1 from rules where flag_id = old.flag_id and environment_id = old.environment_id)
        or exists (select 1 from rollouts where flag_id = old.flag_id and environment_id = old.environment_id)
    where flag_id = old.flag_id and environment_id = old.environment_id;
end;

create trigger rollouts_added after insert on rollouts begin
    update flag_environments set is_targeted = true
    where flag_id = new.flag_id and environment_id = new.environment_id and not is_targeted;
end;

create trigger rollouts_removed after delete on rollouts begin
    update flag_environments set is_targeted =
        exists (select 1 from rules where flag_id = old.flag_id and environment_id = old.environment_id)
    where flag_id = old.flag_id and environment_id = old.environment_id;
end;

create trigger flag_environments_added after insert on flag_environments when new.state is not null begin
    update flags set
        off_count = off_count + (new.state = 'off'),
        partly_count = partly_count + (new.state = 'partly'),
        on_count = on_count + (new.state = 'on')
    where id = new.flag_id
      and exists (select 1 from environments where id = new.environment_id and status = 'active');
end;

create trigger flag_environments_changed
after update of is_enabled, is_hidden, is_targeted on flag_environments
when old.state is not new.state and old.environment_id = new.environment_id begin
    update flags set
        off_count = off_count + (new.state is 'off') - (old.state is 'off'),
        partly_count = partly_count + (new.state is 'partly') - (old.state is 'partly'),
        on_count = on_count + (new.state is 'on') - (old.state is 'on')
    where id = new.flag_id
      and exists (select 1 from environments where id = new.environment_id and status = 'active');
end;

-- A rotation moves configurations to another environment.
create trigger flag_environments_moved after update of environment_id on flag_environments
when old.environment_id <> new.environment_id begin
    update flags set
        off_count = off_count - (old.state = 'off'),
        partly_count = partly_count - (old.state = 'partly'),
        on_count = on_count - (old.state = 'on')
    where id = old.flag_id and old.state is not null
      and exists (select 1 from environments where id = old.environment_id and status = 'active');
    update flags set
        off_count = off_count + (new.state = 'off'),
        partly_count = partly_count + (new.state = 'partly'),
        on_count = on_count + (new.state = 'on')
    where id = new.flag_id and new.state is not null
      and exists (select 1 from environments where id = new.environment_id and status = 'active');
end;

-- An environment is active from its creation until it is revoked.
create trigger environments_revoked after update of status on environments
when old.status = 'active' and new.status <> 'active' begin
    update flags set
        off_count = off_count - (pair.state = 'off'),
        partly_count = partly_count - (pair.state = 'partly'),
        on_count = on_count - (pair.state = 'on')
    from flag_environments pair
    where pair.environment_id = new.id and pair.state is not null and flags.id = pair.flag_id;
end;

create trigger flags_last_seen_added after insert on flags_last_seen begin
    update flags set evaluated_at = new.evaluated_at
    where id = new.flag_id and (evaluated_at is null or evaluated_at < new.evaluated_at);
end;

create trigger flags_last_seen_changed after update of evaluated_at on flags_last_seen begin
    update flags set evaluated_at = new.evaluated_at
    where id = new.flag_id and (evaluated_at is null or evaluated_at < new.evaluated_at);
end;
