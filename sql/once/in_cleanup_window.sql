-- Whether it is time for heavy work, by the database's clock. $1 text and $2 text: first moment of
-- the window and the first one after it, as 'HH:MM'; a window may reach over midnight. $3 text name
-- of a time zone; an unknown one is refused (22023). Returns one boolean.
SELECT CASE WHEN $1::time < $2::time THEN here.time >= $1::time AND here.time < $2::time
            ELSE here.time >= $1::time OR here.time < $2::time END
FROM (SELECT (now() AT TIME ZONE $3::text)::time AS time) AS here
