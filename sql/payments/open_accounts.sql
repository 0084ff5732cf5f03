-- Opens accounts; an id that is taken in its tenant is not returned.
-- $1 uuid[] tenant, $2 text[] id, $3 text[] currency, $4 bigint[] overdraft limit or NULL, all
-- distinct and sorted by (tenant, id); $5 bigint their time in microseconds since 1970.
-- Returns tenant and id of each account opened. READ COMMITTED.
INSERT INTO accounts AS a (tenant_id, id, currency, overdraft_limit, created_at)
SELECT u.tenant_id, u.id, u.currency, u.overdraft_limit,
       timestamptz 'epoch' + $5::bigint * interval '1 microsecond'
FROM unnest($1::uuid[], $2::text[], $3::text[], $4::bigint[])
    AS u (tenant_id, id, currency, overdraft_limit)
ORDER BY u.tenant_id, u.id COLLATE "C"
ON CONFLICT DO NOTHING
RETURNING a.tenant_id, a.id
