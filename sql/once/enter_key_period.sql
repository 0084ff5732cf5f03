-- Keeps the current period from ending until this transaction has. Goes with BEGIN; what comes
-- after it sees all claims of earlier periods. No parameters, returns nothing that counts. Waits
-- for a period that is just ending, at most lock_timeout (55P03). The two numbers are oncepay's
-- lock space ('once' in ASCII) and the place of the periods in it.
SELECT pg_advisory_xact_lock_shared(1869505381, 4)
