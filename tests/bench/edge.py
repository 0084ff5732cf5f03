"""Measures the edge: beside cpp-httplib's thread pool in front of the same routes and engine, and with a
crowd of rude clients beside the good ones.
"""

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from rig import HERE, ROOT, Case, Postgres, Service, Wrk, open_accounts, say, serve_command

POOL_FRONT = ROOT / "build/release/oncepay_pool_front"
POOL_THREADS = 8  # cpp-httplib's own default on a small machine
CONNECTIONS = (16, 64, 256, 1000)
IDLE, DRIBBLING = 5000, 1000


def compare(postgres, edge, pool, rounds, seconds):
    """Rates of the edge over those of the thread pool, per route and number of connections."""
    cases = [Case(f"{front} {route} {connections}",
                  Wrk(postgres, service, connections, seconds, health=route == "health",
                      must_succeed=front == "edge"))
             for route in ("health", "payments") for connections in CONNECTIONS
             for front, service in (("pool", pool), ("edge", edge))]
    for number in range(rounds):
        postgres.sql("CHECKPOINT")
        for case in cases:
            case.samples.append(case.measure())
            say(f"round {number + 1} of {rounds}: {case.name}: {case.samples[-1].rate:.0f}/s, "
                f"{case.samples[-1].failed} failed")
    by_name = {case.name: case for case in cases}
    print(f"{'route, connections':<22}{'pool req/s':>12}{'p99 ms':>9}{'failed':>8}"
          f"{'edge req/s':>12}{'p99 ms':>9}{'failed':>8}{'ratio':>8}")
    for route in ("health", "payments"):
        for connections in CONNECTIONS:
            pair = [by_name[f"{front} {route} {connections}"] for front in ("pool", "edge")]
            cells = "".join(f"{one.median('rate'):>12.0f}{one.median('p99_ms'):>9.1f}"
                            f"{one.median('failed'):>8.0f}" for one in pair)
            print(f"{route + ', ' + str(connections):<22}{cells}"
                  f"{pair[1].median('rate') / pair[0].median('rate'):>8.2f}")


def threads_of(service):
    return len(os.listdir(f"/proc/{service.process.pid}/task"))


def beside_a_crowd(postgres, edge, rounds, seconds):
    """The rate of 64 good clients with the crowd over their rate without it."""
    pay = Wrk(postgres, edge, 64, seconds)
    ratios = []
    for number in range(rounds):
        alone = pay().rate
        crowd = subprocess.Popen([sys.executable, HERE / "crowd.py", str(edge.port), str(IDLE),
                                  str(DRIBBLING)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 text=True)
        assert crowd.stdout.readline() == "ready\n"
        open_now = int(float(re.search(r"^oncepay_edge_connections (\S+)$",
                                       edge.get("/metrics")[1], re.M).group(1)))
        beside = pay().rate
        threads = threads_of(edge)
        crowd.stdin.close()
        again = crowd.stdout.read().strip()
        crowd.wait()
        ratios.append(beside / alone)
        say(f"round {number + 1} of {rounds}: {alone:.0f}/s alone, {beside:.0f}/s beside {open_now} "
            f"connections, {threads} threads, none failed; the crowd {again}")
    print(f"\n64 clients beside {IDLE} idle and {DRIBBLING} dribbling connections keep "
          f"{statistics.median(ratios):.2f} of their rate (wanted 0.90)")


def main():
    parser = argparse.ArgumentParser(prog="scripts/bench --edge",
                                     description=__doc__.split("\n\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=5)
    asked = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="oncepay-bench.", dir="/var/tmp"))
    folder.chmod(0o755)
    postgres = Postgres(folder / "postgres")
    services = []
    try:
        postgres.sql("CREATE DATABASE service")
        edge = Service(postgres, folder, serve_command())
        services.append(edge)
        open_accounts(postgres, "service", edge.tenant)
        beside_a_crowd(postgres, edge, asked.rounds, 2 * asked.seconds)
        pool = Service(postgres, folder, lambda port: [POOL_FRONT, str(port), str(POOL_THREADS)],
                       (edge.tenant, edge.api_key))
        services.append(pool)
        compare(postgres, edge, pool, asked.rounds, asked.seconds)
    finally:
        for service in services:
            service.end()
        postgres.end()
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
