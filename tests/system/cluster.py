"""cluster.py - three members of etcd and nodes of one cluster on loopback, and clients that follow
the rule of replication.md: the same bytes to the leader that is told, else to the next node, until
there is an answer.
"""
import base64
import http.client
import json
import os
import pathlib
import re
import shutil
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

import client

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from ports import free_port

NOT_LEADING = 5  # the exit code of a leader that may be none any more
WAIT_S = 200  # for what takes a second on an idle machine

# Bounds that a drill comes to: etcd keeps little, a slow disk is none that stands.
DRILLED = ("--cluster.retain=64K", "--cluster.etcd_quota=48M", "--cluster.disk_stall_ms=60000",
           "--cluster.give_up_ms=1000", "--node.follower_lag_max=1000")


# What a look at a node or a member meets that has just ended, or has nothing to show yet.
NOT_YET = (OSError, EOFError, http.client.HTTPException, LookupError, TypeError, ValueError,
           AttributeError)


def until(look, what, seconds=WAIT_S):
    """What `look` gives once that is true. `what` is a text, or gives it when the time is over."""
    end, last = time.monotonic() + seconds, None
    while time.monotonic() < end:
        try:
            if got := look():
                return got
            last = None
        except NOT_YET as error:
            last = error
        time.sleep(0.01)
    text = what if isinstance(what, str) else what()
    raise AssertionError(f"after {seconds} s: no {text}" + (f"; {last!r}" if last else ""))


class Etcd:
    """Members of one etcd, each with a folder and a log below `folder`."""

    def __init__(self, folder, count=3, quota=0, certificates=None):
        self.folder, self.quota = folder, quota  # 0: etcd's own
        self.certificates = certificates  # None: plain; else cluster_certificates.py
        self.clients = [free_port() for _ in range(count)]
        self.peers = [free_port() for _ in range(count)]
        self.processes = [None] * count
        for number in range(count):
            self.start(number)
        until(lambda: self.leader() is not None, "leader of etcd")

    def start(self, number):
        urls = [f"m{i}=http://127.0.0.1:{port}" for i, port in enumerate(self.peers)]
        mine = f"{self.scheme()}://127.0.0.1:{self.clients[number]}"
        peer = f"http://127.0.0.1:{self.peers[number]}"
        secure = [] if self.certificates is None else [
            f"--cert-file={self.certificates.path('server.pem')}", "--client-cert-auth",
            f"--key-file={self.certificates.path('server.key')}",
            f"--trusted-ca-file={self.certificates.path('ca.pem')}"]
        with open(self.folder / f"etcd{number}.log", "ab") as log:
            self.processes[number] = subprocess.Popen(
                ["etcd", f"--name=m{number}", f"--data-dir={self.folder / f'etcd{number}'}",
                 f"--listen-client-urls={mine}", f"--advertise-client-urls={mine}",
                 f"--listen-peer-urls={peer}", f"--initial-advertise-peer-urls={peer}",
                 f"--initial-cluster={','.join(urls)}", "--heartbeat-interval=50",
                 "--election-timeout=500", "--snapshot-count=5000",
                 f"--quota-backend-bytes={self.quota}", *secure],
                stdout=log, stderr=log)

    def scheme(self):
        return "http" if self.certificates is None else "https"

    def ask(self, number, path, body):
        url = f"{self.scheme()}://127.0.0.1:{self.clients[number]}{path}"
        request, context = urllib.request.Request(url, json.dumps(body).encode()), None
        if self.certificates is not None:
            context = ssl.create_default_context(cafile=self.certificates.path("ca.pem"))
            context.load_cert_chain(self.certificates.path("client.pem"),
                                    self.certificates.path("client.key"))
        with urllib.request.urlopen(request, timeout=10, context=context) as answer:
            return json.load(answer)

    def options(self):
        """What perpd needs to know of it, but for its addresses."""
        if self.certificates is None:
            return []
        return [f"--cluster.etcd_{name}={self.certificates.path(file)}" for name, file in
                (("ca", "ca.pem"), ("certificate", "client.pem"), ("key", "client.key"))]

    def leader(self):
        """The number of the member that leads; None: no member knows one."""
        for number, process in enumerate(self.processes):
            if process is None or process.poll() is not None:
                continue
            try:
                status = self.ask(number, "/v3/maintenance/status", {})
                if status.get("leader") == status["header"]["member_id"]:
                    return number
            except NOT_YET:
                continue
        return None

    def move_leader(self, number):
        """Lets this member lead."""
        member = self.ask(number, "/v3/maintenance/status", {})["header"]["member_id"]
        self.ask(self.leader(), "/v3/maintenance/transfer-leadership", {"targetID": member})

    def kill(self, number):
        self.processes[number].kill()
        self.processes[number].wait()

    def kill_leader(self):
        """Its number, with which start() brings it back."""
        member, = until(lambda: [i for i in [self.leader()] if i is not None], "leader of etcd")
        self.kill(member)
        return member

    def insist(self, path, body):
        """The answer of etcd's leader, asked again while there is none."""
        return until(lambda: self.ask(self.leader(), path, body), path)

    def fill(self, megabytes):
        """Puts so much beside the clusters' keys, in values that hold up nobody for long."""
        value = base64.b64encode(bytes(250_000)).decode()
        for _ in range(4 * megabytes):
            key = base64.b64encode(f"filler/{time.monotonic_ns()}".encode()).decode()
            self.insist("/v3/kv/put", {"key": key, "value": value})

    def empty(self):
        """Removes for good what fill has put."""
        first, end = (base64.b64encode(text).decode() for text in (b"filler/", b"filler0"))
        gone = self.insist("/v3/kv/deleterange", {"key": first, "range_end": end})
        self.insist("/v3/kv/compaction", {"revision": gone["header"]["revision"]})

    def frames(self, cluster):
        """The frames of the cluster's log that are there: their number, and the lowest."""
        found = self.insist("/v3/kv/range", {
            "key": base64.b64encode(f"perp/{cluster}/log/".encode()).decode(),
            "range_end": base64.b64encode(f"perp/{cluster}/log/~".encode()).decode(), "limit": 1})
        key = base64.b64decode(found["kvs"][0]["key"]).decode()
        return int(found["count"]), int(key.rsplit("/", 1)[1], 16)

    def segment_end(self, cluster, number):
        """The last sequence of a segment that the vault has."""
        key = base64.b64encode(f"perp/{cluster}/segment/{number:016x}".encode()).decode()
        row = base64.b64decode(self.insist("/v3/kv/range", {"key": key})["kvs"][0]["value"])
        return int.from_bytes(row[48:56], "little")

    def images(self, cluster):
        """What each node has shown of its newest snapshot: its sequence and image hash."""
        first, end = (base64.b64encode(f"perp/{cluster}/image/{text}".encode()).decode()
                      for text in ("", "~"))
        found = self.insist("/v3/kv/range", {"key": first, "range_end": end})
        rows = [base64.b64decode(row["value"]) for row in found.get("kvs", [])]
        return [(int.from_bytes(row[16:24], "little"), row[64:96]) for row in rows]

    def names(self, cluster, folder):
        """The names of the nodes that have a key in the folder."""
        first, end = (base64.b64encode(f"perp/{cluster}/{folder}/{text}".encode()).decode()
                      for text in ("", "~"))
        found = self.insist("/v3/kv/range", {"key": first, "range_end": end, "keys_only": True})
        keys = [base64.b64decode(row["key"]).decode() for row in found.get("kvs", [])]
        return [key.rsplit("/", 1)[1] for key in keys]

    def members(self, cluster):
        """The names of the nodes that belong to the cluster."""
        return self.names(cluster, "member")


class Proxy:
    """Stands between one node and etcd (proxy.py); the member `first` is that of its machine."""

    def __init__(self, etcd, first):
        ports = etcd.clients[first:] + etcd.clients[:first]
        self.process = subprocess.Popen(
            [sys.executable, pathlib.Path(__file__).with_name("proxy.py"), *map(str, ports)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        ports = self.process.stdout.readline().split()
        self.addresses = ",".join(f"127.0.0.1:{int(port)}" for port in ports)

    def tell(self, line):
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def end(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


class Node:
    """One perpd of the cluster; `state` is the last line that it printed: standby, ready. One that
    etcd heard too late ends with 5, as a slow machine may make any, and is started again."""

    def __init__(self, cluster, name, folder):
        self.cluster, self.name, self.folder = cluster, name, folder
        self.member = len(cluster.nodes) % len(cluster.etcd.clients)  # of etcd, on its machine
        # None: nothing is to stand between them, for it costs time.
        self.proxy = Proxy(cluster.etcd, self.member) if cluster.is_drilled else None
        self.process, self.state, self.port, self.starts = None, None, None, 0
        self.listen = free_port()  # the same after each start, for a client's list
        self.turn = threading.RLock()  # a start, and a look whether one is due, are one at a time
        self.may_end = False  # the drill makes it end, and starts it itself
        self.program = cluster.origin.program
        self.lost_sessions = 0
        self.environment = cluster.environment(name)

    def addresses(self):
        """Of etcd, the member of its own machine first."""
        if self.proxy is not None:
            return self.proxy.addresses
        ports = self.cluster.etcd.clients
        return ",".join(f"127.0.0.1:{port}" for port in ports[self.member:] + ports[:self.member])

    def start(self, *more):
        with self.turn:
            self.start_now(*more)

    def start_now(self, *more):
        self.state, self.port, self.may_end = None, None, False
        self.starts += 1
        arguments = [str(self.program), *(word for word in self.cluster.origin.arguments()[1:]
                                           if not word.startswith("--net.listen=")),
                     f"--store.data={self.folder}", f"--net.listen=127.0.0.1:{self.listen}",
                     f"--cluster.name={self.cluster.name}", f"--cluster.node={self.name}",
                     f"--cluster.etcd={self.addresses()}",
                     f"--cluster.vault=file:{self.cluster.vault}",
                     *(DRILLED if self.cluster.is_drilled else ()),
                     *self.cluster.etcd.options(), *self.cluster.node_options, *more]
        with open(self.folder.parent / f"{self.name}.log", "ab") as log:
            self.process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=log,
                                            env=dict(os.environ, **self.environment))
        threading.Thread(target=self.read, args=(self.process,), daemon=True).start()

    def read(self, process):
        for line in process.stdout:
            match = re.fullmatch(rb"(standby|ready) https?://127\.0\.0\.1:(\d+)\n", line)
            if match and process is self.process:
                self.port, self.state = int(match[2]), match[1].decode()
        code = process.wait()
        with self.turn:  # the drill may be starting it already
            if code == NOT_LEADING and process is self.process and not self.may_end:
                self.lost_sessions += 1
                self.start()

    def kill(self):
        self.may_end = True
        self.process.kill()
        self.process.wait()
        self.state = None

    def stop(self):
        """Asks it to end; the exit code."""
        self.may_end = True
        self.process.terminate()
        self.state = None
        return self.process.wait(WAIT_S)

    def rejoin(self):
        """Starts it and waits until it follows or leads."""
        self.start()
        until(lambda: self.state,
              lambda: "rejoin: " + self.whereabouts())

    def whereabouts(self):
        """What it does and where it waits, for a drill that found it elsewhere."""
        code, process = self.process.poll(), pathlib.Path(f"/proc/{self.process.pid}")
        lines = [f"{self.name}: state {self.state}, exit {code}, {self.starts} starts, "
                 f"may end {self.may_end}"]
        for task in sorted(process.glob("task/*")) if code is None else []:
            try:
                words = [(task / name).read_text().strip() for name in ("comm", "wchan", "syscall")]
                state = re.search(r"State:\s*(.*)", (task / "status").read_text())[1]
                lines.append(" ".join([task.name, state, *words]))
            except OSError as error:
                lines.append(f"{task.name} {error}")
        return "\n".join([*lines, self.log()[-2000:]])

    def log(self):
        return (self.folder.parent / f"{self.name}.log").read_text(errors="replace")

    def exchange(self):
        """A client of this node alone."""
        origin = self.cluster.origin
        ports = re.findall(r"admin_port=(\d+)", self.log())
        return client.Exchange(self.port, int(ports[-1]), origin.operator, origin.oracle,
                               (self.folder / "admin.token").read_text().strip())

    def metric(self, name):
        text = self.exchange().admin("/metrics").body.decode()
        return int(re.search(rf"^perpd_{name} (-?\d+)$", text, re.M)[1])

    def post(self, target):
        """The answer of an order without a body on the admin listener."""
        exchange = self.exchange()
        with client.Connection(exchange.admin_port) as connection:
            return connection.exchange(f"POST {target} HTTP/1.1\r\nHost: localhost\r\n"
                                       f"Authorization: Bearer {exchange.bearer[1].split()[-1]}\r\n"
                                       "Content-Length: 0\r\n\r\n".encode())

    def seal(self):
        """Begins a segment of the journal; a process does so once in 10 s."""
        return self.post("/admin/seal")


class Cluster:
    """`origin` was a perpd alone: its directory is copied to every node. One that is not drilled
    has the bounds of an installation, and its nodes reach etcd without a proxy."""

    def __init__(self, program, prepare, *options, count=3, environment=lambda name: {},
                 node_options=(), etcd_quota=0, certificates=lambda home: None, is_drilled=True):
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="perpd-cluster-"))
        self.name = "drill"
        self.environment, self.node_options = environment, node_options
        self.is_drilled = is_drilled
        self.etcd = None
        self.nodes = []
        self.origin = client.Perpd(program, *client.SMALL_TABLES, *client.LONG_WINDOW, *options,
                                   parent=self.home)
        self.prepared = prepare(self.origin.start())
        assert self.origin.stop() == 0, self.origin.log()
        client.forget_memory(self.origin.folder)
        self.etcd = Etcd(self.home, quota=etcd_quota, certificates=certificates(self.home))
        self.vault = self.home / "vault"
        self.vault.mkdir()
        for number in range(count):
            folder = self.home / f"n{number}"
            shutil.copytree(self.origin.folder / "data", folder)
            self.nodes.append(Node(self, f"n{number}", folder))
        for number, node in enumerate(self.nodes):
            node.start(*(["--cluster.create=on"] if number == 0 else []))
        self.begun = time.monotonic()  # all nodes, and before them all members of etcd

    def leaders(self):
        return [node for node in self.nodes
                if node.state == "ready" and node.process.poll() is None]

    def leader(self, seconds=WAIT_S):
        return until(self.leaders, lambda: "leader: " + self.tails(), seconds)[0]

    def shown(self):
        """What the leader shows of the cluster: {} if it has just gone, without nodes while it has
        just begun and knows nothing yet."""
        try:
            return self.leader().exchange().admin("/admin/cluster").json
        except NOT_YET:
            return {}

    def kill_leader(self):
        """The node, which rejoin() brings back."""
        leader = self.leader()
        leader.kill()
        return leader

    def revive(self):
        """Until all nodes run: on a slow machine a leader may lose its session and begins again."""
        for node in self.nodes:
            until(lambda: node.state and node.process.poll() is None,
                  lambda node=node: "rejoin: " + node.whereabouts())

    def hold_leader(self):
        """The leader; if it loses its session from now on, it is not started again."""
        def hold():
            node = self.leader()
            node.may_end = True
            if node in self.leaders():
                return node
            with node.turn:  # its end may be read just now
                node.may_end = False
                if node.process.poll() is not None:
                    node.start()
            return None
        return until(hold, lambda: "leader that stays: " + self.tails())

    def seal(self):
        """The leader, which has sealed a segment of its journal and put it into the vault."""
        def sealed():
            leader = self.leader()
            number = leader.metric("cluster_vault_segments")
            if leader.seal().json.get("sealed") is not True:
                return None
            until(lambda: leader not in self.leaders() or
                  leader.metric("cluster_vault_segments") > number,
                  lambda: "segment in the vault: " + leader.log()[-2000:])
            return leader if leader in self.leaders() else None
        return until(sealed, lambda: "sealed segment: " + self.tails())

    def tails(self):
        return "\n".join(node.log()[-600:] for node in self.nodes if node.starts)

    def remove(self):
        for node in self.nodes:
            node.may_end = True
        for node in self.nodes:
            if node.process is not None:
                node.process.kill()
                node.process.wait()
                node.process.stdout.close()
            if node.proxy is not None:
                node.proxy.end()
        for process in self.etcd.processes if self.etcd else []:
            process.kill()
            process.wait()
        self.origin.remove()
        shutil.rmtree(self.home, ignore_errors=True)


class Rule:
    """The rule of an endpoint list, of one thread."""

    def __init__(self, cluster):
        self.cluster, self.port, self.connection = cluster, None, None
        self.next, self.unknown = 0, 0
        self.since, self.open_tries = None, 0

    def drop(self):
        if self.connection is not None:
            self.connection.close()
        self.connection, self.port = None, None

    def go_on(self):
        """To the next node."""
        self.drop()
        ports = [node.port for node in self.cluster.nodes if node.port is not None]
        self.next += 1
        self.port = ports[self.next % len(ports)] if ports else None

    def send(self, data, end):
        """The response to these bytes, however often they must be sent; None after `end`.
        `open_tries` of the sendings may have been executed, the first of them at `since`."""
        self.since, self.open_tries = None, 0
        while time.monotonic() < end:
            try:
                if self.port is None:
                    self.go_on()
                if self.connection is None:
                    self.connection = client.Connection(self.port, 2)
                before = self.since
                self.since, self.open_tries = before or time.monotonic(), self.open_tries + 1
                response = self.connection.exchange(data)
            except (OSError, EOFError, TypeError):
                self.go_on()
                time.sleep(0.05)
                continue
            status = response.json.get("status") if response.status == 200 else None
            if response.status == 421 or status == "request_dropped" or \
                    (response.status == 503 and response.json["code"] == "not_ready"):
                self.since, self.open_tries = before, self.open_tries - 1  # was not executed
            if response.status == 421:
                self.drop()
                self.port = int(response.json["leader"].rsplit(":", 1)[1])
            elif response.status == 503 or status in ("request_dropped", "retry_required"):
                self.unknown += response.json.get("code") == "outcome_unknown"
                self.go_on()
                time.sleep(0.05)
            else:
                return response
        return None
