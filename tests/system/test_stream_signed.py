"""test_stream_signed.py - signed requests over a stream: the checks and the answers of HTTP's.

W: wire.md, R: rules.md, J: json.md.
"""
import json
import signal
import sys
import time

import client
import test_restart
from client import (ALL_ASSETS, CANCEL_ALL, CREATE_API_KEY, CREATE_SESSION, PLACE_LIMIT, Ed25519Key,
                    api_key_body, cancel_all_body, envelope, id_text, limit_body, new_id,
                    oracle_body, payload_of, request_bytes, session_body, state_body)
from harness import Suite, Table
from request_body import ITEM_PLACE, batch_body, batch_item
from test_restart import DONE
from test_stream_private import key_of, subaccount, transfer
from test_streams import ETH_PRICE, World
from world import ETH, USDC, seen
from ws_client import TEXT, Stream, frame

suite = Suite("stream_signed")


def members(world, code, body, key, request_id=None):
    """The envelope as members of an op."""
    payload = payload_of(code, body, key, request_id)
    return json.loads(envelope(payload, key.public, key.sign(payload, world.exchange.salt)))


def send(stream, op_id, envelope_members, **more):
    stream.ask(op="signed", id=op_id, **envelope_members, **more)


def over_http(world, path, text, headers=()):
    return world.exchange.kept(request_bytes("POST", path, text.encode(), [
        ("Content-Type", "application/json"), *headers]))


@suite.case
def answers(world):
    """J4, J9: the members of HTTP's acknowledgement, brief and full, behind op and id."""
    table, account, stream = Table(), world.account(), Stream(world.exchange)
    path = client.PATHS[PLACE_LIMIT]
    for number, (ack, headers) in enumerate(((None, ()), ("full", [("X-Ack", "full")]))):
        request_id = new_id()
        ask = members(world, PLACE_LIMIT, limit_body(account.id, ETH_PRICE - 900, 100, asset=ETH),
                      account.session, request_id)
        send(stream, 70 + number, ask, **({"ack": ack} if ack else {}))
        got = stream.next()
        like = over_http(world, path, json.dumps(members(
            world, PLACE_LIMIT, limit_body(account.id, ETH_PRICE - 900, 100, asset=ETH),
            account.session)), headers).json
        table.same(f"{ack}: members", list(got), ["op", "id", *like])
        table.same(f"{ack}: done", (got["op"], got["id"], got["status"]),
                   ("signed", 70 + number, DONE))
        order = account.order(request_id).json
        table.same(f"{ack}: the order", (order["sequence"], order["time_ns"]),
                   (got["sequence"], got["processed_at_ns"]))
        if ack:
            table.same("evidence", {name: got[name] for name in (
                "order_status", "remaining_size", "book_handle")},
                       {name: order[name] for name in ("order_status", "remaining_size",
                                                       "book_handle")})
        send(stream, -5, ask)
        again, http = stream.next(), over_http(world, path, json.dumps(ask)).json
        table.same("again", again["status"], "duplicate_request_id")
        again.pop("processed_at_ns"), http.pop("processed_at_ns")
        table.same("as over HTTP", list(again.items())[2:], list(http.items()))
    send(stream, 90, members(world, CREATE_API_KEY, api_key_body(account.id), account.session))
    key = stream.next()
    table.same("a secret that is good", world.exchange.get("/api/v1/account", key["api_key"]).json[
        "account_id"], account.id)
    fresh = Ed25519Key()
    send(stream, 91, members(world, CREATE_SESSION, session_body(account.id, fresh.public),
                             account.master))
    table.same("a master key", stream.next()["success"], True)
    send(stream, 92, members(world, client.ORACLE_PRICE, oracle_body(ETH_PRICE, ETH),
                             world.exchange.oracle))
    table.same("an operator", stream.next()["status"], DONE)
    items = [batch_item(ITEM_PLACE, ETH_PRICE - 700, 100, new_id(), asset=ETH) for _ in range(64)]
    send(stream, 93, members(world, 8, batch_body(account.id, items), account.session))
    table.same("a whole batch", stream.next().get("results"), [DONE] * 64)
    stream.end()
    return table.wrong


@suite.case
def refusals(world):
    """R11: what is refused over HTTP is refused here, with the same problem or status."""
    table, account, stream = Table(), world.account(), Stream(world.exchange)
    path = client.PATHS[PLACE_LIMIT]
    body = limit_body(account.id, ETH_PRICE - 900, 100, asset=ETH)

    def good(request_id=None):
        return members(world, PLACE_LIMIT, body, account.session, request_id)

    unsigned = dict(good(), signature=good()["signature"])
    cases = [("a wrong signature", unsigned), ("no payload", {"signature": "AAAA"}),
             ("an old id", good(new_id(1_600_000_000_000))),
             ("no base64", dict(good(), payload="!")),
             ("not version 7", good(bytes(16))),
             ("an unknown key", members(world, PLACE_LIMIT, body, Ed25519Key())),
             ("another's account", members(world, PLACE_LIMIT, limit_body(
                 account.id + 1, ETH_PRICE - 900, 100, asset=ETH), account.session)),
             ("a size of zero", members(world, PLACE_LIMIT, limit_body(
                 account.id, ETH_PRICE - 900, 0, asset=ETH), account.session))]
    for number, (name, ask) in enumerate(cases):
        send(stream, number, ask)
        got = stream.next()
        table.same(f"{name}: op and id", (got.pop("op"), got.pop("id")), ("signed", number))
        want = over_http(world, path, json.dumps(ask)).json
        if "problem" in got:
            got = got["problem"]
        for one in (got, want):
            for member in ("processed_at_ns", "server_time_ms", "sequence", "detail",
                           "original_processed_at_ns", "original_status"):
                one.pop(member, None)
            if one.get("status") == "duplicate_request_id":
                one.pop("status")  # the second of two
        if name != "a size of zero":
            table.same(name, got, want)
        else:
            table.same(name, got["status"], "rejected_size_zero")
    for code, mark in ((18, "no path"), (2000, "the node's"), (999, "unknown")):
        payload = payload_of(code, bytes(8), account.session)
        send(stream, 50, json.loads(envelope(payload, account.session.public, bytes(64))))
        table.same(mark, stream.next()["problem"]["code"], "request_type_not_allowed")
    send(stream, 51, good())
    table.same("and a good one", stream.next()["status"], DONE)
    stream.end()
    return table.wrong


@suite.case
def pipelined(world):
    """W9: a burst is answered in the order of its sequences; what follows sees it."""
    table, account, stream = Table(), world.account(), Stream(world.exchange)
    count = 150  # more than a connection has in flight
    ids = [new_id() for _ in range(count)]
    stream.raw(b"".join(frame(TEXT, json.dumps({"op": "signed", "id": number, **members(
        world, PLACE_LIMIT, limit_body(account.id, ETH_PRICE - 800, 100, asset=ETH),
        account.session, raw)}).encode()) for number, raw in enumerate(ids)) +
        frame(TEXT, json.dumps({"op": "subscribe", "channel": "book", "market": "ETH-PERP",
                                "depth": 1000}).encode()))
    got = [stream.next() for _ in range(count)]
    table.same("each in its order", [one["id"] for one in got], list(range(count)))
    table.same("done", {one["status"] for one in got}, {DONE})
    sequences = [one["sequence"] for one in got]
    table.same("sequences rise", sequences, sorted(set(sequences)))
    table.same("then the subscribe", stream.next()["op"], "subscribe")
    level = dict(stream.next()["data"]["bids"])
    want = f"{(ETH_PRICE - 800) / 100:g}"
    table.same("which sees them all", level.get(want), f"{count * 100 / 10_000:g}")
    send(stream, 7, members(world, CANCEL_ALL, cancel_all_body(account.id), account.session))
    while (answer := stream.next()).get("op") != "signed":
        pass
    table.same("canceled", answer["status"], DONE)
    halted = members(world, client.MARKET_STATE, state_body(ETH, 0), world.exchange.operator)
    send(stream, 8, halted)
    stream.end()  # with a request in flight: nobody is told, and nothing breaks
    table.same("goes on", account.order(ids[0]).json["order_status"], "CANCELED")
    return table.wrong


def logged_in(world, secret):
    stream = Stream(world.exchange)
    stream.ask(op="login", api_key=secret)
    assert stream.next()["account_id"]
    return stream


def arm(stream, arm_id, subaccount=0, enabled=True, grace_ms=0, **more):
    stream.ask(op="cancel_on_disconnect", arm_id=arm_id, subaccount_index=subaccount,
               enabled=enabled, grace_ms=grace_ms, **more)
    return stream.next()


def rests(world, account, subaccount=0):
    request_id = new_id()
    assert account.limit(ETH_PRICE - 900, 100, request_id, asset=ETH,
                         subaccount=subaccount)["status"] == DONE
    return lambda: [account.order(request_id).json.get(name)
                    for name in ("order_status", "reason")]


@suite.case
def refused_arms(world):
    """W9: who may arm what, and what is no arm."""
    table, account = Table(), world.account()
    sub = subaccount(world, account)
    key = key_of(world, account, scope=1)["api_key"]
    pinned = key_of(world, account, pin=sub, scope=1)["api_key"]
    name, stream = id_text(new_id()), Stream(world.exchange)
    table.same("without login", arm(stream, name)["problem"]["code"], "invalid_api_key")
    stream.end()
    for secret, index, code in ((account.api_key, 0, "read_only_key"),
                                (pinned, 0, "subaccount_not_permitted"),
                                (key, 77, "portfolio_not_found")):
        stream = logged_in(world, secret)
        table.same(code, arm(stream, name, index)["problem"]["code"], code)
        stream.end()
    stream = logged_in(world, key)
    for member, value in (("arm_id", "x"), ("arm_id", None), ("subaccount_index", -1),
                          ("subaccount_index", "0"), ("enabled", 1), ("grace_ms", 10001),
                          ("grace_ms", 0.5)):
        ask = {"arm_id": name, "subaccount_index": 0, "enabled": True, "grace_ms": 0,
               member: value}
        stream.ask(op="cancel_on_disconnect", id=8, **ask)
        got = stream.next()
        table.same(f"{member} {value}", (got["op"], got["id"], got["problem"].get("parameter")),
                   ("cancel_on_disconnect", 8, member))
    for number in range(17):
        got = arm(stream, id_text(new_id()), grace_ms=10000)
        if number < 16:
            table.same(f"{number}", list(got), ["op", "arm_id", "enabled", "sequence"])
    table.same("one more than 16", got["problem"]["parameter"], "arm_id")
    other = world.account()
    theirs = logged_in(world, key_of(world, other, scope=1)["api_key"])
    mine = id_text(new_id())
    table.same("whose is it", arm(theirs, mine, grace_ms=10000)["enabled"], True)
    stream.end()
    stream = logged_in(world, key)
    table.same("another's arm", arm(stream, mine)["problem"]["parameter"], "arm_id")
    stream.end(), theirs.end()
    return table.wrong


@suite.case
def arms(world):
    """W9: the end of a connection cancels the subaccount's resting orders after the grace; an arm
    that was set again, or taken away, cancels nothing; after a kill the start does it."""
    table, account = Table(), world.account()
    sub = subaccount(world, account)
    transfer(world, account, 5_000 * USDC, (0, 0), (sub, 0))
    key = key_of(world, account, scope=1)["api_key"]
    ended, open_one = ["CANCELED", "disconnect"], ["OPEN", None]
    name, stream = id_text(new_id()), logged_in(world, key)
    got = arm(stream, name, id=9)
    table.same("an arm", list(got.items())[:4], [("op", "cancel_on_disconnect"), ("id", 9),
                                                 ("arm_id", name), ("enabled", True)])
    here, there = rests(world, account), rests(world, account, sub)
    stream.end()
    table.same("canceled", seen(here, ended), ended)
    table.same("not of another subaccount", there(), open_one)

    here, first = rests(world, account), logged_in(world, key)
    arm(first, name, grace_ms=500)
    second = logged_in(world, key)
    arm(second, name, grace_ms=700)
    first.end()
    time.sleep(1.5)
    table.same("set again elsewhere", here(), open_one)
    second.end()
    table.same("and canceled by that end", seen(here, ended), ended)

    here, stream = rests(world, account), logged_in(world, key)
    arm(stream, name)
    table.same("disarmed", arm(stream, name, enabled=False)["enabled"], False)
    stream.end()
    time.sleep(0.5)
    table.same("cancels nothing", here(), open_one)

    stream = logged_in(world, key)
    stream.ask(op="cancel_on_disconnect", arm_id=name, subaccount_index=0, enabled=True,
               grace_ms=0)
    stream.end()  # whatever became of the answer
    table.same("ended before its answer", seen(here, ended), ended)

    here, stream = rests(world, account), logged_in(world, key)
    arm(stream, name)
    world.again(table, signal.SIGKILL, account)
    stream.end()
    table.same("after a kill", seen(here, ended), ended)
    return table.wrong


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(test_restart.run(suite, World, *client.LONG_WINDOW))
