-- The size of the tables that grow. No parameters. Returns for each: name, bytes of the table with
-- its large values, bytes of its indexes, live rows, dead rows. READ COMMITTED.
-- Sizes are asked of the file system and rows are what the server's statistics say: no row is read.
-- The parts of a partitioned table are added up.
SELECT t.name, sum(pg_table_size(s.relid))::bigint, sum(pg_indexes_size(s.relid))::bigint,
       sum(s.n_live_tup)::bigint, sum(s.n_dead_tup)::bigint
FROM unnest(ARRAY['accounts', 'idempotency_keys', 'payments', 'transfers']) AS t (name)
JOIN pg_stat_user_tables AS s
    ON coalesce(pg_partition_root(s.relid), s.relid) = to_regclass(t.name)
GROUP BY t.name
ORDER BY t.name
