-- Entries that one action wrote have the id of the first of them; older entries stand alone.

alter table audit_entries add column group_id uuid;
create index audit_of_group on audit_entries (group_id);
