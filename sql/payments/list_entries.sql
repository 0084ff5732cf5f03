-- A page of an account's statement, newest first, older than $3 if that is given. Two index ranges,
-- each cut to the page: an account is never both sides of one transfer.
-- $1 uuid tenant, $2 text account, $3 bigint before transfer id or NULL, $4 bigint rows at most.
-- Returns transfer id, payment id, amount (negative for a debit), balance after, counterparty,
-- currency, created in microseconds since 1970.
SELECT e.id, e.payment_id, e.amount, e.balance_after, e.counterparty, e.currency,
       (extract(epoch FROM e.created_at) * 1000000)::bigint
FROM (
    (SELECT t.id, t.payment_id, -t.amount AS amount, t.debit_balance_after AS balance_after,
            t.credit_account AS counterparty, t.currency, t.created_at
     FROM transfers AS t
     WHERE t.tenant_id = $1::uuid AND t.debit_account = $2::text
       AND t.id < coalesce($3::bigint, 9223372036854775807)
     ORDER BY t.id DESC LIMIT $4::bigint)
    UNION ALL
    (SELECT t.id, t.payment_id, t.amount, t.credit_balance_after,
            t.debit_account, t.currency, t.created_at
     FROM transfers AS t
     WHERE t.tenant_id = $1::uuid AND t.credit_account = $2::text
       AND t.id < coalesce($3::bigint, 9223372036854775807)
     ORDER BY t.id DESC LIMIT $4::bigint)
) AS e
ORDER BY e.id DESC
LIMIT $4::bigint
