"""cluster_load.py - the load of a cluster's drills: clients that place and cancel orders by the
rule of cluster.py and read them at every node, what they were answered, what the journals hold of
it.
"""
import collections
import threading
import time

import client
from client import Account
from cluster import Rule, until
from cluster_chain import chain_of, requests_of
from cluster_history import (ABSENT, CANCEL, DONE, PLACE, READ, REFUSED, Operation, judge)
from world import BTC, BTC_PRICE, USDC

WORKERS = 4
PAUSE_S = 0.01  # between two orders of a worker
READ_PAUSE_S = 0.02
LOAD_S = 0.5  # of acknowledged orders before and after each event
STALE_MS = 1000  # cluster.staleness_ms


class Worker(threading.Thread):
    """Places orders far from the price and cancels some of them, one of eight twice; notes what was
    acknowledged, and when."""

    def __init__(self, world, account):
        super().__init__(daemon=True)
        self.world, self.account = world, account
        self.rule, self.acked, self.sent = Rule(world.cluster), [], 0
        self.placed = []  # ids of orders that were acknowledged
        self.exchange = client.Exchange(0, 0, None, None, "")
        self.exchange._salt = world.salt

    def write(self, what, order):
        """One operation, however often it must be sent; into the history."""
        if what == PLACE:
            code, request_id = client.PLACE_LIMIT, order
            body = client.limit_body(self.account.id, BTC_PRICE * 9 // 10 - self.sent % 1000, 20)
        else:
            code, request_id = client.CANCEL, client.new_id()
            body = client.cancel_body(self.account.id, order)
        data = self.exchange.signed(code, body, self.account.session, request_id)
        op = Operation(what, order, time.monotonic(), id=request_id)
        response = self.rule.send(data, time.monotonic() + 60)
        ended, begun = time.monotonic(), op.begun
        op.begun = self.rule.since or begun
        if response is not None and response.status == 200:
            answer = response.json
            op.outcome, op.ended, op.sequence = DONE, ended, answer.get("sequence")
            op.status = answer.get("original_status", answer["status"])
            self.acked.append((ended, request_id, op.sequence, answer["status"], begun))
            if what == PLACE:
                self.placed.append(order)
        elif self.rule.open_tries <= (response is not None):
            op.outcome, op.ended = REFUSED, ended  # no other sending may have been executed
        self.world.history.append(op)

    def run(self):
        orders = []
        while not self.world.ends.is_set():
            orders.append(client.new_id())
            self.write(PLACE, orders[-1])
            self.sent += 1
            time.sleep(PAUSE_S)
            if self.sent % 4 == 0:
                self.write(CANCEL, orders.pop(0) if self.sent % 32 else orders[0])
                time.sleep(PAUSE_S)
            while self.world.rests.is_set():
                time.sleep(PAUSE_S)


class Reader(threading.Thread):
    """Reads orders that were acknowledged: at who leads, or at every node in turn, there two of
    three with X-Min-Sequence."""

    def __init__(self, world, of_leaders):
        super().__init__(daemon=True)
        self.world, self.of_leaders, self.turn = world, of_leaders, 0

    def node(self):
        nodes = self.world.cluster.nodes
        if self.of_leaders:
            nodes = [node for node in nodes if node.state == "ready"]
        return nodes[self.turn % len(nodes)] if nodes else None

    def read(self, node, connection):
        """One read on this connection; into the history if it was answered with a state."""
        worker = self.world.workers[self.turn % len(self.world.workers)]
        if not (acked := worker.acked) or not worker.placed:
            return
        # Often the newest one, which a node that is late lacks.
        _, _, at_least, _, _ = acked[-1 - self.turn % min(3, len(acked))]
        order = worker.placed[-1 - self.turn * self.turn % min(40, len(worker.placed))]
        op = Operation(READ, order, time.monotonic(), node=(node.name, node.starts),
                       wall_ns=time.time_ns())
        headers = [("X-API-KEY", worker.account.api_key)]
        if not self.of_leaders and self.turn % 3 and at_least:
            op.at_least = at_least
            headers.append(("X-Min-Sequence", str(at_least)))
        response = connection.exchange(client.request_bytes(
            "GET", "/api/v1/orders/" + client.id_text(order), None, headers))
        op.ended = time.monotonic()
        if response.status not in (200, 404) or (node.name, node.starts) != op.node:
            return
        op.outcome, op.sequence = DONE, int(response.header("X-Sequence"))
        op.age_ms = response.header("X-Staleness-Ms")
        op.follows = op.age_ms is not None
        op.leads = not op.follows and op.at_least == 0
        op.status = response.json["order_status"] if response.status == 200 else ABSENT
        self.world.history.append(op)

    def run(self):
        connections = {}
        while not self.world.ends.is_set():
            time.sleep(READ_PAUSE_S)
            self.turn += 1
            if self.world.rests.is_set() or (node := self.node()) is None or node.port is None:
                continue
            key = node.name, node.starts, node.port
            try:
                if key not in connections:
                    connections[key] = client.Connection(node.port, 2)
                self.read(node, connections[key])
            except (OSError, EOFError):
                if key in connections:
                    connections.pop(key).close()


class World:
    def __init__(self, cluster):
        self.cluster, self.ends, self.rests = cluster, threading.Event(), threading.Event()
        self.salt, accounts = cluster.prepared
        self.history = []  # of operations that were answered, or given up
        self.clock_error_ms = 0  # between two nodes
        self.workers = [Worker(self, account) for account in accounts[:WORKERS]]
        self.readers = [Reader(self, of_leaders) for of_leaders in (False, True)]
        self.stalls = collections.defaultdict(list)

    def begin(self):
        self.cluster.leader()
        for thread in self.workers + self.readers:
            thread.start()
        self.await_acks()

    def acks(self):
        return sum(len(worker.acked) for worker in self.workers)

    def await_acks(self):
        """Until every worker was answered for requests that it sent from now on."""
        before = [len(worker.acked) for worker in self.workers]
        until(lambda: all(len(worker.acked) > count + 1
                          for worker, count in zip(self.workers, before)),
              lambda: "acknowledgement: " + self.cluster.tails())

    def unknown(self):
        return sum(worker.rule.unknown for worker in self.workers)

    def gap(self, since):
        """The longest time without an acknowledgement of any worker from `since` on."""
        times = sorted(ack[0] for worker in self.workers for ack in worker.acked
                       if ack[0] >= since)
        return max((after - before for before, after in zip(times, times[1:])), default=0)

    def stall(self, kind, event, mend):
        """The time from the event to the next acknowledgement of all workers; then mends it."""
        self.await_acks()
        time.sleep(LOAD_S)
        begun = time.monotonic()
        what = event()
        self.await_acks()
        self.stalls[kind].append(time.monotonic() - begun)
        mend(what)
        time.sleep(LOAD_S)


def prepare(exchange, count=WORKERS):
    exchange.set_price(BTC_PRICE, BTC)
    return exchange.salt, [Account(exchange, 1_000_000 * USDC) for _ in range(count)]


def end_load(world):
    world.ends.set()
    for thread in world.workers + world.readers:
        thread.join(120)
    return []


def judged(world, frames):
    """Whether all that the clients saw is one exchange's, of which these are the frames."""
    return judge(world.history, frames, STALE_MS + world.clock_error_ms)


def nothing_is_lost(world):
    """Every acknowledged id is in the journal at its sequence, none twice; journals are equal."""
    last = max(ack[2] or 0 for worker in world.workers for ack in worker.acked)
    for node in world.cluster.nodes:  # every node shows the last acknowledgement
        until(lambda: node.exchange().get("/api/v1/markets",
                                          headers=[("X-Min-Sequence", str(last))]).status == 200,
              lambda node=node: f"sequence {last} on {node.name}: " + node.log()[-600:])
    for node in world.cluster.nodes:
        node.kill()
    problems = []
    chains = [chain_of(node.folder) for node in world.cluster.nodes]
    begins = [chain[0].number - chains[0][0].number for chain in chains]  # 0 but for a joined node
    shortest = min(at + len(chain) for at, chain in zip(begins, chains))
    for node, at, chain in zip(world.cluster.nodes[1:], begins[1:], chains[1:]):
        for ours, theirs in zip(chains[0][at:shortest], chain):
            if (ours.segment, ours.offset, ours.data) != (theirs.segment, theirs.offset,
                                                           theirs.data):
                problems.append(f"frame {ours.number} differs on {node.name}")
                break
    for node, at, chain in zip(world.cluster.nodes, begins, chains):
        found = requests_of(chains[0][:at] + chain)
        if len({raw for raw, _ in found}) != len(found):
            problems.append(f"{node.name}: an order was executed twice")
        by_id = dict(found)
        for worker in world.workers:
            for _, raw, sequence, _, _ in worker.acked:
                if raw not in by_id or sequence not in (None, by_id[raw]):
                    problems.append(f"{node.name}: {raw.hex()} was acknowledged at {sequence}, "
                                    f"the journal has {by_id.get(raw)}")
    times = [record.t_ns for frame in chains[0] for record in frame.records]
    if any(after <= before for before, after in zip(times, times[1:])):
        problems.append("t does not rise from record to record")
    problems += judged(world, chains[0])
    terms = [frame.boot for frame in chains[0]]
    if terms != sorted(terms):
        problems.append(f"terms fall: {terms}")
    for before, frame in zip(chains[0], chains[0][1:]):
        if frame.boot != before.boot:
            codes = [record.code for record in frame.records[:3] if record.code != 2015]
            if codes[:2] != [2014, 2016]:
                problems.append(f"term {frame.boot} begins with {codes}")
    lost = sum(node.lost_sessions for node in world.cluster.nodes)
    print(f"cluster: {world.acks()} acknowledged, {len(set(terms))} boots and terms, "
          f"{shortest} frames on each; longest stall " +
          ", ".join(f"{kind} {max(times):.2f} s" for kind, times in world.stalls.items()) +
          f"; {lost} sessions lost, {world.unknown()} outcomes unknown")
    return problems[:10]
