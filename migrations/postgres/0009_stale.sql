-- Whether a flag can go is asked for every flag at once: where it is on can be read from an index.

create index flag_environments_standing on flag_environments (flag_id, environment_id, is_enabled);
