#!/usr/bin/env python3
"""GET /metrics of what the exchange does by itself (rules.md R5, R7, R8, R10): each figure moves by
what a case does, worked out by hand, and by nothing else."""
import json
import os
import pathlib
import re
import socket
import struct
import subprocess
import sys
import tempfile
import time

from client import PATHS, PATIENCE_S, state_body
from harness import Suite, Table, perpd_program
from request_body import conditional_body, withdraw_body
from world import BTC, BTC_PRICE, USDC, World, run

suite = Suite("metrics of the exchange")
OPERATOR = "/api/v1/operator"
LEVELS = ("book", "fund", "adl", "netting")


def figures(exchange):
    """Every line of /metrics by its name, labels included."""
    text = exchange.admin("/metrics").body.decode()
    lines = re.findall(r"^(perpd_\S+) (-?[0-9.]+)$", text, re.M)
    assert len({name for name, _ in lines}) == len(lines), "a name stands twice"
    return {name: float(value) for name, value in lines}


def moved(before, after):
    """What a case has changed of the figures that are the exchange's own."""
    own = re.compile(r"perpd_(insurance|fee_account|deferred|liquid|funding|trigger|mmp|settle|"
                     r"withdrawals|owed|solvency_)")
    return {name[6:]: after[name] - value for name, value in before.items()
            if own.match(name) and after[name] != value}


def settled(exchange):
    """The figures when all that was answered is applied and no work is left; ticks do it."""
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        now = figures(exchange)
        is_applied = (now["perpd_follower_applied_sequence"] >=
                      now["perpd_journal_durable_sequence"])
        if is_applied and now["perpd_deferred_work_items"] == 0:
            return now
        time.sleep(0.1)
    raise AssertionError("deferred work does not end")


@suite.case
def stage_buckets(world):
    """Buckets of a stage: cumulative, two an octave from 1 us, ended by +Inf, which is the count;
    the quantiles of the summary lie in the buckets where their rank does."""
    table = Table()
    for _ in range(200):
        world.exchange.get("/api/v1/markets/BTC-PERP/book")
    text = world.exchange.admin("/metrics").body.decode()
    table.true("type", "# TYPE perpd_net_stage_latency_ns histogram\n" in text)
    for stage in ("verified", "pushed", "sequenced", "matched", "released", "sent", "read"):
        label = f'stage="{stage}"'
        rows = re.findall(f'^perpd_net_stage_latency_ns_bucket{{{label},le="(.*)"}} (\\d+)$', text,
                          re.M)
        ends = [float(end) for end, _ in rows]
        counts = [int(count) for _, count in rows]
        octaves = [1024 << octave for octave in range(25)]
        wanted = sorted(octaves + [octave * 3 // 2 for octave in octaves[:-1]])
        table.same(f"{stage}: ends", ends, [end - 1 for end in wanted] + [float("inf")])
        table.same(f"{stage}: they rise", counts, sorted(counts))
        line = f"^perpd_net_stage_latency_ns_count{{{label}}} (\\d+)$"
        count = int(re.search(line, text, re.M)[1])
        table.same(f"{stage}: the count", count, counts[-1])
        table.true(f"{stage}: values", stage != "read" or count >= 200, count)
        for ppm, quantile in ((500000, "0.5"), (990000, "0.99")):
            value = int(re.search(f'^perpd_net_stage_ns{{{label},quantile="{quantile}"}} (\\d+)$',
                                  text, re.M)[1])
            rank = max(-(-count * ppm // 1000000), 1)
            at = next((at for at, below in enumerate(counts) if below >= rank), None)
            if count != 0 and at is not None:
                table.true(f"{stage}: {quantile}", value <= ends[at] and
                           (at == 0 or value > ends[at - 1]), (value, ends[at]))
    return table.wrong


NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
SAMPLE = re.compile(rf'({NAME})(?:{{((?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\[\\"n])*",?)*)}})? (\S+)')


def families(text):
    """Parses the text form of Prometheus strictly: for each metric HELP, TYPE and its samples, all
    together and once. Gives {name: (type, [(sample name, labels, value)])}."""
    found, name, kind = {}, None, None
    assert text.endswith("\n") and "\r" not in text
    for line in text[:-1].split("\n"):
        if match := re.fullmatch(rf"# HELP ({NAME}) (\S.*)", line):
            assert kind is not None or name is None, f"no TYPE before {line}"
            name, kind = match[1], None
            assert name not in found, f"{name} stands twice"
        elif match := re.fullmatch(rf"# TYPE ({NAME}) (counter|gauge|summary|histogram)", line):
            assert match[1] == name and kind is None, f"no HELP before {line}"
            kind = match[2]
            found[name] = (kind, [])
        else:
            match = SAMPLE.fullmatch(line)
            assert match and kind is not None, f"no sample: {line}"
            ends = {"summary": ("", "_sum", "_count"), "histogram": ("_bucket", "_sum", "_count"),
                    "counter": ("",), "gauge": ("",)}[kind]
            assert match[1] in [name + end for end in ends], f"{line} is not of {name}"
            labels = dict(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', match[2] or ""))
            found[name][1].append((match[1], labels, float(match[3])))
    return found


@suite.case
def text_format(world):
    """What a scraper reads: every metric has HELP and TYPE before its samples, all together, a
    series once; counters do not fall; the parts of a summary and of a histogram belong together."""
    table = Table()
    text = world.exchange.admin("/metrics").body.decode()
    found = families(text)
    table.true("many", len(found) > 100, len(found))
    for name, (kind, samples) in found.items():
        series = [(own, tuple(sorted(labels.items()))) for own, labels, _ in samples]
        table.same(f"{name}: once", len(set(series)), len(series))
        if kind == "counter":
            table.true(name, all(value >= 0 for _, _, value in samples), samples)
            table.true(f"{name}: a counter's name", name.endswith("_total"))
        counts = {tuple(labels.items()): value for own, labels, value in samples
                  if own == name + "_count"}
        sums = [labels for own, labels, _ in samples if own == name + "_sum"]
        if kind in ("summary", "histogram"):
            table.same(f"{name}: sums", len(sums), len(counts))
            table.true(f"{name}: counts", counts, samples)
        if kind == "histogram":
            ends = {tuple((key, label) for key, label in labels.items() if key != "le"): value
                    for own, labels, value in samples if labels.get("le") == "+Inf"}
            table.same(f"{name}: +Inf", ends, counts)
    for wrong in ("a 1\n", "# TYPE a counter\na 1\n", "# HELP a b\n# TYPE a counter\nb 1\n",
                  "# HELP a b\n# TYPE a counter\na  1\n",
                  '# HELP a b\n# TYPE a gauge\na{x="}1\n',
                  "# HELP a b\n# TYPE a gauge\na 1\n# HELP a b\n# TYPE a gauge\na 1\n",
                  "# HELP a b\n# TYPE a gauge\na 1"):
        try:
            families(wrong)
        except AssertionError:
            continue
        table.true("refused", False, wrong)
    return table.wrong


@suite.case
def monitoring(world):
    """Every metric and label that the alert rules and the dashboard name is in /metrics."""
    table = Table()
    found = families(world.exchange.admin("/metrics").body.decode())
    labels = {name: {key for _, own, _ in samples for key in own}
              for name, (_, samples) in found.items()}
    labels["perpd_tls_certificate_expires_seconds"] = set()  # with TLS only
    folder = pathlib.Path(__file__).resolve().parents[2] / "tools/monitor"
    rules = re.findall(r"^        expr: (.+)$", (folder / "alerts.yml").read_text(), re.M)
    panels = json.loads((folder / "dashboard.json").read_text())["panels"]
    shown = [target["expr"] for panel in panels for target in panel["targets"]]
    table.true("rules", len(rules) >= 15 and len(shown) >= 20, (len(rules), len(shown)))
    for text in rules + shown:
        names = re.findall(r"\bperpd_\w+", text.replace('job="perpd"', ""))
        table.true("a metric", names or text.startswith("up{"), text)
        for name in names:
            own = name.removesuffix("_bucket")
            table.true("there", own in labels, name)
            for key in re.findall(rf"{name}{{(\w+)=", text):
                table.true("a label", key in labels.get(own, ()), (name, key))
        table.same("brackets", text.count("("), text.count(")"))
    return table.wrong


@suite.case
def index_and_disk(world):
    """The age of an index counts from its publish time; a market without one has no age. The disk
    is that of the data directory."""
    table = Table()
    published = time.time()
    world.btc(BTC_PRICE)
    until = time.monotonic() + PATIENCE_S
    name, age = 'perpd_index_age_seconds{market="BTC-PERP"}', None
    while time.monotonic() < until:
        now = figures(world.exchange)
        age, passed = now.get(name), time.time() - published
        if age is not None and age <= passed + 0.5:  # the follower has applied it
            break
        time.sleep(0.05)
    table.true("age", age is not None and -0.5 <= age <= passed + 0.5, (age, passed))
    held = [key for key in now if key.startswith("perpd_index_age_seconds")]
    prices = {row["market"]: world.exchange.get(f"/api/v1/markets/{row['market']}/mark").json
              for row in world.exchange.get("/api/v1/markets").json["markets"]}
    wanted = [market for market, mark in prices.items() if mark.get("index_price") is not None]
    table.same("markets", sorted(held),
               sorted(f'perpd_index_age_seconds{{market="{market}"}}' for market in wanted))
    disk = os.statvfs(tempfile.gettempdir())
    table.same("size", now["perpd_disk_size_bytes"], float(disk.f_blocks * disk.f_frsize))
    table.true("free", 0 < now["perpd_disk_free_bytes"] <= now["perpd_disk_size_bytes"], now)
    return table.wrong


def perpd_status():
    """/proc/PID/status of the perpd that this process started."""
    program = perpd_program().resolve()
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            text = (folder / "status").read_text()
            if f"PPid:\t{os.getpid()}\n" in text and (folder / "exe").resolve() == program:
                return text
        except OSError:  # it has ended, or is another user's
            continue
    raise AssertionError("no perpd")


@suite.case
def memory(world):
    """Each part of the memory: what it has taken is within what it may take, and all of them within
    what the kernel says of the process; what connections take grows with them."""
    table, exchange, slack = Table(), world.exchange, 16 << 20
    before = figures(exchange)
    parts = [name.split('"')[1] for name in before
             if name.startswith("perpd_memory_resident_bytes{")]
    table.true("parts", {"engines", "history", "connections", "keys"} <= set(parts), parts)
    taken = {part: before[f'perpd_memory_resident_bytes{{part="{part}"}}'] for part in parts}
    for part in parts:
        mapped = before[f'perpd_memory_mapped_bytes{{part="{part}"}}']
        table.true(part, 0 <= taken[part] <= mapped, (taken[part], mapped))
    told = before["perpd_memory_anonymous_bytes"]
    kernels = int(re.search(r"RssAnon:\s+(\d+) kB", perpd_status())[1]) << 10
    table.true("anonymous", abs(told - kernels) <= slack, (told, kernels))
    table.true("within", 0 < sum(taken.values()) <= told + slack, (taken, told))
    table.true("engines", taken["engines"] > 0, taken)
    done = subprocess.run([perpd_program().with_name("perp"), "doctor", "--memory", "--admin-url",
                           f"http://127.0.0.1:{exchange.admin_port}", "-o", "json"],
                          capture_output=True, text=True, check=False)
    table.same("perp doctor", done.returncode, 0)
    rows = json.loads(done.stdout)["parts"]
    table.same("rows", [row["part"] for row in rows], parts + ["rest"])
    table.true("all of it", abs(sum(row["resident_bytes"] for row in rows) - told) <= slack, rows)
    sockets = [socket.create_connection(("127.0.0.1", exchange.port)) for _ in range(64)]
    for one in sockets:
        one.sendall(b"GET /api/v1/time HTTP/1.1\r\nHost: x\r\n\r\n")
        one.recv(4096)
    now = figures(exchange)['perpd_memory_resident_bytes{part="connections"}']
    table.true("connections", now >= taken["connections"] + 64 * 512, (now, taken))
    for one in sockets:
        one.close()
    return table.wrong


ALARMS = ("clock", "poison", "invariant", "segments", "segment_error", "snapshot",
          "snapshot_put_off", "archive", "follower_lag", "clock_gap", "fund_deficit", "short",
          "history", "restart", "scrub")


@suite.case
def watched(world):
    """Each alarm has a line, none is raised; markets tell their states; rings and buffers are
    within their bounds."""
    table, exchange = Table(), world.exchange
    world.btc(BTC_PRICE)
    now = settled(exchange)
    for name in ALARMS:
        table.same(name, now.get(f'perpd_alarm{{name="{name}"}}'), 0.0)
    table.same("oracle", now.get('perpd_alarm{name="oracle_stale",market="BTC-PERP"}'), 0.0)
    for state in (4, 0):  # HALTED, ACTIVE
        exchange.ack(1002, state_body(BTC, state), exchange.operator)
        now = settled(exchange)
        table.same("state", now[f'perpd_market_state{{market="BTC-PERP",asset="{BTC}"}}'],
                   float(state))
        table.same("mark", now['perpd_mark_valid{market="BTC-PERP"}'], 1.0)
    for ring in ("commands", "answers", "queries", "replies"):
        slots = now[f'perpd_ring_slots{{ring="{ring}",thread="0"}}']
        used = now[f'perpd_ring_used{{ring="{ring}",thread="0"}}']
        table.true(ring, 64 <= slots and slots == 2 ** (int(slots).bit_length() - 1) and
                   0 <= used <= slots, (used, slots))
    table.true("buffers", 0 <= now['perpd_reply_buffers_free{thread="0"}'] <= 64, now)
    return table.wrong


@suite.case
def build_info(world):
    """What the process was built from is what its --version says."""
    table = Table()
    text = world.exchange.admin("/metrics").body.decode()
    shown = dict(re.findall(r'(\w+)="([^"]*)"', re.search(r"^perpd_build_info.*", text, re.M)[0]))
    said = subprocess.run([perpd_program(), "--version"], capture_output=True, text=True,
                          check=True).stdout
    table.same("--version", said,
               "perpd {version}, commit {commit}, {build} build\n".format(**shown))
    table.true("a commit", re.fullmatch("[0-9a-f]{12}(-changed)?|unknown", shown["commit"]), shown)
    return table.wrong


@suite.case
def cash(world):
    """A top-up, fees of a trade, and withdrawals on their way."""
    table, account, maker = Table(), world.account(), world.account()
    exchange, before = world.exchange, settled(world.exchange)
    exchange.ack(1006, struct.pack("<Q", 12 * USDC), exchange.operator)
    body = withdraw_body(account.id, 3 * USDC, b"\xd0" * 20)
    ids = [exchange.ack(10, body, account.session)["withdrawal_id"] for _ in range(3)]
    table.same("asked for", moved(before, settled(exchange)),
               {"insurance_fund_micro_usdc": 12e6, "solvency_micro_usdc": 12e6,
                "withdrawals_pending": 3.0,
                "withdrawals_pending_micro_usdc": 9e6,
                'withdrawals_total{outcome="requested"}': 3.0})
    for outcome, text in enumerate(ids[:2]):
        raw = bytes.fromhex(text.replace("-", ""))
        exchange.ack(1004, raw + struct.pack("<B7x", outcome), exchange.operator)
    maker.limit(BTC_PRICE, -1000)
    account.limit(BTC_PRICE, 1000)  # 1,000 USDC: 450 and 150 ppm
    table.same("paid", moved(before, settled(exchange)),
               {"insurance_fund_micro_usdc": 12e6, "solvency_micro_usdc": 12.6e6,
                "withdrawals_pending": 1.0,
                "withdrawals_pending_micro_usdc": 3e6, "fee_account_micro_usdc": 0.6e6,
                'withdrawals_total{outcome="requested"}': 3.0,
                'withdrawals_total{outcome="settled"}': 1.0,
                'withdrawals_total{outcome="reverted"}': 1.0})
    return table.wrong


@suite.case
def triggers(world):
    """Two stops that wait, one of which the mark reaches."""
    table, account = Table(), world.account()
    exchange = world.exchange
    for trigger in (BTC_PRICE - 1000, BTC_PRICE - 200_000):
        done = exchange.ack(6, conditional_body(account.id, trigger, -1000), account.session)
        table.same("waits", done["status"], "request_completed")
    before = settled(exchange)
    world.btc(BTC_PRICE - 2000)
    table.same("one", moved(before, settled(exchange)), {"triggers_total": 1.0})
    world.btc(BTC_PRICE)
    return table.wrong


@suite.case
def liquidation(world):
    """A long of 50,000 USDC on 2,600 USDC at 20x, the mark 4.9 % lower: below two thirds of the
    maintenance margin, so the fund takes it over."""
    table, loser, maker = Table(), world.account(2_600), world.account(100_000)
    exchange = world.exchange
    exchange.ack(1006, struct.pack("<Q", 1_000_000 * USDC), exchange.operator)
    maker.limit(BTC_PRICE, -50_000)
    done = loser.limit(BTC_PRICE, 50_000)  # 0.5 BTC; fee 22.5 USDC
    table.same("taken", done["status"], "request_completed")
    before = settled(exchange)
    world.btc(BTC_PRICE - 49_000)  # 2,450 USDC lost: E = 127.5, MM = 1 % of 47,550 = 475.5
    after = moved(before, settled(exchange))
    levels = {name: after.get(f'liquidations_total{{level="{name}"}}', 0) for name in LEVELS}
    table.same("portfolios", after.get("liquidated_portfolios_total"), 1.0)
    table.same("levels", levels, {"book": 0, "fund": 1.0, "adl": 0, "netting": 0})
    # 3E = 382.5 < 2MM = 951: the fund gets what is left of E with the position at the mark.
    table.true("the fund's cash", after["insurance_fund_micro_usdc"] == 127.5e6, after)
    world.btc(BTC_PRICE)
    return table.wrong


if __name__ == "__main__":
    PATHS.update({6: "/api/v1/trading/order/place/conditional", 10: "/api/v1/cash/withdraw",
                  1004: OPERATOR, 1006: OPERATOR})
    sys.exit(run(suite))
