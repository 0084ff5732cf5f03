-- For this transaction: how long looking at the state of things may take and wait, so that it never
-- weighs on a server that is in trouble. Returns the settings. $1 text time, such as '2000ms'.
-- Plans are kept, also those made while a table was empty and reading all of it cost nothing: an
-- index is preferred whatever the statistics say.
SELECT set_config('statement_timeout', $1, true), set_config('lock_timeout', $1, true),
       set_config('enable_seqscan', 'off', true)
