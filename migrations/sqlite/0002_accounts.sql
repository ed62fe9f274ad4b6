-- Personal access tokens, for scripts. Revoking one removes its row.
create table tokens (
    id blob primary key,
    user_id blob not null references users (id) on delete cascade,
    name text not null,
    hash blob not null unique,
    prefix text not null,
    role text not null check (role in ('viewer', 'editor', 'admin')),
    created_at bigint not null,
    expires_at bigint not null,
    unique (user_id, name)
);

-- Entries about accounts are told apart, because the log shows them on request only.
alter table audit_entries add column about_accounts boolean not null default false;
-- The token by which the actor came, and the account and the token that the entry is about.
alter table audit_entries add column actor_token_id blob;
alter table audit_entries add column user_id blob;
alter table audit_entries add column token_id blob;

create index audit_newest_of_flags on audit_entries (occurred_at desc, id desc) where not about_accounts;
