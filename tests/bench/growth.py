"""Measures what growing tables cost: the service with 64 clients at 0, 1 and 5 million keys and
payments, and while a million expired keys are being cleaned up; with the keys in one table and in
periods of a million each.

Filling takes minutes, and a machine may be half as fast a minute later. So no rate is compared with
one from long before: each sample of the grown service follows one of a twin with empty tables, and
those during the cleanup stand between others from before and after it.
"""

import argparse
import shutil
import subprocess
import tempfile
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from rig import (HERE, ONCEPAY, Case, Postgres, Service, Wrk, open_accounts, run, say,
                 serve_command)

CHUNK = 250_000
EXPIRED = 1_000_000
PERIOD = 1_000_000  # keys


# What a layout adds to a key's row when it is filled by hand.
LAYOUTS = {
    "one table": ("", ""),
    "periods": (", claimed_in", ", (SELECT p.starts_at FROM idempotency_key_periods AS p "
                                "WHERE p.state = 'current')"),
}


def end_period(postgres):
    """Lets the next period of keys begin, as if its time had come."""
    postgres.sql("SELECT prepare_key_period(now())", "service")
    postgres.sql("SELECT advance_key_period('infinity')", "service")


def fill(postgres, tenant, layout, first, last, expires):
    column, value = LAYOUTS[layout]
    while first < last:
        until = min(first + CHUNK, last)
        run("psql", "-Xq", "-v", "ON_ERROR_STOP=1", "-v", f"tenant='{tenant}'", "-v",
            f"first={first + 1}", "-v", f"last={until}", "-v", f"expires='{expires}'", "-v",
            f"period_column={column}", "-v", f"period_value={value}", "-f", HERE / "fill.sql",
            postgres.url_of("service"))
        first = until
        if layout == "periods" and first % PERIOD == 0:
            end_period(postgres)


def settle(postgres):
    """Growth is measured, not the maintenance that filling by hand has left behind."""
    for table in ("idempotency_keys", "payments", "transfers", "accounts"):
        postgres.sql(f"VACUUM ANALYZE {table}", "service")
    postgres.sql("CHECKPOINT")


def rss_mib(service):
    text = Path(f"/proc/{service.process.pid}/status").read_text()
    return int(text.split("VmRSS:")[1].split()[0]) / 1024


@contextmanager
def instance(layout, folder):
    """A cluster and an instance on it, with accounts and no payment."""
    folder.mkdir()
    folder.chmod(0o755)
    with ExitStack() as ends:
        postgres = Postgres(folder / "postgres")
        ends.callback(postgres.end)
        postgres.sql("CREATE DATABASE service")
        service = Service(postgres, folder, serve_command(["--cleanup", "off"]))
        ends.callback(service.end)
        if layout == "periods":
            run(ONCEPAY, "migrate", "partition-keys", env=service.environment)
        open_accounts(postgres, "service", service.tenant)
        yield postgres, service


@dataclass
class Line:
    """A row of the table: a case beside the one that it is compared with, sample by sample."""
    case: Case
    base: Case
    rss_mib: float

    def print(self):
        ratio = self.case.median("rate") / self.base.median("rate")
        print(f"{self.case.name:<28}{self.case.median('rate'):>9.0f}"
              f"{self.base.median('rate'):>9.0f}{ratio:>8.2f}{self.case.median('p99_ms'):>9.2f}"
              f"{self.base.median('p99_ms'):>9.2f}{self.case.median('wal_bytes'):>11.0f}"
              f"{self.rss_mib:>9.0f}", flush=True)


def beside_twin(name, grown, twin, asked):
    """Both warm up, then both begin a checkpoint's time: the samples are equally far from it."""
    pays = [Wrk(postgres, service, 64, asked.seconds) for postgres, service in (twin, grown)]
    base, case = Case("empty", pays[0]), Case(name, pays[1])
    for pay in pays:
        pay()
    for postgres, _ in (twin, grown):
        postgres.sql("CHECKPOINT")
    for _ in range(asked.rounds):
        base.samples.append(base.measure())
        case.samples.append(case.measure())
    say(f"{name}: {case.median('rate'):.0f}/s beside {base.median('rate'):.0f}/s")
    return Line(case, base, rss_mib(grown[1]))


def during_cleanup(postgres, service, asked):
    """Samples taken while `oncepay cleanup` removes the expired keys."""
    pay = Wrk(postgres, service, 64, asked.seconds)
    base = Case("undisturbed", pay)
    base.samples += [pay() for _ in range(asked.rounds)]
    cleanup = subprocess.Popen([ONCEPAY, "cleanup"], env=service.environment,
                               stdout=subprocess.PIPE, text=True)
    case = Case(f"cleaning {EXPIRED:,} keys", pay)
    while cleanup.poll() is None:
        case.samples.append(pay())
    if len(case.samples) > 1:
        case.samples.pop()  # the last one was partly after its end
    say(f"{case.name}: {len(case.samples)} samples; {cleanup.stdout.read().strip()}")
    settle(postgres)
    base.samples += [pay() for _ in range(asked.rounds)]
    return Line(case, base, rss_mib(service))


def grow(layout, asked, folder):
    """Prints a table for one layout, on a cluster of its own."""
    filled, lines = 0, []
    with instance(layout, folder / "grown") as (postgres, service):
        for rows in asked.rows:
            began = time.monotonic()
            fill(postgres, service.tenant, layout, filled, rows, "1 day")
            filled = rows
            settle(postgres)
            say(f"{layout}: {rows:,} rows there after {time.monotonic() - began:.0f} s")
            with instance(layout, folder / f"twin-{rows}") as twin:
                lines.append(beside_twin(f"{rows:,} rows", (postgres, service), twin, asked))
        if layout == "periods":
            end_period(postgres)  # so that no live key stands in the way of those that expired
        fill(postgres, service.tenant, layout, filled, filled + EXPIRED, "-1 hour")
        settle(postgres)
        lines.append(during_cleanup(postgres, service, asked))
    print(f"{'keys in ' + layout:<28}{'req/s':>9}{'beside':>9}{'ratio':>8}{'p99 ms':>9}"
          f"{'beside':>9}{'WAL bytes':>11}{'RSS MiB':>9}")
    for line in lines:
        line.print()


def main():
    parser = argparse.ArgumentParser(prog="scripts/bench --growth",
                                     description=__doc__.split("\n\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=8)
    parser.add_argument("--rows", type=int, nargs="*", default=[0, 1_000_000, 5_000_000])
    parser.add_argument("--layout", choices=LAYOUTS, action="append")
    asked = parser.parse_args()
    for layout in asked.layout or LAYOUTS:
        folder = Path(tempfile.mkdtemp(prefix="oncepay-bench.", dir="/var/tmp"))
        folder.chmod(0o755)
        grow(layout, asked, folder)
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
