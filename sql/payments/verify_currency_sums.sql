-- Violations of "the books balance": currencies of a tenant whose balances do not add up to zero.
-- Returns tenant, currency, what was found. Runs in one REPEATABLE READ snapshot.
SELECT a.tenant_id, a.currency, format('balances add up to %s instead of 0', sum(a.balance))
FROM accounts AS a
GROUP BY a.tenant_id, a.currency
HAVING sum(a.balance) <> 0
