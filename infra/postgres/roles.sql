-- The two roles of a Postgres of your own: the application, and the migrations, which own the durable schemas. Neither is
-- a superuser. Run it by psql as the superuser in keyledger's database; running it again changes only the passwords.
--   KEYLEDGER_APP_PASSWORD=… KEYLEDGER_SCHEMA_PASSWORD=… psql --file infra/postgres/roles.sql keyledger
\set ON_ERROR_STOP on
\getenv app_password KEYLEDGER_APP_PASSWORD
\getenv schema_password KEYLEDGER_SCHEMA_PASSWORD

-- A statement that fails is not written to the log, since it may hold a password.
set log_min_error_statement = panic;

begin;
select format('create role %I', name)
from unnest(array['keyledger_app', 'keyledger_schema']) as name
where not exists (select from pg_roles where rolname = name)
\gexec
alter role keyledger_app login nosuperuser nocreatedb nocreaterole noreplication nobypassrls
  password :'app_password';
alter role keyledger_schema login nosuperuser nocreatedb nocreaterole noreplication nobypassrls
  password :'schema_password';

revoke all on database :"DBNAME" from public;
grant connect, create on database :"DBNAME" to keyledger_app, keyledger_schema;
alter schema public owner to keyledger_schema;
-- What migrations will make.
alter default privileges for role keyledger_schema grant usage on schemas to keyledger_app;
alter default privileges for role keyledger_schema
  grant select, insert, update, delete on tables to keyledger_app;
alter default privileges for role keyledger_schema grant usage, select on sequences to keyledger_app;
commit;
