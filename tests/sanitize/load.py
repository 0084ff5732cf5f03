"""Loads an instance that was built with sanitizers, as a busy day would, and wants silence.

    load.py BINARY [SECONDS]

Payments and replays, /healthz over a thousand connections, the same over TLS with the certificate
read again meanwhile, a crowd of rude clients beside the good ones, a second instance on the same
accounts, SIGTERM in the end. Red when a good client's request fails, when a sanitizer speaks, or
when an instance ends with another code than 0. Rates are printed for the curious, not judged.
"""

import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/bench"))
import rig  # noqa: E402 (after the path)
from rig import Postgres, Service, Wrk, open_accounts, run, say  # noqa: E402

CROWD = ROOT / "tests/bench/crowd.py"
IDLE, DRIBBLING = 500, 100
REPORT = re.compile(r"Sanitizer|runtime error:")


def certificate(folder):
    """A self-signed one; where its two files are."""
    chain, key = folder / "chain.pem", folder / "key.pem"
    run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj",
        "/CN=localhost", "-keyout", key, "-out", chain)
    return chain, key


def measured(name, load):
    sample = load()
    say(f"{name}: {sample.rate:.0f}/s, p99 {sample.p99_ms:.0f} ms, none failed")


def with_signals(service, number, load):
    """Runs a load while the service gets a signal twice a second."""
    over = threading.Event()

    def send():
        while not over.wait(0.5):
            service.process.send_signal(number)

    sender = threading.Thread(target=send)
    sender.start()
    try:
        return load()
    finally:
        over.set()
        sender.join()


def beside_a_crowd(service, load):
    with subprocess.Popen([sys.executable, CROWD, str(service.port), str(IDLE), str(DRIBBLING)],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as crowd:
        assert crowd.stdout.readline() == "ready\n"
        try:
            return load()
        finally:
            crowd.stdin.close()
            crowd.stdout.read()


def together(*loads):
    """Runs loads at the same time; the last one's sample."""
    samples = [None] * len(loads)

    def take(place):
        samples[place] = loads[place]()

    threads = [threading.Thread(target=take, args=(place,)) for place in range(len(loads))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if None in samples:
        sys.exit(1)  # what failed has said so
    return samples[-1]


def run_loads(postgres, plain, other, secure, seconds):
    def pay(service, connections, **options):
        return Wrk(postgres, service, connections, seconds, **options)

    plain.pay_replay_keys()
    measured("payments, 64 connections", pay(plain, 64))
    measured("payments and replays, 256 connections", pay(plain, 256, replays=0.5))
    measured("/healthz, 1,000 connections", pay(plain, 1000, health=True))
    measured("two instances", lambda: together(pay(plain, 64), pay(other, 64)))
    measured("beside a crowd", lambda: beside_a_crowd(plain, pay(plain, 64)))
    measured("TLS, 64 connections, certificate read again",
             lambda: with_signals(secure, signal.SIGHUP, pay(secure, 64)))
    measured("log level changed meanwhile",
             lambda: with_signals(plain, signal.SIGUSR1, pay(plain, 64)))


def main():
    binary = rig.ONCEPAY = Path(sys.argv[1]).resolve()
    seconds = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    folder = Path(tempfile.mkdtemp(prefix="oncepay-load.", dir="/var/tmp"))
    folder.chmod(0o755)
    postgres = Postgres(folder / "postgres")
    services = []

    def serve(credentials=None, **options):
        arguments = [part for name, value in options.items()
                     for part in ("--" + name.replace("_", "-"), str(value))]
        services.append(Service(
            postgres, folder,
            lambda port: [binary, "serve", "--listen", f"127.0.0.1:{port}", *arguments],
            credentials, secure="tls_cert" in options))
        return services[-1]

    red = []
    try:
        postgres.sql("CREATE DATABASE service")
        plain = serve()
        credentials = (plain.tenant, plain.api_key)
        open_accounts(postgres, "service", plain.tenant)
        other = serve(credentials)
        chain, key = certificate(folder)
        secure = serve(credentials, tls_cert=chain, tls_key=key)
        run_loads(postgres, plain, other, secure, seconds)
    finally:
        for service in services:
            code = service.end()
            text = Path(service.log.name).read_text(encoding="utf-8", errors="replace")
            if code != 0 or REPORT.search(text):
                red.append(f"an instance ended with {code}: {service.log.name}")
        postgres.end()
    if red:
        sys.exit("\n".join(red))
    shutil.rmtree(folder)
    print("load: every request answered, no report, every instance ended with 0")


if __name__ == "__main__":
    main()
