-- Lets the next period begin, if it is time. Returns whether it did. Waits for the claims under way
-- (migrations/0004_key_periods.sql); 55P03 when one of them takes too long.
SELECT advance_key_period()
