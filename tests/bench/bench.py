"""The measurement behind scripts/bench: the service beside its yardsticks, in one run on one machine.

Every case runs once a round, the rounds follow each other, and a figure is the median of its rounds,
so that a machine that slows down slows down everybody. What counts is the ratio of two figures of
one run. Load and servers share the machine's cores, as they would on a small installation.

Yardsticks run in a database of their own with the same migrations, so that they write the same
tables and indexes as the service: seven.sql, one_call.sql and the ceiling, which is the lane's own
statements from sql/, driven by pgbench in batches of 256 on one connection without HTTP.
"""

import argparse
import json
import os
import re
import shutil
import tempfile
from pathlib import Path

from rig import (HERE, ONCEPAY, Case, Postgres, Service, Wrk, machine, make_tenant, open_accounts, run,
                 say, serve_command)
from yardsticks import Ceiling, Pgbench


def cases_of(postgres, service, tenant, seconds, ceiling_batches):
    wrk = lambda *more, **named: Wrk(postgres, service, *more, seconds, **named)
    pgbench = lambda script, clients, **named: Pgbench(postgres, tenant, script, clients, seconds,
                                                       **named)
    return [
        Case("seven, uniform, 64", pgbench("seven.sql", 64)),
        Case("one-call, uniform, 64", pgbench("one_call.sql", 64)),
        Case("one-call, popular, 64", pgbench("one_call.sql", 64, popular=True)),
        Case("one-call, lone client", pgbench("one_call.sql", 1)),
        Case("ceiling, uniform", Ceiling(postgres, tenant, ceiling_batches)),
        Case("oncepay, uniform, 16", wrk(16)),
        Case("oncepay, uniform, 64", wrk(64)),
        Case("oncepay, uniform, 256", wrk(256)),
        # After the others, as one-call's: whoever comes first after a checkpoint writes whole pages.
        Case("oncepay, lone client", wrk(1)),
        Case("oncepay, popular, 1", wrk(1, popular=True)),
        Case("oncepay, popular, 16", wrk(16, popular=True)),
        Case("oncepay, popular, 64", wrk(64, popular=True)),
        Case("oncepay, popular, 256", wrk(256, popular=True)),
        Case("oncepay, 10 % replays, 64", wrk(64, replays=0.1)),
        Case("oncepay, replays only, 64", wrk(64, replays=1.0)),
    ]


def ratios_of(cases):
    """What is wanted, what it came to, and from which on it is good."""
    by_name = {case.name: case for case in cases}
    rate = lambda name: by_name[name].median("rate")
    p50 = lambda name: by_name[name].median("p50_ms")
    p99 = lambda name: by_name[name].median("p99_ms")
    uniform = rate("oncepay, uniform, 64")
    lone_allowed = 1.3 * p50("one-call, lone client") + 0.3
    return [
        ("uniform, 64: times seven", uniform / rate("seven, uniform, 64"), 10.0),
        ("uniform, 64: times one-call", uniform / rate("one-call, uniform, 64"), 4.0),
        ("uniform, 64: times the ceiling", uniform / rate("ceiling, uniform"), 0.5),
        ("uniform, 256: times the rate at 64", rate("oncepay, uniform, 256") / uniform, 0.9),
        ("popular, 64: times its own uniform", rate("oncepay, popular, 64") / uniform, 0.9),
        ("popular, 64: times one-call on that account",
         rate("oncepay, popular, 64") / rate("one-call, popular, 64"), 15.0),
        ("p99 at 64: one-call's over oncepay's",
         p99("one-call, uniform, 64") / p99("oncepay, uniform, 64"), 1.0),
        ("lone client: allowed p50 over p50", lone_allowed / p50("oncepay, lone client"), 1.0),
        ("replays only: times first payments", rate("oncepay, replays only, 64") / uniform, 3.0),
    ]


def print_table(cases, ratios):
    print(f"{'case':<28}{'req/s':>9}{'p50 ms':>9}{'p99 ms':>9}{'batch':>8}"
          f"{'service us':>12}{'database us':>13}{'WAL bytes':>11}")
    for case in cases:
        print(f"{case.name:<28}{case.median('rate'):>9.0f}{case.median('p50_ms'):>9.2f}"
              f"{case.median('p99_ms'):>9.2f}{case.median('batch'):>8.1f}"
              f"{case.median('service_us'):>12.1f}{case.median('database_us'):>13.1f}"
              f"{case.median('wal_bytes'):>11.0f}")
    print(f"\n{'ratio':<48}{'measured':>10}{'wanted':>9}")
    for name, value, wanted in ratios:
        print(f"{name:<48}{value:>10.2f}{wanted:>9.1f}{'' if value >= wanted else '  missed'}")


def main():
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__.split("\n\n")[0])
    parser.add_argument("--quick", action="store_true", help="one short round, under two minutes")
    parser.add_argument("--rounds", type=int, help="rounds (5; 1 when quick)")
    parser.add_argument("--seconds", type=int, help="of each case in a round (8; 4 when quick)")
    parser.add_argument("--only", metavar="REGEX", help="cases to run; no ratios then")
    parser.add_argument("--json", metavar="FILE", help="also writes everything as JSON")
    parser.add_argument("serve", nargs="*", help="further arguments of oncepay serve, after --")
    asked = parser.parse_args()
    rounds = asked.rounds or (1 if asked.quick else 5)
    seconds = asked.seconds or (4 if asked.quick else 8)

    folder = Path(tempfile.mkdtemp(prefix="oncepay-bench.", dir="/var/tmp"))
    folder.chmod(0o755)
    postgres = Postgres(folder / "postgres")
    service = None
    try:
        for database in ("service", "yardstick"):
            postgres.sql(f"CREATE DATABASE {database}")
        tenant, _ = make_tenant(dict(os.environ,
                                     ONCEPAY_DATABASE_URL=postgres.url_of("yardstick")))
        open_accounts(postgres, "yardstick", tenant)
        run("psql", "-Xq", "-v", "ON_ERROR_STOP=1", "-f", HERE / "one_call_function.sql",
            postgres.url_of("yardstick"))
        service = Service(postgres, folder, serve_command(asked.serve))
        open_accounts(postgres, "service", service.tenant)
        service.pay_replay_keys()

        cases = cases_of(postgres, service, tenant, seconds, 100 * seconds)
        if asked.only:
            cases = [case for case in cases if re.search(asked.only, case.name)]
        for number in range(rounds):
            postgres.sql("CHECKPOINT")
            for case in cases:
                case.samples.append(case.measure())
                last = case.samples[-1]
                say(f"round {number + 1} of {rounds}: {case.name}: {last.rate:.0f}/s, "
                    f"p99 {last.p99_ms:.2f} ms")
        ratios = [] if asked.only else ratios_of(cases)
        print_table(cases, ratios)
        if asked.json:
            Path(asked.json).write_text(json.dumps({
                "machine": machine(), "rounds": rounds, "seconds": seconds,
                "postgresql": postgres.sql("SHOW server_version"),
                "cases": {case.name: [vars(sample) for sample in case.samples] for case in cases},
                "ratios": [dict(zip(("name", "value", "wanted"), one)) for one in ratios],
            }, indent=2) + "\n")
        run(ONCEPAY, "verify", env=service.environment)
        say("oncepay verify found nothing wrong with the books")
    finally:
        if service:
            service.end()
        postgres.end()
        if service and service.process.returncode == 0:
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()
