-- Counts the keys that cleanup would remove now. Returns one number. The database's clock alone
-- decides.
SELECT count(*)
FROM idempotency_keys AS k
WHERE k.expires_at <= now() AND (k.lease_expires_at IS NULL OR k.lease_expires_at <= now())
