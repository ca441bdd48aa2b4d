#!/usr/bin/env python3
"""heavy_model.py BUILD [--commands N] [--seed S] [--regime R] [--processes P]

Random command streams go through the engine and through the model; every answer and every effect
must be equal. The first difference prints both sides and ends the run with exit code 1."""
import argparse
import gc
import multiprocessing
import os
import sys
import time
from collections import Counter

import coverage
import pipe as engine_pipe
import wire
from market import cdiv
from model import Exchange
from pipe import Pipe
from streams import REGIMES, Stream

BATCH = 2000
BALANCES_EVERY = 1000
WANTED_FROM = 1000000  # commands from which on the coverage must be complete
REPLY, EFFECTS = engine_pipe.REPLY, wire.EFFECTS


class Difference(Exception):
    pass


def show(command):
    kind, code, payload, _, clock = command
    fields = {0: wire.PLACE_BODY, 3: wire.CANCEL_BODY, 4: wire.CANCEL_ALL_BODY,
              1000: wire.ORACLE_BODY, 1003: wire.DEPOSIT_BODY}.get(code)
    body = payload[24:] if kind else payload
    text = fields.unpack(body) if fields else body.hex()[:80]
    return f"code {code} clock {clock} id {payload[8:24].hex() if kind else '-'} {text}"


def side(label, outcome, effects, same):
    lines = [f"  {label}: sequence {outcome[0]} t {outcome[1]} {wire.STATUSES[outcome[2]]} "
             f"original {wire.STATUSES[outcome[3]]}"]
    return lines + ["    " + wire.effect_text(effect) for effect in effects[same:same + 12]]


def compare_command(number, command, expected, why, busy, effects, reply):
    sequence, t, status, reason, original, _, _, _, work = REPLY.unpack_from(reply)
    if sequence == 0:
        t = expected[1]  # a peek's time is not stored
    got = [effect for effect in EFFECTS.iter_unpack(reply[40:]) if effect[0] not in (2118, 2119)]
    outcome = sequence, t, status, original
    if outcome == expected and reason == why and work == busy and got == effects:
        return
    lines = [f"command {number}: {show(command)}"]
    same = 0
    while same < min(len(got), len(effects)) and got[same] == effects[same]:
        same += 1
    lines += side("model ", expected, effects, same) + side("engine", outcome, got, same)
    lines.append(f"  {same} effects are equal, then {len(effects) - same}, {len(got) - same}")
    lines.append(f"  work left: {busy}, {bool(work)}; reasons: {wire.reason_name(why)}, "
                 f"{wire.reason_name(reason)}")
    raise Difference("\n".join(lines))


def compare_balance(number, account, expected, reply):
    row = engine_pipe.BALANCE.unpack(reply)
    got = row[3], row[4], *(engine_pipe.integer(value) for value in row[5:8])
    if got != expected:
        raise Difference(f"after command {number}, account {account}: "
                         f"(free, withdrawable, equity, IM, MM)\n"
                         f"  model  {expected}\n  engine {got}")


def compare_audit(number, expected, reply):
    row = engine_pipe.AUDIT.unpack_from(reply)
    cash, cost, deposits = (engine_pipe.integer(row[place]) for place in (0, 1, 5))
    got = cash, cost, row[2], deposits, row[9], row[11]
    if got != expected:
        raise Difference(f"after command {number}: audit (cash, cost, fee account, deposits, "
                         f"recount differences, invariants)\n"
                         f"  model  {expected}\n  engine {got}")


def compare_book(number, market, expected, reply):
    _, sequence, bids, asks = engine_pipe.BOOK.unpack_from(reply)
    got = sequence, bids, asks, list(engine_pipe.LEVELS.iter_unpack(reply[engine_pipe.BOOK.size:]))
    if got != expected:
        raise Difference(f"after command {number}: book of market {market} (seq, bids, asks, "
                         f"levels)\n  model  {expected}\n  engine {got}")


def book_of(market):
    sides = [[(level.price, level.size) for level in side.all()][:engine_pipe.BOOK_DEPTH]
             for side in (market.bids, market.asks)]
    return market.book_seq, len(sides[0]), len(sides[1]), sides[0] + sides[1]


def audit_of(exchange):
    cash = sum(portfolio.cash for portfolio in exchange.by_number)
    cost = sum(holding.cost for portfolio in exchange.by_number
               for holding in portfolio.holdings.values())
    return cash, cost, exchange.fee_account, exchange.deposited, 0, 63


def expect(exchange, stream, number, setup):
    """One command: (request bytes, check of the reply)."""
    command = next(setup, None) or stream.next(exchange)
    outcome = exchange.apply(*command)
    effects = [effect for effect in exchange.effects if effect[0] not in (2118, 2119)]
    exchange.counts["status " + wire.STATUSES[outcome[2]]] += 1
    if command[1] == wire.PLACE and outcome[2] == 0:
        expiry = int.from_bytes(command[2][56:64], "little")
        name = {wire.IOC: "IOC", wire.FOK: "FOK", wire.GTC: "GTC"}.get(expiry, "GTT")
        exchange.counts["accepted " + name] += 1
    return (engine_pipe.command_bytes(*command),
            (compare_command, (number, command, outcome, exchange.reason,
                               bool(exchange.work.queue), effects)))


def compare_batch(engine, requests, checks):
    replies = engine.run(requests)
    for (check, values), reply in zip(checks, replies):
        check(*values, reply)
    if len(replies) < len(requests):
        raise Difference(f"the engine ended before its reply to {checks[len(replies)][1]}")


def reads(exchange, number):
    """Requests and checks of the audit, every book and every balance."""
    yield engine_pipe.audit_bytes(), (compare_audit, (number, audit_of(exchange)))
    for market in exchange.markets.values():
        yield (engine_pipe.book_bytes(market.symbol),
               (compare_book, (number, market.id, book_of(market))))
    for portfolio in exchange.by_number[1:]:
        yield (engine_pipe.balance_bytes(portfolio.account),
               (compare_balance, (number, portfolio.account, portfolio.balance())))


def run_stream(build, source, regime, seed, commands):
    """Gives the coverage counts, or raises Difference."""
    gc.disable()  # no cycles worth the scans
    engine, exchange = Pipe(build), Exchange()
    stream = Stream(regime, seed, source, commands)
    setup = stream.setup()
    done = 0
    try:
        while done < commands:
            batch = []
            for _ in range(min(BATCH, commands - done)):
                done += 1
                batch.append(expect(exchange, stream, done, setup))
                if done % BALANCES_EVERY == 0 or done == commands:
                    batch += reads(exchange, done)
            compare_batch(engine, *zip(*batch))
    finally:
        code = engine.close()
    if code:
        raise Difference(f"the engine's exit code is {code}")
    for (status, reason), times in exchange.ends.items():
        exchange.counts[coverage.order_end(status, reason)] += times
    return exchange.counts


def run_job(job):
    start = time.process_time()
    try:
        return job, run_stream(*job), "", time.process_time() - start
    except Difference as difference:
        return job, Counter(), str(difference), time.process_time() - start


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--commands", type=int, default=1000000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--regime", choices=sorted(REGIMES))
    parser.add_argument("--processes", type=int, default=2)
    arguments = parser.parse_args()
    source = os.environ.get("PERPD_SOURCE") or os.path.dirname(
        os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    regimes = [arguments.regime] if arguments.regime else list(REGIMES)
    share = cdiv(arguments.commands, len(regimes))
    jobs = []
    for regime in regimes:
        streams = REGIMES[regime].get("streams", 1)
        jobs += [(arguments.build, source, regime, f"{arguments.seed}.{number}",
                  cdiv(share, streams)) for number in range(streams)]
    counts, failed = Counter(), False
    with multiprocessing.Pool(arguments.processes) as pool:
        for job, found, difference, seconds in pool.imap_unordered(run_job, jobs):
            print(f"{job[2]:10} seed {job[3]} {job[4]} commands {seconds:.1f} s CPU"
                  f" {'DIFFERS' if difference else 'equal'}", flush=True)
            counts += found
            if difference:
                print(difference, flush=True)
                failed = True
    for name in sorted(counts):
        print(f"{counts[name]:9} {name}")
    lacking = []
    if arguments.commands >= WANTED_FROM and not arguments.regime and not failed:
        lacking = coverage.missing(counts)
        print("".join(line + "\n" for line in lacking), end="")
    print(f"{sum(job[4] for job in jobs)} commands in {len(jobs)} streams: "
          f"{'DIFFERENT' if failed else 'equal'}{', coverage too small' if lacking else ''}")
    return 1 if failed or lacking else 0


if __name__ == "__main__":
    sys.exit(main())
