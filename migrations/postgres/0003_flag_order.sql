-- Lists of flags can be ordered by key and by name. Keys are compared byte by byte, whatever the database's locale.

alter table flags alter column key type text collate "C";

create index flags_by_name on flags (lower(name), id);
