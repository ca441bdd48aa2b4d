"""test_demo.py BUILD - the demo ends clean, and sees when an exchange lies about its books.

A lying exchange is the real perpd behind a relay that changes one answer of the admin listener.
"""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from fake import check

BUILD = pathlib.Path(sys.argv[1]).resolve()

# The relay stands in for perpd beside a copy of perp-demo. argv[1]: what it lies about.
RELAY = r'''#!/usr/bin/env python3
import http.server, json, os, signal, subprocess, sys, threading, urllib.request
import socket
lie = open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "lie")).read().strip()
with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    real = free.getsockname()[1]
arguments, mine = [], 0
for word in sys.argv[1:]:
    if word.startswith("--admin.listen="):
        mine = int(word.rsplit(":", 1)[1])
        word = f"--admin.listen=127.0.0.1:{real}"
    arguments.append(word)
child = subprocess.Popen(["%(perpd)s", *arguments])
signal.signal(signal.SIGTERM, lambda *_: child.terminate())

class Relay(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *_):
        pass
    def do_GET(self):
        body = urllib.request.urlopen(f"http://127.0.0.1:{real}{self.path}").read().decode()
        if self.path == "/audit":
            audit = json.loads(body)
            if lie == "fees":
                audit["totals"]["fee_account"] += "1" if "." in audit["totals"]["fee_account"] \
                    else ".000001"
            if lie == "sizes":
                audit["markets"][0]["size_sum"] = "0.00001"
            if lie == "invariant":
                audit["i6"] = False
            body = json.dumps(audit)
        if self.path == "/metrics" and lie == "metrics":
            body = "\n".join(line for line in body.split("\n") if 'stage="matched"' not in line)
        data = body.encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

server = http.server.ThreadingHTTPServer(("127.0.0.1", mine), Relay)
threading.Thread(target=server.serve_forever, daemon=True).start()
code = child.wait()
os._exit(code)
'''


def processes(folder):
    """Processes that have the demo's folder in their command line."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:
                continue
            if str(folder) in line:
                found.append((int(entry.name), line))
    return found


def place(lie=None):
    """A folder with perp-demo and perpd, the true one or a lying one."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="demo-test-", dir=BUILD))
    shutil.copy2(BUILD / "perp-demo", folder)
    if lie is None:
        shutil.copy2(BUILD / "perpd", folder)
    else:
        (folder / "lie").write_text(lie)
        relay = folder / "perpd"
        relay.write_text(RELAY % {"perpd": BUILD / "perpd"})
        relay.chmod(0o755)
    return folder


def run(folder, *words):
    return subprocess.run([folder / "perp-demo", "--plain", *words], capture_output=True,
                          text=True, timeout=120)


def ended(folder):
    for _ in range(100):
        if not processes(folder):
            return True
        time.sleep(0.1)
    return False


def test_honest():
    folder = place()
    done = run(folder, "--seconds", "3", "--at-least", "20")  # on however slow a machine
    check(done.returncode == 0, done.stdout, done.stderr)
    check("everything holds" in done.stdout and "FAIL" not in done.stdout, done.stdout)
    check(re.search(r"accepted +request_completed +[1-9]", done.stdout), done.stdout)
    for stage in ("verified", "sequenced", "matched", "released", "sent"):
        check(re.search(rf"  {stage} +\d+ us +\d+ us", done.stdout), stage, done.stdout)
    check(not list(folder.glob("demo.*")), "the data directory is left behind")
    check(ended(folder), processes(folder))
    shutil.rmtree(folder)


def test_lies():
    rows = [("fees", "fees that the fills leave over"), ("sizes", "sum of sizes 1"),
            ("invariant", "I1-I6 DO NOT HOLD"), ("metrics", "no values of the stage 'matched'")]
    for lie, wanted in rows:
        folder = place(lie)
        done = run(folder, "--seconds", "1")
        check(done.returncode == 1, lie, done.stdout, done.stderr)
        failed = [line for line in done.stdout.splitlines() if line.startswith("  FAIL")]
        check(any(wanted in line for line in failed), lie, done.stdout)
        check("something does not hold" in done.stdout and list(folder.glob("demo.*")), lie)
        check(ended(folder), processes(folder))
        shutil.rmtree(folder)


def begin(folder):
    child = subprocess.Popen([folder / "perp-demo", "--plain"], stdout=subprocess.PIPE, text=True)
    for line in child.stdout:
        if re.search(r" trades [1-9]", line):
            return child
    check(False, "the demo did not begin to trade")


def test_interrupt():
    """Ctrl-C: everything is settled, compared and gone."""
    folder = place()
    child = begin(folder)
    profile = next(folder.glob("demo.*")) / "perp.ini"
    # Meanwhile somebody trades by hand; the demo winds that up too.
    for words in (["order", "BTC-PERP", "buy", "0.02", "101000", "--tif", "IOC"],
                  ["order", "BTC-PERP", "sell", "0.01", "109000"], ["balance"], ["exchange"]):
        done = subprocess.run([BUILD / "perp", *words, "--config", profile, "-o", "json"],
                              capture_output=True, text=True, timeout=30)
        check(done.returncode == 0, words, done.stdout, done.stderr)
    child.send_signal(signal.SIGINT)
    out = child.stdout.read()
    check(child.wait(timeout=60) == 0, out)
    check("everything holds" in out and "FAIL" not in out, out)
    check(ended(folder), processes(folder))
    shutil.rmtree(folder)


def test_kill():
    """Whatever kills the stage, nothing survives it."""
    folder = place()
    child = begin(folder)
    check(len(processes(folder)) >= 11, processes(folder))
    child.kill()
    child.wait()
    check(ended(folder), processes(folder))
    shutil.rmtree(folder)


def test_usage():
    for words in (["--seconds"], ["--seconds", "0"], ["--minutes", "1"], ["--at-least", "-1"]):
        done = subprocess.run([BUILD / "perp-demo", *words], capture_output=True, text=True)
        check(done.returncode == 2 and "usage" in done.stderr, words)


test_usage()
test_honest()
test_lies()
test_interrupt()
test_kill()
