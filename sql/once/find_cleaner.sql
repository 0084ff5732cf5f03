-- Whether a cleaner is in the middle of a batch at this moment. No parameters. Returns one boolean.
-- It is the lock that sql/once/try_cleanup_turn.sql takes.
SELECT EXISTS (
    SELECT FROM pg_locks AS l
    JOIN pg_database AS d ON d.oid = l.database
    WHERE l.locktype = 'advisory' AND l.classid = 1869505381 AND l.objid = 2 AND l.granted
      AND d.datname = current_database())
