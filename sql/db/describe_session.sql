-- What a new session is like. No parameters. Returns synchronous_commit, and the mark that its
-- connection string has set; no mark: a pooler in between has dropped the session's settings.
-- Run once, before anything is prepared.
SELECT current_setting('synchronous_commit'), current_setting('oncepay.session', true)
