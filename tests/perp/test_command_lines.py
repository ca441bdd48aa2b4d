"""test_command_lines.py BUILD - each program and each tool says what is wrong with its command line
and ends with 2; --version names the commit; perp --dry-run leaves no file and sends nothing.
PERPD_SAMPLE=N: one command line in N.
"""
import itertools
import pathlib
import re
import subprocess
import sys

from fake import Exchange, Perp, check
from sample import Sample

BUILD = pathlib.Path(sys.argv[1]).resolve()
ROOT = pathlib.Path(__file__).resolve().parents[2]
perp = Perp(BUILD)

# Programs: words and what is said. "" for the first word: the program alone.
ROWS = {
    "perpd": [("--net.listn=x", "did you mean net.listen"), ("--net.listen", "--net.listen"),
              ("--net.threads=0", "1"), ("--net.threads=many", "net.threads"),
              ("serve", "unknown argument serve"), ("--config", "--config"),
              ("--config absent.ini", "absent.ini"), ("--exchange.testnet=yes", "on or off"),
              ("--version extra", "'extra'"), ("--version=1", "stands alone"),
              ("--net.threads=1 --version", "stands alone"), ("--help=1", "without a value")],
    "perp": [("--nonsense", "unknown flag --nonsense"), ("nonsense", "unknown command"),
             ("book", "MARKET"), ("orders --limit", "--limit needs a value"),
             ("orders --limit 0", "1 to 20000"), ("time extra", "one word too many"),
             ("--version extra", "extra"), ("--version=1", "stands alone"),
             ("orders --version", "stands alone"), ("--help=1", "takes no value")],
    "perp-demo": [("--nonsense", "unknown option --nonsense"),
                  ("nonsense", "unknown option nonsense"),
                  ("--seconds", "needs a value"), ("--seconds x", "1 to 86400"),
                  ("--seconds 0", "1 to 86400"), ("--at-least -1", "0 to"),
                  ("--topology", "auto, shared or dedicated"),
                  ("--topology wide", "auto, shared or dedicated"), ("ladder", "9 words")],
    "perp-reference": [("--nonsense", "unknown option --nonsense"), ("a b", "one word too many"),
                       ("absent", "absent")],
    "perp-pages": [("--nonsense", "unknown option"), ("a b perp.9", "no such page"),
                   ("", "three words")],
    "perf-orders": [("--nonsense", "--nonsense"), ("--seconds", "requires an argument"),
                    ("--seconds 0", "1 to 86400"), ("--accounts 1x", "1 to 100000"),
                    ("--connections 0", "1 to 16384"), ("--rate fast", "at most 10000000"),
                    ("more", "one word too many")],
    "perf-restart": [("--nonsense", "--nonsense"), ("--orders 0", "1 to"), ("more", "too many"),
                     ("--tail-mib", "requires an argument")],
    "perf-history": [("--nonsense", "--nonsense"), ("--rows 0", "1 to"), ("more", "too many"),
                     ("--folder", "requires an argument")],
    "perf-streams": [("", "eight words"), ("--nonsense", "eight words"),
                     ("x 1 1 1 f trades text k", "PORT 'x'"),
                     ("1 60001 1 1 f trades text k", "up to 60000"),
                     ("1 1 -1 1 f trades text k", "RATE '-1'"),
                     ("1 1 1 1 f trades xml k", "'xml' is neither text nor binary"),
                     ("1 1 1 1 absent.requests trades text k", "file of requests")],
    "perf-echo": [("more", "one word too many")],
    "perf-verify": [("--nonsense", "--nonsense"), ("--rounds 0", "1 to 1001"),
                    ("--keys 63", "64 to 65536"), ("--path wide", "none of"), ("more", "too many")],
}
TOOLS = {
    "test": ["--nonsense"], "nightly": ["--nonsense"], "setup": ["--nonsense", "more"],
    "demo": ["--nonsense", "--seconds"], "coverage": ["--nonsense", "more"], "dist": ["--nonsense"],
    "openapi": ["--nonsense"], "asyncapi": ["--nonsense"],
    "clients": ["", "--nonsense", "more", "check a"],
    "web": ["", "--nonsense", "more"],
    "reads": ["--nonsense", "more"], "check_docs.py": ["--nonsense", "a b"],
    "check_exports.py": ["", "--nonsense"], "check_format.sh": ["--nonsense"],
    "check_headers.sh": ["", "--nonsense"], "check_layers.py": ["--nonsense", "a b"],
    "check_rooms.py": ["--nonsense", "a b c"], "check_symbols.py": ["", "--nonsense"],
    "check_tidy.py": ["", "--nonsense"], "check_words.py": ["--nonsense", "a b"],
}


def run(program, words):
    return subprocess.run([program, *words.split()], cwd=perp.folder, capture_output=True,
                          text=True, stdin=subprocess.DEVNULL, timeout=200, check=False)


sample, numbers, walked = Sample(), itertools.count(), 0
for name, rows in ROWS.items():
    program = BUILD / name
    if not program.exists():  # perf- is not built under a sanitizer
        check(name.startswith("perf-") or name == "perp-pages", name)
        continue
    shown = run(program, "--version")
    check(shown.returncode == 0 and re.fullmatch(
        rf"{name} \d+\.\d+\.\d+, commit [0-9a-f]{{7,40}}(-changed)?, [\w ]+ build\n", shown.stdout),
        name, shown)
    for words, said in rows:
        if not sample.takes(next(numbers)):
            continue
        done = run(program, words)
        want = 1 if words == "absent" else 2
        check(done.returncode == want and said in done.stderr and done.stdout == "", name, words,
              done)
        walked += 1
for name, rows in TOOLS.items():
    for words in rows:
        if not sample.takes(next(numbers)):
            continue
        done = run(ROOT / "tools" / name, words)
        check(done.returncode == 2 and done.stdout == "" and f"tools/{name}: " in done.stderr
              and "Traceback" not in done.stderr, name, words, done)
        walked += 1
check(sorted(path.name for path in (ROOT / "tools").iterdir() if path.is_file()
             and path.stat().st_mode & 0o100) == sorted([*TOOLS, "nightly_record.py"]))

# Each command of perp: a flag that nobody knows, a word too many, each word that is missing.
listed = run(BUILD / "perp", "--help").stdout.split("\ncommands\n")[1].split("\n\n")[0]
commands = []
for line in listed.splitlines():
    usage = re.match(r"  ((?:\[?[\w-]+\]?(?: |$))+?)(?: |$)", line)[1].split()
    words = [word for word in usage if word.islower()]
    commands.append((" ".join(words), usage[len(words):]))
check(len(commands) > 80 and ("keys new", ["CURVE", "FILE"]) in commands, commands)
for words, positionals in commands:
    needed = [word for word in positionals if not word.startswith("[")]
    rows = [(f"{words} --nonsense", "--nonsense")]
    if words != "orders":  # its words are those of `perp order`, whose name is the beginning
        rows += [(" ".join([words, *["1"] * (len(positionals) + 1)]), "too many")]
    rows += [(" ".join([words, *["1"] * k]), word) for k, word in enumerate(needed)]
    for line, said in rows:
        if not sample.takes(next(numbers)):
            continue
        done = run(BUILD / "perp", line)
        check(done.returncode == 2 and said in done.stderr and done.stdout == "", line, said, done)
        walked += 1

# Nothing is written and nothing sent but reads.
exchange = Exchange()
for curve, name in (("ed25519", "session.key"), ("secp256k1", "master.key")):
    perp.run("keys", "new", curve, name)
before = {path.name: path.read_bytes() for path in perp.folder.rglob("*") if path.is_file()}
common = ["--url", exchange.url, "--account", "7", "--session-key", "session.key", "--master-key",
          "master.key", "--dry-run"]
for words in (["order", "BTC-PERP", "buy", "0.1", "100000", *common[:6], "--dry-run"],
              ["account", "create", "--save", *common[:2], *common[4:]],
              ["apikey", "create", "--out", "made.key", "--save", *common],
              ["login", "--out", "made.key", "--save", *common],
              ["account", "create", "--save", *common[:2], "--master-key", "new.master",
               "--session-key", "new.session", "--dry-run"],
              ["session", "create", "--new-key", "new.session", *common],
              ["session", "create", *common[:4], "--session-key", "new.session", *common[6:]],
              ["logout", "--device-key", "x", *common[:6], "--dry-run"]):
    done = perp.run(*words)
    check('"payload"' in done.stdout, words, done)
after = {path.name: path.read_bytes() for path in perp.folder.rglob("*") if path.is_file()}
check(before == after, set(after) - set(before))
check(all(method == "GET" for method, *_ in exchange.seen), exchange.seen)

# A key file is whole or not there, and no other file is touched.
(perp.folder / "mine.key.new").write_text("mine")
perp.run("keys", "new", "ed25519", "mine.key")
check((perp.folder / "mine.key.new").read_text() == "mine")
check("exists" in perp.run("keys", "new", "ed25519", "mine.key", code=2).stderr)
perp.run("keys", "new", "ed25519", "mine.key", "--force")
check(sorted(path.name for path in perp.folder.glob("mine.key*")) == ["mine.key", "mine.key.new"])
check((perp.folder / "mine.key").stat().st_mode & 0o777 == 0o600)
print(f"{walked} command lines")
