-- The roles of a user, or of one of the user's tokens, in single products and environments.
create table grants (
    user_id blob not null references users (id) on delete cascade,
    -- The token whose grant it is; null for a grant of the user.
    token_id blob references tokens (id) on delete cascade,
    product text,
    environment_id blob references environments (id),
    role text not null check (role in ('editor', 'admin')),
    check ((product is null) <> (environment_id is null))
);

create index grants_by_user on grants (user_id);
create index grants_by_token on grants (token_id);
create index grants_by_environment on grants (environment_id);
