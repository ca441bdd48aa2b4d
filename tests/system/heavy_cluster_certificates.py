#!/usr/bin/env python3
"""heavy_cluster_certificates.py BUILD - a cluster and its etcd know each other by certificates, and
all of them are exchanged under load for those of another authority (docs/operations.md): the nodes
by SIGHUP, the members one after the other. Nothing that was acknowledged is lost, and no node
begins again for it. Files that cannot be used leave those in force.

Without etcd-server it says so and ends with 77, skipped.
"""
import shutil
import signal
import sys

from cluster import Cluster, until
from cluster_certificates import Certificates
from cluster_load import World, end_load, nothing_is_lost, prepare
from harness import Suite, perpd_program

suite = Suite("cluster certificates")
RENEWED = "etcd's certificates were read again"


def renew(world):
    """All nodes read their files again."""
    for node in world.cluster.nodes:
        before = node.log().count(RENEWED)
        until(lambda: node.state, lambda node=node: "start: " + node.whereabouts())
        starts = node.starts
        node.process.send_signal(signal.SIGHUP)
        # One that lost its session meanwhile has read the files at its start.
        until(lambda: node.log().count(RENEWED) > before or node.starts > starts,
              lambda node=node: "certificates read again: " + node.log()[-600:])


def restart_members(world):
    etcd = world.cluster.etcd
    for number in range(3):
        etcd.kill(number)
        etcd.start(number)
        until(lambda: etcd.leader() is not None, "leader of etcd")
        world.await_acks()


@suite.case
def exchanged(world):
    """From one authority to another: both are trusted, then the new one signs, then it alone is."""
    certificates, problems = world.cluster.etcd.certificates, []
    world.begin()
    certificates.trust("first", "second")
    renew(world)
    restart_members(world)
    certificates.use("second", "server", "client")
    renew(world)
    restart_members(world)
    certificates.trust("second")
    renew(world)
    restart_members(world)
    world.await_acks()
    node = world.cluster.nodes[0]
    (certificates.folder / "client.pem").write_text("nothing\n")
    node.process.send_signal(signal.SIGHUP)
    until(lambda: "client.pem" in node.log() and "in force stay" in node.log(),
          lambda: "a refusal of client.pem: " + node.log()[-600:])
    world.await_acks()
    certificates.use("second", "client")
    return problems + end_load(world) + nothing_is_lost(world)


def main():
    if shutil.which("etcd") is None:
        print("cluster certificates: skipped: etcd-server is not installed (tools/packages.txt)")
        return 77

    def certificates(home):
        made = Certificates(home / "certificates", "first", "second")
        made.use("first", "server", "client")
        made.trust("first")
        return made

    cluster = Cluster(perpd_program(), prepare, "--limits.rate_limits=off",
                      "--exchange.oracle_max_age_ms=0", certificates=certificates)
    try:
        return suite.run(World(cluster))
    finally:
        cluster.remove()


if __name__ == "__main__":
    sys.exit(main())
