"""What every measurement here stands on: a private PostgreSQL, an instance of the service, wrk as the
load, CPU time, and samples with their medians."""

import http.client
import json
import os
import re
import signal
import socket
import ssl
import statistics
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
ONCEPAY = ROOT / "build/release/oncepay"
REPLAY_KEYS = 5000
CLOCK_TICKS = os.sysconf("SC_CLK_TCK")


def run(*command, **options):
    """Runs a command to its end; what it printed."""
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"bench: {command[0]} failed ({done.returncode}):\n{done.stdout}{done.stderr}")
    return done.stdout


def say(text):
    print(f"bench: {text}", file=sys.stderr, flush=True)


@dataclass
class Sample:
    rate: float  # requests a second
    p50_ms: float
    p99_ms: float
    batch: float = 0.0  # operations a transaction
    service_us: float = 0.0  # CPU of the service for one request
    database_us: float = 0.0  # CPU of PostgreSQL for one request
    wal_bytes: float = 0.0  # for one request
    failed: int = 0  # answers of 400 and above, time-outs, broken connections


@dataclass
class Case:
    name: str
    measure: callable
    samples: list = field(default_factory=list)

    def median(self, what):
        return statistics.median(getattr(sample, what) for sample in self.samples)


def stat_fields(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        return file.read().rpartition(")")[2].split()


def cpu_seconds(pid, with_children=False):
    """CPU time of a process, of its living children and of those it has waited for."""
    total = 0
    pids = [pid]
    if with_children:
        for entry in os.listdir("/proc"):
            try:
                if entry.isdigit() and int(stat_fields(entry)[1]) == pid:
                    pids.append(int(entry))
            except OSError:
                pass  # it has just ended
    for one in pids:
        try:
            fields = stat_fields(one)
        except OSError:
            continue
        total += int(fields[11]) + int(fields[12])
        if one == pid and with_children:
            total += int(fields[13]) + int(fields[14])
    return total / CLOCK_TICKS


class Postgres:
    """A private cluster with fsync and synchronous_commit on, removed at the end."""

    # No checkpoint begins by itself during a measurement: each round starts with one.
    SETTINGS = ("max_wal_size=16GB", "checkpoint_timeout=1h", "shared_buffers=1GB",
                "synchronous_commit=on")

    def __init__(self, folder):
        self.folder = folder
        settings = [part for one in self.SETTINGS for part in ("-c", one)]
        self.url = run(ROOT / "scripts/private-postgres", "start", folder, "--fsync", "on",
                       *settings).strip()
        self.pid = int(self.sql("SELECT pg_read_file('postmaster.pid')").split("\n")[0])

    def end(self):
        run(ROOT / "scripts/private-postgres", "remove", self.folder)

    def url_of(self, database):
        return self.url.rpartition("/")[0] + "/" + database

    def sql(self, text, database="postgres"):
        return run("psql", "-XAtq", "-v", "ON_ERROR_STOP=1", self.url_of(database), "-c",
                   text).strip()

    def wal_position(self):
        return int(self.sql("SELECT pg_current_wal_lsn() - '0/0'::pg_lsn"))


class Service:
    """One process that serves, and what a client of it needs: port, tenant, API key.

    command: what to start, given the port; credentials: tenant and API key, or new ones;
    secure: it speaks TLS, with whatever certificate.
    """

    def __init__(self, postgres, folder, command, credentials=None, secure=False):
        self.postgres, self.secure = postgres, secure
        self.environment = dict(os.environ, ONCEPAY_DATABASE_URL=postgres.url_of("service"))
        self.tenant, self.api_key = credentials or make_tenant(self.environment)
        self.port = free_port()
        self.log = open(folder / f"service-{self.port}.log", "w", encoding="utf-8")
        self.process = subprocess.Popen(command(self.port), stderr=self.log, env=self.environment)
        for _ in range(100):
            if self.process.poll() is not None:
                sys.exit(f"bench: the service ended while starting, see {self.log.name}")
            if self.get("/readyz")[0] == 200:
                return
            time.sleep(0.1)
        sys.exit("bench: the service is not ready after 10 seconds")

    def end(self):
        """Asks it to end; its exit code."""
        self.process.send_signal(signal.SIGTERM)
        self.log.close()
        return self.process.wait()

    def url(self):
        return f"{'https' if self.secure else 'http'}://127.0.0.1:{self.port}"

    def connect(self):
        if self.secure:
            return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=30,
                                               context=ssl._create_unverified_context())
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)

    def get(self, path):
        connection = self.connect()
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        except OSError:
            return 0, ""
        finally:
            connection.close()

    def batches(self):
        """Operations and batches so far."""
        text = self.get("/metrics")[1]
        value = lambda name: float(re.search(rf"^{name} (\S+)$", text, re.M).group(1))
        return value("oncepay_batch_operations_sum"), value("oncepay_batch_operations_count")

    def pay_replay_keys(self):
        """Pays the keys that replays will ask for: the bodies are those of pay.lua."""
        def pay(numbers):
            connection = self.connect()
            for n in numbers:
                connection.request("POST", "/v1/payments", body=(
                    f'{{"amount":1999,"currency":"EUR","source":"account:{n}",'
                    f'"destination":"account:{n + 1}","description":"order 1001",'
                    f'"metadata":{{"order":"1001"}}}}'), headers={
                        "Authorization": "Bearer " + self.api_key,
                        "Content-Type": "application/json", "Idempotency-Key": f"paid-{n}"})
                answer = connection.getresponse()
                answer.read()
                assert answer.status == 201, answer.status
        threads = [threading.Thread(target=pay, args=(range(first, REPLAY_KEYS, 16),))
                   for first in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


def serve_command(arguments=()):
    return lambda port: [ONCEPAY, "serve", "--listen", f"127.0.0.1:{port}", *arguments]


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def make_tenant(environment):
    run(ONCEPAY, "migrate", "up", env=environment)
    run(ONCEPAY, "tenant", "create", "bench", env=environment)
    tenant = run(ONCEPAY, "tenant", "list", env=environment).split()[0]
    key = run(ONCEPAY, "apikey", "create", "--tenant", "bench", "--scopes", "read,write",
              env=environment).split()[1]
    return tenant, key


def open_accounts(postgres, database, tenant):
    run("psql", "-Xq", "-v", "ON_ERROR_STOP=1", "-v", f"tenant='{tenant}'", "-f",
        HERE / "accounts.sql", postgres.url_of(database))


class Wrk:
    """Requests over HTTP, by wrk with one thread: payments, or /healthz when `health`."""

    runs = 0

    def __init__(self, postgres, service, connections, seconds, popular=False, replays=0.0,
                 health=False, must_succeed=True):
        self.postgres, self.service = postgres, service
        self.connections, self.seconds = connections, seconds
        self.arguments = [] if health else ["1" if popular else "0", replays, REPLAY_KEYS]
        self.must_succeed = must_succeed

    def __call__(self):
        Wrk.runs += 1
        before = self._look()
        text = run("wrk", "-t1", f"-c{self.connections}", f"-d{self.seconds}s", "--timeout", "30s",
                   "-s", HERE / "pay.lua", self.service.url(), "--",
                   self.service.api_key, f"run{os.getpid()}-{Wrk.runs}", *self.arguments)
        after = self._look()
        seen = json.loads(re.search(r"^JSON (.*)$", text, re.M).group(1))
        if seen["failed"] and self.must_succeed:
            sys.exit(f"bench: {seen['failed']} of {seen['requests']} requests failed:\n{text}")
        requests = seen["requests"]
        change = [b - a for a, b in zip(before, after)]
        return Sample(rate=requests / seen["seconds"], p50_ms=seen["p50_us"] / 1e3,
                      p99_ms=seen["p99_us"] / 1e3, batch=change[2] / max(1.0, change[3]),
                      service_us=change[0] / requests * 1e6,
                      database_us=change[1] / requests * 1e6, wal_bytes=change[4] / requests,
                      failed=seen["failed"])

    def _look(self):
        operations, batches = self.service.batches()
        return (cpu_seconds(self.service.process.pid),
                cpu_seconds(self.postgres.pid, with_children=True), operations, batches,
                self.postgres.wal_position())


def machine():
    info = Path("/proc/cpuinfo").read_text()
    model = re.search(r"^model name\s*: (.*)$", info, re.M)
    return {"cores": os.cpu_count(), "cpu": model.group(1) if model else "unknown"}
