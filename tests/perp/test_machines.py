"""test_machines.py BUILD - perp and an exchange of several machines (replication.md, A node): the
same bytes go to the leader that is told, else to the next address, until an answer settles them."""
import json
import socket
import sys

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

# Lists that are none.
for words in (f"{first.url},", f",{first.url}", f"{first.url},,{second.url}", f"{first.url},x"):
    check("is not an address" in perp.run(*order, words, code=2).stderr, words)
listed = f"{first.url},{second.url}"
check("one address" in perp.run("bench", "run", "--url", listed, code=2).stderr)
for exchange in (first, second, third):
    exchange.shutdown()
