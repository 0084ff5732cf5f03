-- Yardstick: bench_pay of one_call_function.sql, once for each payment.
\set key random(1, 9000000000000000000)
\set source random(0, 9999)
\set other random(1, 9999)
\set destination CASE WHEN :popular = 1 THEN 10000 ELSE (:source + :other) % 10000 END
SELECT * FROM bench_pay(:tenant::uuid, 'one-call-' || :key::bigint,
                        sha256(:key::bigint::text::bytea), 'account:' || :source::int,
                        'account:' || :destination::int, 1999, 'EUR', 'order 1001',
                        '{"order":"1001"}');
