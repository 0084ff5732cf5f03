-- What makes the one table a partition without being read: no row of it is of a later period. Holds
-- for new rows from now on; for the others once it is validated.
ALTER TABLE idempotency_keys ADD CONSTRAINT idempotency_keys_claimed_before
    CHECK (claimed_in = '-infinity') NOT VALID
