-- A page of the declined payments from or to one account, newest first, older than $2 if that is
-- given. Two index ranges, each cut to the page: an account is never both sides of one payment.
-- $1 uuid tenant, $2 uuid before id or NULL, $3 bigint rows at most, $4 text account. Returns the
-- columns of a payment.
SELECT p.id, p.status, p.decline_reason, p.amount, p.currency, p.source, p.destination,
       p.description, p.metadata, (extract(epoch FROM p.created_at) * 1000000)::bigint
FROM (
    (SELECT s.* FROM payments AS s
     WHERE s.tenant_id = $1::uuid AND s.source = $4::text AND s.status = 'declined'
       AND s.id < coalesce($2::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
     ORDER BY s.id DESC LIMIT $3::bigint)
    UNION ALL
    (SELECT d.* FROM payments AS d
     WHERE d.tenant_id = $1::uuid AND d.destination = $4::text AND d.status = 'declined'
       AND d.id < coalesce($2::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
     ORDER BY d.id DESC LIMIT $3::bigint)
) AS p
ORDER BY p.id DESC
LIMIT $3::bigint
