-- The clients that fetch an environment's configuration, by hour: a package and its version, as the header X-Pennon-Client
-- names them, and nothing about the application or its users. An hour of an environment has at most 50 names; everything else
-- is `other`. Rows are kept for 31 days.

create table client_hours (
    lineage_id blob not null,
    hour bigint not null,
    client text not null,
    polls bigint not null,
    streams bigint not null,
    last_seen_at bigint not null,
    primary key (lineage_id, hour, client)
);

create index client_hours_by_age on client_hours (hour);
