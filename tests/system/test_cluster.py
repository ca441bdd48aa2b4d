#!/usr/bin/env python3
"""test_cluster.py BUILD [COUNT] - a cluster on a real etcd (replication.md): its leader, etcd's
leader and a standby are killed with SIGKILL under load, COUNT times each (1); a leader is stopped
and goes on; a standby and a leader are cut off from etcd; a standby is away until its frames are in
the vault alone; another node joins by an invitation and leads; requests of every type are
sent again to the next leader; etcd is nearly full for a while.
Nothing that was acknowledged is missing, nothing is there twice, and the journals of all nodes are
equal. Its heads and receipts are one exchange's.

Without etcd-server it says so and ends with 77, skipped.
"""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "perp"))

import client
from cluster import NOT_YET, WAIT_S, Cluster, Node, Rule, until
from cluster_chain import chain_of
from cluster_heads import heads_hold, receipts, rotated
from cluster_join import joins
from cluster_load import WORKERS, World, end_load, nothing_is_lost, prepare
from cluster_place import placement
from cluster_types import every_type
from cluster_watch import watched, watches
from harness import PRODUCED, Suite, perpd_program
from soft_passkey import OPTIONS
from world import BTC_PRICE
from ws_client import Stream

suite = Suite("cluster")
STOPPED_S = 10
SOON_S = 10
COUNT = int(sys.argv[2]) if len(sys.argv) > 2 and sys.argv[2].isdigit() else 1


def at_rest(world, part):
    """The part without load: standbys of a slow machine lag while the log grows."""
    world.rests.set()
    try:
        return part(world)
    finally:
        world.rests.clear()


def kills(world):
    """A leader, etcd's leader and a standby are killed: there is always a next acknowledgement."""
    cluster = world.cluster

    def kill_standby():
        node = next(node for node in cluster.nodes if node is not cluster.leader())
        node.kill()
        return node

    def stop_member():
        member = next(i for i in range(3) if i != cluster.etcd.leader())
        cluster.etcd.processes[member].send_signal(signal.SIGSTOP)
        return member

    def let_go(member):
        time.sleep(20)
        cluster.etcd.processes[member].send_signal(signal.SIGCONT)

    world.begin()
    if COUNT > 1:  # of a run by night: it is long
        world.stall("etcd member apart", stop_member, let_go)
    for _ in range(COUNT):
        world.stall("leader", cluster.kill_leader, Node.rejoin)
        world.stall("standby", kill_standby, Node.rejoin)
        world.stall("etcd", cluster.etcd.kill_leader, cluster.etcd.start)
    return [f"more than one node says that it leads: {len(cluster.leaders())}"] \
        if len(cluster.leaders()) > 1 else []


def ask(node):
    """The exit code and the answer of perp cluster status."""
    done = subprocess.run(
        [perpd_program().with_name("perp"), "cluster", "status", "-o", "json", "--data",
         node.folder, "--admin-url", f"http://127.0.0.1:{node.exchange().admin_port}"],
        capture_output=True, text=True, check=False)
    return done.returncode, json.loads(done.stdout) if done.stdout else done.stderr


def until_code(node, code):
    return until(lambda: next((got for got in [ask(node)] if got[0] == code), None),
                 lambda: f"exit code {code} of {ask(node)}: {node.log()[-1000:]}")[1]


def begins(world):
    """How long it takes until one leads, and whether each node says soon that all is well."""
    cluster, codes = world.cluster, []
    cluster.leader()
    led = time.monotonic()
    while codes != [0, 0, 0] and time.monotonic() < led + SOON_S:
        codes = until(lambda: [ask(node)[0] for node in cluster.nodes if node.state], "status")
    print(f"cluster: one led {led - cluster.begun:.2f} s after all nodes had begun, perp cluster "
          f"status was {codes} after {time.monotonic() - cluster.begun:.2f} s")
    return []


def status(world):
    """perp cluster status on each node: 0 while all is well; 1 and what it is when a member of etcd
    is gone."""
    cluster, problems = world.cluster, []

    for node in cluster.nodes:
        until_code(node, 0)

    def is_well(page):
        return ([row["node"] for row in page["nodes"]] == ["n0", "n1", "n2"] and
                sorted(row["state"] for row in page["nodes"]) ==
                ["current", "current", "leading"] and page["problems"] == [] and
                all(row["clock_judged"] for row in page["nodes"] if row["state"] == "current") and
                page["leader"] == cluster.leader().name and page["used_percent"] < 50 and
                sorted(row["member"] for row in page["etcd"]) == ["m0", "m1", "m2"] and
                sum(row["leads"] for row in page["etcd"]) == 1)

    page = until(lambda: next((got for got in [cluster.nodes[0].exchange().admin("/admin/cluster")]
                               if got.status == 200), None), "GET /admin/cluster")
    if page.json["node"] != "n0":
        problems.append(f"GET /admin/cluster: {page!r}")
    until(lambda: is_well(until_code(cluster.nodes[0], 0)),
          lambda: f"three nodes and members in {ask(cluster.nodes[0])}")
    gone, = until(lambda: [(cluster.etcd.leader() + 1) % 3], "leader of etcd")
    cluster.etcd.kill(gone)
    until(lambda: f"member m{gone} of etcd does not answer, or cluster.etcd does not have it" in
          until_code(cluster.nodes[0], 1)["problems"],
          lambda: f"m{gone} gone in {ask(cluster.nodes[0])}")
    cluster.etcd.start(gone)
    for node in cluster.nodes:
        until_code(node, 0)
    return problems


def handovers(world):
    """A handover under load, by perp and by its route: the named node leads, acknowledges, and the
    old leader goes on as a standby. One that cannot take the lead is not given it."""
    cluster, problems = world.cluster, []

    def order(old, wanted):
        """The node that is to lead; None: ask again, on a slow machine another may lead."""
        done = subprocess.run(
            [perpd_program().with_name("perp"), "cluster", "handover", wanted, "-o", "json",
             "--data", old.folder, "--admin-url",
             f"http://127.0.0.1:{old.exchange().admin_port}"],
            capture_output=True, text=True, check=False)
        return json.loads(done.stdout)["leader"] if done.returncode == 0 else None

    def post(target, status):
        """The answer with this status of the leader, or of another if that is 421."""
        def ask():
            cluster.revive()
            leader = cluster.leader()
            node = next(node for node in cluster.nodes if (node is leader) == (status != 421))
            got = node.post(target.format(leader.name))
            return (node, got) if got.status == status else None
        return until(ask, lambda: f"{status} of {target}: " + cluster.tails())

    def hand(choose):
        def attempt():
            cluster.revive()
            old, asked = cluster.leader(), time.monotonic()
            wanted, lost = choose(old), old.lost_sessions
            # On a slow machine the named node may have gone: then another leads.
            return (old, lost, asked) if order(old, wanted) == wanted else None
        old, lost, asked = until(attempt, lambda: "handover: " + cluster.tails())
        world.await_acks()
        if old.lost_sessions == lost and "handed over to" not in old.log():
            problems.append(f"{old.name} did not hand over: {old.log()[-1000:]}")
        world.stalls["handover"].append(world.gap(asked))

    for turn in range(2 * COUNT):
        hand(lambda old: [n.name for n in cluster.nodes if n is not old][turn % 2])
    if post("/admin/handover?node={}", 400)[1].json["code"] != "invalid_parameter":
        problems.append("handover to itself")
    for query in ("?upgrade=1", "?upgrade=2", "?upgrade=x"):  # nobody waits; no such parameters
        if post("/admin/handover" + query, 400)[1].json["code"] != "invalid_parameter":
            problems.append(f"handover with {query}")
    if post("/admin/handover", 421)[1].json["code"] != "not_leader":
        problems.append("handover of a standby")
    old, got = post("/admin/handover", 200)
    if got.json["node"] == old.name:
        problems.append(f"handover of {old.name} to any: {got!r}")
    world.await_acks()
    cluster.revive()
    return problems


def stopped_leader(world):
    """A leader that stood still for 10 s, while another was elected, acknowledges and shows nothing
    when it goes on, not to what waited in its sockets either, ends with 5, and rejoins."""
    problems = []
    exchange = client.Exchange(0, 0, None, None, "")
    exchange._salt = world.salt
    account = world.workers[0].account
    order = client.limit_body(account.id, BTC_PRICE * 9 // 10, 20)
    waiting = {"read": b"GET /api/v1/markets HTTP/1.1\r\nHost: localhost\r\n\r\n",
               "write": exchange.signed(client.PLACE_LIMIT, order, account.session)}

    def connect():
        old = world.cluster.hold_leader()
        connections = {name: client.Connection(old.port, 30) for name in waiting}
        for connection in connections.values():  # the server has accepted it
            connection.exchange(waiting["read"])
        return (old, connections) if old in world.cluster.leaders() else None

    world.await_acks()
    old, connections = until(connect, lambda: "connection: " + world.cluster.tails())
    begun = time.monotonic()
    old.process.send_signal(signal.SIGSTOP)
    old.state = None
    world.cluster.leader()
    world.await_acks()
    world.stalls["stopped leader"].append(time.monotonic() - begun)
    for name, data in waiting.items():
        connections[name].send(data)  # the kernel of a stopped process takes it
    time.sleep(max(0, begun + STOPPED_S - time.monotonic()))
    old.process.send_signal(signal.SIGCONT)
    went_on, answers = time.monotonic(), {}
    for name, connection in connections.items():
        try:
            answer = connection.receive()
        except (OSError, EOFError):
            continue  # it ended first
        answers[name] = answer.status
        if answer.status not in (421, 503):
            problems.append(f"{name} of a leader that was stopped: {answer!r}")
    if (code := old.process.wait(WAIT_S)) != 5:
        problems.append(f"a leader that was stopped: exit {code}, {old.log()[-600:]}")
    ended = time.monotonic()
    old.rejoin()
    print(f"cluster: a leader stopped for {went_on - begun:.1f} s answered {answers} when it went "
          f"on, ended with {code} after {ended - went_on:.2f} s and was back "
          f"{time.monotonic() - ended:.2f} s later")
    return problems


def retention(world):
    """Frames that the vault has are deleted from etcd. A standby that was away, and whose next
    frame is gone, reads it in the vault; so does an old leader that comes back."""
    cluster, problems = world.cluster, []

    def seal():
        leader = cluster.seal()
        begun = world.acks()
        until(lambda: world.acks() > begun + 400, "400 orders, more than 64 KiB")
        return leader

    world.await_acks()
    away = next(node for node in cluster.nodes if node is not cluster.leader())
    away.kill()
    last = chain_of(away.folder)[-1].number
    old = seal()
    old.kill()
    seal()
    until(lambda: cluster.leader().metric("cluster_log_lowest_frame") > last + 1,
          lambda: f"frame {last + 1} deleted: " + cluster.tails())
    count, lowest = cluster.etcd.frames(cluster.name)
    received = until(lambda: cluster.leader().metric("cluster_received_frame"), "received frame")
    if lowest <= last + 1 or count > received - lowest + 1:
        problems.append(f"log: {count} frames from {lowest} on, {received} received, {last} there")
    before = len(away.log())
    for node in (away, old):
        node.start()

    def they_follow(_):
        for node in (away, old):
            until(lambda node=node: node.state and
                  node.metric("cluster_received_frame") > received,
                  lambda node=node: "rejoin: " + node.log()[-2000:])

    at_rest(world, they_follow)
    # The end of its journal is discarded if it led before and that never came to the log.
    told = re.search(r"frame (\d+) is in the log no more: read from the vault", away.log()[before:])
    if not told or not 0 < int(told[1]) <= last + 1:
        problems.append(f"{away.name} did not read the vault from {last + 1} on: "
                        f"{away.log()[before:][-2000:]}")
    print(f"cluster: frames up to {lowest - 1} are in the vault alone, {count} in etcd")
    return problems


def standby_answers(world):
    """A write on a standby: 421 and the leader's address, in a header too; reads are answered."""
    problems = []
    exchange = client.Exchange(0, 0, None, None, "")
    exchange._salt = world.salt
    account = world.workers[0].account
    order = client.limit_body(account.id, BTC_PRICE * 9 // 10, 20)
    data = exchange.signed(client.PLACE_LIMIT, order, account.session)

    def refused():
        world.cluster.revive()
        leader = world.cluster.leader()
        node = next(node for node in world.cluster.nodes if node is not leader)
        got = node.exchange().kept(data)
        is_well = got.status == 421 and world.cluster.leaders() == [leader]
        return (leader, node, got) if is_well else None

    leader, node, response = until(refused, lambda: "421: " + world.cluster.tails())
    body = response.json
    PRODUCED.problem(response.status, body["code"])
    if (body["code"], body["leader"]) != ("not_leader", f"127.0.0.1:{leader.port}"):
        problems.append(f"421: {body}, and {leader.port} leads")
    if response.header("X-Leader") != body["leader"]:
        problems.append(f"X-Leader: {response!r}")
    # A standby on a slow machine may lag for a while, and says so.
    def read(*headers):
        got = node.exchange().get("/api/v1/markets", headers=list(headers))
        if got.status == 503 and got.json["code"] == "not_ready":
            return None
        return got

    if (seen := until(read, "a read on a standby")).status != 200:
        problems.append(f"a read on a standby: {seen!r}")
    sequence = next(ack[2] for ack in reversed(world.workers[0].acked) if ack[2])
    seen = until(lambda: read(("X-Min-Sequence", str(sequence))), f"sequence {sequence}")
    if seen.status != 200 or int(seen.header("X-Sequence")) < sequence:
        problems.append(f"X-Min-Sequence {sequence} on a standby: {seen!r}")
    return problems


def at_once(world):
    """Each node, asked at once for what was just acknowledged, shows it or says that it cannot."""
    problems, rule = [], Rule(world.cluster)
    exchange = client.Exchange(0, 0, None, None, "")
    exchange._salt = world.salt
    account = world.workers[0].account
    for number in range(20):
        body = client.limit_body(account.id, BTC_PRICE * 8 // 10 - number, 20)
        data = exchange.signed(client.PLACE_LIMIT, body, account.session)
        done = rule.send(data, time.monotonic() + 60)
        sequence = done and done.json.get("sequence")
        for node in world.cluster.nodes if sequence else []:
            try:
                seen = node.exchange().get("/api/v1/markets",
                                           headers=[("X-Min-Sequence", str(sequence))])
            except NOT_YET:
                continue  # it has lost its session
            if seen.status != 503 and (seen.status != 200 or
                                       int(seen.header("X-Sequence")) < sequence):
                problems.append(f"{node.name} asked for {sequence}: {seen!r}")
    return problems


def old_stream(stream):
    """A standby that does not hear etcd says so to its streams, and begins no more of them."""
    def first(is_it):
        return until(lambda: next((got for got in [stream.next()] if is_it(got)), None), "message")

    stream.ask(op="subscribe", channel="status")
    told = first(lambda got: got.get("channel") == "status" and "data" in got)["data"]
    stream.ask(op="subscribe", channel="trades", market="BTC-PERP")
    refused = first(lambda got: got.get("op") == "subscribe").get("problem", {})
    problems = []
    if told["state"] != "lagging" or told["lag_ms"] <= 1000:
        problems.append(f"the status of a standby apart from etcd: {told}")
    if refused.get("code") != "not_ready" or refused["lag_ms"] <= 1000:
        problems.append(f"a subscription at a standby apart from etcd: {refused}")
    return problems


def apart(world):
    """A standby that does not hear etcd refuses its reads once they are old. A leader that does not
    acknowledges and shows nothing more, another leads, and it ends with 5 when it hears etcd."""
    cluster, problems = world.cluster, []
    exchange = client.Exchange(0, 0, None, None, "")
    exchange._salt = world.salt

    def read(node, *headers):
        try:
            return node.exchange().get("/api/v1/markets", headers=list(headers))
        except NOT_YET:
            return None

    def standby_read():
        node = next(node for node in cluster.nodes if node is not cluster.leader())
        got = read(node)
        status = node.exchange().get("/api/v1/status").json["state"]
        is_well = got.status == 200 and got.header("X-Staleness-Ms") is not None
        return (node, got) if is_well and status == "ready" else None

    def read_with(status):
        return until(lambda: next((got for got in [read(away)] if got.status == status), None),
                     lambda: f"a read of {away.name} with {status}: " + away.log()[-1000:])

    def old_read():
        got = read_with(503)
        return got if got.json["lag_ms"] > 1000 else None

    away, seen = until(standby_read, lambda: "read of a standby: " + cluster.tails())
    if seen.header("X-Term") is None or int(seen.header("X-Staleness-Ms")) > 1000:
        problems.append(f"a standby's read: {seen!r}")
    stream = Stream(away.exchange())
    away.proxy.tell("hold")
    last = until(old_read, "refused read of more than 1 s")
    if last.json["code"] != "not_ready" or \
            until(lambda: read(away, ("X-Min-Sequence", "1")), "a read").status != 503:
        problems.append(f"a read of a standby apart from etcd: {last!r}")
    problems += old_stream(stream)
    stream.end()
    away.proxy.tell("pass")
    read_with(200)
    world.await_acks()
    old, begun = cluster.hold_leader(), time.monotonic()
    old.proxy.tell("hold")
    old.state = None
    order = client.limit_body(world.workers[0].account.id, BTC_PRICE * 9 // 10, 20)
    taken = client.Connection(old.port, WAIT_S)  # in the first second it may be taken
    taken.send(old_order := exchange.signed(client.PLACE_LIMIT, order,
                                            world.workers[0].account.session))
    cluster.leader()
    world.await_acks()
    world.stalls["leader apart"].append(time.monotonic() - begun)
    # give_up_ms is 1 s: what the leader has taken is answered before the partition ends.
    answer = taken.receive()
    if answer.status != 503 or answer.json["code"] not in ("outcome_unknown", "not_ready"):
        problems.append(f"a write that a leader apart from etcd took: {answer!r}")
    if world.unknown() == 0 and answer.json["code"] != "outcome_unknown":
        problems.append("no outcome was unknown while a leader was apart from etcd")
    if (seen := read(old)) is not None and seen.status != 503:
        problems.append(f"a read of a leader apart from etcd: {seen!r}")
    seen = until(lambda: old.exchange().kept(old_order), "answer of a leader apart from etcd")
    if seen.status not in (421, 503):
        problems.append(f"a write of a leader apart from etcd: {seen!r}")
    old.proxy.tell("pass")
    if (code := old.process.wait(WAIT_S)) != 5:
        problems.append(f"a leader that was apart from etcd: exit {code}, {old.log()[-600:]}")
    old.rejoin()
    return problems


def quota(world):
    """A foreign writer fills etcd: an alarm at 50 %, cancels only at 80 %; when there is room again
    the operator opens the markets."""
    cluster, problems = world.cluster, []
    order = client.limit_body(world.workers[0].account.id, BTC_PRICE * 9 // 10, 20)
    rule = Rule(cluster)

    def used():
        return until(lambda: [cluster.leader().metric("cluster_etcd_used_percent")], "percent")[0]

    def fill(percent):
        def more():
            if used() >= percent:
                return True
            cluster.etcd.fill(8)
            time.sleep(1)  # the steward looks each second
            return False
        until(more, f"{percent} % of the quota")

    def send(code, body, key):
        exchange = client.Exchange(0, 0, None, None, "")
        exchange._salt = world.salt
        data = exchange.signed(code, body, key)
        return until(lambda: rule.send(data, time.monotonic() + 60).json["status"], "answer")

    def is_closed():
        got = send(client.PLACE_LIMIT, order, world.workers[0].account.session)
        return got == "rejected_market_cancel_only"

    fill(50)
    until(lambda: any("above 50 %" in node.log() for node in cluster.nodes), "the alarm")
    if is_closed():
        problems.append(f"closed at {used()} %")
    fill(80)
    until(is_closed, lambda: f"CANCEL_ONLY at {used()} %: " + cluster.tails())
    cluster.etcd.empty()
    until(lambda: used() < 50, "room in etcd")
    if not is_closed():
        problems.append("the markets opened without the operator")

    def opens():  # until the leader has seen that there is room
        return send(client.MARKET_STATE, client.state_body(1, 0), cluster.origin.operator) == \
            "request_completed" and not is_closed()

    until(opens, lambda: "open market: " + cluster.tails())
    cluster.revive()
    return problems


@suite.case
def drill(world):
    """A cluster under load: kills, what a standby answers, and what the journals hold."""
    parts = [begins, placement, watches, kills, lambda world: at_rest(world, status), handovers,
             stopped_leader, apart, retention, joins, receipts, standby_answers, every_type,
             end_load, watched, at_once, quota, rotated, nothing_is_lost, heads_hold]
    if os.environ.get("PERPD_DRILL") == "short":
        parts = [part for part in parts
                 if part not in (joins, every_type, quota, rotated, heads_hold)]
    return [problem for part in parts for problem in part(world)]


def main():
    if shutil.which("etcd") is None:
        print("cluster: skipped: etcd-server is not installed (tools/packages.txt)")
        return 77
    cluster = Cluster(perpd_program(), prepare, "--limits.rate_limits=off",
                      "--exchange.oracle_max_age_ms=0",
                      "--limits.open_orders=100000", "--limits.account_open_orders=1000000",
                      *OPTIONS,
                      node_options=("--store.snapshot_tail=64M",))  # a snapshot for each segment
    try:
        return suite.run(World(cluster))
    finally:
        cluster.remove()


if __name__ == "__main__":
    sys.exit(main())
