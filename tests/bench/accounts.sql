-- The accounts that everybody pays between: account:0 to account:9999, and the popular account
-- account:10000. None has a floor, so that every payment succeeds. Variable: tenant.
INSERT INTO accounts (tenant_id, id, currency, overdraft_limit)
SELECT :tenant::uuid, 'account:' || n, 'EUR', NULL FROM generate_series(0, 10000) AS n;
VACUUM ANALYZE accounts;
