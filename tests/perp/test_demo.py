"""test_demo.py BUILD - the demo ends clean, also when perpd is killed in its middle, and sees when
an exchange lies about its books or forgets what it acknowledged.

A lying exchange is the real perpd behind a relay that changes some answers; a forgetful one is
killed and started again on a journal whose end was cut off.
"""
import os
import pathlib
import pty
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
import time
import urllib.request

from fake import Sample, check
from house import forget_memory
from relay import FORGETFUL, RELAY, SLOW

BUILD = pathlib.Path(sys.argv[1]).resolve()


def processes(folder):
    """Processes that have the demo's folder in their command line."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:
                continue
            if str(folder) in line:
                found.append((int(entry.name), line))
    return found


def place(script=None, lie=""):
    """A folder with perp-demo and perpd, the true one or a script in its place."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="demo-test-", dir=BUILD))
    for program in ("perp-demo", "perp"):
        shutil.copy2(BUILD / program, folder)
    if script is None:
        shutil.copy2(BUILD / "perpd", folder)
    else:
        (folder / "lie").write_text(lie)
        tests = str(pathlib.Path(__file__).resolve().parent)
        (folder / "perpd").write_text(
            script.replace("PERPD", str(BUILD / "perpd")).replace("TESTS", tests))
        (folder / "perpd").chmod(0o755)
    return folder


def run(folder, *words):
    return subprocess.run([folder / "perp-demo", "--plain", *words], capture_output=True,
                          text=True, timeout=600)


def run_until(folder, seconds, wanted, *words):
    """Runs for longer and longer until all the lines wanted are there: how much happens in a second
    is the machine's affair. What does not hold in a short run is not forgiven by a longer one."""
    for factor in (1, 4, 16):
        done = run(folder, "--seconds", str(seconds * factor), *words)
        failed = [line for line in done.stdout.splitlines() if line.startswith("  FAIL")]
        few = [line for line in failed if re.search("takes in|did not trade", line)]
        if failed != few or all(re.search(pattern, done.stdout) for pattern in wanted):
            break
    return done


def ended(folder):
    for _ in range(600):
        if not processes(folder):
            return True
        time.sleep(0.1)
    return False


def test_honest(topology):
    folder = place()
    wanted = [r"accepted +request_completed +[1-9]",
              r"GET /orders: [1-9]\d* accepted orders, GET /fills: [1-9]",
              r"ok +GET /markets/.../trades: [1-9]\d* trades of two fills"]
    for stage in ("verified", "sequenced", "matched", "released", "sent"):
        wanted.append(rf"  {stage} +\d+ us +\d+ us")
    for market in ("BTC", "ETH", "SOL", "XRP", "DOGE"):
        wanted.append(rf"  {market}-PERP +[1-9]\d* +[1-9]")
    for player in ("ladder", "grid", "inventory", "quoter", "taker-4", "whale"):
        wanted.append(rf"  {player} +[1-9]")
    done = run_until(folder, 3, wanted, "--at-least", "20", "--topology", topology)
    check(done.returncode == 0, done.stdout, done.stderr)
    check("everything holds" in done.stdout and "FAIL" not in done.stdout, done.stdout)
    for pattern in wanted:
        check(re.search(pattern, done.stdout), pattern, done.stdout)
    check("durable by store.durability=local" in done.stdout, done.stdout)
    check(not list(folder.glob("demo.*")), "the data directory is left behind")
    check(ended(folder), processes(folder))
    shutil.rmtree(folder)


def numbers(pattern, text):
    found = re.search(pattern, text)
    check(found, pattern, text)
    return [int(group) for group in found.groups()]


def test_chaos():
    """perpd is killed while all trade and recovers slowly; what it acknowledged is there, once,
    and so is what it executed without coming to acknowledge it."""
    folder = place(SLOW)
    wanted = [r"chaos: ([1-9]\d{2,}|[5-9]\d) requests acknowledged", r"bytes: [1-9]\d* had been"]
    done = run_until(folder, 5, wanted, "--chaos", "--at-least", "20")
    check(done.returncode == 0, done.stdout, done.stderr)
    check("everything holds" in done.stdout and "FAIL" not in done.stdout, done.stdout)
    check(done.stdout.count("chaos: perpd killed (SIGKILL)") == 1, done.stdout)
    first, found, asked = numbers(
        r"ok +chaos: (\d+) requests acknowledged before the kill; GET /requests finds (\d+) of "
        r"(\d+) asked for, 0 are missing, 0 told otherwise", done.stdout)
    lost, before, after, unused = numbers(
        r"ok +chaos: (\d+) answers were lost; sent again, the same bytes: (\d+) had been executed, "
        r"(\d+) were executed then, (\d+) not at all", done.stdout)
    check(first >= 50 and found == asked and asked == first + before + after, done.stdout)
    check(before > 0 and lost == before + after + unused, done.stdout)
    check(ended(folder), processes(folder))
    shutil.rmtree(folder)


def test_cluster():
    """The leader of three nodes is killed: another one leads, and the players find by the rule of
    clients all that was acknowledged, once."""
    if shutil.which("etcd") is None:
        print("demo of a cluster: skipped: etcd-server is not installed (tools/packages.txt)")
        return
    folder = place()
    wanted = [r"chaos: ([1-9]\d{2,}|[5-9]\d) requests acknowledged",
              r"ok +cluster: [1-9]\d* leaders killed", r"chaos: n\d leads \d+ ms after the kill"]
    done = run_until(folder, 6, wanted, "--cluster", "--chaos", "--at-least", "20")
    check(done.returncode == 0, done.stdout, done.stderr)
    check("everything holds" in done.stdout and "FAIL" not in done.stdout, done.stdout)
    for pattern in wanted:
        check(re.search(pattern, done.stdout), pattern, done.stdout)
    check("durable by store.durability=replicated" in done.stdout, done.stdout)
    check(ended(folder), processes(folder))
    shutil.rmtree(folder)


def fails(folder, wanted, seconds, *words):
    """The demo ends with exit code 1, and says why in these lines."""
    for factor in (1, 4, 16):  # a lie about what did not happen is none
        done = run(folder, "--seconds", str(seconds * factor), *words)
        if all(re.search(rf"(?m)^  FAIL.*{pattern}", done.stdout) for pattern in wanted):
            break
    check(done.returncode == 1, wanted, done.stdout, done.stderr)
    failed = [line for line in done.stdout.splitlines() if line.startswith("  FAIL")]
    for pattern in wanted:
        check(any(re.search(pattern, line) for line in failed), pattern, done.stdout, done.stderr)
    check("something does not hold" in done.stdout and list(folder.glob("demo.*")), wanted)
    check(ended(folder), processes(folder))
    shutil.rmtree(folder)


def test_lies():
    """Of the admin listener, then of the public one; each lie has a line that sees it."""
    fails(place(RELAY, "admin"),
          ["fees that the fills leave over", "sum of sizes 1", "I1-I6 DO NOT HOLD",
           "no values of the stage 'matched'"], 1)
    fails(place(RELAY, "public"),
          ["[1-9] fills with a fee of no tier",
           r"GET /positions: \d+ open when all had stopped, [1-9]",
           r"GET /orders has \d+ orders, \d+ were acknowledged"], 1)


def test_forgetful():
    """A perpd that has lost the last of what it acknowledged is found out."""
    fails(place(FORGETFUL), [r"chaos: .* [1-9]\d* are missing", "GET /fills sums to"],
          4, "--chaos")


def begin(folder):
    """A demo that trades, the lines that it told to try, and the addresses of its pages."""
    child = subprocess.Popen([folder / "perp-demo", "--plain"], stdout=subprocess.PIPE, text=True)
    hints, pages = [], {}
    for line in child.stdout:
        if page := re.fullmatch(r"  (console|operator) (http://localhost:\d+/)\n", line):
            pages[page[1]] = page[2]
        if line.startswith("    "):
            hints += [hint.strip() for hint in line.split(";")]
        if re.search(r" takes [1-9]", line):
            return child, hints, pages
    check(False, "the demo did not begin to trade")


def test_interrupt():
    """Ctrl-C: everything is settled, compared and gone."""
    folder = place()
    child, hints, pages = begin(folder)
    check(len(hints) == 13, hints)
    profile = next(folder.glob("demo.*")) / "perp.ini"
    check(hints[0] == f"export PERP_CONFIG={profile}", hints)
    for name, title in (("console", b"<title>perpd console"),
                        ("operator", b"<title>perpd operator")):
        with urllib.request.urlopen(pages[name], timeout=300) as answer:
            check(title in answer.read(), name, pages)
    # Meanwhile somebody does all that is proposed, and trades by hand; the demo winds that up too.
    by_hand = [f"{folder}/perp order BTC-PERP sell 0.01 109000",
               f"{folder}/perp order ETH-PERP buy 0.5 3600"]
    for line in hints[1:] + by_hand:
        line += " --count 1" if " watch " in line else ""
        done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, timeout=300,
                              env=dict(os.environ, PERP_CONFIG=str(profile)))
        check(done.returncode == 0 and done.stdout, line, done.stdout, done.stderr)
        check("urn:perps:problem" not in done.stdout, line, done.stdout)
    child.send_signal(signal.SIGINT)
    out = child.stdout.read()
    check(child.wait(timeout=600) == 0, out)
    check("everything holds" in out and "FAIL" not in out, out)
    check("11 accounts of the demo's own, 0 of others\n" in out, "all sums are compared", out)
    check("fees that the fills leave over" in out, out)
    check(ended(folder), processes(folder))
    shutil.rmtree(folder)


def test_stranger():
    """Somebody opens an account, as in the console, and holds a position against the players."""
    folder = place()
    child, _, pages = begin(folder)
    profile = folder / "stranger.ini"
    profile.write_text(f"[default]\nurl = {pages['console'].rstrip('/')}\n")
    for line in ("account create --master-key m --session-key s --save",
                 "apikey create --scope READ_WRITE --save",
                 "faucet 10000", "order BTC-PERP buy 0.01 --market"):
        done = subprocess.run([folder / "perp", "--config", profile, *line.split()], cwd=folder,
                              capture_output=True, text=True, timeout=300)
        check(done.returncode == 0, line, done.stdout, done.stderr)
    child.send_signal(signal.SIGINT)
    out = child.stdout.read()
    check(child.wait(timeout=600) == 0, out)
    check("everything holds" in out and "FAIL" not in out, out)
    check("11 accounts of the demo's own, 1 of others: GET /audit alone" in out, out)
    check("cash of all balances" not in out and "sum of sizes 0 in every market" in out, out)
    check(ended(folder), processes(folder))
    shutil.rmtree(folder)


def watch(folder, rows, columns, steps):
    """perp-demo on a terminal of this size. Each step waits for text on the screen and then does
    something with the terminal; all that it wrote and its exit code. A screen is written as what
    changed of it, so that all of it is asked for again and again."""
    terminal, side = pty.openpty()
    termios.tcsetwinsize(side, (rows, columns))
    child = subprocess.Popen([folder / "perp-demo"], stdin=side, stdout=side, stderr=side,
                             start_new_session=True, env=dict(os.environ, TERM="xterm-256color"))
    os.close(side)
    written, end, seen, asked = b"", time.monotonic() + 600, 0, time.monotonic()
    while time.monotonic() < end:
        try:
            if steps and time.monotonic() > asked + 1:
                asked = time.monotonic()
                os.write(terminal, b"\x0c")
            written += os.read(terminal, 65536)
        except OSError:  # it has ended
            break
        if steps and re.search(steps[0][0], written[seen:], re.S):
            seen = len(written)
            steps.pop(0)[1](terminal, child)
    os.close(terminal)
    check(not steps, written[-3000:], steps)
    return written, child.wait(timeout=60)


def test_screen():
    """The screen takes a new size over, keys choose the market, kill perpd and end; the terminal is
    given back as it was, with the summary on it."""
    def press(key):
        return lambda terminal, child: os.write(terminal, key)

    def widen(terminal, child):
        termios.tcsetwinsize(terminal, (40, 120))
        child.send_signal(signal.SIGWINCH)

    folder = place()
    written, code = watch(folder, 24, 80, [
        (rb"BTC-PERP depth", press(b"3")), (rb"SOL-PERP", widen),
        (rb"SOL-PERP depth.{1,80}SOL-PERP tape", press(b"k")),
        (rb"ready again after", press(b"q"))])
    said = written.decode()
    check(code == 0 and "everything holds" in said and "FAIL" not in said, said[-3000:])
    check(said.count("\x1b[?1049h") == said.count("\x1b[?1049l") == 1, said[-3000:])
    screen, after = re.split(r"\x1b\[\?1049l", said)
    check("settling:" in after and "chaos: killed" in after, after)
    check("\x1b[" not in after.split("settling:")[1], after)
    check(re.search(r"durable: local", screen), "the wide headline says it")
    check(ended(folder), processes(folder))
    shutil.rmtree(folder)


def test_kill():
    """Whatever kills the stage, nothing survives it."""
    folder = place()
    child, *_ = begin(folder)
    check(len(processes(folder)) >= 12, processes(folder))
    child.kill()
    child.wait()
    check(ended(folder), processes(folder))
    forget_memory(folder)
    shutil.rmtree(folder)


def test_usage():
    for words in (["--seconds"], ["--seconds", "0"], ["--minutes", "1"], ["--at-least", "-1"],
                  ["--topology"]):
        done = subprocess.run([BUILD / "perp-demo", *words], capture_output=True, text=True)
        check(done.returncode == 2 and words[0] in done.stderr, words)


test_usage()
CASES = [(test_honest, "shared"), (test_chaos,), (test_lies,), (test_honest, "dedicated"),
         (test_interrupt,), (test_forgetful,), (test_kill,), (test_screen,), (test_cluster,),
         (test_stranger,)]
sample = Sample()
for number, (case, *arguments) in enumerate(CASES):
    if sample.takes(number):
        case(*arguments)
