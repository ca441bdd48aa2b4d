"""test_tls.py - TLS on the public listener (wire.md W10, roles.md): versions, what is off, peers
that stop, send garbage or ask too much, certificates exchanged under traffic, and the cases of HTTP
and of R11 once more, over TLS.
"""
import os
import pathlib
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import warnings

import client
import test_conformance
import test_http
import tls_crowd
from client import (JSON, PATIENCE_S, PATHS, PLACE_LIMIT, Connection, Perpd, envelope, limit_body,
                    payload_of, request_bytes)
from harness import Suite, Table, only, perpd_program
from ports import free_port
from tls_peer import (TlsSocket, context_of, expired_certificate, failure, make_certificate, put,
                      wrapper)
from world import World, seen

suite = Suite("tls")
TIME = request_bytes("GET", "/api/v1/time")
V1_2, V1_3 = ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3
DECODE_ERROR = bytes([21, 3, 1, 0, 2, 2, 50])
INSTRUMENTED = any(word in os.environ.get("PERPD_BUILD", "") for word in ("dev", "tsan"))


class Quick(test_http.World):
    """Its slow peers have their turn without TLS."""

    def slow_checks(self):
        return ()


class TlsWorld(World):
    def __init__(self, perpd, folder, pair):
        self.perpd, self.folder, self.pair = perpd, folder, pair
        self.context = context_of(pair[0])
        perpd.exchange.wrap_socket = wrapper(self.context)
        super().__init__(perpd.exchange)
        self.late_wrong = Table()
        self.late = threading.Thread(target=silent_peers, args=(self,), daemon=True)
        self.late.start()

    def plain(self):
        raw = socket.create_connection(("127.0.0.1", self.exchange.port), PATIENCE_S)
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return raw

    def peer(self, context=None, **more):
        return TlsSocket(self.plain(), context or self.context, **more)

    def metric(self, name):
        with Connection(self.exchange.admin_port) as connection:
            text = connection.exchange(request_bytes("GET", "/metrics")).body.decode()
        return int(re.search(rf"^perpd_{name} (-?\d+)$", text, re.M)[1])

    def counted(self, name):
        return self.metric(f"net_tls_{name}_total")

    def s_client(self, line, *options):
        """What openssl's client prints; `line` is typed once the handshake is done."""
        process = subprocess.Popen(
            ["openssl", "s_client", "-connect", f"127.0.0.1:{self.exchange.port}", *options],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        said = b""
        while b"Verif" not in said and (more := process.stdout.read1(65536)):
            said += more
        said += process.communicate(line, timeout=PATIENCE_S)[0]
        return said.decode(errors="replace")


def answers(table, row, peer):
    """The connection is whole: it answers a request."""
    connection = Connection.__new__(Connection)
    connection.socket, connection.buffer = peer, b""
    table.same(row, connection.exchange(TIME).status, 200)
    return connection


def order_of(account, price):
    payload = payload_of(PLACE_LIMIT, limit_body(account.id, price, 20), account.session)
    return request_bytes("POST", PATHS[PLACE_LIMIT], envelope(
        payload, account.session.public, account.session.sign(payload)), [JSON])


def silent_peers(world):
    """10 s from the start of the connection, whatever of the handshake came."""
    table = world.late_wrong
    try:
        before = world.counted("handshakes_late")
        begun = time.monotonic()
        first = world.peer()
        try:
            first.tls.do_handshake()
        except ssl.SSLWantReadError:
            pass
        hello = first.take()
        first.close()
        silent = [world.plain() for _ in range(3)]
        silent[1].sendall(hello[:100])
        silent[2].sendall(hello)  # and never the second flight
        while silent[2].recv(65536):
            pass
        table.true("a handshake that is not ended: at 10 s",
                   9.5 <= time.monotonic() - begun < 60, time.monotonic() - begun)
        for raw in silent[:2]:
            table.same("closed", raw.recv(1), b"")
        table.same("counted", seen(lambda: world.counted("handshakes_late") - before, 3), 3)
    except Exception as error:
        table.true("silent peers", False, repr(error))


@suite.case
def versions_and_ciphers(world):
    """1.3 and 1.2 with forward secrecy and AEAD; 1.1, CBC and RSA key exchange are refused."""
    table = Table()
    for version, name, count in ((V1_3, "TLSv1.3", 1), (V1_2, "TLSv1.2", 2)):
        for ciphers in (None, "ECDHE+CHACHA20")[:count]:
            peer = world.peer(context_of(world.pair[0], version, ciphers=ciphers)).handshake()
            table.same("version", peer.tls.version(), name)
            table.same("ALPN", peer.tls.selected_alpn_protocol(), "http/1.1")
            table.same("compression", peer.tls.compression(), None)
            answers(table, name, peer).close()
    row = context_of(None, V1_2, ciphers="DEFAULT:@SECLEVEL=0")
    with warnings.catch_warnings(action="ignore"):
        row.minimum_version, row.maximum_version = ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1
    table.same("TLS 1.1", failure(world.peer(row), TIME), "TLSV1_ALERT_PROTOCOL_VERSION")
    for ciphers in ("ECDHE-ECDSA-AES128-SHA", "AES128-GCM-SHA256"):
        row = context_of(world.pair[0], V1_2, ciphers=ciphers)
        table.same(ciphers, failure(world.peer(row), TIME), "SSLV3_ALERT_HANDSHAKE_FAILURE")
    row = context_of(world.pair[0], protocols=("h2",))
    why = failure(world.peer(row), TIME)
    table.true("ALPN h2 only", "no application protocol" in why, why)
    for protocols in ((), ("h2", "http/1.1")):
        row = context_of(world.pair[0], protocols=protocols)
        answers(table, f"ALPN {protocols}", world.peer(row).handshake()).close()
    return table.wrong


@suite.case
def nothing_is_resumed(world):
    """Neither tickets nor session ids: each connection has keys of its own."""
    table = Table()
    for version in (V1_2, V1_3):
        context = context_of(world.pair[0], version)
        first = world.peer(context).handshake()
        answers(table, "first", first)
        table.true("no ticket", not first.tls.session or not first.tls.session.has_ticket)
        second = world.peer(context, session=first.tls.session).handshake()
        table.same("a full handshake", second.tls.session_reused, False)
        first.close()
        second.close()
    return table.wrong


@suite.case
def early_data(world):
    """0-RTT with a session of another server that has the same certificate: not read, and the
    connection goes on without it."""
    table = Table()
    session, early = world.folder / "session", world.folder / "early"
    early.write_bytes(order_of(world.rich, 900_000))
    port = free_port()
    other = subprocess.Popen(
        ["openssl", "s_server", "-accept", f"127.0.0.1:{port}", "-cert", world.pair[0], "-key",
         world.pair[1], "-tls1_3", "-early_data", "-max_early_data", "16384", "-quiet"],
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(100):
            subprocess.run(["openssl", "s_client", "-connect", f"127.0.0.1:{port}", "-sess_out",
                            session], input=b"Q\n", capture_output=True, check=False)
            if session.exists():
                break
            time.sleep(0.1)
    finally:
        other.kill()
        other.wait()
        other.stdin.close()
    before = world.metric("net_signed_requests_total")
    said = world.s_client(b"Q\n", "-sess_in", str(session), "-early_data", str(early))
    table.true("rejected", "Early data was rejected" in said, said[-500:])
    table.same("no order", world.metric("net_signed_requests_total"), before)
    return table.wrong


@suite.case
def renegotiation(world):
    """It is declined."""
    table = Table()
    said = world.s_client(b"R\n", "-tls1_2")
    table.true("renegotiation", "no renegotiation" in said, said[-300:])
    return table.wrong


@suite.case
def not_tls(world):
    """HTTP gets a 400 that says https, other bytes an alert; both close."""
    table = Table()
    before = world.counted("plain_requests")
    for row, data in (("a request", TIME), ("a letter", b"p")):
        with Connection(world.exchange.port) as connection:
            connection.send(data)
            response = connection.receive()
            table.problem(row, response, 400, "malformed_request")
            table.true(row, "https://" in response.json["detail"], response)
            table.same(row, response.header("connection"), "close")
            table.true(f"{row}: closes", connection.closed())
    table.same("counted", world.counted("plain_requests") - before, 2)
    rows = [
        ("zeros", bytes(100)), ("SSL 2", b"\x80\x2e\x01\x00\x02" + bytes(40)),
        ("a record that is no handshake", b"\x17\x03\x03\x00\x10" + bytes(16)),
        ("an alert", b"\x15\x03\x01\x00\x02\x02\x00"),
        ("no hello in the handshake", b"\x16\x03\x01\x00\x04\x02\x00\x00\x00"),
        ("a hello of 64 KiB", b"\x16\x03\x01\x00\x04\x01\x01\x00\x00"),
        ("a head of a hello in pieces", b"\x16\x03\x01\x00\x01\x01\x16\x03\x01\x00\x01\x00"),
    ]
    for row, data in rows:
        with world.plain() as raw:
            raw.sendall(data)
            table.same(row, raw.recv(100), DECODE_ERROR)
            table.same(f"{row}: closes", raw.recv(100), b"")
    for row, data in (("random hello", os.urandom(60)), ("empty hello", bytes(60))):
        with world.plain() as raw:
            raw.sendall(b"\x16\x03\x01\x00\x40\x01\x00\x00\x3c" + data)
            table.same(f"{row}: an alert", raw.recv(100)[:1], b"\x15")
            table.same(f"{row}: closes", raw.recv(100), b"")
    return table.wrong


@suite.case
def cut_handshakes(world):
    """A handshake that ends at any byte leaves nothing behind; in pieces of a byte it succeeds."""
    table = Table()
    step = 23 if INSTRUMENTED else 5
    for version in (V1_2, V1_3):
        context = context_of(world.pair[0], version)
        answers(table, "a byte at a time", world.peer(context, piece=1).handshake()).close()
        lengths = []
        for flight in (0, 1):
            cut = 0
            while not lengths or len(lengths) == flight or cut < lengths[flight]:
                peer = world.peer(context)
                for _ in range(flight + 1):
                    try:
                        peer.tls.do_handshake()
                    except ssl.SSLWantReadError:
                        pass
                    data = peer.take()
                    if _ == flight:
                        break
                    peer.raw.sendall(data)
                    while peer.incoming.pending < 600:  # the server's flight, whole
                        peer.incoming.write(peer.raw.recv(65536))
                if len(lengths) == flight:
                    lengths.append(len(data))
                peer.raw.sendall(data[:cut])
                if cut % 2:
                    peer.raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                        b"\1\0\0\0\0\0\0\0")  # a reset
                peer.close()
                cut += step
        table.true(f"flights {lengths}", len(lengths) == 2 and min(lengths) > 50)
    table.true("nothing is left but the silent peers",
               seen(lambda: world.metric("net_tls_handshakes_open") <= 3, True))
    answers(table, "afterwards", world.peer().handshake()).close()
    return table.wrong


@suite.case
def damaged_records(world):
    """A changed byte of ciphertext ends the connection with an alert, and executes nothing."""
    table = Table()
    before = world.counted("failures")
    for version in (V1_2, V1_3):
        peer = world.peer(context_of(world.pair[0], version)).handshake()
        answers(table, "first", peer)
        requests = world.metric("net_signed_requests_total")
        peer.tls.write(order_of(world.rich, 900_000))
        data = bytearray(peer.take())
        data[20] ^= 1
        peer.raw.sendall(data)
        try:
            got = peer.recv(10)
        except ssl.SSLError as error:
            got = error.reason
        table.same("alert", got, "SSLV3_ALERT_BAD_RECORD_MAC")
        table.same("no order", world.metric("net_signed_requests_total"), requests)
        peer.close()
    table.same("counted", world.counted("failures") - before, 2)
    return table.wrong


@suite.case
def pipelined_orders(world):
    """200 orders in one go, records cut anywhere: answers in order, X-Sequence rising."""
    table = Table()
    account = world.account()
    for version, piece in ((V1_2, None), (V1_3, None), (V1_3, 1000)):
        orders = [order_of(account, 900_000 - number) for number in range(200)]
        peer = world.peer(context_of(world.pair[0], version), piece=piece).handshake()
        with Connection.__new__(Connection) as connection:
            connection.socket, connection.buffer = peer, b""
            connection.send(b"".join(orders))
            last = 0
            for number in range(200):
                response = connection.receive()
                table.ack(f"order {number}", response, "request_completed")
                sequence = int(response.header("x-sequence"))
                table.true("X-Sequence", sequence >= last, (sequence, last))
                last = sequence
        account.cancel_all()
    return table.wrong


@suite.case
def large_answers(world):
    """Megabytes that are read late: they come whole, and perpd holds little of them encrypted."""
    table = Table()
    document = world.exchange.get("/api/v1/openapi.json")
    table.same("document", document.status, 200)
    peer = world.peer(piece=700).handshake()
    with Connection.__new__(Connection) as connection:
        connection.socket, connection.buffer = peer, b""
        sender = threading.Thread(target=lambda: peer.raw.sendall(data))
        peer.tls.write(request_bytes("GET", "/api/v1/openapi.json") * 40)
        data = peer.take()
        sender.start()
        time.sleep(0.5)
        for _ in range(40):
            table.true("whole", connection.receive().body == document.body)
        sender.join()
    return table.wrong


@suite.case
def ends(world):
    """close_notify of the client: what was sent is answered, then close_notify of perpd. TCP's end
    alone does the same; Connection: close ends with close_notify."""
    table = Table()
    for version in (V1_2, V1_3):
        for row in ("close_notify", "FIN"):
            peer = world.peer(context_of(world.pair[0], version)).handshake()
            with Connection.__new__(Connection) as connection:
                connection.socket, connection.buffer = peer, b""
                connection.send(TIME + TIME + b"GET /api/v1/ti")
                if row == "FIN":
                    peer.raw.shutdown(socket.SHUT_WR)
                else:
                    peer.shutdown()
                for _ in range(2):
                    table.same(row, connection.receive().status, 200)
                table.true(f"{row}: closes", connection.closed())
                table.true(f"{row}: by close_notify", peer.ended)
        peer = world.peer(context_of(world.pair[0], version)).handshake()
        with Connection.__new__(Connection) as connection:
            connection.socket, connection.buffer = peer, b""
            close = request_bytes("GET", "/api/v1/time", None, [("Connection", "close")])
            table.same("close", connection.exchange(close).status, 200)
            table.true("closes", connection.closed())
            table.true("by close_notify", peer.ended)
    return table.wrong


def served(world):
    """The certificate that a new connection gets."""
    peer = world.peer(context_of(None)).handshake()
    try:
        return ssl.DER_cert_to_PEM_cert(peer.tls.getpeercert(True))
    finally:
        peer.close()


@suite.case
def reload(world):
    """SIGHUP: new connections get the new certificate, open ones go on; what cannot be used changes
    nothing."""
    table = Table()
    old = world.folder / "old.pem", world.folder / "old.key"
    put(world.pair, old)
    new = make_certificate(world.folder, "new", "rsa:2048")
    account = world.account()
    wrong, stop = [], threading.Event()

    def trade():
        while not stop.is_set():
            done = account.limit(900_000, 20)
            if done["status"] != "request_completed":
                wrong.append(done)
            account.cancel_all()

    trader = threading.Thread(target=trade)
    trader.start()  # on its one connection
    begun = world.metric("tls_certificate_reloads_total")
    failed = world.metric("tls_certificate_reload_failures_total")
    try:
        put(new, world.pair)
        world.perpd.process.send_signal(signal.SIGHUP)
        table.same("read", seen(lambda: world.metric("tls_certificate_reloads_total"), begun + 1),
                   begun + 1)
        table.same("the new one", seen(lambda: served(world), new[0].read_text()),
                   new[0].read_text())
        rows = [
            ("another's key", lambda: put((new[0], old[1]), world.pair)),
            ("no certificate", lambda: world.pair[0].write_text("nothing\n")),
            ("no file", world.pair[0].unlink),
            ("a key that others may read", lambda: (put(old, world.pair),
                                                    world.pair[1].chmod(0o640))),
        ]
        for number, (row, change) in enumerate(rows, 1):
            change()
            world.perpd.process.send_signal(signal.SIGHUP)
            look = lambda: world.metric("tls_certificate_reload_failures_total")
            table.same(row, seen(look, failed + number), failed + number)
            table.same(f"{row}: the one in force stays", served(world), new[0].read_text())
        put(old, world.pair)
        world.perpd.process.send_signal(signal.SIGHUP)
        table.same("read", seen(lambda: world.metric("tls_certificate_reloads_total"), begun + 2),
                   begun + 2)
        table.same("back", seen(lambda: served(world), old[0].read_text()), old[0].read_text())
    finally:
        stop.set()
        trader.join()
    table.same("orders meanwhile", wrong, [])
    table.true("the log", world.perpd.log().count("the one in force stays") >= 4)
    return table.wrong


@suite.case
def perp_over_https(world):
    """perp: an order's way with --ca; what is wrong with a certificate is said with what to do."""
    table = Table()
    mine = world.folder / "mine.pem", world.folder / "mine.key"
    put(world.pair, mine)

    def perp(row, code, words, *options, host="localhost"):
        done = subprocess.run(
            [pathlib.Path(world.perpd.program).parent / "perp", "time", "--count", "2", "--url",
             f"https://{host}:{world.exchange.port}", *options], capture_output=True, check=False,
            env={**os.environ, "HOME": str(world.folder)}, timeout=PATIENCE_S)
        table.same(f"{row}: exit code", done.returncode, code)
        for word in words:
            table.true(f"{row}: {word}", word in done.stderr.decode(), done.stderr)

    def serve(pair):
        put(pair, world.pair)
        world.perpd.process.send_signal(signal.SIGHUP)
        want = pathlib.Path(pair[0]).read_text()
        return table.same("served", seen(lambda: served(world), want), want)

    try:
        perp("by name", 0, (), "--ca", mine[0])
        perp("by address", 0, (), "--ca", mine[0], host="127.0.0.1")
        perp("nobody's", 4, ("--ca FILE", "issuer"))
        perp("no such file", 4, ("no PEM file",), "--ca", world.folder / "absent")
        perp("no certificates", 4, ("no PEM file",), "--ca", mine[1])
        other = make_certificate(world.folder, "elsewhere", names="subjectAltName=DNS:else.where")
        serve(other)
        for host in ("localhost", "127.0.0.1"):
            perp("another name", 4, ("not for", "else.where"), "--ca", other[0], host=host)
        expired = expired_certificate(world.folder, "expired")
        serve(expired)
        perp("expired", 4, ("has expired",), "--ca", expired[0])
        authority = make_certificate(world.folder, "authority", authority=True)
        signed = make_certificate(world.folder, "signed", signer=authority)
        serve(signed)
        perp("of an authority", 0, (), "--ca", authority[0])
        perp("of another", 4, ("issuer",), "--ca", mine[0])
    finally:
        serve(mine)
    with socket.create_server(("127.0.0.1", 0)) as plain:
        threading.Thread(target=lambda: plain.accept()[0].sendall(b"HTTP/1.1 400 No\r\n\r\n"),
                         daemon=True).start()
        done = subprocess.run([pathlib.Path(world.perpd.program).parent / "perp", "time", "--url",
                               f"https://127.0.0.1:{plain.getsockname()[1]}"], check=False,
                              capture_output=True, timeout=PATIENCE_S)
        table.true("no TLS", b"use http://" in done.stderr, done.stderr)
    return table.wrong


@suite.case
def expiry(world):
    """The end date is a metric, and a warning from 14 days on."""
    table = Table()
    left = world.metric("tls_certificate_expires_seconds")
    table.true("10 days", 9.9 * 86_400 < left <= 10 * 86_400, left)
    table.true("warned", re.search(r"warn certificate .*expires in days=9", world.perpd.log()))
    return table.wrong


@suite.case
def refused_starts(world):
    """Exit code 2 with a sentence that names the files; the key is in no log."""
    table = Table()
    first, other = world.pair, make_certificate(world.folder, "other")
    readable = world.folder / "readable.key"
    shutil.copy(first[1], readable)
    readable.chmod(0o604)
    locked = world.folder / "locked.key"
    subprocess.run(["openssl", "ec", "-in", first[1], "-aes128", "-passout", "pass:x", "-out",
                    locked], check=True, capture_output=True)
    locked.chmod(0o600)
    absent = world.folder / "absent"
    rows = [
        ("another's key", first[0], other[1], (first[0], other[1], "not the one")),
        ("readable key", first[0], readable, (readable, "0604", "chmod 600")),
        ("locked key", first[0], locked, (locked, "passphrase")),
        ("key as certificate", first[1], first[1], (first[1], "PEM certificate")),
        ("certificate as key", first[0], first[0], (first[0], "PEM private key")),
        ("no certificate", absent, first[1], (absent, "No such file")),
        ("no key", first[0], absent, (absent, "No such file")),
        ("a folder", world.folder, first[1], (world.folder, "regular file")),
        ("only a certificate", first[0], None, ("net.tls_certificate needs net.tls_key",)),
        ("only a key", None, first[1], ("net.tls_key needs net.tls_certificate",)),
    ]
    secret = "".join(first[1].read_text().split("\n")[1:-2])[:40]
    for row, certificate, key, words in rows:
        options = [f"--net.tls_{name}={path}" for name, path in
                   (("certificate", certificate), ("key", key)) if path is not None]
        done = subprocess.run([world.perpd.program, f"--store.data={world.folder / 'refused'}",
                               "--net.listen=127.0.0.1:0", *options], capture_output=True,
                              timeout=PATIENCE_S, check=False)
        said = done.stderr.decode()
        table.same(row, done.returncode, 2)
        for word in words:
            table.true(f"{row}: {word}", str(word) in said, said)
        table.true(f"{row}: no secret", secret not in said and secret not in world.perpd.log())
    status = pathlib.Path(f"/proc/{world.perpd.process.pid}/coredump_filter")
    table.same("no core dump: /proc is root's", status.stat().st_uid, 0)
    return table.wrong


@suite.case
def http_over_tls(world):
    """The cases of test_http.py."""
    names = [case.__name__ for case in test_http.suite.cases if case.__name__ != "slow_peers"]
    return ["see above"] if test_http.suite.run(Quick(world.exchange), names) else []


@suite.case
def conformance_over_tls(world):
    """The cases of test_conformance.py."""
    names = [case.__name__ for case in test_conformance.suite.cases]
    return ["see above"] if test_conformance.suite.run(world, names) else []


@suite.case
def late_handshakes(world):
    world.late.join(PATIENCE_S)
    return world.late_wrong.wrong


suite.case(tls_crowd.connections)
suite.case(tls_crowd.crowd)
suite.case(tls_crowd.behind_a_crowd)
suite.case(tls_crowd.small_records)


def main():
    with tempfile.TemporaryDirectory(prefix="perpd-tls-") as name:
        folder = pathlib.Path(name)
        pair = make_certificate(folder, "first", days=10)
        perpd = Perpd(perpd_program(), "--exchange.oracle_max_age_ms=0",
                      f"--net.tls_certificate={pair[0]}", f"--net.tls_key={pair[1]}",
                      "--limits.connections=16384", *client.SMALL_TABLES)
        try:
            exchange = perpd.start()
            exchange.wrap_socket = wrapper(context_of(pair[0]))
            result = suite.run(TlsWorld(perpd, folder, pair), only())
            if perpd.process.poll() is not None:
                print(f"FAILED: perpd has ended\n{perpd.log()}")
                return 1
            if not all(exchange.audit()[f"i{number}"] for number in range(1, 7)):
                print("FAILED audit")
                result = 1
            code = perpd.stop()
            if code != 0:
                print(f"FAILED stop: exit code {code}\n{perpd.log()}")
                result = 1
            return result
        finally:
            perpd.remove()


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(main())
