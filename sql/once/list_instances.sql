-- The instances that have sessions here, and other oncepay programs that do. No parameters.
-- Returns for each: its name (host/process), its sessions, how many of them are lanes (0 = no
-- instance that takes payments), for how many seconds the oldest session has been there (NULL =
-- it belongs to another role). One look at the table of sessions.
SELECT coalesce(substring(a.application_name FROM '^oncepay [a-z]+ (.+)$'), a.application_name),
       count(*), count(*) FILTER (WHERE a.application_name LIKE 'oncepay lane%'),
       ceil(extract(epoch FROM clock_timestamp() - min(a.backend_start)))::bigint
FROM pg_stat_activity AS a
WHERE a.datname = current_database() AND a.application_name LIKE 'oncepay %'
  AND a.pid <> pg_backend_pid()
GROUP BY 1
ORDER BY 1
