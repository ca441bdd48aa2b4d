"""test_bench.py BUILD - perp bench: every due request is in the figures, of a perpd that it starts
and of exchanges that stop; its files are what other tools read; and what it refuses.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import threading
import time

from fake import Exchange, Perp, check
from hdr_reader import decode

BUILD = pathlib.Path(sys.argv[1]).resolve()
perp = Perp(BUILD)
ROOT = pathlib.Path(__file__).resolve().parents[2]
STAGES = ("verified", "sequenced", "matched", "ack")


def quantile(counts, share):
    """The least value of the class, in ns."""
    rank, seen = max(1, -(-sum(counts.values()) * share // 1)), 0
    for value in sorted(counts):
        seen += counts[value]
        if seen >= rank:
            return value
    return 0


def audit(one, due):
    """The sums that hold of the figures of any pass of an open loop."""
    check(one["due"] == due and one["sent"] + one["unsent"] == due, one)
    check(one["answered"] + one["unanswered"] == one["sent"], one)
    check(one["latency_us"]["count"] == due, one["latency_us"])
    check(one["service_us"] is None or one["service_us"]["count"] == one["sent"])
    check(sum(one["outcomes"].values()) == sum(one["http"].values()) == one["answered"])
    check(sum(row["sent"] for row in one["kinds"].values()) == one["sent"])
    check(sum(row["accepted"] for row in one["kinds"].values()) == one["accepted"])
    check(sum(row["due"] for row in one["timeline"]) == due)
    check(sum(row["answered"] for row in one["timeline"]) == one["answered"])
    check(len(one["worst"]) == min(due, 10))
    late = [row["latency_us"] for row in one["worst"]]
    check(late == sorted(late, reverse=True), late)
    check(abs(late[0] - one["latency_us"]["max"]) < 0.01, late, one["latency_us"])


def run(*words, code=0):
    done = perp.run("bench", "run", *words, "-o", "json", code=code)
    return json.loads(done.stdout), done.stderr


def check_local():
    """A real perpd: all kinds of requests, signed ahead, and the files."""
    mix = "place=8,cancel=3,amend=3,market=2,read=2"
    sheet, said = run("--rate", 100, "--seconds", 4, "--warm-up", 1, "--mix", mix, "--results", "R",
                      "--accounts", 3, "--connections", 16, "--pipeline", 4,
                      "--set", "net.threads=1", "--seed", 5)
    one, = sheet["passes"]
    audit(one, 400)
    check(sheet["valid"] is True and one["valid"] is True)
    check(set(one["kinds"]) == {"place", "cancel", "amend", "market", "read"}, one["kinds"])
    check(one["outcomes"]["read"] == one["kinds"]["read"]["accepted"] > 0, one)
    check(one["outcomes"]["request_completed"] > 200, one["outcomes"])
    check("invalid_signature" not in one["outcomes"], one["outcomes"])
    for stage in STAGES:
        check(one["ack_stages_us"][stage]["count"] >= one["outcomes"]["request_completed"] -
              one["kinds"]["read"]["accepted"], stage, one["ack_stages_us"])
    # All of a pass reach the stage, and those of the warm-up are not among them.
    check(one["server_stages_us"]["verified"]["count"] == 400 - one["kinds"]["read"]["sent"], one)
    check(one["server"]["process_cpu_us_per_accepted"] is not None, one["server"])
    check(one["server"]["thread_cpu_us_per_accepted"], one["server"])
    check(one["server"]["journal_written_bytes"] >= one["server"]["journal_record_bytes"] > 0)
    check(sheet["exchange"]["durability"] == "local" and sheet["exchange"]["started_here"])
    check(re.fullmatch(r"[0-9a-f]{7,40}(-changed)?", sheet["exchange"]["commit"]))
    check(sheet["exchange"]["verifier"] in ("lanes", "comb", "library"))
    check(sheet["machine"]["cores"] >= 1 and sheet["machine"]["libsodium_verify_us"] > 0)
    check(sheet["settings"]["perpd_options"] == ["--net.threads=1"], sheet["settings"])
    check(not list(perp.folder.glob("perpd-rig-*")))  # nothing is left
    check_files(one, said)


def check_files(one, said):
    folder = perp.folder / "R"
    check(json.loads((folder / "result.json").read_text())["passes"][0] == one)
    tags = {}
    for line in (folder / "latency.hlog").read_text().splitlines():
        if row := re.fullmatch(r"Tag=(\w+),([\d.]+),([\d.]+),([\d.]+),(\S+)", line):
            tags[row[1]] = decode(row[5])
    check(set(tags) == {"latency", "service"}, set(tags))
    for name, counts in tags.items():
        figures = one[f"{name}_us"]
        check(sum(counts.values()) == figures["count"], name)
        for title, share in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99)):
            least = quantile(counts, share)
            check(least <= figures[title] * 1e3 + 1 <= least * 1.001 + 2, name, title, least)
        table = (folder / f"{name}.hgrm").read_text()
        rows = re.findall(r"^ *([\d.]+) ([\d.]+) +(\d+)(?: +[\d.]+)?$", table, re.M)
        check(len(rows) > 20 and int(rows[-1][2]) == figures["count"], rows[-3:])
        shares = [float(row[1]) for row in rows]
        check(shares == sorted(shares) and shares[0] == 0 and shares[-1] == 1)
        check(abs(float(rows[-1][0]) - figures["max"]) < 0.01, rows[-1])
        check(f"Total count    = {figures['count']:12}]" in table)
    made = sorted(path.name for path in folder.glob("*.svg"))
    if "gnuplot is not installed" in said:
        check(not made, made)
    else:
        check(made == ["percentiles.svg", "stages.svg", "timeline.svg"], made, said)
        check("<svg" in (folder / "percentiles.svg").read_text()[:400])


def check_forms():
    """Frames, bursts, pipelines, signing in line, repeats; a ramp; a closed loop."""
    sheet, _ = run("--binary", "--schedule", "bursts:10", "--rate", 100, "--seconds", 1,
                   "--warm-up", 0, "--pipeline", 8, "--connections", 12, "--sign", "inline",
                   "--repeats", 2, "--durability", "none")
    check(len(sheet["passes"]) == 2 and sheet["exchange"]["durability"] == "none")
    for one in sheet["passes"]:
        audit(one, 100)
        check(one["ack_stages_us"]["verified"] and one["ack_stages_us"]["ack"] is None)
    check(sheet["median"]["accepted_per_s"]["of"] == 2)
    sheet, _ = run("--schedule", "ramp:50:100:2", "--seconds", 1, "--warm-up", 0, "--ack", "brief",
                   "--results", "R2")
    check([one["rate_wanted"] for one in sheet["passes"]] == [50, 100])
    check([one["due"] for one in sheet["passes"]] == [50, 100])
    check(sheet["knee"]["rate"] == 100 and sheet["knee"]["was_passed"] is False)
    check(all(one["ack_stages_us"] == dict.fromkeys(STAGES) for one in sheet["passes"]))
    check("knee.svg" in (perp.folder / "R2/plot.gp").read_text())
    sheet, _ = run("--schedule", "closed", "--seconds", 1, "--warm-up", 0, "--connections", 2,
                   "--binary")
    one, = sheet["passes"]
    check(one["due"] is None and one["unsent"] is None and one["accepted"] > 0 and sheet["valid"])


def check_websocket():
    """The op signed on streams: every figure of HTTP's, answers matched by their ids. There is a
    place for each request that is due, so that a slow machine leaves none unsent."""
    sheet, _ = run("--websocket", "--rate", 100, "--seconds", 2, "--warm-up", 1, "--pipeline", 50,
                   "--connections", 4, "--mix", "place=8,cancel=3,amend=3,market=2", "--seed", 5)
    one, = sheet["passes"]
    audit(one, 200)
    check(sheet["valid"] and sheet["settings"]["transport"] == "WebSocket", sheet["settings"])
    check(set(one["kinds"]) == {"place", "cancel", "amend", "market"}, one["kinds"])
    check(one["outcomes"]["request_completed"] > 100 and one["http"] == {"200": 200}, one)
    check("duplicate_request_id" not in one["outcomes"], one["outcomes"])
    for stage in STAGES:
        check(one["ack_stages_us"][stage]["count"] >= one["outcomes"]["request_completed"], one)
    check(one["server_stages_us"]["verified"]["count"] == 200, one["server_stages_us"])
    # Signed in line, and acknowledged in brief.
    sheet, _ = run("--websocket", "--rate", 100, "--seconds", 1, "--warm-up", 0, "--connections", 5,
                   "--pipeline", 20, "--ack", "brief", "--sign", "inline")
    one, = sheet["passes"]
    audit(one, 100)
    check(one["ack_stages_us"] == dict.fromkeys(STAGES), one["ack_stages_us"])
    done = perp.run("bench", "run", "--websocket", "--connections", 2, "--set",
                    "limits.stream_connections=1", code=4)
    check("no more streams" in done.stderr, done.stderr)


def corpus(name, begin_ms, rows):
    text = f"perp-corpus 1 {len(rows)} {begin_ms} 100\n".encode()
    for due_us, body in rows:
        request = (f"POST /x HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                   f"Content-Length: {len(body)}\r\n\r\n{body}").encode()
        text += f"place {due_us} {len(request)}\n".encode() + request + b"\n"
    (perp.folder / name).write_bytes(text)


def check_stopping():
    """Exchanges that refuse, that close, that are silent: nothing is left out, and exit code 1."""
    accepted = (200, b'{"status":"request_completed","sequence":1}')
    refused = (429, b'{"status":429,"code":"rate_limited"}')
    answers, lock = [], threading.Event()

    def answer(method, target):
        answers.append(target)
        if len(answers) > 30 and mode == "silent":
            lock.wait(20)
        if len(answers) > 30 and mode == "close":
            return "close", None
        return refused if mode == "refuse" else accepted

    for mode in ("good", "refuse", "silent", "close"):
        answers.clear()
        lock.clear()
        with Exchange() as exchange:
            exchange.answer = answer
            corpus("C", int(time.time() * 1000), [(10000 * i, "{}") for i in range(100)])
            done = perp.run("bench", "run", "--url", exchange.url, "--corpus", "C", "--connections",
                            2, "-o", "json", code=0 if mode == "good" else 1)
            lock.set()
            exchange.shutdown()
        sheet = json.loads(done.stdout)
        one, = sheet["passes"]
        audit(one, 100)
        check(one["server_stages_us"] is None and one["server"]["journal_record_bytes"] is None)
        check(sheet["exchange"]["durability"] is None and not sheet["exchange"]["started_here"])
        if mode in ("silent", "close"):
            check(not sheet["valid"] and one["answered"] == 30 and one["unsent"] == 68, one)
            check("not valid" in done.stderr)
            check(one["worst"][0]["outcome"] is None)
            # Due with the first that got none: 0.3 s after the begin, at the end of a run of 1 s.
            check(mode == "close" or one["latency_us"]["max"] >= 690000, one["latency_us"])
        else:
            check(one["answered"] == 100 and sheet["valid"], one)
            check(one["accepted"] == (100 if mode == "good" else 0))
    corpus("C", 1700000000000, [(0, "{}")])
    with Exchange() as exchange:
        done = perp.run("bench", "run", "--url", exchange.url, "--corpus", "C", code=2)
        check("is over" in done.stderr and not exchange.seen)
        exchange.shutdown()


REFUSED = [
    ("--rate 0", "above 0"), ("--rate x", "above 0"), ("--schedule wave", "none of constant"),
    ("--schedule bursts:0", "1 to 10000"), ("--schedule ramp:9:5:3", "FROM below TO"),
    ("--schedule ramp:1:5:1", "2 to 100 steps"), ("--schedule closed --rate 5", "does not go"),
    ("--mix place=1,place=2", "each kind once"), ("--mix buy=1", "each kind once"),
    ("--mix place", "each kind once"), ("--mix place=0", "each kind once"),
    ("--sign never", "ahead nor inline"), ("--ack loud", "none of full"),
    ("--ack binary", "needs --binary"), ("--websocket --binary", "as text"),
    ("--websocket --mix place=1,read=1", "no reads"),
    ("--websocket --corpus C", "requests of HTTP"),
    ("--connections 0", "1 to 16384"), ("--connections 16384 --pipeline 256", "more than 65536"),
    ("--accounts 100001", "1 to 100000"), ("--set net.threads", "KEY=VALUE"),
    ("--set net.threads=99 --seconds 1", "did not start"), ("--perpd ./absent", "no perpd there"),
    ("--corpus C", "--url"), ("--url http://127.0.0.1:1 --perpd x", "leave out --url"),
    ("--url https://127.0.0.1:1", "http:// only"), ("--admin-url http://127.0.0.1:1", "of --url"),
    ("--url http://127.0.0.1:1 --admin-url http://127.0.0.1:1", "needs --data"),
    ("--beside false --seconds 1", "ended at once"), ("--market NO-PERP", "no market 'NO-PERP'"),
    ("--corpus C --repeats 2", "replayed once"), ("more", "one word too many"),
]


def check_refused():
    for words, said in REFUSED:
        done = perp.run("bench", "run", *words.split(), code=2)
        check(said in done.stderr and done.stdout == "", words, done.stderr)


SHORT = [(r"--seconds \d+", "--seconds 1"), (r"--rate \d+", "--rate 100"), (r"-d\d+s", "-d3s"),
         (r"ramp:\d+:\d+:\d+", "ramp:50:100:2"), (r"--commands \d+", "--commands 500")]


def check_document():
    """Every command of docs/benchmarking.md works, here with small numbers."""
    page = (ROOT / "docs/benchmarking.md").read_text()
    blocks = re.findall(r"^```\n(.*?)^```$", page, re.M | re.S)
    lines = [line for block in blocks for line in block.splitlines()
             if line.startswith("build/release/perp ") or line.startswith("perf/")]
    check(len(lines) >= 4, lines)
    for line in lines:
        for pattern, small in SHORT:
            line = re.sub(pattern, small, line)
        line = line.replace("build/release/", f"{BUILD}/").replace(" build/", " ")
        line = line.replace("perf/", f"{ROOT}/perf/")
        if "bench compare" in line:
            line += " --repeats 3 --tolerance 1000"
        if "perf/run" in line:
            line = line.split(" --only")[0] + (f" --quick --only growth_markets,memory --build "
                                               f"{BUILD} --results results")
        if "wrk -t" in line and shutil.which("wrk") is None:
            continue
        done = subprocess.run(["bash", "-c", line], cwd=perp.folder, env=perp.environment(),
                              capture_output=True, text=True, timeout=300, check=False)
        check(done.returncode == 0 and done.stdout, line, done.stdout[-500:], done.stderr)
    if any("perf/run" in line for line in lines):
        markets, memory = json.loads((perp.folder / "results/results.json").read_text())["rows"]
        check(markets["figures"] is None or markets["figures"]["us_at_5"] > 0, markets)
        check(memory["figures"]["resident_bytes"] > 1 << 20, memory)
        check("| growth_markets |" in (perp.folder / "results/table.txt").read_text())


def check_compare():
    """Two sides in turns: the same twice, and one that refuses most, which CI must not pass."""
    load = ("--rate", 200, "--seconds", 1, "--warm-up", 0, "--repeats", 3, "--accounts", 1,
            "--pipeline", 8)
    done = perp.run("bench", "compare", "net.threads=1", f"{BUILD}/perpd,net.threads=1", *load,
                    "--tolerance", 1000)
    rows = [line.split() for line in done.stdout.splitlines()]
    check([row[0] for row in rows[1:]] == ["accepted_per_s", "latency_us.p50", "latency_us.p99",
                                           "service_us.p50",
                                           "server.process_cpu_us_per_accepted"], rows)
    # B accepts 64 of 200, the least of a burst.
    done = perp.run("bench", "compare", f"{BUILD}/perpd", "limits.rate_limits=on,"
                    "limits.write_rate=1,limits.write_burst=64", *load, "--tolerance", 100, "-o",
                    "json", code=1)
    accepted = json.loads(done.stdout)[0]
    check(accepted["figure"] == "accepted_per_s" and accepted["verdict"] == "worse", accepted)
    check(accepted["ratio"] < 0.4 and accepted["high"] < 0.5 and accepted["p_value"] == 0.25)
    for words, said in (("a=1 b=2 --repeats 2", "at least 3"), ("x,y b=2", "neither KEY=VALUE"),
                        ("./absent a=1 --repeats 3", "no perpd there"), ("=1 a=1", "a side is"),
                        ("a=1 b=1 --url http://127.0.0.1:1", "no --url")):
        done = perp.run("bench", "compare", *words.split(), code=2)
        check(said in done.stderr, words, done.stderr)


# Of 10,000 commands of seed 1. It changes with what the engine emits, and with nothing else: then
# put the new value here, and those of 1,000,000 in docs/benchmarking.md.
SAMPLE_EFFECTS = "f9903b6fb7170d6d39e30199532b01642387f7eb761f1fc05762b5f48cd1f498"


def check_sample():
    """The journal of a seed: the same bytes twice, signed, and taken by audit, replay and perpd."""
    def make(name, *words, code=0):
        return perp.run("bench", "journal", name, *words, "-o", "json", code=code)

    made = json.loads(make("S1", "--commands", 10000).stdout)
    check(json.loads(make("S2", "--commands", 10000).stdout) == made, made)
    subprocess.run(["diff", "-r", "S1", "S2"], cwd=perp.folder, check=True)
    check((made["seed"], made["commands"]) == (1, 10000) and made["accepted"] > 8000, made)
    check(made["effects_hash"] == SAMPLE_EFFECTS, made)
    audit = json.loads(perp.run("audit", "signatures", "--data", "S1", "-o", "json").stdout)
    check(audit["passed"] and audit["signatures"] == 10000, audit)
    replayed = json.loads(perp.run("replay", "--hash", "--data", "S1", "-o", "json").stdout)
    same = ("sequence", "frame", "effects_hash", "image_hash")
    check([replayed[name] for name in same] == [made[name] for name in same], replayed, made)
    codes = {row["code"]: row["records"] for row in json.loads(
        perp.run("journal", "stat", "--data", "S1", "-o", "json").stdout)["codes"]}
    check(codes[0] > 5000 and codes[2] > 300 and codes[3] > 2500 and codes[5] > 300, codes)
    check((codes[11], codes[1003], codes[1000]) == (64, 64, 10), codes)
    process = subprocess.Popen(
        [BUILD / "perpd", f"--store.data={perp.folder}/S2", "--net.listen=127.0.0.1:0",
         "--admin.listen=127.0.0.1:0", f"--exchange.operator_key={made['operator_key']}",
         f"--exchange.oracle_keys={made['oracle_key']}"], text=True, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL)
    url = process.stdout.readline().split()[1]
    status = json.loads(perp.run("status", "--url", url, "-o", "json").stdout)
    check(status["applied"] >= made["sequence"] and status["clock_gap_ns"] > 0, status)
    process.terminate()
    check(process.wait(200) == 0)
    other = json.loads(make("S3", "--commands", 1, "--seed", 2).stdout)
    check(other["exchange_id"] != made["exchange_id"] and other["accepted"] == 1, other)
    check("exists" in make("S3", "--commands", 1, code=2).stderr)
    make("S4", "--commands", 0, code=2)
    for name in ("S1", "S2", "S3"):
        shutil.rmtree(perp.folder / name)


check_local()
check_sample()
check_forms()
check_websocket()
check_stopping()
check_refused()
check_compare()
check_document()


def check_wrk():
    """The scripts of wrk: each request once, by two threads, and none a second time; outcomes and
    the server's stages; null for what is not known."""
    if shutil.which("wrk") is None:
        print("wrk is not installed (tools/setup installs it): its scripts were not run")
        return
    wrk = f"wrk -t2 -c8 -d3s -s {ROOT}/perf/wrk"
    done = perp.run("bench", "gen", "W", "--rate", 200, "--seconds", 2, "--mix",
                    "place=3,cancel=1,read=1", "--run",
                    f"{wrk}/mixed.lua $PERP_URL | tail -1 && unset PERP_ADMIN_URL && "
                    f"{wrk}/reads.lua $PERP_URL | tail -1 && {wrk}/place.lua $PERP_URL | tail -1; "
                    f"{wrk}/binary.lua $PERP_URL 2>&1 | head -1")
    mixed, reads, place, binary = done.stdout.splitlines()
    mixed, reads, place = json.loads(mixed), json.loads(reads), json.loads(place)
    for one in (mixed, reads, place):
        check(one["due"] == one["sent"] == one["answered"] == sum(one["outcomes"].values()), one)
        check(one["unsent"] == 0 and one["latency_us"]["max"] > 0, one)
    check(mixed["due"] == 400 and 0 < reads["due"] + place["due"] < 400, mixed, reads, place)
    check("duplicate_request_id" not in mixed["outcomes"], mixed)
    check(mixed["server_stages"]["verified"]["p50_us_at_most"] > 0, mixed)
    check(place["server_stages"] is None and reads["server_stages"] is None)
    check(place["outcomes"] == {"duplicate_request_id": place["due"]}, place)  # sent before
    check("make it with perp bench gen --binary" in binary, binary)
    done = perp.run("bench", "gen", "W", "--binary", "--rate", 100, "--seconds", 1, "--run",
                    f"{wrk}/binary.lua $PERP_URL | tail -1")
    one = json.loads(done.stdout)
    check(one["due"] == 100 and one["outcomes"]["status_0"] > 50, one)
    for words, said in (("--rate 5", "--url"), ("--schedule closed --run x", "has a rate"),
                        ("--seconds 1 --run false", "ended with 1")):
        done = perp.run("bench", "gen", "W", *words.split(), code=1 if "false" in words else 2)
        check(said in done.stderr, words, done.stderr)


check_wrk()
