"""The yardsticks: SQL that pgbench sends straight into PostgreSQL, without the service."""

import re
import tempfile
from pathlib import Path

from rig import HERE, ROOT, Sample, cpu_seconds, run

CEILING_BATCH = 256


class Pgbench:
    """A yardstick: one SQL script, prepared, straight into PostgreSQL."""

    def __init__(self, postgres, tenant, script, clients, seconds, popular=False):
        self.postgres, self.tenant, self.script = postgres, tenant, script
        self.clients, self.seconds, self.popular = clients, seconds, popular

    def __call__(self):
        with tempfile.TemporaryDirectory() as folder:
            wal, cpu = self.postgres.wal_position(), cpu_seconds(self.postgres.pid, True)
            run("pgbench", "-n", "-M", "prepared", "-c", self.clients, "-j", 1, "-T", self.seconds,
                "-f", HERE / self.script, "-D", f"tenant={self.tenant}", "-D",
                f"popular={int(self.popular)}", "--log", self.postgres.url_of("yardstick"),
                cwd=folder)
            wal = self.postgres.wal_position() - wal
            cpu = cpu_seconds(self.postgres.pid, True) - cpu
            latencies = sorted(int(line.split()[2]) for log in Path(folder).iterdir()
                               for line in log.read_text().splitlines())
        count = len(latencies)
        return Sample(rate=count / self.seconds, p50_ms=latencies[count // 2] / 1e3,
                      p99_ms=latencies[min(count - 1, count * 99 // 100)] / 1e3, batch=1.0,
                      database_us=cpu / count * 1e6, wal_bytes=wal / count)


class Ceiling:
    """The lane's own statements in batches on one connection. The arrays that a lane would bind are
    made before and fetched by each batch; its balances are invented, so these books do not sum up.
    """

    # In the lane's order; what is bound to $1, $2, ... of each, by column of bench_batches.
    STATEMENTS = (
        ("once/claim_keys", "tenants keys fingerprints 1 86400 statuses types locations bodies ids "
                            "1764460800000000"),
        ("payments/lock_accounts", "tenants_2 accounts"),
        ("payments/settle_payments", "tenants ids keys outcomes reasons amounts currencies sources "
                                     "destinations descriptions metadata balances "
                                     "balances tenants_2 accounts balances_2 1764460800000000"),
    )

    def __init__(self, postgres, tenant, batches):
        self.postgres, self.tenant, self.batches = postgres, tenant, batches

    def __call__(self):
        columns = self._make_batches()
        script = "SELECT {} FROM bench_batches WHERE id = (SELECT nextval('bench_batch')) \\gset\n"
        script = script.format(", ".join(columns)) + "BEGIN;\n"
        for name, values in self.STATEMENTS:
            text = re.sub(r"--.*", "", (ROOT / f"sql/{name}.sql").read_text())
            bound = values.split()
            text = re.sub(r"\$(\d+)", lambda match: self._variable(bound[int(match[1]) - 1]), text)
            script += " ".join(text.split()) + ";\n"
        script += "COMMIT;\n"
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "ceiling.sql"
            path.write_text(script)
            wal, cpu = self.postgres.wal_position(), cpu_seconds(self.postgres.pid, True)
            run("pgbench", "-n", "-M", "prepared", "-c", 1, "-t", self.batches, "-f", path, "--log",
                self.postgres.url_of("yardstick"), cwd=folder)
            wal = self.postgres.wal_position() - wal
            cpu = cpu_seconds(self.postgres.pid, True) - cpu
            log = next(one for one in Path(folder).iterdir() if one != path)
            latencies = sorted(int(line.split()[2]) for line in log.read_text().splitlines())
        count = len(latencies) * CEILING_BATCH
        middle = len(latencies) // 2
        return Sample(rate=count / (sum(latencies) / 1e6), p50_ms=latencies[middle] / 1e3,
                      p99_ms=latencies[len(latencies) * 99 // 100] / 1e3, batch=CEILING_BATCH,
                      database_us=cpu / count * 1e6, wal_bytes=wal / count)

    @staticmethod
    def _variable(name):
        return name if name.isdigit() else ":" + name

    def _make_batches(self):
        body = (HERE / "ceiling_batches.sql").read_text()
        run("psql", "-Xq", "-v", "ON_ERROR_STOP=1", "-v", f"tenant='{self.tenant}'", "-v",
            f"batches={self.batches}", "-v", f"size={CEILING_BATCH}", "-f", "-",
            self.postgres.url_of("yardstick"), input=body)
        names = self.postgres.sql(
            "SELECT string_agg(attname, ' ' ORDER BY attnum) FROM pg_attribute "
            "WHERE attrelid = 'bench_batches'::regclass AND attnum > 0 AND attname <> 'id'",
            "yardstick")
        return names.split()
