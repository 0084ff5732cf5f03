-- Claims keys in the current period, otherwise as claim_keys.sql does: for the layout with periods
-- (migrations/0004_key_periods.sql). The transaction has entered the period before
-- (enter_key_period.sql), so that this statement sees each claim in an earlier one; it takes none
-- of those keys, and ON CONFLICT arbitrates in the current one.
-- As there: $1 uuid[] tenant, $2 text[] key, $3 bytea[] fingerprint, $4 int fingerprint version, $5
-- bigint retention in seconds; the expected answers: $6 int[] status or NULL for none, $7 text[]
-- content type, $8 text[] location or NULL, $9 bytea[] body, $10 text[] resource id or NULL; $11
-- bigint the time that these answers name, in microseconds since 1970.
-- Returns tenant, key, now() in microseconds since 1970. READ COMMITTED. Arrays sorted by (tenant,
-- key) "C".
INSERT INTO idempotency_keys AS k
    (tenant_id, key, fingerprint, fingerprint_version, status, resource_id, answer_status,
     answer_content_type, answer_location, answer_body, created_at, completed_at, expires_at,
     claimed_in)
SELECT u.tenant_id, u.key, u.fingerprint, $4::int,
       CASE WHEN u.answer_status IS NULL THEN 'processing' ELSE 'completed' END,
       u.resource_id, u.answer_status, u.content_type, u.location, u.body, named.time,
       CASE WHEN u.answer_status IS NULL THEN NULL ELSE named.time END,
       now() + make_interval(secs => $5::bigint),
       (SELECT p.starts_at FROM idempotency_key_periods AS p WHERE p.state = 'current')
FROM unnest($1::uuid[], $2::text[], $3::bytea[], $6::int[], $7::text[], $8::text[], $9::bytea[],
            $10::text[])
    AS u (tenant_id, key, fingerprint, answer_status, content_type, location, body, resource_id),
    (SELECT timestamptz 'epoch' + $11::bigint * interval '1 microsecond') AS named (time)
WHERE NOT EXISTS (
    SELECT FROM idempotency_keys AS earlier
    WHERE earlier.tenant_id = u.tenant_id AND earlier.key = u.key
      AND earlier.claimed_in
          < (SELECT p.starts_at FROM idempotency_key_periods AS p WHERE p.state = 'current'))
ORDER BY u.tenant_id, u.key COLLATE "C"
ON CONFLICT DO NOTHING
RETURNING k.tenant_id, k.key, (extract(epoch FROM now()) * 1000000)::bigint
