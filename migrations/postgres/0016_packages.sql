-- The npm packages of the releases that have run on this database. A version keeps the tarball with which it was first
-- stored, because lock files contain its checksum (`integrity`). The 20 releases that were started last are kept.

create table package_tarballs (
    integrity text primary key,
    content bytea not null
);

-- Tarballs are compressed already.
alter table package_tarballs alter column content set storage external;

create table package_versions (
    name text not null,
    version text not null,
    -- The package.json in the tarball.
    manifest text not null,
    -- SHA-512 in Base64, and SHA-1 in hexadecimal, as npm writes them.
    integrity text not null references package_tarballs (integrity),
    shasum text not null,
    stored_at bigint not null,
    last_started_at bigint not null,
    primary key (name, version)
);
