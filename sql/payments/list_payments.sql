-- A page of payments, newest first, older than $2 if that is given.
-- $1 uuid tenant, $2 uuid before id or NULL, $3 text status or NULL, $4 bigint rows at most.
-- Returns the columns of a payment.
SELECT p.id, p.status, p.decline_reason, p.amount, p.currency, p.source, p.destination,
       p.description, p.metadata, (extract(epoch FROM p.created_at) * 1000000)::bigint
FROM payments AS p
WHERE p.tenant_id = $1::uuid
  AND p.id < coalesce($2::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
  AND ($3::text IS NULL OR p.status = $3)
ORDER BY p.id DESC
LIMIT $4::bigint
