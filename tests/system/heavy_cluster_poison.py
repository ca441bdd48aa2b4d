#!/usr/bin/env python3
"""heavy_cluster_poison.py BUILD - a command on which the engine aborts, sent to a cluster: the node
that it ended tells the others when it is started again, and each refuses it when it leads; orders
are taken again. Another one is sent again whenever the connection ends, as the rule of clients
says, perhaps before they know: each node dies by it once at most.

Without etcd-server it says so and ends with 77, skipped.
"""
import pathlib
import re
import shutil
import signal
import sys
import threading
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "perp"))

import client
import test_cluster
from cluster import NOT_LEADING, NOT_YET, Cluster, Rule, until
from harness import perpd_program
from test_poison import INVARIANT

TOLD = "a node of this cluster ended on it, it is refused: "


def supervise(cluster, ends, deaths):
    """Starts each node again that a signal ended; one that lost its session begins by itself."""
    while not ends.is_set():
        for node in cluster.nodes:
            if node.process.poll() not in (None, NOT_LEADING):
                deaths.append((node.name, node.process.returncode))
                node.start()
        time.sleep(0.05)


def drill(world, deaths):
    cluster = world.cluster
    exchange = client.Exchange(0, 0, None, None, "")
    exchange._salt, accounts = cluster.prepared
    session, rule, problems = accounts[0], Rule(cluster), []
    world.begin()

    def send(price, request_id=None):
        body = client.limit_body(session.id, price, 200)
        data = exchange.signed(client.PLACE_LIMIT, body, session.session, request_id)
        answer = rule.send(data, time.monotonic() + 100)
        return answer.json["status"] if answer is not None else None

    def told(data, request_id):
        """The node that the command ends has told the others."""
        def sent():
            try:
                with client.Connection(cluster.leader().port, 30) as connection:
                    connection.exchange(data)  # a refusal: it leads no more
                return None
            except NOT_YET:
                return until(lambda: deaths, "end by the poison", 30)

        until(sent, lambda: "end by the poison: " + cluster.tails())
        until(lambda: request_id.hex() in cluster.etcd.names(cluster.name, "poison"),
              lambda: "key of the poison: " + cluster.tails())
        for node in cluster.nodes:
            until(lambda node=node: node.name == deaths[0][0] or TOLD + request_id.hex() in
                  re.sub("account=[0-9]+ id=", "", node.log()),
                  lambda node=node: f"{node.name} told: " + node.log()[-1500:])

    def leads(node):
        return cluster.leader() is node or \
            cluster.leader().post(f"/admin/handover?node={node.name}") is None

    good = test_cluster.BTC_PRICE * 9 // 10
    if send(good) != "request_completed":
        problems.append("an order before it is refused")
    request_id = client.new_id()
    data = exchange.signed(client.PLACE_LIMIT, client.limit_body(session.id, INVARIANT, 200),
                           session.session, request_id)
    begun = time.monotonic()
    told(data, request_id)
    knew = time.monotonic() - begun
    for node in cluster.nodes:
        until(lambda node=node: leads(node), lambda: "handover: " + cluster.tails())
        status = rule.send(data, time.monotonic() + 100).json["status"]
        if status != "order_rejected_internal":
            problems.append(f"the poison, {node.name} leads: {status}")
    if len(deaths) != 1:
        problems.append(f"ends by a poison that every node was told of: {deaths}")
    print(f"cluster poison: every node knew after {knew:.1f} s and refused it, "
          f"ended by it: {deaths}")
    deaths.clear()
    begun = time.monotonic()
    if (status := send(INVARIANT, client.new_id())) != "order_rejected_internal":
        problems.append(f"the poison: {status}")
    took = time.monotonic() - begun
    killed = [name for name, code in deaths if code == -signal.SIGABRT]
    if not killed or len(set(killed)) != len(killed):
        problems.append(f"ends by the poison: {deaths}")
    if send(good) != "request_completed":
        problems.append("an order after it is refused")
    print(f"cluster poison: refused after {took:.1f} s, ended by it: {killed}")
    until(lambda: all(node.state for node in cluster.nodes), lambda: "nodes: " + cluster.tails())
    for name in set(killed):
        node = next(node for node in cluster.nodes if node.name == name)
        if "poison" not in node.log():
            problems.append(f"{name} does not say what it died of: {node.log()[-1500:]}")
    return problems


def main():
    if shutil.which("etcd") is None:
        print("cluster poison: skipped: etcd-server is not installed (tools/packages.txt)")
        return 77
    program = perpd_program().parent / "tests" / "perpd_faulty"
    cluster = Cluster(program, test_cluster.prepare, "--limits.rate_limits=off",
                      "--exchange.oracle_max_age_ms=0")
    ends, deaths = threading.Event(), []
    thread = threading.Thread(target=supervise, args=(cluster, ends, deaths))
    thread.start()
    try:
        world = test_cluster.World(cluster)
        problems = drill(world, deaths) + test_cluster.end_load(world)
        ends.set()
        problems += test_cluster.nothing_is_lost(world)
    finally:
        ends.set()
        thread.join()
        cluster.remove()
    print("\n".join(problems) if problems else "cluster poison: passed")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
