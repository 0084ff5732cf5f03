-- Reads what is stored under keys, past their expiry or not.
-- $1 uuid[] tenant, $2 text[] key.
-- Returns ordinal (1-based) of the key given, fingerprint, its version, whether it is completed,
-- resource id, answer status, content type, location, body, whether its life or its lease is over,
-- created, completed and expires in microseconds since 1970. Absent keys have no row. READ
-- COMMITTED; the database's clock alone decides.
SELECT u.ordinal, k.fingerprint, k.fingerprint_version, k.status = 'completed', k.resource_id,
       k.answer_status, k.answer_content_type, k.answer_location, k.answer_body,
       k.expires_at <= clock_timestamp()
           AND (k.lease_expires_at IS NULL OR k.lease_expires_at <= clock_timestamp()) AS expired,
       k.status = 'processing' AND k.lease_expires_at <= clock_timestamp() AS abandoned,
       (extract(epoch FROM k.created_at) * 1000000)::bigint,
       (extract(epoch FROM k.completed_at) * 1000000)::bigint,
       (extract(epoch FROM k.expires_at) * 1000000)::bigint
FROM unnest($1::uuid[], $2::text[]) WITH ORDINALITY AS u (tenant_id, key, ordinal)
JOIN idempotency_keys AS k ON k.tenant_id = u.tenant_id AND k.key = u.key
