-- A page of the payments that moved money from or to one account, in the order of its balances,
-- newest first, older than the transfer $2 if that is given. Two index ranges, each cut to the
-- page: an account is never both sides of one transfer.
-- $1 uuid tenant, $2 bigint before transfer id or NULL, $3 bigint rows at most, $4 text account.
-- Returns the columns of a payment and the id of its transfer.
SELECT p.id, p.status, p.decline_reason, p.amount, p.currency, p.source, p.destination,
       p.description, p.metadata, (extract(epoch FROM p.created_at) * 1000000)::bigint,
       moved.id AS transfer_id
FROM (
    SELECT m.id, m.payment_id
    FROM (
        (SELECT t.id, t.payment_id FROM transfers AS t
         WHERE t.tenant_id = $1::uuid AND t.debit_account = $4::text
           AND t.id < coalesce($2::bigint, 9223372036854775807)
         ORDER BY t.id DESC LIMIT $3::bigint)
        UNION ALL
        (SELECT t.id, t.payment_id FROM transfers AS t
         WHERE t.tenant_id = $1::uuid AND t.credit_account = $4::text
           AND t.id < coalesce($2::bigint, 9223372036854775807)
         ORDER BY t.id DESC LIMIT $3::bigint)
    ) AS m
    ORDER BY m.id DESC
    LIMIT $3::bigint
) AS moved
JOIN payments AS p ON p.tenant_id = $1::uuid AND p.id = moved.payment_id
ORDER BY moved.id DESC
