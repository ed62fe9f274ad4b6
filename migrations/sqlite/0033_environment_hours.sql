-- The number of evaluations in an environment in an hour, of all flags together, and the part of it that clients reported.
-- Without it, the usage of an environment would be the sum of up to 744 hours of each flag.
drop index usage_hours_by_lineage;

create table environment_hours (
    lineage_id blob not null,
    hour bigint not null,
    evaluations bigint not null,
    reported bigint not null,
    primary key (lineage_id, hour)
) without rowid;

-- A float, unlike a sum of integers, cannot overflow.
insert into environment_hours (lineage_id, hour, evaluations, reported)
select lineage_id, hour, cast(min(total(evaluations), 9e18) as integer), cast(min(total(reported), 9e18) as integer)
from usage_hours group by lineage_id, hour;

create index environment_hours_by_age on environment_hours (hour);
