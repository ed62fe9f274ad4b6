-- Without hidden configurations, which have no state, and which no list asks for.
drop index flag_environments_by_state;
create index flag_environments_by_state on flag_environments (environment_id, state, flag_id) where state is not null;
