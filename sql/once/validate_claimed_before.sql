-- Reads all rows of the one table, while payments go on.
ALTER TABLE idempotency_keys VALIDATE CONSTRAINT idempotency_keys_claimed_before
