-- Tells whether this session can still write: false on a primary that was demoted or set read-only.
-- Returns that, the database's time in microseconds since 1970, and whether keys are kept in
-- periods.
SELECT current_setting('transaction_read_only') = 'off',
       (extract(epoch FROM clock_timestamp()) * 1000000)::bigint,
       EXISTS (SELECT FROM idempotency_key_periods)
