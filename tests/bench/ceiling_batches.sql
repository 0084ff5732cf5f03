-- What the ceiling's batches bind: one row a batch, each array as the literal that a lane would send.
-- Variables: tenant, batches, size.
DROP TABLE IF EXISTS bench_batches;
DROP SEQUENCE IF EXISTS bench_batch;
CREATE SEQUENCE bench_batch;
CREATE TABLE bench_batches AS
WITH drawn AS (
    SELECT batch, n, gen_random_uuid() AS id, floor(random() * 10000)::int AS source,
           1 + floor(random() * 9999)::int AS other
    FROM generate_series(1, :batches) AS batch, generate_series(1, :size) AS n
), payment AS (
    SELECT batch, n, id::text AS id, 'ceiling-' || id AS key, 'account:' || source AS source,
           'account:' || (source + other) % 10000 AS destination
    FROM drawn
), account AS (
    SELECT batch, array_agg(id ORDER BY id COLLATE "C")::text AS accounts,
           array_agg(:tenant::text ORDER BY id)::text AS tenants_2,
           array_agg(1000000 ORDER BY id)::text AS balances_2
    FROM (SELECT batch, source FROM payment UNION SELECT batch, destination FROM payment)
         AS one (batch, id)
    GROUP BY batch
)
SELECT batch AS id, array_agg(:tenant::text ORDER BY key COLLATE "C")::text AS tenants,
       array_agg(key ORDER BY key COLLATE "C")::text AS keys,
       array_agg(sha256(key::bytea) ORDER BY key COLLATE "C")::text AS fingerprints,
       array_agg(201 ORDER BY n)::text AS statuses,
       array_agg('application/json'::text ORDER BY n)::text AS types,
       array_agg('/v1/payments/' || id ORDER BY key COLLATE "C")::text AS locations,
       array_agg(convert_to(format(
           '{"id":"%s","object":"payment","status":"succeeded","amount":1999,"currency":"EUR",'
           '"source":"%s","destination":"%s","description":"order 1001",'
           '"metadata":{"order":"1001"},"created_at":"2026-11-29T14:00:00.123456Z"}',
           id, source, destination), 'UTF8') ORDER BY key COLLATE "C")::text AS bodies,
       array_agg(id ORDER BY key COLLATE "C")::text AS ids,
       array_agg('succeeded'::text ORDER BY n)::text AS outcomes,
       array_agg(NULL::text ORDER BY n)::text AS reasons,
       array_agg(1999 ORDER BY n)::text AS amounts,
       array_agg('EUR'::text ORDER BY n)::text AS currencies,
       array_agg(source ORDER BY key COLLATE "C")::text AS sources,
       array_agg(destination ORDER BY key COLLATE "C")::text AS destinations,
       array_agg('order 1001'::text ORDER BY n)::text AS descriptions,
       array_agg('{"order":"1001"}'::text ORDER BY n)::text AS metadata,
       array_agg(n ORDER BY n)::text AS ordinals,
       array_agg(1000000 ORDER BY n)::text AS balances,
       accounts, tenants_2, balances_2
FROM payment JOIN account USING (batch)
GROUP BY batch, accounts, tenants_2, balances_2;
ALTER TABLE bench_batches ADD PRIMARY KEY (id);
ANALYZE bench_batches;
