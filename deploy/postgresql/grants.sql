-- What the runtime role may do, and nothing else. As the owner, after each `oncepay migrate up`;
-- running it again changes nothing:
--
--   psql -X -v ON_ERROR_STOP=1 -d oncepay -U oncepay_owner -f deploy/postgresql/grants.sql
--
-- Of what was paid it may add rows and read them. Of an account it may change the balance alone: an
-- overdraft limit is not its to raise. Keys are made, completed and removed; their partitions, if
-- they are kept in periods, by functions that do nothing else with their owner's rights.
BEGIN;

REVOKE ALL ON ALL TABLES IN SCHEMA public FROM oncepay_runtime, PUBLIC;
REVOKE ALL ON ALL SEQUENCES IN SCHEMA public FROM oncepay_runtime, PUBLIC;
REVOKE ALL ON ALL ROUTINES IN SCHEMA public FROM oncepay_runtime, PUBLIC;

GRANT SELECT ON tenants, api_keys, schema_migrations TO oncepay_runtime;
GRANT SELECT, INSERT ON accounts, payments, transfers TO oncepay_runtime;
GRANT UPDATE (balance) ON accounts TO oncepay_runtime;
GRANT SELECT, INSERT, UPDATE, DELETE ON idempotency_keys TO oncepay_runtime;
GRANT SELECT ON idempotency_key_periods TO oncepay_runtime;
GRANT EXECUTE ON FUNCTION prepare_key_period(), advance_key_period(), drop_key_period()
    TO oncepay_runtime;

COMMIT;
