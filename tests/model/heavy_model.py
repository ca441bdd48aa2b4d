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
import evidence
import pipe as engine_pipe
import reads
import wire
from market import cdiv
from model import Exchange
from pipe import Pipe
from reads import Difference
from regimes import REGIMES
from streams import Stream

BATCH = 2000
READS_EVERY = 250
WANTED_FROM = 100000  # commands from which on the coverage is looked at
WHOLE = 1000000       # and from which on it must be complete
STREAM_LEAST = 300    # commands of a stream at least; the first hundred make its accounts
REPLY, EVIDENCE, EFFECTS = engine_pipe.REPLY, engine_pipe.EVIDENCE, wire.EFFECTS
EFFECTS_AT = REPLY.size + EVIDENCE.size


def show(command):
    kind, code, payload, _, clock = command[:5]
    fields = wire.BODIES.get(code)
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
    got = []
    for effect in EFFECTS.iter_unpack(reply[EFFECTS_AT:]):
        if effect[0] < 2118 or wire.told(*effect):
            got.append(effect)
        else:
            reads.expired[wire.credential_account(effect[1])] += 1
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


def expect(exchange, stream, number, setup):
    """One command: (request bytes, check of the reply)."""
    command = next(setup, None) or stream.next(exchange)
    outcome = exchange.apply(*command)
    effects = exchange.effects
    exchange.counts["status " + wire.STATUSES[outcome[2]]] += 1
    if command[1] in coverage.STATUSES_OF:
        exchange.counts[f"code {command[1]} {wire.STATUSES[outcome[2]]}"] += 1
    if command[1] == wire.PLACE and outcome[2] == 0:
        expiry = int.from_bytes(command[2][56:64], "little")
        name = {wire.IOC: "IOC", wire.FOK: "FOK", wire.GTC: "GTC"}.get(expiry, "GTT")
        exchange.counts["accepted " + name] += 1
    checks = [(compare_command, (number, command, outcome, exchange.reason,
                                 exchange.work.is_busy(), effects))]
    flags = 0
    if command[1] in evidence.ASSET_AT and number % 2:
        flags = engine_pipe.WANTS_EVIDENCE
        checks.append((compare_evidence, (number, command, evidence.of(exchange, command))))
    return engine_pipe.command_bytes(*command, flags=flags), checks


def compare_evidence(number, command, expected, reply):
    """What X-Ack: full adds (json.md J4); members that are null are not looked at."""
    found = EVIDENCE.unpack_from(reply, REPLY.size)
    members = REPLY.unpack_from(reply)[5] & 112
    order, ahead, market = (members & bit for bit in (16, 32, 64))
    got = (*(found[:3] + found[7:] if order else (None,) * 4), found[3] if ahead else None,
           *(found[4:7] if market else (None,) * 3))
    if got != expected:
        raise Difference(f"command {number}: {show(command)}\n  evidence: (remaining, filled, "
                         f"notional, status, ahead, best bid, best ask, book seq)\n"
                         f"  model  {expected}\n  engine {got}")


def compare_batch(engine, requests, checks):
    replies = engine.run(requests)
    for several, reply in zip(checks, replies):
        for check, values in several:
            check(*values, reply)
    if len(replies) < len(requests):
        check, values = checks[len(replies)][0]
        what = show(values[1]) if check is compare_command else "a read"
        raise Difference(f"the engine ended behind command {values[0]}: {what}")


def run_stream(build, source, regime, seed, commands):
    """Gives the coverage counts, or raises Difference."""
    gc.disable()  # no cycles worth the scans
    engine, exchange = Pipe(build), Exchange()
    reads.expired.clear()
    stream = Stream(regime, seed, source, commands)
    setup = stream.setup()
    done = 0
    try:
        while done < commands:
            batch = []
            for _ in range(min(BATCH, commands - done)):
                done += 1
                batch.append(expect(exchange, stream, done, setup))
                if done % READS_EVERY == 0 or done == commands:
                    batch += reads.all_of(exchange, done)
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
    parser.add_argument("--commands", type=int,
                        default=int(os.environ.get("PERPD_MODEL_COMMANDS", WHOLE)))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--regime", choices=sorted(REGIMES))
    parser.add_argument("--processes", type=int, default=2)
    arguments = parser.parse_args()
    source = os.environ.get("PERPD_SOURCE") or os.path.dirname(
        os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    regimes = [arguments.regime] if arguments.regime else list(REGIMES)
    parts = max(1, sum(REGIMES[regime].get("share", 1) for regime in regimes
                       if not REGIMES[regime].get("beside")))
    jobs = []
    for regime in regimes:
        share = cdiv(arguments.commands * REGIMES[regime].get("share", 1), parts)
        share *= REGIMES[regime].get("times", 1)
        streams = max(1, min(REGIMES[regime].get("streams", 1), share // STREAM_LEAST))
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
        lacking = coverage.missing(counts, min(1, arguments.commands / WHOLE))
        print("".join(line + "\n" for line in lacking), end="")
    print(f"{sum(job[4] for job in jobs)} commands in {len(jobs)} streams: "
          f"{'DIFFERENT' if failed else 'equal'}{', coverage too small' if lacking else ''}")
    return 1 if failed or lacking else 0


if __name__ == "__main__":
    sys.exit(main())
