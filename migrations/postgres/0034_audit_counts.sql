-- Indexes that suffice to count entries: they contain `about_accounts`, which nearly every count asks for, and for the
-- entries without a product, their flag.
drop index audit_of_environment;
create index audit_of_environment on audit_entries (environment, occurred_at desc, id desc, about_accounts);
drop index audit_of_action;
create index audit_of_action on audit_entries (action, occurred_at desc, id desc, about_accounts);
create index audit_of_product on audit_entries (product, occurred_at desc, id desc, about_accounts, flag_id);
drop index audit_of_actor;
create index audit_of_actor on audit_entries (actor_identity, occurred_at desc, id desc, about_accounts);
drop index audit_of_flag;
create index audit_of_flag on audit_entries (flag_key, occurred_at desc, id desc, about_accounts);
