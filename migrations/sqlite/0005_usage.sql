-- How often flags are evaluated and environments polled. Hourly rows are added to by every instance, and kept for 31 days;
-- when something was last seen is kept for good. No contexts are kept, nor anything else about subjects.

-- The first of the environments that replaced each other by key rotations; they share their usage.
alter table environments add column lineage_id blob;
update environments set lineage_id = id;

create table usage_hours (
    lineage_id blob not null,
    flag_id blob not null,
    hour bigint not null,
    reason text not null,
    evaluations bigint not null,
    primary key (flag_id, lineage_id, hour, reason)
);

create index usage_hours_by_lineage on usage_hours (lineage_id, hour);
create index usage_hours_by_age on usage_hours (hour);

create table poll_hours (
    lineage_id blob not null,
    hour bigint not null,
    kind text not null check (kind in ('first', 'current', 'outdated')),
    polls bigint not null,
    primary key (lineage_id, hour, kind)
);

create index poll_hours_by_age on poll_hours (hour);

create table flags_last_seen (
    flag_id blob not null,
    lineage_id blob not null,
    evaluated_at bigint not null,
    primary key (flag_id, lineage_id)
);

create table environments_last_seen (
    lineage_id blob primary key,
    polled_at bigint not null
);
