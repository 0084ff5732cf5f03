-- Claims one key in the current period or fails (22012): claim_alone.sql for the layout with
-- periods (migrations/0004_key_periods.sql), which claims as claim_keys_in_period.sql does.
-- $1 uuid tenant, $2 text key, $3 bytea fingerprint, $4 int fingerprint version, $5 bigint
-- retention in seconds; the expected answer: $6 int status, $7 text content type, $8 text location
-- or NULL, $9 bytea body, $10 text resource id or NULL; $11 bigint the time that it names, in
-- microseconds since 1970. Returns 1. READ COMMITTED.
WITH claimed AS (
    INSERT INTO idempotency_keys AS k
        (tenant_id, key, fingerprint, fingerprint_version, status, resource_id, answer_status,
         answer_content_type, answer_location, answer_body, created_at, completed_at, expires_at,
         claimed_in)
    SELECT $1::uuid, $2::text, $3::bytea, $4::int, 'completed', $10::text, $6::int, $7::text,
           $8::text, $9::bytea, timestamptz 'epoch' + $11::bigint * interval '1 microsecond',
           timestamptz 'epoch' + $11::bigint * interval '1 microsecond',
           now() + make_interval(secs => $5::bigint), p.starts_at
    FROM idempotency_key_periods AS p
    WHERE p.state = 'current' AND NOT EXISTS (
        SELECT FROM idempotency_keys AS earlier
        WHERE earlier.tenant_id = $1::uuid AND earlier.key = $2::text
          AND earlier.claimed_in < (SELECT c.starts_at FROM idempotency_key_periods AS c
                                    WHERE c.state = 'current'))
    ON CONFLICT DO NOTHING
    RETURNING k.created_at
)
SELECT 1 / count(*)
FROM claimed AS c
WHERE c.created_at BETWEEN now() - interval '1 second' AND now() + interval '1 second'
