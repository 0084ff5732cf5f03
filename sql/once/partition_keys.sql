-- Makes periods of the one table: migrations/0004_key_periods.sql. $1 bigint seconds, the length of
-- a period. Returns whether it did; false = it had been done before.
SELECT partition_idempotency_keys(make_interval(secs => $1::bigint))
