-- Lets this transaction wait for a lock for 50 ms at most (55P03): for what has another way to go.
-- No parameters. Returns the setting.
SELECT set_config('lock_timeout', '50ms', true)
