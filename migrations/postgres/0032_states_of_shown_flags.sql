-- Without hidden configurations, which have no state, and which no list asks for. A query for the changed flags of an
-- environment cannot use a partial index. It used the whole index, and read all flags of the environment, if the
-- environment was too new for the planner's statistics.
drop index flag_environments_by_state;
create index flag_environments_by_state on flag_environments (environment_id, state, flag_id) where state is not null;
