-- The metadata of a flag. It does not affect evaluation, but an expired flag is stale.
alter table flags add column owner text;
alter table flags add column kind text
    check (kind in ('release', 'experiment', 'operational', 'permission', 'kill_switch'));
alter table flags add column expires_at bigint;

-- The tags of each flag.
create table flag_tags (
    flag_id uuid not null references flags (id),
    tag text not null,
    primary key (flag_id, tag)
);

create index flag_tags_by_tag on flag_tags (tag);

drop view flag_table;

-- Flags with their last change, their last evaluation anywhere, and whether they are the same for everyone in every active
-- environment.
create view flag_table as
select flags.id, flags.key, flags.name, flags.description, flags.type, flags.created_by, flags.created_at, flags.archived_at,
    flags.revision, flags.is_public, flags.owner, flags.kind, flags.expires_at,
    (select max(audit_entries.occurred_at) from audit_entries where audit_entries.flag_key = flags.key) as changed_at,
    (select max(seen.evaluated_at) from flags_last_seen seen where seen.flag_id = flags.id) as evaluated_at,
    exists (select 1 from environments where environments.status = 'active')
    and (
        not exists (select 1 from flag_states where flag_states.flag_id = flags.id and flag_states.state <> 'off')
        or not exists (select 1 from flag_states where flag_states.flag_id = flags.id and flag_states.state <> 'on')
    ) as is_constant
from flags;
