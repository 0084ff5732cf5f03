-- Drops the oldest partition without a live key. Returns how many keys went with it, NULL when
-- there is none. Locks as in migrations/0004_key_periods.sql; 55P03 when somebody reads the table
-- for long.
SELECT drop_key_period()
