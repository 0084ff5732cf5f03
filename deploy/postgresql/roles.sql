-- The two roles of oncepay in a database. Once, as a superuser, in the database itself:
--
--   psql -X -v ON_ERROR_STOP=1 -d oncepay -f deploy/postgresql/roles.sql
--   psql -d oncepay -c '\password oncepay_owner' -c '\password oncepay_runtime'
--
-- oncepay_owner owns the tables: it migrates (`oncepay migrate up`) and makes tenants and API keys.
-- oncepay_runtime serves, cleans up and verifies. It can neither change what was paid nor define
-- anything: see grants.sql, which is run by the owner after each migration.
--
-- Row-level security by tenant would be a second wall. It was measured and left out: with batches of
-- 64 operations of 20 tenants (PostgreSQL 15, two clients, fsync on, one policy on each of the four
-- tables that admits the tenants of the batch) the database took 3 to 6 % fewer batches a second on
-- tables with statistics, and 36 to 62 % fewer on tables that had grown since theirs were taken: the
-- policy's condition then leads the planner to read all rows of those tenants. The first is about
-- what was thought bearable, the second comes just when load rises.
BEGIN;

DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'oncepay_owner') THEN
        CREATE ROLE oncepay_owner LOGIN;
    END IF;
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'oncepay_runtime') THEN
        CREATE ROLE oncepay_runtime LOGIN;
    END IF;
    EXECUTE format('REVOKE ALL ON DATABASE %I FROM PUBLIC', current_database());
    EXECUTE format('GRANT CONNECT ON DATABASE %I TO oncepay_owner, oncepay_runtime',
                   current_database());
END
$$;

REVOKE ALL ON SCHEMA public FROM PUBLIC;
GRANT USAGE, CREATE ON SCHEMA public TO oncepay_owner;
GRANT USAGE ON SCHEMA public TO oncepay_runtime;

-- Without it oncepay works as well, but sees the age of other roles' transactions in numbers of
-- transactions only. With it the role also sees the text of what others run.
GRANT pg_read_all_stats TO oncepay_runtime;

COMMIT;
