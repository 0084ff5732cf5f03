-- Yardstick: what a hand-written service does for one payment. The key is claimed and completed in
-- transactions of their own, the money moves in a third. Accounts are updated in the order of their
-- ids, so that two payments cannot deadlock. Variables: tenant, popular (0 or 1).
\set key random(1, 9000000000000000000)
\set source random(0, 9999)
\set other random(1, 9999)
\set destination CASE WHEN :popular = 1 THEN 10000 ELSE (:source + :other) % 10000 END
\set low CASE WHEN :source < :destination THEN :source ELSE :destination END
\set high CASE WHEN :source < :destination THEN :destination ELSE :source END
\set low_change CASE WHEN :source < :destination THEN -1999 ELSE 1999 END
INSERT INTO idempotency_keys (tenant_id, key, fingerprint, fingerprint_version, status, created_at,
                              expires_at)
VALUES (:tenant::uuid, 'seven-' || :key::bigint, sha256(:key::bigint::text::bytea), 1,
        'processing', now(), now() + interval '1 day')
ON CONFLICT DO NOTHING;
BEGIN;
UPDATE accounts SET balance = balance + :low_change::bigint
WHERE tenant_id = :tenant::uuid AND id = 'account:' || :low::int RETURNING balance AS low_balance \gset
UPDATE accounts SET balance = balance - :low_change::bigint
WHERE tenant_id = :tenant::uuid AND id = 'account:' || :high::int RETURNING balance AS high_balance \gset
INSERT INTO payments (tenant_id, id, idempotency_key, status, amount, currency, source, destination,
                      description, metadata, created_at)
VALUES (:tenant::uuid, gen_random_uuid(), 'seven-' || :key::bigint, 'succeeded', 1999, 'EUR',
        'account:' || :source::int, 'account:' || :destination::int, 'order 1001',
        '{"order":"1001"}', now())
RETURNING id AS payment \gset
INSERT INTO transfers (tenant_id, payment_id, debit_account, credit_account, amount, currency,
                       debit_balance_after, credit_balance_after, created_at)
VALUES (:tenant::uuid, :payment::uuid, 'account:' || :source::int, 'account:' || :destination::int,
        1999, 'EUR',
        CASE WHEN :low_change::int < 0 THEN :low_balance::bigint ELSE :high_balance::bigint END,
        CASE WHEN :low_change::int < 0 THEN :high_balance::bigint ELSE :low_balance::bigint END,
        now());
COMMIT;
UPDATE idempotency_keys
SET status = 'completed', answer_status = 201, answer_content_type = 'application/json',
    answer_location = '/v1/payments/' || :payment::uuid, resource_id = :payment::uuid::text,
    answer_body = convert_to(format(
        '{"id":"%s","object":"payment","status":"succeeded","amount":1999,"currency":"EUR",'
        '"source":"account:%s","destination":"account:%s","description":"order 1001",'
        '"metadata":{"order":"1001"},"created_at":"2026-11-29T14:00:00.123456Z"}',
        :payment::uuid, :source::int, :destination::int), 'UTF8'),
    completed_at = now()
WHERE tenant_id = :tenant::uuid AND key = 'seven-' || :key::bigint;
