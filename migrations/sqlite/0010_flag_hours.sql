-- How often a flag was evaluated in an hour, in all environments and for all reasons together: what a list of flags shows of
-- a day. Summed up when it is read, it costs a page more the more environments there are.

create table flag_hours (
    flag_id blob not null,
    hour bigint not null,
    evaluations bigint not null,
    primary key (flag_id, hour)
) without rowid;

-- A float, unlike a sum of integers, cannot overflow.
insert into flag_hours (flag_id, hour, evaluations)
select flag_id, hour, cast(min(total(evaluations), 9000000000000000000) as integer)
from usage_hours group by flag_id, hour;

create index flag_hours_by_age on flag_hours (hour);
