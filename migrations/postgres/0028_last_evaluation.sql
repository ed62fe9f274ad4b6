-- The last evaluation of any flag in an environment, which the list of environments shows.

create index flags_last_seen_lineage on flags_last_seen (lineage_id, evaluated_at);
