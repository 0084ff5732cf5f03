-- Violations of "no balance under its floor".
-- Returns tenant, account, what was found. Runs in one REPEATABLE READ snapshot.
SELECT a.tenant_id, a.id, format('balance %s is under the floor %s', a.balance, -a.overdraft_limit)
FROM accounts AS a
WHERE a.balance < -a.overdraft_limit
