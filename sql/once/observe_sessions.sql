-- What keeps dead rows from being removed: the oldest transaction of this database that has a
-- snapshot or has written, prepared ones included. And how much of the server's room is taken.
-- No parameters.
-- Returns its age in seconds, and in transactions, each 0 = there is none; the server's sessions,
-- and how many there may be. Looks at the table of sessions alone. Ages in seconds of other roles'
-- sessions are seen only with pg_read_all_stats.
SELECT coalesce(ceil(max(extract(epoch FROM clock_timestamp() - held.since))), 0)::bigint,
       coalesce(max(held.transactions), 0)::bigint,
       (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'),
       current_setting('max_connections')::bigint
           - current_setting('superuser_reserved_connections')::bigint
FROM (SELECT a.xact_start AS since, greatest(age(a.backend_xmin), age(a.backend_xid))
      FROM pg_stat_activity AS a
      WHERE a.datname = current_database() AND a.pid <> pg_backend_pid()
        AND (a.backend_xmin IS NOT NULL OR a.backend_xid IS NOT NULL)
      UNION ALL
      SELECT p.prepared, age(p.transaction)
      FROM pg_prepared_xacts AS p
      WHERE p.database = current_database()) AS held (since, transactions)
