-- A page of the payments from or to one account, newest first, older than $2 if that is given. Two
-- index ranges, each cut to the page: an account is never both sides of one payment.
-- $1 uuid tenant, $2 uuid before id or NULL, $3 text status or NULL, $4 bigint rows at most,
-- $5 text account. Returns the columns of a payment.
SELECT p.id, p.status, p.decline_reason, p.amount, p.currency, p.source, p.destination,
       p.description, p.metadata, (extract(epoch FROM p.created_at) * 1000000)::bigint
FROM (
    (SELECT s.* FROM payments AS s
     WHERE s.tenant_id = $1::uuid AND s.source = $5::text
       AND s.id < coalesce($2::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
       AND ($3::text IS NULL OR s.status = $3)
     ORDER BY s.id DESC LIMIT $4::bigint)
    UNION ALL
    (SELECT d.* FROM payments AS d
     WHERE d.tenant_id = $1::uuid AND d.destination = $5::text
       AND d.id < coalesce($2::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
       AND ($3::text IS NULL OR d.status = $3)
     ORDER BY d.id DESC LIMIT $4::bigint)
) AS p
ORDER BY p.id DESC
LIMIT $4::bigint
