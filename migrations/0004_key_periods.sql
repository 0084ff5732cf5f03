-- A second layout of the keys: a partition for each period in which keys were claimed, so that
-- cleanup drops a partition instead of deleting its rows. It is chosen by
-- partition_idempotency_keys(); until then there is no period and nothing of this is in use.
--
-- A key stays unique across partitions although no index spans them, because all claims are made in
-- one period at a time:
--   1. A claim holds lock (1869505381, 4) shared until its transaction ends, and then reads which
--      period is current. The next period becomes current under the same lock, exclusive. So each
--      claim in an earlier period has ended, and is seen, before one in a later period begins.
--   2. A claim takes no key that it sees in an earlier period.
--   3. Within a period the partition's primary key is the arbiter, as it is of the plain table.
-- No clock decides anything in this: a period that is not ended in time just goes on.
--
-- What makes, changes and drops partitions needs their owner's rights and is called by the role
-- that serves. So the functions without a parameter run as their owner, see no temporary table and
-- are told nothing; the others, which are told a time, are for the owner alone. Bounds pass through
-- text, hence the fixed formats.
--
-- In this layout nobody holds a key by a lease: drop_key_period() looks at expiry alone.
CREATE TABLE idempotency_key_periods (
    starts_at  timestamptz NOT NULL,
    ends_at    timestamptz NOT NULL,
    length     interval    NOT NULL,
    table_name text        NOT NULL COLLATE "C",
    state      text        NOT NULL,
    CONSTRAINT idempotency_key_periods_pkey PRIMARY KEY (starts_at),
    CONSTRAINT idempotency_key_periods_order CHECK (starts_at < ends_at),
    CONSTRAINT idempotency_key_periods_length_range
        CHECK (length BETWEEN interval '1 minute' AND interval '31 days'),
    CONSTRAINT idempotency_key_periods_state_known CHECK (state IN ('past', 'current', 'next'))
);
CREATE UNIQUE INDEX idempotency_key_periods_one_each ON idempotency_key_periods (state)
    WHERE state IN ('current', 'next');
COMMENT ON TABLE idempotency_key_periods IS
    'The partitions of idempotency_keys; none while it is one table';
COMMENT ON COLUMN idempotency_key_periods.starts_at IS 'What claimed_in says of the keys in it';
COMMENT ON COLUMN idempotency_key_periods.length IS 'How long the periods after it will be';

-- Makes the partition of the next period, as of a time. Returns whether there was anything to do.
-- Its lock on the parent lets payments pass.
CREATE FUNCTION prepare_key_period(at timestamptz) RETURNS boolean
LANGUAGE plpgsql SET lock_timeout = '200ms' SET datestyle = 'ISO' SET timezone = 'UTC' AS $$
DECLARE
    present idempotency_key_periods;
    until   timestamptz;
    name    text;
BEGIN
    SELECT p.* INTO present FROM idempotency_key_periods AS p WHERE p.state = 'current';
    IF NOT FOUND OR EXISTS (SELECT FROM idempotency_key_periods AS p WHERE p.state = 'next') THEN
        RETURN false;
    END IF;
    -- After a long time without anybody who did this, one period reaches over what was missed.
    until := greatest(present.ends_at, at) + present.length;
    name := 'idempotency_keys_' || to_char(present.ends_at, 'YYYYMMDD"t"HH24MISS');
    EXECUTE format(
        'CREATE TABLE %I (LIKE idempotency_keys INCLUDING DEFAULTS INCLUDING CONSTRAINTS '
        'INCLUDING STORAGE, CONSTRAINT %I PRIMARY KEY (tenant_id, key)) '
        'WITH (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.01, '
        'autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05, '
        'autovacuum_vacuum_cost_delay = 1)',
        name, name || '_pkey');
    EXECUTE format('CREATE INDEX %I ON %I (expires_at)', name || '_expiry', name);
    EXECUTE format('ALTER TABLE idempotency_keys ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
                   name, present.ends_at, until);
    INSERT INTO idempotency_key_periods (starts_at, ends_at, length, table_name, state)
    VALUES (present.ends_at, until, present.length, name, 'next');
    RETURN true;
END
$$;

-- Lets the next period begin if, as of a time, the current one is over, and its partition is there.
-- Returns whether it did. Waits for the claims that are under way, at most lock_timeout; new ones
-- wait meanwhile. Nobody waits for a standby with this lock: what comes after it in the WAL, and
-- every claim does, is not confirmed before it.
CREATE FUNCTION advance_key_period(at timestamptz) RETURNS boolean
LANGUAGE plpgsql SET lock_timeout = '100ms' AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM idempotency_key_periods AS p
                   WHERE p.state = 'current' AND p.ends_at <= at)
       OR NOT EXISTS (SELECT FROM idempotency_key_periods AS p WHERE p.state = 'next') THEN
        RETURN false;
    END IF;
    PERFORM set_config('synchronous_commit', 'local', true);
    PERFORM pg_advisory_xact_lock(1869505381, 4);
    -- Somebody else may have done it meanwhile.
    UPDATE idempotency_key_periods AS p SET state = 'past'
    WHERE p.state = 'current' AND p.ends_at <= at
      AND EXISTS (SELECT FROM idempotency_key_periods AS n WHERE n.state = 'next');
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    UPDATE idempotency_key_periods SET state = 'current' WHERE state = 'next';
    RETURN true;
END
$$;

CREATE FUNCTION prepare_key_period() RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN RETURN prepare_key_period(now()); END $$;

CREATE FUNCTION advance_key_period() RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN RETURN advance_key_period(now()); END $$;

-- Drops the oldest partition that holds no live key. Returns how many keys went with it, NULL when
-- there is none; of a large one that is what the server's statistics say, for nothing here reads a
-- whole partition. First keeps vacuum out, which stands back only after deadlock_timeout; only then
-- locks the parent, and waits for that at most 100 ms, in which payments wait too. Nobody waits for
-- a standby with that lock: a partition that comes back is dropped again.
CREATE FUNCTION drop_key_period() RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET lock_timeout = '3s' AS $$
DECLARE
    past idempotency_key_periods;
    live boolean;
    keys bigint;
BEGIN
    FOR past IN SELECT p.* FROM idempotency_key_periods AS p WHERE p.state = 'past'
                ORDER BY p.starts_at
    LOOP
        -- The newest expiry, by its index; NULL when it is empty.
        EXECUTE format('SELECT expires_at > now() FROM %I ORDER BY expires_at DESC LIMIT 1',
                       past.table_name) INTO live;
        CONTINUE WHEN live;
        EXECUTE format('LOCK TABLE %I IN SHARE UPDATE EXCLUSIVE MODE', past.table_name);
        IF pg_relation_size(past.table_name::regclass) < 32 * 1024 * 1024 THEN
            EXECUTE format('SELECT count(*) FROM %I', past.table_name) INTO keys;
        ELSE
            keys := pg_stat_get_live_tuples(past.table_name::regclass);
        END IF;
        PERFORM set_config('synchronous_commit', 'local', true);
        PERFORM set_config('lock_timeout', '100ms', true);
        EXECUTE format('DROP TABLE %I', past.table_name);
        DELETE FROM idempotency_key_periods AS p WHERE p.starts_at = past.starts_at;
        RETURN keys;
    END LOOP;
    RETURN NULL;
END
$$;

-- Makes periods of this length of the one table, whose rows stay where they are and become the
-- first partition. Returns false if it was done before. Run by the owner, who has added the column
-- claimed_in and the validated constraint idempotency_keys_claimed_before (sql/once/
-- add_period_column.sql and its like), so that no row has to be read while the table is locked.
CREATE FUNCTION partition_idempotency_keys(length interval) RETURNS boolean
LANGUAGE plpgsql SET datestyle = 'ISO' SET timezone = 'UTC' AS $$
DECLARE
    begins timestamptz := date_trunc('second', now());
    granted record;
BEGIN
    LOCK TABLE idempotency_keys IN ACCESS EXCLUSIVE MODE;
    IF EXISTS (SELECT FROM idempotency_key_periods) THEN
        RETURN false;
    END IF;
    IF NOT EXISTS (SELECT FROM pg_constraint AS c
                   WHERE c.conrelid = 'idempotency_keys'::regclass AND c.convalidated
                     AND c.conname = 'idempotency_keys_claimed_before') THEN
        RAISE EXCEPTION 'the keys are not prepared for periods'
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  HINT = 'run oncepay migrate partition-keys';
    END IF;
    ALTER TABLE idempotency_keys RENAME TO idempotency_keys_before;
    ALTER INDEX idempotency_keys_pkey RENAME TO idempotency_keys_before_pkey;
    ALTER INDEX idempotency_keys_expiry RENAME TO idempotency_keys_before_expiry;
    CREATE TABLE idempotency_keys (LIKE idempotency_keys_before INCLUDING DEFAULTS
                                   INCLUDING CONSTRAINTS INCLUDING STORAGE INCLUDING COMMENTS)
        PARTITION BY RANGE (claimed_in);
    -- Without a default, a claim that knows of no periods is refused instead of being let past the
    -- rule above (23514, no partition for the row).
    ALTER TABLE idempotency_keys DROP CONSTRAINT idempotency_keys_claimed_before,
        ALTER claimed_in DROP DEFAULT;
    CREATE INDEX idempotency_keys_expiry ON idempotency_keys (expires_at);
    EXECUTE format('ALTER TABLE idempotency_keys ATTACH PARTITION idempotency_keys_before '
                   'FOR VALUES FROM (MINVALUE) TO (%L)', begins);
    FOR granted IN
        SELECT a.privilege_type,
               CASE WHEN a.grantee = 0 THEN 'PUBLIC'
                    ELSE quote_ident(pg_get_userbyid(a.grantee)) END AS grantee
        FROM pg_class AS c
        CROSS JOIN LATERAL aclexplode(c.relacl) AS a
        WHERE c.oid = 'idempotency_keys_before'::regclass
    LOOP
        EXECUTE 'GRANT ' || granted.privilege_type || ' ON idempotency_keys TO ' || granted.grantee;
    END LOOP;
    INSERT INTO idempotency_key_periods (starts_at, ends_at, length, table_name, state)
    VALUES ('-infinity', begins, length, 'idempotency_keys_before', 'current');
    PERFORM prepare_key_period(now());
    UPDATE idempotency_key_periods SET state = 'past' WHERE state = 'current';
    UPDATE idempotency_key_periods SET state = 'current' WHERE state = 'next';
    RETURN true;
END
$$;

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY[
        'prepare_key_period()', 'prepare_key_period(timestamptz)', 'advance_key_period()',
        'advance_key_period(timestamptz)', 'drop_key_period()',
        'partition_idempotency_keys(interval)']
    LOOP
        EXECUTE format('ALTER FUNCTION %s SET search_path = %I, pg_temp', name, current_schema());
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', name);
    END LOOP;
END
$$;
