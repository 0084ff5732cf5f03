-- Violations of "a payment that succeeded has one transfer with its accounts, amount and currency,
-- a declined one has none, and no transfer is without its payment".
-- Returns tenant, payment, what was found. Runs in one REPEATABLE READ snapshot.
SELECT coalesce(p.tenant_id, t.tenant_id), coalesce(p.id, t.payment_id)::text,
       format('payment is %s and has %s transfers, %s of them its own',
              coalesce(p.status, 'missing'), count(t.id),
              count(t.id) FILTER (WHERE t.debit_account = p.source
                                    AND t.credit_account = p.destination
                                    AND t.amount = p.amount AND t.currency = p.currency))
FROM payments AS p
FULL JOIN transfers AS t ON t.tenant_id = p.tenant_id AND t.payment_id = p.id
GROUP BY p.tenant_id, t.tenant_id, p.id, t.payment_id, p.status
HAVING p.id IS NULL
    OR count(t.id) <> CASE p.status WHEN 'succeeded' THEN 1 ELSE 0 END
    OR count(t.id) <> count(t.id) FILTER (WHERE t.debit_account = p.source
                                            AND t.credit_account = p.destination
                                            AND t.amount = p.amount AND t.currency = p.currency)
