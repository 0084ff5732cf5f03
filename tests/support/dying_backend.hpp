// A backend that dies by its own hand when it has inserted a payment: at once, or, deferred, inside
// COMMIT; the first `times` times only. Gone, with what it needs in the schema, at the object's
// end.
#pragma once

#include <string>

#include "support/database.hpp"

namespace support {

class DyingBackend {
 public:
  enum class When { at_once, inside_commit };

  DyingBackend(Database& database, When when, int times) : database_(database) {
    // A sequence counts, for its steps survive the rollback.
    database_.sql().run(
        "CREATE SEQUENCE deaths;"
        "CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN"
        " IF nextval('deaths') <= " +
        std::to_string(times) +
        " THEN PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(5); END IF;"
        " RETURN NULL; END $$;"
        "CREATE CONSTRAINT TRIGGER die AFTER INSERT ON payments " +
        std::string(when == When::inside_commit ? "DEFERRABLE INITIALLY DEFERRED"
                                                : "NOT DEFERRABLE") +
        " FOR EACH ROW EXECUTE FUNCTION die()");
  }
  DyingBackend(const DyingBackend&) = delete;
  DyingBackend& operator=(const DyingBackend&) = delete;
  ~DyingBackend() {
    database_.sql().run("DROP TRIGGER die ON payments; DROP FUNCTION die(); DROP SEQUENCE deaths");
  }

  std::int64_t deaths() {
    return database_.sql().number(
        "SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM deaths");
  }

 private:
  Database& database_;
};

}  // namespace support
