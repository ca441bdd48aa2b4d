"""fake.py - a small exchange for tests of perp: HTTP/1.1 with keep-alive, fixed answers by path.

It knows what perp sends (json.md's envelope, wire.md's frame) and nothing of perpd.
"""
import base64
import hashlib
import json
import pathlib
import socketserver
import struct
import subprocess
import sys
import tempfile
import threading

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from sample import Sample

BTC = {
    "market": "BTC-PERP", "asset_id": 1, "base": "BTC", "price_decimals": 1, "size_decimals": 5,
    "tick_size": "0.1", "lot_size": "0.00001", "min_size": "0.00001",
    "max_order_size": "10995116.27775", "min_notional": "10", "impact_notional": "20000",
    "max_leverage": 50, "state": "ACTIVE",
}
ETH = dict(BTC, market="ETH-PERP", asset_id=2, base="ETH", price_decimals=2, size_decimals=4,
           tick_size="0.01", lot_size="0.0001", min_size="0.0001",
           max_order_size="109951162.7775")
EXCHANGE_ID = "de1f65a1c46df48dc3b78dc898f022dee2d054734b7744c77edf5b4b1a2866f7"


def problem(status, code, **extra):
    body = {"type": f"urn:perps:problem:{code}", "title": "x", "status": status, "code": code,
            "detail": f"detail of {code}"}
    body.update(extra)
    return status, body


class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        while self.one():
            pass

    def one(self):
        line = self.rfile.readline().decode()
        if not line.strip():
            return False
        method, target, _ = line.split()
        headers = {}
        while (header := self.rfile.readline().decode().strip()):
            name, value = header.split(":", 1)
            headers[name.lower()] = value.strip()
        body = self.rfile.read(int(headers.get("content-length", 0)))
        self.server.seen.append((method, target, headers, body))
        status, answer = self.server.answer(method, target)
        if status == "close":
            return False
        if status == "stream":
            self.stream(headers, answer)
            return False
        if status == "raw":
            self.wfile.write(answer)
            return False
        if callable(answer):
            answer = answer()
        data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        kind = "application/json" if status == 200 else "application/problem+json"
        if status == "binary":
            status, kind = 200, "application/octet-stream"
        self.wfile.write(f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\n"
                         f"Content-Length: {len(data)}\r\n\r\n".encode() + data)
        return True


    def stream(self, headers, script):
        """A WebSocket (RFC 6455) that the script talks on."""
        check(headers["upgrade"] == "websocket" and headers["sec-websocket-version"] == "13")
        check(len(base64.b64decode(headers["sec-websocket-key"], validate=True)) == 16)
        wanted = hashlib.sha1((headers["sec-websocket-key"] + GUID).encode()).digest()
        self.wfile.write(b"HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                         b"Sec-WebSocket-Accept: " + base64.b64encode(wanted) + b"\r\n\r\n")
        try:
            script(Peer(self.rfile, self.wfile))
        except (EOFError, OSError):
            pass  # perp has gone


GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


class Peer:
    """The exchange's side of a stream."""

    def __init__(self, rfile, wfile):
        self.rfile, self.wfile = rfile, wfile

    def raw(self, opcode, data, fin=True):
        count = bytes([len(data)]) if len(data) < 126 else b"\x7e" + struct.pack(">H", len(data))
        self.wfile.write(bytes([fin << 7 | opcode]) + count + data)

    def send(self, **message):
        self.raw(1, json.dumps(message).encode())

    def close(self, code, reason=""):
        self.raw(8, struct.pack(">H", code) + reason.encode())

    def take(self):
        """The next frame: opcode and bytes. A client masks what it sends."""
        head = self.rfile.read(2)
        if len(head) < 2:
            raise EOFError
        check(head[0] & 0x80 and head[1] & 0x80, head)
        count = head[1] & 127
        if count == 126:
            count, = struct.unpack(">H", self.rfile.read(2))
        mask = self.rfile.read(4)
        return head[0] & 15, bytes(byte ^ mask[at % 4]
                                   for at, byte in enumerate(self.rfile.read(count)))

    def op(self, **wanted):
        """The next op, which must be this one; its reply is sent."""
        opcode, data = self.take()
        asked = json.loads(data)
        check(opcode == 1 and asked == wanted, asked, wanted)
        self.send(**{name: value for name, value in asked.items() if name not in KEYS},
                  epoch=1)


KEYS = ("api_key", "device_key")


class Exchange(socketserver.ThreadingTCPServer):
    """`answers` maps a path, with its query or without, to (status, object, bytes or function)."""
    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, **answers):
        super().__init__(("127.0.0.1", 0), Handler)
        self.seen = []
        self.answers = {
            "/api/v1/markets": (200, {"markets": [BTC, ETH]}),
            "/api/v1/exchange": (200, {"exchange_id": EXCHANGE_ID, "rules_version": 1,
                                       "limits": {"sessions": 64},
                                       "request_types": [{"code": 0, "name": "place_limit_order",
                                                          "path": "/x"}]}),
        }
        self.answers.update(answers)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def answer(self, method, target):
        path = self.answers.get(target.split("?")[0], problem(404, "not_found"))
        return self.answers.get(target, path)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"

    def last(self):
        """Method, target, headers and body of the newest request."""
        return self.seen[-1]


class Perp:
    """Runs the built perp in a folder of its own, with no configuration of the machine's owner.
    PERPD_SAMPLE_LEAKS=N: one call in N looks for leaks under the address sanitizer."""

    def __init__(self, build):
        self.program = pathlib.Path(build) / "perp"
        self.held = tempfile.TemporaryDirectory(prefix="perp-test-")
        self.folder = pathlib.Path(self.held.name)
        self.leaks, self.calls = Sample("PERPD_SAMPLE_LEAKS"), 0

    def environment(self):
        """Of the next call."""
        env = {"HOME": str(self.folder), "PATH": "/usr/bin:/bin"}
        if not self.leaks.takes(self.calls):
            env["ASAN_OPTIONS"] = "detect_leaks=0"
        self.calls += 1
        return env

    def run(self, *words, code=0, environment=None, text=True, stdin=None):
        env = self.environment()
        env.update(environment or {})
        done = subprocess.run([self.program, *map(str, words)], capture_output=True, env=env,
                              cwd=self.folder, input=stdin, text=text, timeout=200)
        if done.returncode != code:
            print(f"perp {' '.join(map(str, words))}: exit {done.returncode}, wanted {code}\n"
                  f"{done.stdout}\n{done.stderr}", file=sys.stderr)
            sys.exit(1)
        return done

    def key(self, name, curve, secret, public):
        """A key file from hex."""
        path = self.folder / name
        b64 = [base64.b64encode(bytes.fromhex(part)).decode() for part in (public, secret)]
        path.write_text(f"curve = {curve}\npublic = {b64[0]}\nsecret = {b64[1]}\n")
        path.chmod(0o600)
        return path


def check(condition, *shown):
    if not condition:
        frame = sys._getframe(1)
        print(f"{frame.f_code.co_filename}:{frame.f_lineno}: failed", *shown, file=sys.stderr)
        sys.exit(1)


def vectors(name):
    """Vectors of the wire contract, beside the tests."""
    folder = pathlib.Path(__file__).resolve().parents[1] / "vectors" / "perpd"
    return {row["name"]: row for row in json.loads((folder / name).read_text())["vectors"]}
