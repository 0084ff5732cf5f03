-- Whether this database has been migrated before. Returns one boolean. No parameters.
-- Reads the catalogue as of now; the migrator asks while it holds the migration lock.
SELECT to_regclass('schema_migrations') IS NOT NULL
