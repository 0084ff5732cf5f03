-- Violations of "a completed key has the answer of what it made, and made one thing": keys of
-- payments without that payment, with another status than was answered, or with more than one
-- payment in the key's life; and keys in processing that no lease will ever end.
-- Returns tenant, hash of the key, what was found. Runs in one REPEATABLE READ snapshot.
SELECT k.tenant_id, left(encode(sha256(convert_to(k.key, 'UTF8')), 'hex'), 12),
       CASE
           WHEN k.status = 'processing' THEN 'processing without a lease'
           WHEN own.id IS NULL THEN format('completed without its payment %s', k.resource_id)
           WHEN own.status <> CASE k.answer_status WHEN 201 THEN 'succeeded' ELSE 'declined' END
               THEN format('answered %s, payment is %s', k.answer_status, own.status)
           ELSE format('%s payments: %s', made.payments, made.ids)
       END
FROM idempotency_keys AS k
LEFT JOIN payments AS own
    ON own.tenant_id = k.tenant_id AND own.id::text = k.resource_id
   AND own.idempotency_key = k.key
CROSS JOIN LATERAL (
    SELECT count(*) AS payments, string_agg(p.id::text, ' ' ORDER BY p.id) AS ids
    FROM payments AS p
    WHERE p.tenant_id = k.tenant_id AND p.idempotency_key = k.key AND p.created_at >= k.created_at
) AS made
WHERE (k.status = 'processing' AND k.lease_expires_at IS NULL)
   OR (k.status = 'completed'
       AND coalesce(k.resource_id, '') NOT LIKE 'accounts/%'
       AND (own.id IS NULL OR (made.payments <> 1 AND k.expires_at > now())
            OR own.status <> CASE k.answer_status WHEN 201 THEN 'succeeded' ELSE 'declined' END))
