"""Measures what growing tables cost: the service with 64 clients at 0, 1 and 5 million keys and
payments, and while a million expired keys are being cleaned up.
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


def fill(postgres, tenant, first, last, expires):
    while first < last:
        until = min(first + CHUNK, last)
        run("psql", "-Xq", "-v", "ON_ERROR_STOP=1", "-v", f"tenant='{tenant}'", "-v",
            f"first={first + 1}", "-v", f"last={until}", "-v", f"expires='{expires}'", "-f",
            HERE / "fill.sql", postgres.url_of("service"))
        first = until


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


def main():
    parser = argparse.ArgumentParser(prog="scripts/bench --growth",
                                     description=__doc__.split("\n\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=8)
    parser.add_argument("--rows", type=int, nargs="*", default=[0, 1_000_000, 5_000_000])
    asked = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="oncepay-bench.", dir="/var/tmp"))
    folder.chmod(0o755)
    postgres = Postgres(folder / "postgres")
    service = None
    try:
        postgres.sql("CREATE DATABASE service")
        service = Service(postgres, folder, serve_command(["--cleanup", "off"]))
        open_accounts(postgres, "service", service.tenant)
        pay = Wrk(postgres, service, 64, asked.seconds)
        pay()  # so that the first case is not the one that warms up
        filled, lines = 0, []
        for rows in asked.rows:
            began = time.monotonic()
            fill(postgres, service.tenant, filled, rows, "1 day")
            filled = rows
            settle(postgres)
            say(f"{rows:,} rows there after {time.monotonic() - began:.0f} s")
            lines.append((measure(f"{rows:,} rows", pay, asked.rounds), rss_mib(service)))
        fill(postgres, service.tenant, filled, filled + EXPIRED, "-1 hour")
        settle(postgres)
        lines.append((measure("before cleanup", pay, asked.rounds), rss_mib(service)))
        lines.append((during_cleanup(service, pay), rss_mib(service)))
    finally:
        if service:
            service.end()
        postgres.end()
    print(f"{'case':<28}{'req/s':>9}{'ratio':>8}{'p99 ms':>9}{'WAL bytes':>11}{'RSS MiB':>9}")
    for case, rss in lines:
        base = lines[-2][0] if case is lines[-1][0] else lines[0][0]
        print(f"{case.name:<28}{case.median('rate'):>9.0f}"
              f"{case.median('rate') / base.median('rate'):>8.2f}{case.median('p99_ms'):>9.2f}"
              f"{case.median('wal_bytes'):>11.0f}{rss:>9.0f}")
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
