-- Lists of flags can be ordered by key and by name. SQLite compares text byte by byte, as keys are to be compared.

create index flags_by_name on flags (lower(name), id);
