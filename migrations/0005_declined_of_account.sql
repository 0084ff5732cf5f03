-- The declined payments of one account. They are few, so these indexes are small, but to build them
-- the table is read once, and payments wait meanwhile (reads do not).
CREATE INDEX payments_declined_by_source ON payments (tenant_id, source, id)
    WHERE status = 'declined';
CREATE INDEX payments_declined_by_destination ON payments (tenant_id, destination, id)
    WHERE status = 'declined';
