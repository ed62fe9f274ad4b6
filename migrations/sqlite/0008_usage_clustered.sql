-- The hours of a flag stand side by side, in the order in which they are read, so that a page of flags with their use of a
-- day reads a few pages of the file instead of thousands of rows one by one.

alter table usage_hours rename to usage_hours_before;

create table usage_hours (
    lineage_id blob not null,
    flag_id blob not null,
    hour bigint not null,
    reason text not null,
    evaluations bigint not null,
    primary key (flag_id, lineage_id, hour, reason)
) without rowid;

insert into usage_hours (lineage_id, flag_id, hour, reason, evaluations)
select lineage_id, flag_id, hour, reason, evaluations from usage_hours_before;

drop table usage_hours_before;

create index usage_hours_by_lineage on usage_hours (lineage_id, hour);
create index usage_hours_by_age on usage_hours (hour);
