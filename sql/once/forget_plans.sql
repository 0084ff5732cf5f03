-- Has the session plan its statements anew. Plans are kept from when the tables were small, and on
-- a table that has grown since they read all of it. Returns nothing.
DISCARD PLANS
