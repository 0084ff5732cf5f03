-- Violations of "each balance is the sum of its entries" and "the balance after an entry is the
-- balance before it plus its amount", of $1 bigint accounts chosen at random. Their entries are
-- read by index: on a large ledger that is a small part of it.
-- Returns tenant, account, what was found. Runs in one REPEATABLE READ snapshot.
WITH sample AS (
    SELECT a.tenant_id, a.id, a.balance
    FROM accounts AS a
    ORDER BY random()
    LIMIT $1::bigint
), entries AS (
    SELECT s.tenant_id, s.id AS account, e.id, e.amount, e.balance_after
    FROM sample AS s
    CROSS JOIN LATERAL (
        SELECT t.id, -t.amount AS amount, t.debit_balance_after AS balance_after
        FROM transfers AS t
        WHERE t.tenant_id = s.tenant_id AND t.debit_account = s.id
        UNION ALL
        SELECT t.id, t.amount, t.credit_balance_after
        FROM transfers AS t
        WHERE t.tenant_id = s.tenant_id AND t.credit_account = s.id) AS e
), chained AS (
    SELECT e.*, coalesce(lag(e.balance_after) OVER (PARTITION BY e.tenant_id, e.account
                                                    ORDER BY e.id), 0) AS balance_before
    FROM entries AS e
), sums AS (
    SELECT e.tenant_id, e.account, sum(e.amount) AS amount
    FROM entries AS e
    GROUP BY e.tenant_id, e.account
)
SELECT c.tenant_id, c.account,
       format('transfer %s: %s after %s and %s', c.id, c.balance_after, c.balance_before, c.amount)
FROM chained AS c
WHERE c.balance_after <> c.balance_before + c.amount
UNION ALL
SELECT s.tenant_id, s.id,
       format('balance is %s, entries add up to %s', s.balance, coalesce(e.amount, 0))
FROM sample AS s
LEFT JOIN sums AS e ON e.tenant_id = s.tenant_id AND e.account = s.id
WHERE s.balance <> coalesce(e.amount, 0)
