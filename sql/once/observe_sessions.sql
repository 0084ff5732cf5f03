-- What keeps dead rows from being removed: the oldest transaction of this database that has a
-- snapshot or has written, prepared ones included. No parameters.
-- Returns its age in seconds, and in transactions, each 0 = there is none. One look at the table of
-- sessions. Ages in seconds of other roles' sessions are seen only with pg_read_all_stats.
SELECT coalesce(ceil(max(extract(epoch FROM clock_timestamp() - held.since))), 0)::bigint,
       coalesce(max(held.transactions), 0)::bigint
FROM (SELECT a.xact_start AS since, greatest(age(a.backend_xmin), age(a.backend_xid))
      FROM pg_stat_activity AS a
      WHERE a.datname = current_database() AND a.pid <> pg_backend_pid()
        AND (a.backend_xmin IS NOT NULL OR a.backend_xid IS NOT NULL)
      UNION ALL
      SELECT p.prepared, age(p.transaction)
      FROM pg_prepared_xacts AS p
      WHERE p.database = current_database()) AS held (since, transactions)
