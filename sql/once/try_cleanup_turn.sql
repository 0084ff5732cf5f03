-- Takes the turn to clean for the rest of this transaction, or not: at most one effective cleaner
-- at a time.
-- Returns true when it is ours. The lock is the transaction's: no session state can leak. The two
-- numbers are oncepay's lock space ('once' in ASCII) and the cleaner's place in it.
SELECT pg_try_advisory_xact_lock(1869505381, 2)
