-- For this transaction: how long looking at the state of things may take and wait, so that it never
-- weighs on a server that is in trouble. Returns the settings. $1 text time, such as '2000ms'.
SELECT set_config('statement_timeout', $1, true), set_config('lock_timeout', $1, true)
