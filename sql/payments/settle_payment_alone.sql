-- Decides one payment and writes its effects if it succeeds, by the rules of the ledger
-- (service/payments/ledger.hpp); whatever stands against it makes the statement fail, and the
-- ledger decides. Accounts are locked in the order of their primary key.
-- $1 uuid tenant, $2 uuid payment id, $3 text key, $4 bigint amount, $5 text currency, $6 text
-- source, $7 text destination, $8 text description or NULL, $9 text metadata, $10 bigint the range
-- of balances, $11 bigint the payment's time in microseconds since 1970.
-- Returns 1, and fails (22012) if it moved nothing. READ COMMITTED: a row that changed while we
-- waited is read again.
WITH locked AS (
    SELECT a.id, a.currency, a.balance, a.overdraft_limit
    FROM accounts AS a
    WHERE a.tenant_id = $1::uuid AND a.id IN ($6::text, $7::text)
    ORDER BY a.tenant_id, a.id
    FOR NO KEY UPDATE
), moved AS (
    SELECT s.balance - $4::bigint AS debit_balance_after,
           d.balance + $4::bigint AS credit_balance_after,
           timestamptz 'epoch' + $11::bigint * interval '1 microsecond' AS created_at
    FROM locked AS s, locked AS d
    WHERE s.id = $6::text AND d.id = $7::text AND s.currency = $5::text AND d.currency = $5::text
      AND s.balance - $4::bigint >= greatest(-s.overdraft_limit, -$10::bigint)
      AND d.balance + $4::bigint <= $10::bigint
), new_payment AS (
    INSERT INTO payments (tenant_id, id, idempotency_key, status, amount, currency, source,
                          destination, description, metadata, created_at)
    SELECT $1::uuid, $2::uuid, $3::text, 'succeeded', $4::bigint, $5::text, $6::text, $7::text,
           $8::text, $9::text, m.created_at
    FROM moved AS m
    RETURNING 1
), new_transfer AS (
    INSERT INTO transfers (tenant_id, payment_id, debit_account, credit_account, amount, currency,
                           debit_balance_after, credit_balance_after, created_at)
    SELECT $1::uuid, $2::uuid, $6::text, $7::text, $4::bigint, $5::text, m.debit_balance_after,
           m.credit_balance_after, m.created_at
    FROM moved AS m
    RETURNING 1
), new_balances AS (
    UPDATE accounts AS a
    SET balance = CASE a.id WHEN $6::text THEN m.debit_balance_after
                            ELSE m.credit_balance_after END
    FROM moved AS m
    WHERE a.tenant_id = $1::uuid AND a.id IN ($6::text, $7::text)
    RETURNING 1
)
SELECT 1 / CASE
    WHEN (SELECT count(*) FROM new_payment) = 1 AND (SELECT count(*) FROM new_transfer) = 1
     AND (SELECT count(*) FROM new_balances) = 2
    THEN 1 ELSE 0 END
