-- How far behind cleanup is. $1 bigint how many expired keys are counted at most.
-- Returns the number of keys past their expiry, up to $1, and for how many seconds the oldest of
-- them has been there (0 = there is none). READ COMMITTED; the database's clock alone decides.
-- Reads the expiry index once from its old end and nothing else: the cost is that of the entries
-- counted, however large the table is, and of dead ones before them that a snapshot keeps. Keys
-- whose lease still runs are counted too, for their lease is not in the index.
SELECT count(*), coalesce(ceil(extract(epoch FROM now() - min(expired.expires_at))), 0)::bigint
FROM (SELECT k.expires_at
      FROM idempotency_keys AS k
      WHERE k.expires_at <= now()
      ORDER BY k.expires_at
      LIMIT $1::bigint) AS expired
