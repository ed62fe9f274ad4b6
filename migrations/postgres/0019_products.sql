-- The products of each flag. A flag without rows here belongs to every product.
create table flag_products (
    flag_id uuid not null references flags (id),
    product text not null,
    primary key (flag_id, product)
);

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

-- The state of each flag in each active environment.
create or replace view flag_states as
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
