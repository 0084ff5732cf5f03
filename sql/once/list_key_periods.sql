-- The periods in which keys are claimed, the oldest first; none while all keys are in one table.
-- Returns name of the partition, state, its bytes with indexes, its keys as the server's statistics
-- have them, and for how many seconds it has been time for the next one (0 = it is not, or there
-- has been one). READ COMMITTED.
SELECT p.table_name, p.state, pg_total_relation_size(s.relid)::bigint, s.n_live_tup::bigint,
       CASE WHEN p.state = 'current'
            THEN greatest(0, ceil(extract(epoch FROM now() - p.ends_at)))::bigint ELSE 0 END
FROM idempotency_key_periods AS p
JOIN pg_stat_user_tables AS s ON s.relid = to_regclass(p.table_name)
ORDER BY p.starts_at
