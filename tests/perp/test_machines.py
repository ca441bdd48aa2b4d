"""test_machines.py BUILD - perp and an exchange of several machines (replication.md, A node): the
same bytes go to the leader that is told, else to the next address, until an answer settles them."""
import collections
import json
import socket
import sys
import threading
import time

from fake import Exchange, Perp, check, problem

perp = Perp(sys.argv[1])
PLACE = "/api/v1/trading/order/place/limit"
DONE = (200, {"status": "request_completed", "processed_at_ns": 1, "sequence": 4711})
perp.run("keys", "new", "ed25519", "session.key")
order = ["order", "BTC-PERP", "buy", "0.1", "100000", "--account", "7", "--session-key",
         "session.key", "--url"]
closed = socket.socket()
closed.bind(("127.0.0.1", 0))
nobody = f"http://127.0.0.1:{closed.getsockname()[1]}"
first, second, third = Exchange(), Exchange(), Exchange()


def told(leader):
    body = json.dumps(problem(421, "not_leader", leader=leader)[1])
    return "raw", (f"HTTP/1.1 421 X\r\nX-Leader: {leader}\r\nContent-Length: {len(body)}\r\n"
                   f"Content-Type: application/problem+json\r\n\r\n{body}").encode()


def place_of(exchange):
    return exchange.url.removeprefix("http://")


def bodies(*exchanges):
    """What was sent there to place an order; forgets it."""
    found = [body for exchange in exchanges for _, path, _, body in exchange.seen if path == PLACE]
    for exchange in exchanges:
        exchange.seen.clear()
    return found


# The leader that is told, with one address too; the bytes are the same.
first.answers[PLACE], third.answers[PLACE] = told(place_of(third)), DONE
check("4711" in perp.run(*order, first.url).stdout)
sent = bodies(first, third)
check(len(sent) == 2 and sent[0] == sent[1], sent)

# Nobody listens, the answer is lost, it is not ready, it was dropped: the next address.
first.answers[PLACE], second.answers[PLACE], third.answers[PLACE] = ("close", None), DONE, DONE
check("4711" in perp.run(*order, f"{nobody},{first.url},{second.url},{third.url}").stdout)
sent = bodies(first, second)
check(len(sent) == 2 and sent[0] == sent[1] and bodies(third) == [], sent)
for answer in (problem(503, "not_ready"),
               *((200, {"status": status, "processed_at_ns": 1, "sequence": None})
                 for status in ("request_dropped", "retry_required"))):
    first.answers[PLACE] = answer
    check("4711" in perp.run(*order, f"{first.url},{second.url}").stdout, answer)
    sent = bodies(first, second)
    check(len(sent) == 2 and sent[0] == sent[1], sent)

# What settles a request is not asked again elsewhere: a refusal, a duplicate, a problem of its own.
refused = {"status": "rejected_invalid_price", "processed_at_ns": 1, "sequence": 2}
for answer, code in (((200, refused), 1), (problem(401, "invalid_signature"), 3)):
    first.answers[PLACE] = answer
    perp.run(*order, f"{first.url},{second.url}", code=code)
    check(len(bodies(first)) == 1 and bodies(second) == [])

# Two that tell each other do not hold a request for ever: the list goes on.
first.answers[PLACE], second.answers[PLACE] = told(place_of(second)), told(place_of(first))
check("4711" in perp.run(*order, f"{first.url},{second.url},{third.url}").stdout)
check(len(bodies(third)) == 1 and len(bodies(first, second)) < 12)

# A read goes on too; one address as before: its own answer, at once.
check("BTC-PERP" in perp.run("markets", "--url", f"{nobody},{second.url}").stdout)
first.answers[PLACE] = problem(503, "not_ready")
perp.run(*order, first.url, code=3)
check(len(bodies(first)) == 1)

# A stream: the leader that is told; when it ends, what follows the last frame at the next address.
# A node that is behind what was shown is not used, and what it says is not shown.
STREAM = "/api/v1/stream"
listed = f"{nobody},{first.url},{second.url}"


def frame(peer, channel, kind, seq, prev, **data):
    peer.send(channel=channel, market="BTC-PERP", seq=seq, prev_seq=prev, engine_seq=seq,
              time_ns=1755582431950112233, type=kind, data=data)


def trade(number):
    return {"price": "100000", "size": "0.2", "taker_side": "LONG", "liquidation": False,
            "trade_seq": number, "sequence": number, "index": 0, "time": 1755582431950,
            "time_ns": 1755582431950112233}


def scripts(exchange, *parts):
    """One a connection; the last is said again and again."""
    left = list(parts)
    exchange.answers[STREAM] = ("stream", lambda peer: (
        left.pop(0) if len(left) > 1 else left[0])(peer))


def asked(peer, **op):
    peer.op(channel="trades", market="BTC-PERP", **op)


first.answers[STREAM] = told(place_of(third))
scripts(third, lambda peer: (asked(peer, op="subscribe"),
                             frame(peer, "trades", "snapshot", 20, 20, trades=[trade(1)]),
                             frame(peer, "trades", "update", 24, 20, **trade(2))),
        lambda peer: (asked(peer, op="resume", from_seq=24),
                      frame(peer, "trades", "update", 26, 24, **trade(3)), peer.take()))
scripts(second, lambda peer: (asked(peer, op="resume", from_seq=24), frame(
    peer, "trades", "gap", 22, 24, from_seq=24, oldest_seq=3), peer.take()))
for exchange in (first, second, third):
    exchange.seen.clear()
done = perp.run("watch", "trades", "BTC-PERP", "--count", "3", "--url", listed)
check([line.split()[1] for line in done.stdout.splitlines()] == ["1", "2", "3"], done)
check(f"{place_of(second)} is behind: it has seq 22, 24 was shown" in done.stderr and
      "no longer kept" not in done.stderr, done.stderr)
check([len(exchange.seen) for exchange in (first, second, third)] == [2, 1, 2], done.stderr)


# A book, too, never goes back; a refusal that passes is asked again elsewhere; and one of them may
# come later than perp.
def shows(seq):
    def script(peer):
        peer.op(op="subscribe", channel="book", market="BTC-PERP", depth=10)
        frame(peer, "book", "snapshot", seq, seq, bids=[["99999", str(seq)]], asks=[])
    return script


def refuses(peer):
    peer.take()
    peer.send(op="subscribe", problem=problem(503, "not_ready")[1])


scripts(first, refuses)
scripts(third, shows(20), shows(21))
second.answers[STREAM] = told(place_of(third))
done = perp.run("watch", "book", "BTC-PERP", "--count", "2", "--url", listed)
check([line.split()[3] for line in done.stdout.splitlines()] == ["20", "21"], done)
scripts(first, shows(19))
scripts(third, shows(21), shows(22))
done = perp.run("watch", "book", "BTC-PERP", "--count", "2", "--url", f"{third.url},{first.url}")
check([line.split()[3] for line in done.stdout.splitlines()] == ["21", "22"], done)
check("is behind: it has seq 19, 21 was shown" in done.stderr, done.stderr)

# Two that tell each other; a refusal that is final; one address as before.
first.answers[STREAM], second.answers[STREAM] = told(place_of(second)), told(place_of(first))
scripts(third, shows(23))
perp.run("watch", "book", "BTC-PERP", "--count", "1", "--url", f"{listed},{third.url}")
first.answers[STREAM] = problem(401, "invalid_api_key")
perp.run("watch", "book", "BTC-PERP", "--url", f"{first.url},{third.url}", code=3)
second.answers[STREAM] = problem(503, "not_ready")
perp.run("watch", "book", "BTC-PERP", "--url", second.url, code=3)

# Lists that are none.
for words in (f"{first.url},", f",{first.url}", f"{first.url},,{second.url}", f"{first.url},x"):
    check("is not an address" in perp.run(*order, words, code=2).stderr, words)

# The load of perp bench: each request is settled once, whatever the first answers are; what was
# sent again is the same but for the Host line, and a read asks for what was acknowledged.
SENDINGS, SPACING_US = 40, 100000
tries, shown, lock = collections.Counter(), [0], threading.Lock()


def flat(**body):
    return 200, json.dumps(body, separators=(",", ":")).encode()


def loaded(method, target):
    with lock:
        tries[target] += 1
        turn = tries[target]
    if target.startswith("/api/v1/markets"):
        return 200, {"markets": []}
    if method == "GET":
        return 200, {"order_status": "OPEN"}
    if turn == 1 and target == "/x/10":
        return "close", None
    if turn == 1 and target == "/x/20":
        return problem(503, "not_ready")
    if turn == 1 and target == "/x/24":
        return flat(status="request_dropped", processed_at_ns=1, sequence=None)
    if turn == 1 and target == "/x/30":
        time.sleep(3)
        return "close", None
    if target == "/x/10":
        return flat(status="duplicate_request_id", processed_at_ns=1,
                    original_status="request_completed", original_processed_at_ns=1)
    with lock:
        shown[0] += 1
        return flat(status="request_completed", processed_at_ns=1, sequence=shown[0])


def request(number):
    if number % 20 == 19:
        return b"read", f"GET /x/{number} HTTP/1.1\r\nHost: x\r\n\r\n".encode()
    return b"place", (f"POST /x/{number} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                      f"Content-Length: {len(str(number))}\r\n\r\n{number}").encode()


rows = [b"%s %d %d\n%s\n" % (kind, SPACING_US * number, len(data), data)
        for number, (kind, data) in enumerate(map(request, range(SENDINGS)))]
(perp.folder / "C").write_bytes(
    f"perp-corpus 1 {SENDINGS} {int(time.time() * 1000)} 10\n".encode() + b"".join(rows))
for number in range(SENDINGS):
    first.answers[f"/x/{number}"] = told(place_of(second))
second.answer = loaded
for exchange in (first, second):
    exchange.seen.clear()
listed = f"{first.url},{nobody},{second.url}"
done = perp.run("bench", "run", "--url", listed, "--corpus", "C", "--connections", 8, "-o", "json")
one, = json.loads(done.stdout)["passes"]
check(one["outcomes"] == {"request_completed": SENDINGS - 2, "read": 2}, one["outcomes"])
check(one["answered"] == one["accepted"] == SENDINGS and one["resent"] >= 5, one)
check(all(tries[f"/x/{number}"] >= 1 + (number in (10, 20, 24, 30)) for number in range(SENDINGS)),
      tries)
sent = [row for row in first.seen + second.seen if row[1].startswith("/x/")]
check(all(row[3] == row[1][3:].encode() for row in sent if row[0] == "POST"), sent)
check({row[2]["host"] for row in second.seen if row in sent} == {place_of(second)}, sent)
least = [row[2].get("x-min-sequence") for row in second.seen if row[1] in ("/x/19", "/x/39")]
check(least[-1] is not None and all(0 < int(text or 1) <= shown[0] for text in least), least)
listed = f"{first.url},{second.url}"
check("to one address" in perp.run("bench", "run", "--websocket", "--url", listed, code=2).stderr)
for exchange in (first, second, third):
    exchange.shutdown()
