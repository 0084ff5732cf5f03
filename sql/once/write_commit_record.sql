-- Makes this transaction's COMMIT one that is written and waits for the synchronous standby, also
-- when nothing else is. Returns the record's place, which nobody needs. Source: PostgreSQL,
-- "Replication Management Functions".
SELECT pg_logical_emit_message(true, 'oncepay', '')
