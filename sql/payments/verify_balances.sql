-- Violations of "each balance is the sum of its entries".
-- Returns tenant, account, what was found. Runs in one REPEATABLE READ snapshot.
WITH entries AS (
    SELECT t.tenant_id, t.debit_account AS account, -t.amount AS amount FROM transfers AS t
    UNION ALL
    SELECT t.tenant_id, t.credit_account, t.amount FROM transfers AS t
), sums AS (
    SELECT e.tenant_id, e.account, sum(e.amount) AS amount
    FROM entries AS e
    GROUP BY e.tenant_id, e.account
)
SELECT coalesce(a.tenant_id, s.tenant_id), coalesce(a.id, s.account),
       format('balance is %s, entries add up to %s', coalesce(a.balance::text, 'missing'),
              coalesce(s.amount, 0))
FROM accounts AS a
FULL JOIN sums AS s ON s.tenant_id = a.tenant_id AND s.account = a.id
WHERE a.balance IS DISTINCT FROM coalesce(s.amount, 0)
