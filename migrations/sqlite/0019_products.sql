-- The products of each flag. A flag without rows here belongs to every product.
create table flag_products (
    flag_id blob not null references flags (id),
    product text not null,
    primary key (flag_id, product)
) without rowid;

create index flag_products_by_product on flag_products (product);

-- A hidden configuration does not exist for applications and callers: its flag has left the environment's product. It is
-- disabled, and its rules and rollout are kept for the flag's return.
alter table flag_environments add column is_hidden boolean not null default false;

create index flag_environments_states on flag_environments (flag_id, environment_id, is_enabled, is_hidden);
drop index flag_environments_standing;

-- The environments in which each flag is configured while it is active: those of its products.
create view flag_scope as
select flags.id as flag_id, environments.id as environment_id
from flags, environments
where not exists (select 1 from flag_products where flag_products.flag_id = flags.id)
   or exists (
        select 1 from flag_products
        where flag_products.flag_id = flags.id and flag_products.product = environments.product
    );

drop view flag_table;
drop view flag_states;

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
join environments on environments.id = pair.environment_id and environments.status = 'active'
where not pair.is_hidden;

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
