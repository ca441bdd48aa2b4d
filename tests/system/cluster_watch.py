"""cluster_watch.py - a part of the drill of test_cluster.py: perp watch and perp top with the list
of the nodes, while nodes end and others lead. Nothing is missed, shown twice, or older than what
was shown before.
"""
import collections
import json
import subprocess
import threading

import client
from cluster import until
from harness import perpd_program


class Watch:
    """A perp that shows a stream until it is ended, line by line of JSON."""

    def __init__(self, cluster, *words):
        self.words = words
        addresses = ",".join(f"http://127.0.0.1:{node.listen}" for node in cluster.nodes)
        self.said = open(cluster.home / f"{'-'.join(words[:2])}.log", "w+", encoding="utf-8")
        self.process = subprocess.Popen(
            [perpd_program().with_name("perp"), *words, "-o", "json", "--url", addresses],
            stdout=subprocess.PIPE, stderr=self.said, text=True)
        self.rows = []
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        for line in self.process.stdout:
            self.rows.append(json.loads(line))

    def log(self):
        self.said.seek(0)
        return self.said.read()

    def end(self):
        """What is wrong with how it ended."""
        self.process.terminate()
        code = self.process.wait(200)
        self.thread.join()
        self.process.stdout.close()
        said = self.log()
        self.said.close()
        wrong = code != 0 or "another history" in said or "no longer kept" in said
        return [f"perp {' '.join(self.words[:2])}: exit {code}, {said[-600:]}"] if wrong else []


def watches(world):
    """Begins to watch, with every node there."""
    account = world.workers[0].account
    until(lambda: all(node.state for node in world.cluster.nodes), "nodes")
    world.watches = [Watch(world.cluster, "watch", "book", "BTC-PERP"),
                     Watch(world.cluster, "watch", "private", "--api-key", account.api_key),
                     Watch(world.cluster, "top", "--interval", "1")]
    for watch in world.watches:
        until(lambda: watch.rows, f"line of perp {watch.words}: {watch.log()}")
    return []


def of_account(watch, worker):
    """Each event of the account once, in order; each order that was acknowledged among them."""
    problems, before = [], watch.rows[0]["seq"] - 1
    known = collections.Counter()
    for row in watch.rows:
        if row["type"] == "update" and row["seq"] != before + 1:
            problems.append(f"event {row['seq']} behind {before}")
        before = row["seq"]
        if row["data"].get("event") == "order":
            known[row["data"]["id"], row["data"]["order_status"]] += 1
    problems += [f"{key} was told {count} times" for key, count in known.items() if count != 1]
    problems += [f"order {client.id_text(order)} was not told" for order in worker.placed
                 if known[client.id_text(order), "OPEN"] != 1]
    return problems[:5]


def watched(world):
    """At rest: the last lines are what the exchange shows."""
    book, account, top = world.watches
    worker, problems = world.workers[0], []
    last = max(ack[2] or 0 for ack in worker.acked)

    def shown():
        """The book of a node that has the last acknowledgement."""
        try:
            got = world.cluster.leader().exchange().get(
                "/api/v1/markets/BTC-PERP/book?depth=10",
                headers=[("X-Min-Sequence", str(last))])
        except (OSError, EOFError):
            return None
        return got.json if got.status == 200 else None

    wanted = until(shown, "book")
    # Not its sequence: an order that came and went between two frames changes nothing to be shown.
    until(lambda: all(book.rows[-1][side] == wanted[side] for side in ("bids", "asks")),
          lambda: f"book {wanted} but {book.rows[-1]}: {book.log()}")
    if not wanted["bids"]:
        problems.append(f"an empty book: {wanted}")
    seqs = [row["seq"] for row in book.rows]
    if seqs != sorted(seqs):
        problems.append("perp watch book went back")
    newest = client.id_text(worker.placed[-1])
    until(lambda: any(row["data"].get("id") == newest for row in account.rows),
          f"order {newest}: {account.log()}")
    problems += of_account(account, worker)
    until(lambda: top.rows[-1]["engine_seq"] >= last, f"sequence {last} of top: {top.log()}")
    if [row["market"] for row in top.rows[-1]["markets"]][:1] != ["BTC-PERP"]:
        problems.append(f"perp top: {top.rows[-1]}")
    losses = [watch.log().count("\n") for watch in world.watches]
    for watch in world.watches:
        problems += watch.end()
    print(f"cluster: {len(book.rows)} books and {len(account.rows)} events were shown, "
          f"{losses} lines about connections that ended")
    return problems
