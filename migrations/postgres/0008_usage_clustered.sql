-- SQLite keeps the hours of a flag side by side from here on. PostgreSQL reads them fast enough where they are.

select 1;
