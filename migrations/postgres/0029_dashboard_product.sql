-- The product to which a user has limited the dashboard; null for all products. It is a name rather than a reference,
-- because products exist only as names of environments.

alter table users add column dashboard_product text;
