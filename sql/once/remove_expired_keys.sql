-- Removes up to $1 keys that are expired at this moment: picks them by the expiry index, skips
-- those that somebody else has locked, and deletes exactly the rows it locked; a key that was
-- claimed again meanwhile is another row. Locked rows were looked at again, so the DELETE needs no
-- condition of its own; with one the planner would join all that is expired against them.
-- $1 bigint rows at most. Returns nothing; rows affected. READ COMMITTED; the database's clock
-- alone decides.
WITH expired AS (
    SELECT k.tenant_id, k.key
    FROM idempotency_keys AS k
    WHERE k.expires_at <= now() AND (k.lease_expires_at IS NULL OR k.lease_expires_at <= now())
    ORDER BY k.expires_at
    LIMIT $1::bigint
    FOR UPDATE SKIP LOCKED)
DELETE FROM idempotency_keys AS k
USING expired
WHERE k.tenant_id = expired.tenant_id AND k.key = expired.key
