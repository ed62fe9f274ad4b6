-- The key that the last rotation replaced, for as long as it still gives access to the environment. A rotation writes it to the
-- new environment. It is deleted when the overlap is ended early, and when the environment is revoked or its key rotated again.
alter table environments add column previous_key_hash blob;
alter table environments add column previous_key_prefix text;
alter table environments add column previous_key_ends_at bigint;

-- The clients that used the previous key of an environment. An environment has at most 50 names; everything else is `other`.
-- Rows are kept for 31 days.
create table previous_key_clients (
    environment_id blob not null references environments (id),
    client text not null,
    requests bigint not null,
    last_seen_at bigint not null,
    primary key (environment_id, client)
);

create index previous_key_clients_by_age on previous_key_clients (last_seen_at);
