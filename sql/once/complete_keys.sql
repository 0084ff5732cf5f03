-- Stores the answers of keys that this transaction has claimed and that did not end as expected.
-- The number of rows affected must be the number of keys given, or it must be rolled back.
-- $1 uuid[] tenant, $2 text[] key, $3 int[] status, $4 text[] content type, $5 text[] location or
-- NULL, $6 bytea[] body,
-- $7 text[] resource id or NULL. Returns nothing. READ COMMITTED; the rows are locked by our claim.
UPDATE idempotency_keys AS k
SET status = 'completed', answer_status = u.answer_status, answer_content_type = u.content_type,
    answer_location = u.location, answer_body = u.body, resource_id = u.resource_id,
    completed_at = k.created_at
FROM unnest($1::uuid[], $2::text[], $3::int[], $4::text[], $5::text[], $6::bytea[], $7::text[])
    AS u (tenant_id, key, answer_status, content_type, location, body, resource_id)
WHERE k.tenant_id = u.tenant_id AND k.key = u.key AND k.xmin = pg_current_xact_id()::xid
