"""cluster_place.py - a part of the drill of test_cluster.py: etcd's leader is kept off the machine
of the node that leads (replication.md, Placement).
"""
import time

from cluster import until


def placement(world):
    """Both leaders on one machine: the steward moves etcd's, and they are not there together for
    more than 65 s."""
    cluster, shared = world.cluster, {}

    def moved():
        leader, at = cluster.leader(), cluster.etcd.leader()
        if "moved etcd's leader" in leader.log():
            return at is not None and at != leader.member
        if at != leader.member:
            try:
                cluster.etcd.move_leader(leader.member)
            except (OSError, ValueError, TypeError):
                return False  # there is none for a moment
        shared.setdefault(leader.name, time.monotonic())
        time.sleep(1)
        return False

    until(moved, lambda: "move of etcd's leader: " + cluster.tails())
    now = time.monotonic()
    seconds = now - shared.get(cluster.leader().name, now)
    print(f"cluster: both leaders were on one machine for {seconds:.1f} s")
    return [f"both leaders on one machine for {seconds:.1f} s"] if seconds > 65 else []
