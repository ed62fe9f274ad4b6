-- Accounts are found by e-mail address whatever its case.

create index users_by_folded_email on users (lower(email));
