"""Measures what growing tables cost: the service with 64 clients at 0, 1 and 5 million keys and
payments, and while a million expired keys are being cleaned up; with the keys in one table and in
periods of a million each.
"""

import argparse
import shutil
import subprocess
import tempfile
import time
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


def measure(name, pay, rounds):
    case = Case(name, pay)
    for _ in range(rounds):
        case.samples.append(pay())
    say(f"{name}: {case.median('rate'):.0f}/s, p99 {case.median('p99_ms'):.1f} ms")
    return case


def during_cleanup(service, pay):
    """Samples taken while `oncepay cleanup` removes the expired keys."""
    cleanup = subprocess.Popen([ONCEPAY, "cleanup"], env=service.environment,
                               stdout=subprocess.PIPE, text=True)
    case = Case(f"cleaning {EXPIRED:,} keys", pay)
    while cleanup.poll() is None:
        case.samples.append(pay())
    if len(case.samples) > 1:
        case.samples.pop()  # the last one was partly after its end
    result = cleanup.stdout.read().strip()
    say(f"{case.name}: {len(case.samples)} samples, {case.median('rate'):.0f}/s; {result}")
    return case


def grow(layout, asked, folder):
    """Prints a table for one layout, on a cluster of its own."""
    postgres = Postgres(folder / "postgres")
    service = None
    try:
        postgres.sql("CREATE DATABASE service")
        service = Service(postgres, folder, serve_command(["--cleanup", "off"]))
        if layout == "periods":
            run(ONCEPAY, "migrate", "partition-keys", env=service.environment)
        open_accounts(postgres, "service", service.tenant)
        pay = Wrk(postgres, service, 64, asked.seconds)
        pay()  # so that the first case is not the one that warms up
        filled, lines = 0, []
        for rows in asked.rows:
            began = time.monotonic()
            fill(postgres, service.tenant, layout, filled, rows, "1 day")
            filled = rows
            settle(postgres)
            say(f"{layout}: {rows:,} rows there after {time.monotonic() - began:.0f} s")
            lines.append((measure(f"{rows:,} rows", pay, asked.rounds), rss_mib(service)))
        if layout == "periods":
            end_period(postgres)  # so that no live key stands in the way of those that expired
        fill(postgres, service.tenant, layout, filled, filled + EXPIRED, "-1 hour")
        settle(postgres)
        lines.append((measure("before cleanup", pay, asked.rounds), rss_mib(service)))
        lines.append((during_cleanup(service, pay), rss_mib(service)))
    finally:
        if service:
            service.end()
        postgres.end()
    print(f"{'keys in ' + layout:<28}{'req/s':>9}{'ratio':>8}{'p99 ms':>9}{'WAL bytes':>11}"
          f"{'RSS MiB':>9}")
    for case, rss in lines:
        base = lines[-2][0] if case is lines[-1][0] else lines[0][0]
        print(f"{case.name:<28}{case.median('rate'):>9.0f}"
              f"{case.median('rate') / base.median('rate'):>8.2f}{case.median('p99_ms'):>9.2f}"
              f"{case.median('wal_bytes'):>11.0f}{rss:>9.0f}", flush=True)


def main():
    parser = argparse.ArgumentParser(prog="scripts/bench --growth",
                                     description=__doc__.split("\n\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=8)
    parser.add_argument("--rows", type=int, nargs="*", default=[0, 1_000_000, 5_000_000])
    parser.add_argument("--layout", choices=LAYOUTS, action="append")
    asked = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="oncepay-bench.", dir="/var/tmp"))
    folder.chmod(0o755)
    for layout in asked.layout or LAYOUTS:
        grow(layout, asked, folder)
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
