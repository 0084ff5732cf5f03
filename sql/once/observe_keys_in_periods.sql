-- How far behind cleanup is, where keys are kept in periods: keys count once no key of their period
-- lives any more, for before that there is nothing to drop. $1 bigint how many are counted at most.
-- Returns the number of such keys, up to $1, and for how many seconds cleanup has been late: since
-- the oldest of those periods could have been dropped, or the current one should have ended (0 = it
-- is not late). READ COMMITTED; the database's clock alone decides.
WITH ended AS MATERIALIZED (
    SELECT p.starts_at, newest.expires_at
    FROM idempotency_key_periods AS p
    CROSS JOIN LATERAL (
        SELECT k.expires_at
        FROM idempotency_keys AS k
        WHERE k.claimed_in = p.starts_at
        ORDER BY k.expires_at DESC
        LIMIT 1) AS newest
    WHERE p.state = 'past' AND newest.expires_at <= now())
SELECT (SELECT count(*)
        FROM (SELECT FROM idempotency_keys AS k
              JOIN ended ON k.claimed_in = ended.starts_at
              LIMIT $1::bigint) AS counted),
       greatest(0, (SELECT ceil(extract(epoch FROM now() - min(ended.expires_at)))::bigint
                    FROM ended),
                (SELECT ceil(extract(epoch FROM now() - p.ends_at))::bigint
                 FROM idempotency_key_periods AS p
                 WHERE p.state = 'current'))
