-- A public environment has only public flags, because everyone can read its SDK key. Its `client_rules` say whether that
-- key gives access to rules and rollouts (`full`) or only to results (`answers`).
alter table environments add column visibility text not null default 'server' check (visibility in ('server', 'public'));
alter table environments add column client_rules text not null default 'full' check (client_rules in ('full', 'answers'));

alter table flags add column is_public boolean not null default false;

-- The environments in which each flag is configured while it is active: those of its products, and of these the public
-- ones only if the flag is public.
drop view flag_scope;
create view flag_scope as
select flags.id as flag_id, environments.id as environment_id
from flags, environments
where (flags.is_public or environments.visibility = 'server')
  and (
    not exists (select 1 from flag_products where flag_products.flag_id = flags.id)
    or exists (
        select 1 from flag_products
        where flag_products.flag_id = flags.id and flag_products.product = environments.product
    )
  );

drop view flag_table;

-- Flags with their last change, their last evaluation anywhere, and whether they are the same for everyone in every active
-- environment.
create view flag_table as
select flags.id, flags.key, flags.name, flags.description, flags.type, flags.created_by, flags.created_at, flags.archived_at,
    flags.revision, flags.is_public,
    (select max(audit_entries.occurred_at) from audit_entries where audit_entries.flag_key = flags.key) as changed_at,
    (select max(seen.evaluated_at) from flags_last_seen seen where seen.flag_id = flags.id) as evaluated_at,
    exists (select 1 from environments where environments.status = 'active')
    and (
        not exists (select 1 from flag_states where flag_states.flag_id = flags.id and flag_states.state <> 'off')
        or not exists (select 1 from flag_states where flag_states.flag_id = flags.id and flag_states.state <> 'on')
    ) as is_constant
from flags;
