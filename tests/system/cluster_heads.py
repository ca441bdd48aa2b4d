"""cluster_heads.py - a part of the drill of test_cluster.py: heads and receipts of a cluster
(journal.md, Heads, Receipts; replication.md). Who leads makes them, of frames that count; another
leader's receipt of a request is the same bytes, and every node's journal meets every node's heads.
"""
import base64
import ctypes
import json
import shutil
import struct
import subprocess
import time

import client
from client import id_text
from cluster import Rule, until
from harness import perpd_program
from world import BTC_PRICE

HEAD, RECEIPT = 224, 280
TOLD = "another key signs from sequence"
WAYS = "/api/v1/requests/{}/receipt"
_sodium = ctypes.CDLL("libsodium.so.23")


def is_signed(data, public):
    return _sodium.crypto_sign_verify_detached(data[-64:], data[:-64],
                                               ctypes.c_ulonglong(len(data) - 64), public) == 0


def heads_of(node):
    """Newest first."""
    return [base64.b64decode(row["head"])
            for row in node.exchange().get("/api/v1/heads?limit=1000").json["heads"]]


def boot_of(head):
    return struct.unpack_from("<Q", head, 64)[0]


def sequence_of(head):
    return struct.unpack_from("<Q", head, 80)[0]


def ask(node, worker, request_id):
    return node.exchange().get(WAYS.format(id_text(request_id)), worker.account.api_key)


def of_leader(world, worker, request_id):
    """The receipt of who leads, and who that is."""
    def look():
        world.cluster.revive()
        leader = world.cluster.leader()
        got = ask(leader, worker, request_id)
        return (base64.b64decode(got.json["receipt"]), leader) if got.status == 200 else None

    return until(look, lambda: f"receipt of {id_text(request_id)}: " + world.cluster.tails())


def of_standby(world, worker, request_id):
    """What a node says that does not lead, and the leader's port."""
    def look():
        world.cluster.revive()
        leader = world.cluster.leader()
        node = next(node for node in world.cluster.nodes if node is not leader)
        got = ask(node, worker, request_id)
        is_told = got.status != 200 and world.cluster.leaders() == [leader]
        return (got, leader.port) if is_told and got.json["code"] != "not_ready" else None

    return until(look, lambda: "receipt of a standby: " + world.cluster.tails())


def hand_over(world):
    """Until another node leads."""
    old = world.cluster.leader()

    def look():
        world.cluster.revive()
        if world.cluster.leader() is old:
            old.post("/admin/handover")
        return world.cluster.leader() is not old

    until(look, lambda: "handover: " + world.cluster.tails())


def at_once(world, worker):
    """X-Ack: receipt of an order: as the last member, what GET gives."""
    exchange = client.Exchange(0, 0, None, None, "")
    exchange._salt = world.salt
    request_id = client.new_id()
    body = client.limit_body(worker.account.id, BTC_PRICE * 7 // 10, 20)
    data = exchange.signed(client.PLACE_LIMIT, body, worker.account.session, request_id,
                           headers=[("X-Ack", "receipt")])
    answer = Rule(world.cluster).send(data, time.monotonic() + 60)
    given = (answer.json.get("receipt") or "") if answer is not None else ""
    want, _ = of_leader(world, worker, request_id)
    # A request that was sent again is answered as a duplicate, with the receipt of the first.
    return [] if base64.b64decode(given) == want else [f"X-Ack: receipt: {answer!r}"]


def receipts(world):
    """Of the first and the newest request of each worker, before and after a takeover."""
    problems = []
    public = base64.b64decode(
        world.cluster.leader().exchange().get("/api/v1/exchange").json["signing_public"])
    asked = [(worker, ack) for worker in world.workers for ack in (worker.acked[0],
                                                                  worker.acked[-1])]
    kept = [of_leader(world, worker, ack[1])[0] for worker, ack in asked]
    for (worker, (_, raw, sequence, _, _)), data in zip(asked, kept):
        at, = struct.unpack_from("<Q", data, 152)
        if len(data) != RECEIPT or data[64:80] != raw or not is_signed(data, public) or \
                sequence not in (None, at):
            problems.append(f"receipt of {raw.hex()} at {sequence}: {data.hex()}")
    got, port = of_standby(world, asked[0][0], asked[0][1][1])
    if got.status != 421 or got.json["leader"] != f"127.0.0.1:{port}":
        problems.append(f"receipt of a standby: {got!r}, and {port} leads")
    hand_over(world)
    for (worker, ack), data in zip(asked, kept):
        if (again := of_leader(world, worker, ack[1])[0]) != data:
            problems.append(f"receipt of another leader: {again.hex()}, before {data.hex()}")
    problems += at_once(world, world.workers[0])
    newest = max(ack[2] or 0 for worker in world.workers for ack in worker.acked)
    until(lambda: sequence_of(heads_of(world.cluster.leader())[0]) >= newest,
          lambda: f"head of sequence {newest}: " + world.cluster.tails())
    world.cluster.revive()
    world.heads = until(lambda: {head for node in world.cluster.nodes for head in heads_of(node)},
                        lambda: "heads of every node: " + world.cluster.tails())
    world.receipt = kept[0]
    problems += [f"head that is not signed: {head.hex()}" for head in world.heads
                 if len(head) != HEAD or not is_signed(head, public)]
    if len({boot_of(head) for head in world.heads}) < 3:
        problems.append(f"{len(world.heads)} heads of the boots "
                        f"{sorted({boot_of(head) for head in world.heads})}")
    return problems


def rotated(world, kills=3):
    """Another key for the exchange, put into the directory of every node. Who tells the journal of
    it is killed as soon as it has begun, again and again: in the end it is told once."""
    cluster, perp = world.cluster, perpd_program().with_name("perp")
    cluster.revive()
    for node in cluster.nodes:
        node.stop()
    first, *others = cluster.nodes
    done = subprocess.run([perp, "keys", "rotate", first.folder, "-o", "json"],
                          capture_output=True, text=True, check=True)
    world.key = base64.b64decode(json.loads(done.stdout)["signing_public"])
    for node in others:
        shutil.copy2(first.folder / "signing.key", node.folder / "signing.key")
    told = {node: node.log().count(TOLD) for node in cluster.nodes}
    for node in cluster.nodes:
        node.start()
    for _ in range(kills):
        def telling():
            return next((node for node in cluster.nodes
                         if node.log().count(TOLD) > told[node] or node.state == "ready"), None)
        node = until(telling, lambda: "2018: " + cluster.tails())
        node.kill()
        told[node] = node.log().count(TOLD)
        node.rejoin()
    cluster.revive()
    worker, request_id = world.workers[0], client.new_id()
    exchange = client.Exchange(0, 0, None, None, "")
    exchange._salt = world.salt
    order = client.limit_body(worker.account.id, BTC_PRICE * 7 // 10, 20)
    data = exchange.signed(client.PLACE_LIMIT, order, worker.account.session, request_id)
    until(lambda: Rule(cluster).send(data, time.monotonic() + 60) is not None, "answer")
    receipt, _ = of_leader(world, worker, request_id)
    at, = struct.unpack_from("<Q", receipt, 152)
    for node in cluster.nodes:
        until(lambda node=node: node.exchange().get(
            "/api/v1/markets", headers=[("X-Min-Sequence", str(at))]).status == 200,
            lambda node=node: f"sequence {at} on {node.name}: " + node.log()[-600:])
    return [] if is_signed(receipt, world.key) else ["a receipt by the former key"]


def told_once(world):
    """Each node's journal has the key of the rotation in one record 2018."""
    problems, perp = [], perpd_program().with_name("perp")
    for node in world.cluster.nodes:
        done = subprocess.run([perp, "journal", "cat", "--data", node.folder, "--code", "2018",
                               "-o", "json"], capture_output=True, text=True, check=False)
        lines = [line for line in done.stdout.splitlines() if '"sequence"' in line]
        if done.returncode != 0 or len(lines) != 1:
            problems.append(f"2018 in {node.name}: {len(lines)}, {done.stderr[-300:]}")
    return problems


def heads_hold(world):
    """Of the nodes' directories, when they have ended: each meets the heads of all."""
    problems, home = [], world.cluster.home
    perp = perpd_program().with_name("perp")
    (home / "kept.heads").write_bytes(b"".join(sorted(world.heads)))
    (home / "kept.receipt").write_bytes(world.receipt)
    for node in world.cluster.nodes:
        done = subprocess.run([perp, "audit", "--data", node.folder, "--head",
                               home / "kept.heads", "-o", "json"],
                              capture_output=True, text=True, check=False)
        told = json.loads(done.stdout or "{}").get("heads", 0)
        if done.returncode != 0 or told < len(world.heads):
            problems.append(f"audit of {node.name}: exit {done.returncode}, {told} heads of "
                            f"{len(world.heads)}: {done.stderr[-600:]}")
        done = subprocess.run([perp, "receipt", "verify", home / "kept.receipt", "--journal",
                               node.folder], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            problems.append(f"receipt beside {node.name}: {done}")
    problems += told_once(world)
    print(f"cluster: {len(world.heads)} heads of {len({boot_of(head) for head in world.heads})} "
          f"boots are met by each of {len(world.cluster.nodes)} journals")
    return problems
