-- The part of `evaluations` that clients reported, as opposed to the server's own evaluations. It is bounded for each
-- environment, hour and flag. Earlier counts do not distinguish the two.
alter table usage_hours add column reported bigint not null default 0;
