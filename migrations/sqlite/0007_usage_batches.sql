-- What instances have added to the usage, by the names that they gave it. Who does not know whether a commit has happened
-- finds out here, and adds nothing twice. As old as the usage itself it is forgotten.

create table usage_batches (
    id blob primary key,
    brought_at bigint not null
);

create index usage_batches_by_age on usage_batches (brought_at);
