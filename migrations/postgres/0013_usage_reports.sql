-- The ids of usage reports that have been counted. A client that gets no answer sends its report again, perhaps to another
-- instance: the id is inserted in the transaction that adds the counts, so a report counts once. Ids are deleted after an hour.

create table usage_reports (
    lineage_id uuid not null,
    id uuid not null,
    counted_at bigint not null,
    primary key (lineage_id, id)
);

create index usage_reports_by_age on usage_reports (counted_at);
