-- How far behind cleanup is. $1 bigint how many expired keys are counted at most.
-- Returns the number of keys past their expiry, up to $1, and for how many seconds the oldest of
-- them has been there (0 = there is none). READ COMMITTED; the database's clock alone decides.
-- Both read the expiry index from its old end and nothing else: the cost is that of the entries
-- counted, however large the table is. Keys whose lease still runs are counted too, for their lease
-- is not in the index.
SELECT (SELECT count(*)
        FROM (SELECT k.expires_at
              FROM idempotency_keys AS k
              WHERE k.expires_at <= now()
              ORDER BY k.expires_at
              LIMIT $1::bigint) AS expired),
       greatest(coalesce((SELECT ceil(extract(epoch FROM now() - min(k.expires_at)))::bigint
                          FROM idempotency_keys AS k), 0), 0)
