-- How many payments were decided in the last minute. $1 bigint how many of one tenant are counted
-- at most. Returns one number. READ COMMITTED.
-- Ids begin with the time in milliseconds, so the primary key has the newest ones at its end; the
-- time is that of the instances' clocks.
SELECT coalesce(sum(recent.payments), 0)::bigint
FROM tenants AS t
CROSS JOIN LATERAL (
    SELECT count(*) AS payments
    FROM (SELECT p.id
          FROM payments AS p
          WHERE p.tenant_id = t.id
            AND p.id >= (lpad(to_hex((extract(epoch FROM now()) * 1000)::bigint - 60000), 12, '0')
                         || '00000000000000000000')::uuid
          LIMIT $1::bigint) AS newest) AS recent
