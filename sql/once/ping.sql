-- Tells whether this session can still write: false on a primary that was demoted or set read-only.
-- Returns one boolean.
SELECT current_setting('transaction_read_only') = 'off'
