-- Indexes that suffice to count entries by two filters at once.
drop index audit_of_group;
create index audit_of_group on audit_entries (group_id, occurred_at desc, id desc);
drop index audit_of_action;
create index audit_of_action on audit_entries (action, occurred_at desc, id desc, about_accounts, environment);
drop index audit_of_product;
create index audit_of_product on audit_entries (product, occurred_at desc, id desc, about_accounts, flag_id, environment, action);
drop index audit_of_actor;
create index audit_of_actor on audit_entries (actor_identity, occurred_at desc, id desc, about_accounts, flag_id, product, environment, action);

-- The rules of an environment that were changed last.
create index rules_of_environment on rules (environment_id, updated_at desc);

-- Without the time of the last change, which queries compare without computing it.
drop view flag_table;
create view flag_table as
select flags.id, flags.key, flags.name, flags.description, flags.type, flags.created_by, flags.created_at,
    flags.archived_at, flags.revision, flags.is_public, flags.owner, flags.kind, flags.expires_at, flags.evaluated_at,
    (flags.partly_count + flags.on_count = 0 or flags.partly_count + flags.off_count = 0)
    and exists (select 1 from environments where environments.status = 'active') as is_constant,
    flags.off_count, flags.partly_count, flags.on_count
from flags;

-- Room for new versions of rows beside the old ones. Otherwise, each change of a counter changes all indexes.
alter table flags set (fillfactor = 80);
