-- Writes what the ledger decided for a batch: its payments, its transfers in the order of their
-- decision, and the balances afterwards. The accounts are locked by lock_accounts in this
-- transaction.
-- Payments: $1 uuid[] tenant, $2 uuid[] id, $3 text[] key, $4 text[] status, $5 text[] decline
-- reason or NULL,
-- $6 bigint[] amount, $7 text[] currency, $8 text[] source, $9 text[] destination, $10 text[]
-- description or NULL,
-- $11 text[] metadata; of those that succeeded, and NULL of the others: $12 bigint[] debit balance
-- after, $13 bigint[] credit balance after.
-- Balances: $14 uuid[] tenant, $15 text[] account, $16 bigint[] balance. $17 bigint the payments'
-- time in microseconds since 1970.
-- Returns 1, and fails (22012) if it wrote another number of payments, transfers or balances than
-- it was given. READ COMMITTED.
WITH decided AS (
    SELECT *
    FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::bigint[],
                $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::bigint[],
                $13::bigint[]) WITH ORDINALITY
        AS u (tenant_id, id, idempotency_key, status, decline_reason, amount, currency,
              source, destination, description, metadata, debit_balance_after,
              credit_balance_after, ordinal)
), new_payments AS (
    INSERT INTO payments (tenant_id, id, idempotency_key, status, decline_reason, amount, currency,
                          source, destination, description, metadata, created_at)
    SELECT d.tenant_id, d.id, d.idempotency_key, d.status, d.decline_reason, d.amount, d.currency,
           d.source, d.destination, d.description, d.metadata,
           timestamptz 'epoch' + $17::bigint * interval '1 microsecond'
    FROM decided AS d
    RETURNING 1
), new_transfers AS (
    INSERT INTO transfers (tenant_id, payment_id, debit_account, credit_account, amount, currency,
                           debit_balance_after, credit_balance_after, created_at)
    SELECT d.tenant_id, d.id, d.source, d.destination, d.amount, d.currency,
           d.debit_balance_after, d.credit_balance_after,
           timestamptz 'epoch' + $17::bigint * interval '1 microsecond'
    FROM decided AS d
    WHERE d.debit_balance_after IS NOT NULL
    ORDER BY d.ordinal
    RETURNING 1
), new_balances AS (
    UPDATE accounts AS a
    SET balance = b.balance
    FROM unnest($14::uuid[], $15::text[], $16::bigint[]) AS b (tenant_id, id, balance)
    WHERE a.tenant_id = b.tenant_id AND a.id = b.id
    RETURNING 1
)
SELECT 1 / CASE
    WHEN (SELECT count(*) FROM new_payments) = cardinality($1::uuid[])
     AND (SELECT count(*) FROM new_transfers) = (SELECT count(debit_balance_after) FROM decided)
     AND (SELECT count(*) FROM new_balances) = cardinality($14::uuid[])
    THEN 1 ELSE 0 END
