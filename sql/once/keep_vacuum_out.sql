-- Ends a vacuum of the keys and keeps others away until this transaction has ended; payments pass.
-- A vacuum stands back only after deadlock_timeout, so lock_timeout must be longer; then the locks
-- that payments do wait for are had at once. Returns nothing.
LOCK TABLE idempotency_keys IN SHARE UPDATE EXCLUSIVE MODE
