-- Violations of "the balance after an entry is the balance before it plus its amount".
-- Returns tenant, account, what was found. Runs in one REPEATABLE READ snapshot.
WITH entries AS (
    SELECT t.tenant_id, t.id, t.debit_account AS account, -t.amount AS amount,
           t.debit_balance_after AS balance_after
    FROM transfers AS t
    UNION ALL
    SELECT t.tenant_id, t.id, t.credit_account, t.amount, t.credit_balance_after
    FROM transfers AS t
), chained AS (
    SELECT e.*, coalesce(lag(e.balance_after) OVER (PARTITION BY e.tenant_id, e.account
                                                    ORDER BY e.id), 0) AS balance_before
    FROM entries AS e
)
SELECT c.tenant_id, c.account,
       format('transfer %s: %s after %s and %s', c.id, c.balance_after, c.balance_before, c.amount)
FROM chained AS c
WHERE c.balance_after <> c.balance_before + c.amount
