-- For how long the keys live whose end is farthest away. No parameters. Returns seconds, 0 when
-- there is no key. READ COMMITTED. Reads the new end of the expiry index.
SELECT coalesce(ceil(extract(epoch FROM max(latest.life))), 0)::bigint
FROM (SELECT k.expires_at - k.created_at AS life
      FROM idempotency_keys AS k
      ORDER BY k.expires_at DESC
      LIMIT 1000) AS latest
