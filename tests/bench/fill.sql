-- Payments of the past, as the service would have left them: a key with its answer, a payment and a
-- transfer each. Variables: tenant, first and last (numbers of the payments), expires (interval from
-- now, negative = expired), period_column and period_value (what the layout adds to a key's row).
WITH past AS (
    SELECT n, gen_random_uuid()::text AS key, 'account:' || (n * 7919) % 10000 AS source,
           'account:' || (n * 7919 + 1 + n % 9998) % 10000 AS destination,
           -- version 7, so that ids rise with time as the service's do
           overlay(overlay(gen_random_uuid()::text PLACING
                   lpad(to_hex((1700000000000 + n)::bigint >> 16), 8, '0') FROM 1 FOR 8)
               PLACING lpad(to_hex((1700000000000 + n)::bigint & 65535), 4, '0') || '-7' FROM 10 FOR 6)
               AS id,
           now() + :expires::interval - interval '1 day' AS created_at
    FROM generate_series(:first::bigint, :last::bigint) AS n
), keys AS (
    INSERT INTO idempotency_keys
        (tenant_id, key, fingerprint, fingerprint_version, status, resource_id, answer_status,
         answer_content_type, answer_location, answer_body, created_at, completed_at, expires_at
         :period_column)
    SELECT :tenant::uuid, key, sha256(key::bytea), 1, 'completed', id, 201, 'application/json',
           '/v1/payments/' || id, convert_to(format(
               '{"id":"%s","object":"payment","status":"succeeded","amount":1999,"currency":"EUR",'
               '"source":"%s","destination":"%s","description":"order 1001",'
               '"metadata":{"order":"1001"},"created_at":"2026-11-29T14:00:00.123456Z"}',
               id, source, destination), 'UTF8'),
           created_at, created_at, now() + :expires::interval
           :period_value
    FROM past
), paid AS (
    INSERT INTO payments (tenant_id, id, idempotency_key, status, amount, currency, source,
                          destination, description, metadata, created_at)
    SELECT :tenant::uuid, id::uuid, key, 'succeeded', 1999, 'EUR', source, destination,
           'order 1001', '{"order":"1001"}', created_at
    FROM past
)
INSERT INTO transfers (tenant_id, payment_id, debit_account, credit_account, amount, currency,
                       debit_balance_after, credit_balance_after, created_at)
SELECT :tenant::uuid, id::uuid, source, destination, 1999, 'EUR', 0, 0, created_at
FROM past;
