-- Takes the migration lock for the rest of this transaction, or not. Returns one boolean: whether
-- it is ours. No parameters. The lock is the transaction's, so a migrator that is killed leaves
-- nothing behind, and a pooler cannot hand it to somebody else. The two numbers are oncepay's lock
-- space ('once' in ASCII) and the migrator's place in it.
SELECT pg_try_advisory_xact_lock(1869505381, 1)
