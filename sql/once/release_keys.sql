-- Removes claims of this transaction whose operations were refused, so that their keys are not used
-- up; the number of rows affected must be the number of keys given.
-- $1 uuid[] tenant, $2 text[] key. Returns nothing. READ COMMITTED; the rows are locked by our
-- claim.
DELETE FROM idempotency_keys AS k
USING unnest($1::uuid[], $2::text[]) AS u (tenant_id, key)
WHERE k.tenant_id = u.tenant_id AND k.key = u.key AND k.xmin = pg_current_xact_id()::xid
