-- What has run out is deleted by its age.

create index sessions_by_expiry on sessions (expires_at);
create index refresh_tokens_by_age on refresh_tokens (created_at);
