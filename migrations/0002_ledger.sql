-- The books: accounts, the payments decided on them, and the transfers that moved money. The tenant
-- leads every key. Amounts are bigint minor units, at most 2^53 - 1 so that JSON holds them
-- exactly.

CREATE TABLE accounts (
    tenant_id       uuid        NOT NULL,
    id              text        NOT NULL COLLATE "C",
    currency        text        NOT NULL COLLATE "C",
    balance         bigint      NOT NULL DEFAULT 0,
    overdraft_limit bigint,
    created_at      timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT accounts_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT accounts_id_form CHECK (id ~ '^[A-Za-z0-9:._-]{1,64}$'),
    CONSTRAINT accounts_currency_form CHECK (currency ~ '^[A-Z]{3}$'),
    CONSTRAINT accounts_overdraft_limit_range
        CHECK (overdraft_limit BETWEEN 0 AND 9007199254740991),
    CONSTRAINT accounts_balance_range
        CHECK (balance BETWEEN -9007199254740991 AND 9007199254740991),
    CONSTRAINT accounts_balance_floor CHECK (overdraft_limit IS NULL OR balance >= -overdraft_limit)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 1);
-- No index holds the balance and half of each page is left free: an UPDATE of the balance is a HOT
-- update.
COMMENT ON TABLE accounts IS 'Accounts with their balance; overdraft_limit NULL means no floor';

CREATE TABLE payments (
    tenant_id       uuid        NOT NULL,
    id              uuid        NOT NULL,
    idempotency_key text        NOT NULL COLLATE "C",
    status          text        NOT NULL,
    decline_reason  text,
    amount          bigint      NOT NULL,
    currency        text        NOT NULL COLLATE "C",
    source          text        NOT NULL COLLATE "C",
    destination     text        NOT NULL COLLATE "C",
    description     text,
    metadata        text,
    created_at      timestamptz NOT NULL,
    CONSTRAINT payments_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT payments_status_known CHECK (status IN ('succeeded', 'declined')),
    CONSTRAINT payments_decline_reason_known CHECK (
        (status = 'succeeded' AND decline_reason IS NULL)
        OR (status = 'declined' AND decline_reason IN ('insufficient-funds', 'balance-limit'))),
    CONSTRAINT payments_amount_range CHECK (amount BETWEEN 1 AND 9007199254740991),
    CONSTRAINT payments_two_accounts CHECK (source <> destination)
);
-- A key may come again after its expiry, so this cannot be unique: uniqueness is
-- idempotency_keys_pkey.
CREATE INDEX payments_by_key ON payments (tenant_id, idempotency_key, id);
CREATE INDEX payments_by_source ON payments (tenant_id, source, id);
CREATE INDEX payments_by_destination ON payments (tenant_id, destination, id);
CREATE INDEX payments_declined ON payments (tenant_id, id) WHERE status = 'declined';
COMMENT ON TABLE payments IS 'One row a decided payment, succeeded or declined; never changed';
COMMENT ON COLUMN payments.metadata IS
    'JSON object text as it is answered; text, because jsonb would reorder it';

CREATE TABLE transfers (
    tenant_id            uuid        NOT NULL,
    id                   bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
    payment_id           uuid        NOT NULL,
    debit_account        text        NOT NULL COLLATE "C",
    credit_account       text        NOT NULL COLLATE "C",
    amount               bigint      NOT NULL,
    currency             text        NOT NULL COLLATE "C",
    debit_balance_after  bigint      NOT NULL,
    credit_balance_after bigint      NOT NULL,
    created_at           timestamptz NOT NULL,
    CONSTRAINT transfers_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT transfers_amount_range CHECK (amount BETWEEN 1 AND 9007199254740991),
    CONSTRAINT transfers_two_accounts CHECK (debit_account <> credit_account)
);
-- Ids are given while both accounts are locked, so for one account they rise in the order of its
-- balances.
CREATE INDEX transfers_by_debit ON transfers (tenant_id, debit_account, id);
CREATE INDEX transfers_by_credit ON transfers (tenant_id, credit_account, id);
COMMENT ON TABLE transfers IS
    'Append-only: one row debits one account and credits another by the same amount';

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END
$$;

CREATE TRIGGER transfers_append_only
    BEFORE UPDATE OR DELETE OR TRUNCATE ON transfers
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER payments_append_only
    BEFORE UPDATE OR DELETE OR TRUNCATE ON payments
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
