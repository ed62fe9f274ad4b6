-- Whether a flag can go is asked for every flag at once. Its answers lie side by side: where it is on, and when it was seen.

create index flag_environments_standing on flag_environments (flag_id, environment_id, is_enabled);

alter table flags_last_seen rename to flags_last_seen_before;

create table flags_last_seen (
    flag_id blob not null,
    lineage_id blob not null,
    evaluated_at bigint not null,
    primary key (flag_id, lineage_id)
) without rowid;

insert into flags_last_seen (flag_id, lineage_id, evaluated_at)
select flag_id, lineage_id, evaluated_at from flags_last_seen_before;

drop table flags_last_seen_before;
