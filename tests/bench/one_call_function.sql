-- Yardstick: the best single call for one payment. One round trip, one transaction, each row
-- written once: the key is inserted together with its answer, and the accounts come last, so that
-- their locks are held for the shortest time, in the order of their ids.
CREATE FUNCTION bench_pay(tenant uuid, wanted_key text, wanted_fingerprint bytea, from_account text,
                          to_account text, minor bigint, iso text, about text, extra text)
RETURNS TABLE (status smallint, body bytea) LANGUAGE plpgsql AS $$
DECLARE
    payment uuid := gen_random_uuid();
    answer bytea := convert_to(format(
        '{"id":"%s","object":"payment","status":"succeeded","amount":%s,"currency":"%s",'
        '"source":"%s","destination":"%s","description":"%s","metadata":%s,'
        '"created_at":"2026-11-29T14:00:00.123456Z"}',
        payment, minor, iso, from_account, to_account, about, extra), 'UTF8');
    debit_after bigint;
    credit_after bigint;
BEGIN
    INSERT INTO idempotency_keys AS k
        (tenant_id, key, fingerprint, fingerprint_version, status, resource_id, answer_status,
         answer_content_type, answer_location, answer_body, created_at, completed_at, expires_at)
    VALUES (tenant, wanted_key, wanted_fingerprint, 1, 'completed', payment::text, 201,
            'application/json', '/v1/payments/' || payment, answer, now(), now(),
            now() + interval '1 day')
    ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        RETURN QUERY SELECT k.answer_status, k.answer_body FROM idempotency_keys AS k
                     WHERE k.tenant_id = tenant AND k.key = wanted_key
                       AND k.fingerprint = wanted_fingerprint;
        RETURN;
    END IF;
    INSERT INTO payments (tenant_id, id, idempotency_key, status, amount, currency, source,
                          destination, description, metadata, created_at)
    VALUES (tenant, payment, wanted_key, 'succeeded', minor, iso, from_account, to_account, about,
            extra, now());
    IF from_account < to_account COLLATE "C" THEN
        UPDATE accounts SET balance = balance - minor
        WHERE tenant_id = tenant AND id = from_account RETURNING balance INTO debit_after;
        UPDATE accounts SET balance = balance + minor
        WHERE tenant_id = tenant AND id = to_account RETURNING balance INTO credit_after;
    ELSE
        UPDATE accounts SET balance = balance + minor
        WHERE tenant_id = tenant AND id = to_account RETURNING balance INTO credit_after;
        UPDATE accounts SET balance = balance - minor
        WHERE tenant_id = tenant AND id = from_account RETURNING balance INTO debit_after;
    END IF;
    INSERT INTO transfers (tenant_id, payment_id, debit_account, credit_account, amount, currency,
                           debit_balance_after, credit_balance_after, created_at)
    VALUES (tenant, payment, from_account, to_account, minor, iso, debit_after, credit_after,
            now());
    RETURN QUERY SELECT 201::smallint, answer;
END
$$;
