-- One payment. $1 uuid tenant, $2 uuid id. Returns the columns of a payment, or no row.
SELECT p.id, p.status, p.decline_reason, p.amount, p.currency, p.source, p.destination,
       p.description, p.metadata, (extract(epoch FROM p.created_at) * 1000000)::bigint
FROM payments AS p
WHERE p.tenant_id = $1::uuid AND p.id = $2::uuid
