-- The parts of `evaluations` that returned true and false. Both are 0 in the rows from before this migration: the
-- results of rules and rollouts are unknown then, and the other reasons imply theirs.
alter table usage_hours add column enabled bigint not null default 0;
alter table usage_hours add column disabled bigint not null default 0;
