-- Times are milliseconds since 1970 in UTC. Ids are UUIDs in version 7, so they sort by age.
-- `revision` is raised by every change of its row; clients see it as the ETag of the resource.

-- What the service has made up for itself and must not forget.
create table settings (
    name text primary key,
    value text not null
);

create table users (
    id uuid primary key,
    email text not null unique,
    password_hash text not null,
    role text not null check (role in ('viewer', 'editor', 'admin')),
    created_at bigint not null,
    revision bigint not null default 1
);

-- One row for each sign-in. Its credentials are kept as SHA-256 only: the dashboard's cookie, or refresh tokens.
create table sessions (
    id uuid primary key,
    user_id uuid not null references users (id) on delete cascade,
    cookie_hash bytea unique,
    created_at bigint not null,
    expires_at bigint not null,
    ended_at bigint
);

create index sessions_of_user on sessions (user_id);

-- Every refresh token that a session ever had. A token is spent by its use; that it comes back later betrays a thief.
create table refresh_tokens (
    hash bytea primary key,
    session_id uuid not null references sessions (id) on delete cascade,
    created_at bigint not null,
    spent_at bigint
);

create index refresh_tokens_of_session on refresh_tokens (session_id);

create table environments (
    id uuid primary key,
    product text not null,
    name text not null,
    sdk_key_hash bytea not null unique,
    sdk_key_prefix text not null,
    status text not null check (status in ('active', 'revoked')),
    created_at bigint not null,
    revision bigint not null default 1,
    -- Raised by every change of what the environment serves: flags, configurations, rules, rollouts.
    config_revision bigint not null default 1
);

create unique index environments_active_name on environments (product, name) where status = 'active';
create index environments_newest on environments (created_at desc, id desc);

create table flags (
    id uuid primary key,
    key text not null unique,
    name text not null,
    description text,
    type text not null check (type in ('boolean', 'string', 'multivariate')),
    created_by text not null,
    created_at bigint not null,
    archived_at bigint,
    revision bigint not null default 1
);

create index flags_newest on flags (created_at desc, id desc);

-- How a flag stands in an environment. Keys of environments move along when a key rotation replaces one.
create table flag_environments (
    flag_id uuid not null references flags (id),
    environment_id uuid not null references environments (id),
    is_enabled boolean not null default false,
    ttl_override_seconds bigint,
    revision bigint not null default 1,
    -- The environment's config_revision at which what this pair serves last changed.
    config_revision bigint not null,
    primary key (flag_id, environment_id)
);

create index flag_environments_changed on flag_environments (environment_id, config_revision);

create table rules (
    id uuid primary key,
    flag_id uuid not null,
    environment_id uuid not null,
    priority bigint not null,
    logic text not null check (logic in ('and', 'or')),
    value boolean not null,
    conditions jsonb not null,
    created_at bigint not null,
    updated_at bigint not null,
    revision bigint not null default 1,
    unique (flag_id, environment_id, priority),
    foreign key (flag_id, environment_id) references flag_environments (flag_id, environment_id) on update cascade
);

create table rollouts (
    flag_id uuid not null,
    environment_id uuid not null,
    percentage bigint not null check (percentage between 0 and 100),
    strategy text not null check (strategy in ('per_user', 'per_tenant')),
    created_at bigint not null,
    updated_at bigint not null,
    revision bigint not null default 1,
    primary key (flag_id, environment_id),
    foreign key (flag_id, environment_id) references flag_environments (flag_id, environment_id) on update cascade
);

-- Written in the transaction of the change that it records, and never changed. Names are as they were then.
create table audit_entries (
    id uuid primary key,
    action text not null,
    actor_identity text not null,
    occurred_at bigint not null,
    flag_key text,
    environment text,
    product text,
    old_value jsonb,
    new_value jsonb,
    actor_id uuid,
    flag_id uuid,
    environment_id uuid,
    rule_id uuid
);

create index audit_newest on audit_entries (occurred_at desc, id desc);
create index audit_of_flag on audit_entries (flag_key, occurred_at desc, id desc);
create index audit_of_environment on audit_entries (environment, occurred_at desc, id desc);
