"""cluster_join.py - a part of the drill of test_cluster.py: another node joins by an invitation
(replication.md, Invitation).
"""
import base64
import json
import pathlib
import re
import shutil
import struct
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "perp"))

from cluster import Node, until
from harness import perpd_program
from journal_reader import crc32c


def run_perp(*words):
    return subprocess.run([perpd_program().with_name("perp"), *words], capture_output=True,
                          text=True, check=False)


def refused_joins(world, invite, config, name):
    """What cannot be joined is refused, and nothing is made of it."""
    cluster, problems, folder = world.cluster, [], invite.parent

    def join(what, invite, config, code, text):
        done = run_perp("cluster", "join", invite, config)
        if done.returncode != code or text not in done.stderr:
            problems.append(f"join, {what}: exit {done.returncode}, {done.stderr}")

    copy, other = folder / "copy", folder / "other.conf"
    copy.write_bytes(invite.read_bytes())
    copy.chmod(0o640)
    join("mode 0640", copy, config, 2, "its mode must be 0600")
    data = bytearray(invite.read_bytes())
    for at in (40, len(data) - 1):
        copy.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1:])
        copy.chmod(0o600)
        join(f"byte {at} changed", copy, config, 2, "no whole invitation")

    def change(at, value):
        changed = data[:at] + value + data[at + len(value):]
        struct.pack_into("<I", changed, 12, crc32c(changed[16:]))
        copy.write_bytes(changed)

    change(24, data[16:24])
    join("after its time", copy, config, 1, "older than 24 hours")
    change(176, bytes([data[176] ^ 1]))
    join("another secret key", copy, config, 1, "is another exchange's")
    other.write_text(config.read_text().replace(f"name = {cluster.name}", "name = other"))
    join("another cluster", invite, other, 2, "cluster.name")
    other.write_text(config.read_text().replace(f"/{name}\n", "/n0\n"))
    join("a directory in use", invite, other, 3, "holds files already")
    return problems


def leaves(cluster, node, config):
    """A member that is gone is missed until its membership is ended; one that is there cannot
    leave, and what comes back is a member again."""
    problems, missed = [], f"node {node.name} is not there: start it, or let it leave the cluster"

    def leave(code, text):
        done = run_perp("cluster", "leave", node.name, config)
        if done.returncode != code or text not in done.stdout + done.stderr:
            problems.append(f"leave, expected {code} and {text!r}: {done}")

    def is_missed(expected):
        page = cluster.shown()
        return "problems" in page and (missed in page["problems"]) == expected

    until(lambda: node.name in cluster.etcd.members(cluster.name),
          lambda: f"{node.name} a member: {node.log()[-1000:]}")
    leave(1, f"{node.name} is there")
    node.kill()
    until(lambda: is_missed(True), lambda: f"{missed}: {cluster.shown()}")
    shown = [("key", f"perp/{cluster.name}/image/{node.name}"), ("value", "shown")]
    cluster.etcd.insist("/v3/kv/put", {name: base64.b64encode(text.encode()).decode()
                                       for name, text in shown})
    leave(0, node.name)
    if node.name in cluster.etcd.names(cluster.name, "image"):
        problems.append(f"{node.name} has left and its image/ is there")
    until(lambda: is_missed(False), lambda: f"{node.name} missed no longer: {cluster.shown()}")
    if node.name in cluster.etcd.members(cluster.name):
        problems.append(f"{node.name} has left and is a member")
    leave(1, f"{node.name} is no member")
    node.rejoin()
    until(lambda: node.name in cluster.etcd.members(cluster.name),
          lambda: f"{node.name} a member again: {node.log()[-1000:]}")
    return problems


def segments_of(folder):
    """The segments that a directory has."""
    names = [path.name for path in [*(folder / "journal").glob("*.seg"),
                                    *(folder / "archive").glob("*.seg.zst")]]
    return sorted(int(name.split(".")[0]) for name in names)


def snapshot_files(cluster):
    """The two or three snapshots of the vault, oldest first, once the newest ends its last segment:
    no further one comes."""
    def look():
        files = sorted((cluster.vault / cluster.name / "snapshot").glob("*.snap"),
                       key=lambda path: int(path.name.split("-")[0]))
        vault = cluster.shown()["vault"]
        is_last = vault["snapshot"]["next_segment"] == vault["segment"] + 1 and \
            files[-1].name.startswith(f"{vault['snapshot']['sequence']}-")
        return files[-3:] if is_last and len(files) > 1 else None

    what = lambda: "two snapshots in the vault: " + cluster.tails()
    try:
        return until(look, what, 20)
    except AssertionError:
        cluster.seal()  # a snapshot follows
        return until(look, what)


def joins_from(world, invite, config, node):
    """Of the vault's snapshots the newest one that is whole is taken, and the segments behind it: a
    damaged one is passed over with a sentence, and without any every segment is read. The directory
    is left as the newest one makes it. Gives what joined, and problems."""
    files, problems = snapshot_files(world.cluster), []
    names = [int(path.name.split("-")[0]) for path in files]
    ends_first = world.cluster.etcd.segment_end(world.cluster.name, 0)
    images = world.cluster.etcd.images(world.cluster.name)
    hashes = [image for sequence, image in images if sequence == names[-1]]
    if len(hashes) < 2 or len(set(hashes)) != 1:
        problems.append(f"snapshot {names[-1]} was put when nodes had {images}")

    def join(what, sequence, refused, *words):
        shutil.rmtree(node.folder, ignore_errors=True)
        done = run_perp("cluster", "join", invite, config, "-o", "json", *words)
        got = json.loads(done.stdout) if done.returncode == 0 else {"snapshot": None, "segments": 0}
        segments = segments_of(node.folder)
        told = [f"perp: snapshot {number} of the vault is passed over: its file is damaged"
                for number in refused]
        if (got["snapshot"] != sequence or done.stderr.splitlines() != told or
                len(segments) != got["segments"] or
                (segments[0] > 0) != (sequence > ends_first)):
            problems.append(f"join, {what}: {done}, segments {segments}")
        return got

    whole = [path.read_bytes() for path in files]
    files[-1].write_bytes(whole[-1][:5000] + bytes([whole[-1][5000] ^ 4]) + whole[-1][5001:])
    join("a bit of the newest snapshot changed", names[-2], names[-1:])
    files[-1].write_bytes(whole[-1][:-1])
    join("the newest snapshot cut", names[-2], names[-1:])
    for path, data in zip(files, whole[-1:] + whole[:-1]):
        path.write_bytes(data)
    join("each the file of another", 0, reversed(names))
    for path, data in zip(files, whole):
        path.write_bytes(data)
    shutil.rmtree(node.folder)
    done = run_perp("cluster", "join", invite, config, "--from-snapshot", str(names[-1] + 1))
    if done.returncode != 1 or "has no snapshot" not in done.stderr or node.folder.exists():
        problems.append(f"join, a snapshot that there is not: {done}, {node.folder.exists()}")
    join("every record", 0, (), "--from-snapshot", "0")
    return join("the newest snapshot", names[-1], ()), problems


def joins_again(world, invite, config, node):
    """A directory that began with a snapshot is whole from there on; one with all records follows
    it."""
    sequence = re.findall(r"snapshot=(\d+) ", node.log())[0]
    until(lambda: node.stop() == 0 or node.start(), lambda: "clean stop: " + node.log()[-2000:])
    audit = run_perp("journal", "verify", "--data", node.folder, "--from-snapshot", sequence)
    shutil.rmtree(node.folder)
    done = run_perp("cluster", "join", invite, config, "--from-snapshot", "0")
    node.rejoin()
    world.await_acks()
    return [f"{done.args}: {done}" for done in (audit, done) if done.returncode != 0]


def joins(world):
    """A machine with nothing but an invitation joins under load, from the vault and the log, and
    leads when it is asked."""
    cluster, problems, home = world.cluster, [], world.cluster.home
    node = Node(cluster, name := f"n{len(cluster.nodes)}", home / f"n{len(cluster.nodes)}")
    invite, config = home / "invite", home / f"{name}.conf"

    def admin(asked):
        return ["--data", asked.folder, "--admin-url",
                f"http://127.0.0.1:{asked.exchange().admin_port}"]

    def ask():
        cluster.revive()
        done = run_perp("cluster", "invite", invite, *admin(cluster.leader()))
        return done if done.returncode == 0 else None

    def ask_standby():
        cluster.revive()
        leader = cluster.leader()
        standby = next(each for each in cluster.nodes if each is not leader)
        done = run_perp("cluster", "invite", home / "none", *admin(standby))
        return done if cluster.leader() is leader else (home / "none").unlink(missing_ok=True)

    done = until(ask_standby, "answer of a standby")
    if done.returncode != 1 or "does not lead" not in done.stderr or (home / "none").exists():
        problems.append(f"invitation of a standby: {done}")
    until(ask, lambda: "invitation: " + cluster.tails())
    if invite.stat().st_mode & 0o777 != 0o600:
        problems.append(f"mode of the invitation: {invite.stat().st_mode:o}")
    config.write_text(f"[cluster]\nname = {cluster.name}\nnode = {name}\n"
                      f"etcd = {node.proxy.addresses}\nvault = file:{cluster.vault}\n"
                      f"[store]\ndata = {node.folder}\n")
    problems += refused_joins(world, invite, config, name)
    joined, more = joins_from(world, invite, config, node)
    if problems := problems + more:
        return problems
    cluster.nodes.append(node)
    node.rejoin()
    if f"snapshot={joined['snapshot']} " not in node.log():
        problems.append(f"{name} did not begin with snapshot {joined['snapshot']}: {node.log()}")
    until(lambda: node.metric("cluster_received_frame") > joined["frame"] + 1, "frames of the log")

    def current():
        cluster.revive()
        return next((row for row in cluster.shown().get("nodes", ())
                     if (row["node"], row["state"]) == (name, "current")), None)

    until(current, lambda: f"{name} current: " + node.log()[-2000:])
    problems += leaves(cluster, node, config)
    until(current, lambda: f"{name} current again: " + node.log()[-2000:])

    def hand():
        cluster.revive()
        run_perp("cluster", "handover", name, *admin(cluster.leader()))
        return cluster.leader() is node

    until(hand, lambda: f"{name} leads: " + cluster.tails())
    world.await_acks()
    print(f"cluster: {name} joined with snapshot {joined['snapshot']} and {joined['segments']} "
          f"segments up to frame {joined['frame']}, and led")
    return problems + joins_again(world, invite, config, node)
