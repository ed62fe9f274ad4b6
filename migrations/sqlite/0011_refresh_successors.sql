-- The refresh token that took the place of a spent one, for as long as its answer may have been lost. It is encrypted by the
-- spent token, of which only the hash is here.

alter table refresh_tokens add column successor blob;

create index refresh_tokens_with_successor on refresh_tokens (spent_at) where successor is not null;
