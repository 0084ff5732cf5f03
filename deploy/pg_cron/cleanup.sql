-- Cleanup inside PostgreSQL, by the extension pg_cron: for instances with --cleanup=off, or beside
-- their threads, which is harmless. Once, as a superuser, in the database named by
-- cron.database_name; running it again replaces what is there:
--
--   psql -X -v ON_ERROR_STOP=1 -d oncepay -f deploy/pg_cron/cleanup.sql
--
-- One algorithm with `oncepay cleanup`: batches of their own transactions, each under the cleaners'
-- lock, each with the statement of sql/once/remove_expired_keys.sql, a pause in between, and an end
-- when a batch comes back short or the turn is somebody else's. A test compares the two texts.
--
-- What became of the runs: SELECT * FROM cron.job_run_details ORDER BY start_time DESC;
-- What they left behind is in oncepay's metrics, whoever cleans up.
CREATE EXTENSION IF NOT EXISTS pg_cron;

CREATE OR REPLACE PROCEDURE oncepay_cleanup(batch_size bigint DEFAULT 1000, pause_ms int DEFAULT 50)
LANGUAGE plpgsql AS $$
DECLARE
    removed bigint;
    more    boolean;
BEGIN
    -- Keys in periods: partitions are made and dropped (migrations/0004_key_periods.sql).
    IF EXISTS (SELECT FROM idempotency_key_periods) THEN
        LOOP
            EXIT WHEN NOT pg_try_advisory_xact_lock(1869505381, 2);
            -- Whoever holds a lock for long keeps one step from being done, until the next run.
            more := false;
            BEGIN
                PERFORM prepare_key_period();
                more := advance_key_period();
            EXCEPTION WHEN lock_not_available THEN NULL;
            END;
            BEGIN
                more := drop_key_period() IS NOT NULL OR more;
            EXCEPTION WHEN lock_not_available THEN NULL;
            END;
            COMMIT;
            EXIT WHEN NOT more;
        END LOOP;
        RETURN;
    END IF;
    LOOP
        -- At most one effective cleaner at a time: the lock of sql/once/try_cleanup_turn.sql, which
        -- ends with the batch's transaction.
        EXIT WHEN NOT pg_try_advisory_xact_lock(1869505381, 2);
        PERFORM set_config('lock_timeout', '500ms', true);
        WITH expired AS (
            SELECT k.tenant_id, k.key
            FROM idempotency_keys AS k
            WHERE k.expires_at <= now()
              AND (k.lease_expires_at IS NULL OR k.lease_expires_at <= now())
            ORDER BY k.expires_at
            LIMIT batch_size
            FOR UPDATE SKIP LOCKED)
        DELETE FROM idempotency_keys AS k
        USING expired
        WHERE k.tenant_id = expired.tenant_id AND k.key = expired.key;
        GET DIAGNOSTICS removed = ROW_COUNT;
        COMMIT;
        EXIT WHEN removed < batch_size;
        PERFORM pg_sleep(pause_ms / 1000.0);
    END LOOP;
END
$$;
COMMENT ON PROCEDURE oncepay_cleanup IS
    'Removes expired idempotency keys in batches; scheduled by pg_cron';

-- A run that is still at work when the next one is due finds the turn taken.
SELECT cron.schedule('oncepay cleanup', '* * * * *', 'CALL oncepay_cleanup()');
