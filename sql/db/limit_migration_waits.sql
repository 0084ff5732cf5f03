-- For this transaction: how long DDL waits for its locks, and that it may then run as long as it
-- takes. Returns the settings. $1 text lock_timeout, such as '2000ms'.
SELECT set_config('lock_timeout', $1, true), set_config('statement_timeout', '0', true)
