-- Prepares the one table for periods: says of all its rows that they were claimed before the first.
-- The value is kept in the catalogue, so no row is written. Once more, it changes nothing.
ALTER TABLE idempotency_keys ADD COLUMN IF NOT EXISTS
    claimed_in timestamptz NOT NULL DEFAULT '-infinity'
