"""house.py - a perpd on a data directory of its own and two traders, for tests of the store's
commands: it trades a little, stops as asked, and leaves a directory to be looked at.
"""
import atexit
import json
import pathlib
import shutil
import signal
import subprocess

from fake import Perp, check


def forget_memory(folder):
    """What a killed perpd leaves in memory, of every data directory below the folder."""
    for exchange in folder.glob("**/exchange"):
        name = "perpd-" + exchange.read_bytes()[32:64].hex()
        for memory in pathlib.Path("/dev/shm").glob("perpd-*/" + name):
            memory.unlink()
            memory.parent.rmdir()


class House:
    OPTIONS = ["--exchange.oracle_max_age_ms=0", "--engine.accounts=256",
               "--engine.portfolios=256", "--engine.orders=4096", "--engine.positions=1024",
               "--engine.credentials=1024", "--engine.deposits=256", "--engine.ladder_pages=4096",
               "--limits.duplicate_slots=65536", "--limits.total_rate=1000",
               "--limits.write_rate=100",
               "--limits.funding_small=0", "--limits.funding_full=0"]

    def __init__(self, build):
        self.build, self.perp = pathlib.Path(build), Perp(build)
        self.folder = pathlib.Path(self.perp.folder)
        self.data = self.folder / "data"
        self.keys = [f"--exchange.operator_key={self.public('operator.key')}",
                     f"--exchange.oracle_keys={self.public('oracle.key')}"]
        self.process = self.url = None
        atexit.register(self.kill)  # a test that fails leaves no perpd behind
        config = self.folder / ".config/perp/config"
        config.parent.mkdir(parents=True)
        config.write_text("".join(
            f"[{name}]\nmaster_key = {self.folder}/{name}.master\n"
            f"session_key = {self.folder}/{name}.session\n"
            f"operator_key = {self.folder}/operator.key\noracle_key = {self.folder}/oracle.key\n"
            for name in ("a", "b")))

    def public(self, name):
        made = self.perp.run("keys", "new", "ed25519", name, "-o", "json").stdout
        return json.loads(made)["public_key"]

    def copy(self, name):
        """A fresh copy of the data directory."""
        target = self.folder / name
        shutil.rmtree(target, ignore_errors=True)
        subprocess.run(["cp", "-r", "--sparse=always", self.data, target], check=True)
        return target

    def arguments(self, data, *options):
        return [self.build / "perpd", f"--store.data={data}", "--net.listen=127.0.0.1:0",
                "--admin.listen=127.0.0.1:0", *self.OPTIONS, *self.keys, *options]

    def refused(self, data):
        """What a start on the data says which exits with 3."""
        done = subprocess.run(self.arguments(data), capture_output=True, text=True, timeout=200)
        check(done.returncode == 3, done)
        return done.stderr

    def start(self, data=None, *options):
        self.process = subprocess.Popen(self.arguments(data or self.data, *options), text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        line = self.process.stdout.readline()
        check(line.startswith(("ready http://", "ready https://")), line,
              self.process.stderr.read if line else
              self.process.communicate()[1])
        self.url = line.split()[1]

    def stop(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        self.process.communicate(timeout=200)
        return self.process.returncode

    def kill(self):
        if self.process is not None and self.process.poll() is None:
            self.stop(signal.SIGKILL)
        forget_memory(self.folder)

    def client(self, *words, who="a", code=0):
        done = self.perp.run(*words, "--profile", who, "--url", self.url, "-o", "json", code=code)
        return json.loads(done.stdout) if done.stdout else None

    def store(self, *words, code=0, data=None):
        """A command on the data directory; its JSON."""
        done = self.perp.run(*words, "--data", str(data or self.data), "-o", "json", code=code)
        return json.loads(done.stdout) if done.stdout else None

    def open_accounts(self):
        self.accounts = {}
        for who in ("a", "b"):
            made = self.client("account", "create", "--save", who=who)
            self.accounts[who] = int(made["account_id"])
            self.client("apikey", "create", "--scope", "READ_WRITE", "--save", who=who)
            self.client("deposit", "10000", who=who)
        self.client("oracle", "BTC-PERP", "100000")

    def trade(self, count=3):
        """`count` times: an order that rests, one that takes half of it, one that is canceled."""
        for i in range(count):
            self.client("order", "BTC-PERP", "sell", "0.02", str(100010 + i), who="a")
            self.client("order", "BTC-PERP", "buy", "0.01", str(100010 + i), who="b")
            rests = self.client("order", "BTC-PERP", "buy", "0.01", "99000", who="b")
            if i % 2 == 0:
                self.client("cancel", "BTC-PERP", rests["request_id"], who="b")
