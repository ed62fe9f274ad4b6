-- The dashboard asks for confirmation before each change in a protected environment. If an environment requires a reason, the
-- service refuses changes in it that come without one.
alter table environments add column is_protected boolean not null default false;
alter table environments add column reason_required boolean not null default false;

-- Until now, the dashboard asked if the name suggested that real users depend on the environment.
update environments set is_protected = true
where lower(name) ~ '(^|[^[:alpha:]])(production|prod|prd|live)([^[:alpha:]]|$)';

-- The reason that the actor gave for the change.
alter table audit_entries add column reason text;
