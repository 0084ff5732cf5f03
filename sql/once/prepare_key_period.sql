-- Makes the partition of the next period, if there is none. Returns whether there was anything to
-- do. Locks as in migrations/0004_key_periods.sql; 55P03 when they are not to be had.
SELECT prepare_key_period()
