"""client.py - a second, independent client of perpd: nothing of src/ is used or read.

Bodies are packed by hand (request_body.py), requests are signed with libsodium and libsecp256k1
through ctypes, the EIP-712 digest of W4 is built with a Keccak of its own, and HTTP goes through a
plain socket, so that a test can send what no library would.

    python3 client.py      checks the encoders against the vectors that wire.md prints
"""
import base64
import ctypes
import http
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time

from eip712 import (CREATE_ACCOUNT, CREATE_API_KEY, CREATE_SESSION, REVOKE_ALL, REVOKE_API_KEY,
                    REVOKE_SESSION, bound, eip712_digest, eip712_domain, eip712_members,
                    eip712_struct, id_text, keccak256)
from request_body import (ALL_ASSETS, ALL_PORTFOLIOS, GTC, NO_PIN, account_body, api_key_body,
                          cancel_all_body, cancel_body, deposit_body, limit_body, market_body,
                          market_order_body, oracle_body, portfolio_bytes, reduce_body,
                          replace_body, revoke_all_body, revoke_body, revoke_key_body, session_body,
                          state_body)

IOC, FOK = 0, 1
PATIENCE_S = 200  # for what comes at once on an idle machine and must come on any
ED25519, SECP256K1, PASSKEY = 0, 1, 2
SECP256K1_ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141

PLACE_LIMIT, REDUCE, REPLACE, CANCEL, CANCEL_ALL, PLACE_MARKET = 0, 1, 2, 3, 4, 5
ORACLE_PRICE, MARKET_DEFINE, MARKET_STATE, DEPOSIT = 1000, 1001, 1002, 1003
HALT_ALL, INDEX_ACCEPT = 1008, 1010
PATHS = {  # W2
    PLACE_LIMIT: "/api/v1/trading/order/place/limit",
    REDUCE: "/api/v1/trading/order/update",
    REPLACE: "/api/v1/trading/order/update",
    CANCEL: "/api/v1/trading/order/cancel",
    CANCEL_ALL: "/api/v1/trading/order/cancel-all",
    PLACE_MARKET: "/api/v1/trading/order/place/market",
    CREATE_ACCOUNT: "/api/v1/account/create",
    CREATE_SESSION: "/api/v1/auth/sessions/create",
    REVOKE_SESSION: "/api/v1/auth/sessions/revoke",
    REVOKE_ALL: "/api/v1/auth/sessions/revoke-all",
    CREATE_API_KEY: "/api/v1/api-keys",
    REVOKE_API_KEY: "/api/v1/api-keys/revoke",
    ORACLE_PRICE: "/api/v1/operator", INDEX_ACCEPT: "/api/v1/operator",
    MARKET_STATE: "/api/v1/operator", HALT_ALL: "/api/v1/operator",
    MARKET_DEFINE: "/api/v1/operator",
    DEPOSIT: "/api/v1/operator",
}


def b64(data):
    return base64.b64encode(data).decode()


# --- keys ----------------------------------------------------------------------------------------

_sodium = ctypes.CDLL("libsodium.so.23")
_secp = ctypes.CDLL("libsecp256k1.so.1")
_sodium.sodium_init()
_secp.secp256k1_context_create.restype = ctypes.c_void_p
_secp.secp256k1_context_create.argtypes = [ctypes.c_uint]
_context = ctypes.c_void_p(_secp.secp256k1_context_create(1))  # SECP256K1_CONTEXT_NONE


class Ed25519Key:
    signature_type = ED25519

    def __init__(self, seed=None):
        public, secret = ctypes.create_string_buffer(32), ctypes.create_string_buffer(64)
        _sodium.crypto_sign_seed_keypair(public, secret, seed or os.urandom(32))
        self.public, self._secret = public.raw, secret.raw

    def sign(self, payload, salt=None):
        text, signature = bound(payload, salt), ctypes.create_string_buffer(64)
        _sodium.crypto_sign_detached(signature, None, text, ctypes.c_ulonglong(len(text)),
                                     self._secret)
        return signature.raw


class Secp256k1Key:
    signature_type = SECP256K1

    def __init__(self, secret=None):
        self._secret = secret or (1 + int.from_bytes(os.urandom(31), "big")).to_bytes(32, "big")
        point, public = ctypes.create_string_buffer(64), ctypes.create_string_buffer(33)
        size = ctypes.c_size_t(33)
        if not _secp.secp256k1_ec_pubkey_create(_context, point, self._secret):
            raise ValueError("secret out of range")
        _secp.secp256k1_ec_pubkey_serialize(_context, public, ctypes.byref(size), point,
                                            258)  # SECP256K1_EC_COMPRESSED
        self.public = public.raw

    def sign_digest(self, digest):
        """r || s with the low s, as libsecp256k1 always makes it."""
        signature, compact = ctypes.create_string_buffer(64), ctypes.create_string_buffer(64)
        if not _secp.secp256k1_ecdsa_sign(_context, signature, digest, self._secret, None, None):
            raise ValueError("signing failed")
        _secp.secp256k1_ecdsa_signature_serialize_compact(_context, compact, signature)
        return compact.raw

    def sign(self, payload, salt):
        return self.sign_digest(eip712_digest(payload, salt))


def high_s(signature):
    """The other signature of the same digest: (r, n - s)."""
    s = int.from_bytes(signature[32:], "big")
    return signature[:32] + (SECP256K1_ORDER - s).to_bytes(32, "big")


# --- payloads ------------------------------------------------------------------------------------

def now_ms():
    return time.time_ns() // 1_000_000


def new_id(at_ms=None):
    """A UUIDv7: 48 bits of time, version 7, variant 10, the rest random."""
    raw = bytearray((at_ms if at_ms is not None else now_ms()).to_bytes(6, "big") + os.urandom(10))
    raw[6] = 0x70 | raw[6] & 0x0F
    raw[8] = 0x80 | raw[8] & 0x3F
    return bytes(raw)


def header(code, signature_type, version=1, pad=bytes(4)):
    return struct.pack("<BBH", version, signature_type, code) + pad


def payload_of(code, body, key, request_id=None):
    return header(code, key.signature_type) + (request_id or new_id()) + body


def envelope(payload, public, signature, **more):
    return json.dumps({"payload": b64(payload), "signature": b64(signature),
                       "public_key": b64(public), **more}).encode()


def frame(payload, public, signature):
    return payload + public + signature


# --- HTTP ----------------------------------------------------------------------------------------

class Response:
    """status, headers as (lower-case name, value) in order, body; .json parses it."""

    def __init__(self, status, phrase, headers, body):
        self.status, self.phrase, self.headers, self.body = status, phrase, headers, body

    def header(self, name):
        values = [value for key, value in self.headers if key == name.lower()]
        if len(values) > 1:
            raise AssertionError(f"{name} comes {len(values)} times")
        return values[0] if values else None

    @property
    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return f"{self.status} {self.phrase} {self.body[:300]!r}"


class Connection:
    """One TCP connection from `source`: bytes out, responses in, in order. `wrap` makes its TLS."""

    def __init__(self, port, timeout=PATIENCE_S, wrap=lambda raw: raw, source="127.0.0.1"):
        raw = socket.create_connection(("127.0.0.1", port), timeout, (source, 0))
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket = wrap(raw)
        self.buffer = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data)

    def _more(self):
        data = self.socket.recv(65536)
        if not data:
            raise EOFError("closed")
        self.buffer += data

    def receive(self, body=True):
        """The next response; body=False after a HEAD. EOFError when the server has closed."""
        while b"\r\n\r\n" not in self.buffer:
            self._more()
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        lines = head.decode("latin-1").split("\r\n")
        match = re.fullmatch(r"HTTP/1\.1 (\d{3}) (.*)", lines[0])
        if not match:
            raise AssertionError(f"no status line: {lines[0]!r}")
        headers = []
        for line in lines[1:]:
            name, value = line.split(":", 1)
            headers.append((name.lower(), value.strip(" \t")))
        status = int(match[1])
        response = Response(status, match[2], headers, b"")
        if body and status >= 200 and status not in (204, 304):
            length = int(response.header("content-length"))
            while len(self.buffer) < length:
                self._more()
            response.body, self.buffer = self.buffer[:length], self.buffer[length:]
        return response

    def closed(self, seconds=PATIENCE_S):
        """True when the server closes within the time without sending anything further."""
        if self.buffer:
            return False
        self.socket.settimeout(seconds)
        try:
            return self.socket.recv(1) == b""
        except ConnectionResetError:
            return True
        except TimeoutError:
            return False

    def exchange(self, data):
        self.send(data)
        return self.receive()


def request_bytes(method, path, body=None, headers=(), version="HTTP/1.1", host=True):
    lines = [f"{method} {path} {version}"]
    if host:
        lines.append("Host: localhost")
    lines += [f"{name}: {value}" for name, value in headers]
    if body is not None:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + (body or b"")


JSON = ("Content-Type", "application/json")
OCTETS = ("Content-Type", "application/octet-stream")


class Exchange:
    """A running perpd's public and admin ports with the keys of its configuration."""
    wrap_socket = staticmethod(lambda raw: raw)  # TLS: tls_peer.py

    def __init__(self, port, admin_port, operator, oracle, token):
        self.port, self.admin_port, self.operator, self.oracle = port, admin_port, operator, oracle
        self.bearer = ("Authorization", f"Bearer {token}")
        self._local = threading.local()
        self._salt = None

    def open(self, timeout=PATIENCE_S, source="127.0.0.1"):
        return Connection(self.port, timeout, self.wrap_socket, source)

    @property
    def salt(self):
        if self._salt is None:
            self._salt = bytes.fromhex(self.get("/api/v1/exchange").json["exchange_id"])
        return self._salt

    def raw(self, data):
        """One request on a connection of its own."""
        with self.open() as connection:
            return connection.exchange(data)

    def kept(self, data):
        """One request on this thread's kept connection, opened anew when it was closed."""
        connection = getattr(self._local, "connection", None)
        for attempt in (0, 1):
            if connection is None:
                connection = self._local.connection = self.open()
            try:
                return connection.exchange(data)
            except (EOFError, ConnectionError):
                connection.close()
                connection = self._local.connection = None
                if attempt:
                    raise

    def forget_connections(self):
        """In a forked child: the kept connections are the parent's."""
        self._local = threading.local()

    def get(self, path, api_key=None, headers=()):
        key = [] if api_key is None else [("X-API-KEY", api_key)]
        return self.kept(request_bytes("GET", path, None, [*headers, *key]))

    def admin(self, path):
        with Connection(self.admin_port) as connection:
            return connection.exchange(request_bytes("GET", path, None, [self.bearer]))

    def audit(self):
        """GET /audit, asked again while the follower is behind and reads answer 503."""
        while (answer := self.admin("/audit")).status == 503:
            time.sleep(0.05)
        return answer.json

    def signed(self, code, body, key, request_id=None, binary=False, headers=()):
        """The bytes of a whole HTTP request; good in every part the caller did not choose."""
        payload = payload_of(code, body, key, request_id)
        return self.wrap(PATHS[code], payload, key, binary, headers)

    def wrap(self, path, payload, key, binary=False, headers=()):
        if key.signature_type == PASSKEY:
            text, media = key.envelope(payload), JSON
        else:
            form, media = (frame, OCTETS) if binary else (envelope, JSON)
            text = form(payload, key.public, key.sign(payload, self.salt))
        return request_bytes("POST", path, text, [media, *headers])

    def send(self, code, body, key, request_id=None, binary=False, headers=()):
        return self.kept(self.signed(code, body, key, request_id, binary, headers))

    def ack(self, code, body, key, request_id=None, binary=False):
        response = self.send(code, body, key, request_id, binary)
        if response.status != 200:
            raise AssertionError(f"code {code}: {response!r}")
        return response.json

    def set_price(self, price, asset=1):
        return self.ack(ORACLE_PRICE, oracle_body(price, asset), self.oracle)


class Account:
    """An account with its master key, a full session and an API key without a pin."""

    def __init__(self, exchange, deposit=0, label=b""):
        self.exchange = exchange
        self.master, self.session = Secp256k1Key(), Ed25519Key()
        born = exchange.ack(CREATE_ACCOUNT, account_body(self.session.public, label=label),
                            self.master)
        if not born["success"]:
            raise AssertionError(f"account: {born}")
        self.born = born
        self.id = born["account_id"]
        self.api_key = exchange.ack(CREATE_API_KEY, api_key_body(self.id),
                                    self.session)["api_key"]
        if deposit:
            done = exchange.ack(DEPOSIT, deposit_body(self.id, deposit), exchange.operator)
            if done["status"] != "request_completed":
                raise AssertionError(f"deposit: {done}")

    def limit(self, price, quantity, request_id=None, binary=False, **more):
        return self.exchange.ack(PLACE_LIMIT, limit_body(self.id, price, quantity, **more),
                                 self.session, request_id, binary)

    def cancel(self, order_id, **more):
        return self.exchange.ack(CANCEL, cancel_body(self.id, order_id, **more), self.session)

    def cancel_all(self, **more):
        return self.exchange.ack(CANCEL_ALL, cancel_all_body(self.id, **more), self.session)

    def read(self, path):
        return self.exchange.get(path, self.api_key)

    def order(self, order_id):
        return self.read("/api/v1/orders/" + id_text(order_id))


# --- the process ---------------------------------------------------------------------------------

def memory_file(data):
    """The command rings of a perpd that was killed, in a folder of its own in /dev/shm, or None."""
    name = (pathlib.Path(data) / "exchange").read_bytes()[32:64].hex()  # journal.md, Data directory
    return next(pathlib.Path("/dev/shm").glob("perpd-*/perpd-" + name), None)


def forget_memory(folder):
    """Of every data directory below the folder, once nothing runs on it any more."""
    for memory in filter(None, (memory_file(x.parent) for x in folder.rglob("exchange"))):
        shutil.rmtree(memory.parent, ignore_errors=True)


SMALL_TABLES = ("--engine.accounts=4096", "--engine.portfolios=8192", "--engine.orders=65536",
                "--engine.positions=16384", "--engine.credentials=16384", "--engine.deposits=8192")
NO_CLASSES = "--limits.funding_small=0", "--limits.funding_full=0"  # W8, Slots

# W5: ids are taken for two minutes, for tests that send them again after starts.
LONG_WINDOW = ("--exchange.clock_past_ms=120000", "--limits.total_rate=10000")


class Perpd:
    """perpd on a data directory of its own, under the system's temporary folder or `parent`."""

    def __init__(self, program, *options, parent=None):
        self.program = str(program)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="perpd-system-", dir=parent))
        self.operator, self.oracle = Ed25519Key(), Ed25519Key()
        self.options = list(options)
        self.process, self.exchange = None, None

    def arguments(self):
        classes = () if "funding_" in str(self.options) else NO_CLASSES
        return [self.program, f"--store.data={self.folder / 'data'}", "--net.listen=127.0.0.1:0",
                "--admin.listen=127.0.0.1:0",
                f"--exchange.operator_key={b64(self.operator.public)}",
                f"--exchange.oracle_keys={b64(self.oracle.public)}", *classes, *self.options]

    def start(self, seconds=PATIENCE_S):
        with open(self.folder / "log", "ab") as log:
            begun = log.tell()
            self.process = subprocess.Popen(self.arguments(), stdout=subprocess.PIPE, stderr=log)
        timer = threading.Timer(seconds, self.process.kill)
        timer.start()
        line = self.process.stdout.readline().decode()
        timer.cancel()
        match = re.fullmatch(r"ready https?://127\.0\.0\.1:(\d+)\n", line)
        data = [word for word in self.arguments() if word.startswith("--store.data=")][-1][13:]
        log = (self.folder / "log").read_bytes()[begun:].decode(errors="replace")
        if not match:
            self.process.wait()
            raise AssertionError(f"perpd did not start: {line!r}\n{log}")
        self.exchange = Exchange(int(match[1]), self._admin_port(begun), self.operator, self.oracle,
                                 pathlib.Path(data, "admin.token").read_text().strip())
        return self.exchange

    def _admin_port(self, begun):
        """From the log line of the start, which may come after the one on standard output."""
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            log = (self.folder / "log").read_bytes()[begun:]
            if match := re.search(rb"admin_port=(\d+)", log):
                return int(match[1])
            time.sleep(0.01)
        raise AssertionError(f"no admin_port in the log: {log.decode(errors='replace')}")

    def log(self):
        return (self.folder / "log").read_text(errors="replace")

    def rss_bytes(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+) kB", status)[1]) * 1024

    def stop(self, number=signal.SIGTERM, seconds=PATIENCE_S):
        """The exit code; None if it already ended or never ran."""
        if self.process is None:
            return None
        self.process.send_signal(number)
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"perpd does not end on signal {number}") from None

    def remove(self):
        if self.process is not None:
            self.process.kill()  # nothing, when it has ended
            self.process.wait()
            self.process.stdout.close()
        forget_memory(self.folder)
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.remove()


def title(status):
    """The reason phrase that J8 and W7 use for a status (RFC 9110's, 413 by its older name)."""
    return "Payload Too Large" if status == 413 else http.HTTPStatus(status).phrase


def check_vectors():
    """W4, Vectors: raises AssertionError on the first that differs."""
    key = Ed25519Key(bytes(range(32)))
    request_id = bytes.fromhex("0198c0de0000700080000000000000a1")
    payload = payload_of(PLACE_LIMIT, limit_body(7, 1_000_000, -50_000, post_only=1), key,
                         request_id)
    assert b64(payload) == ("AQAAAAAAAAABmMDeAABwAIAAAAAAAAChBwAAAAAAAAAAAAAAAAAAAEBCDwAAAAAAsDz/"
                            "/////////////////wEAAAABAAAA"), b64(payload)
    assert b64(key.public) == "A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg="
    assert b64(key.sign(payload)) == ("MDOYaB3LoxeAoDfi7JgBluJZrLngl/B9omH1yjEviFMI8tE0wk7OT9K6"
                                      "zlbyBIMvhPkZf+laJJf8P6HNe9gDAg==")
    master = Secp256k1Key(bytes(31) + b"\1")
    assert master.public.hex() == ("0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16"
                                   "f81798")  # SEC 2, the generator
    payload = payload_of(CREATE_SESSION, session_body(7, key.public), master, request_id)
    assert b64(payload) == ("AQENAAAAAAABmMDeAABwAIAAAAAAAAChBwAAAAAAAAADoQe/884Qvh1w3RjnS8CZZ+TW"
                            "MJulDV8d3IZkElUxuAAAAAAAAAAA/////wAAAAA="), b64(payload)
    salt = bytes(range(32))
    assert keccak256(b"").hex() == ("c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85"
                                    "a470")
    assert eip712_domain(salt).hex() == ("fe544d8977bbb126430bcb36a85ac390c04c0fcd693815d3f2b7f42"
                                         "064319bbc")
    assert eip712_struct(payload).hex() == ("45459a89edbad3282de2de53a75ee66f51b8ffc279db19d2bf36"
                                            "4610cd1fdabd")
    assert eip712_digest(payload, salt).hex() == ("4ffadfeb69dd9f0fde48d1f59409f6a12a21ae2622e105"
                                                  "0affdd95b762fbde83")


if __name__ == "__main__":
    check_vectors()
    print("the vectors of wire.md hold")
