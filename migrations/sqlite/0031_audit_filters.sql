-- The entries by one actor, and those of one action, newest first. Without an index, a list of rare entries reads the
-- whole log.
create index audit_of_actor on audit_entries (actor_identity, occurred_at desc, id desc);
create index audit_of_action on audit_entries (action, occurred_at desc, id desc);
