-- Whether keys are kept in periods. Returns one boolean.
SELECT EXISTS (SELECT FROM idempotency_key_periods)
