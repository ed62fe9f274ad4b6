-- The request that made the change, so that whoever sent it recognizes the event; none in older entries.

alter table audit_entries add column request_id text;
