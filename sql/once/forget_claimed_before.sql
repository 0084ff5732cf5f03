-- Takes back what an attempt that was ended halfway has left.
ALTER TABLE idempotency_keys DROP CONSTRAINT IF EXISTS idempotency_keys_claimed_before
