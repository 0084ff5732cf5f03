-- Tells whether this session can still write: false on a primary that was demoted or set read-only.
-- Returns that, and the database's time in microseconds since 1970.
SELECT current_setting('transaction_read_only') = 'off',
       (extract(epoch FROM clock_timestamp()) * 1000000)::bigint
