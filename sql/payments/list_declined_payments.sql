-- A page of declined payments, newest first, older than $2 if that is given. They are rare, so they
-- have an index of their own (payments_declined).
-- $1 uuid tenant, $2 uuid before id or NULL, $3 bigint rows at most. Returns the columns of a
-- payment.
SELECT p.id, p.status, p.decline_reason, p.amount, p.currency, p.source, p.destination,
       p.description, p.metadata, (extract(epoch FROM p.created_at) * 1000000)::bigint
FROM payments AS p
WHERE p.tenant_id = $1::uuid AND p.status = 'declined'
  AND p.id < coalesce($2::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
ORDER BY p.id DESC
LIMIT $3::bigint
