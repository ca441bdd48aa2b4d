"""test_pages.py BUILD - manual pages and completion hold every command, flag, option and exit code
that the programs know, and `cmake --install` puts them in place."""
import functools
import pathlib
import re
import subprocess
import sys
import tempfile

from fake import Exchange, Perp, check

build = pathlib.Path(sys.argv[1])
perp = Perp(build)
pages = build / "pages"
help_text = perp.run("--help").stdout
commands = [re.split("  +", line)[1] for line in
            help_text.split("commands\n")[1].split("\n\n")[0].splitlines()]
check(len(commands) >= 34, commands)


def bare(command):
    """The words of a command without its places."""
    return " ".join(word for word in command.split() if re.fullmatch(r"[a-z-]+", word))


@functools.cache
def flags_of(words):
    """The flags that `perp WORDS --help` lists, each with its place or an empty string."""
    shown = perp.run(*words.split(), "--help").stdout.split("\nflags\n")[1]
    return re.findall(r"^  (--[a-z-]+) ?([A-Z]*)  ", shown, re.M)


def source(name):
    """A page's source with the escapes of man(7) taken back and lines joined."""
    text = (pages / name).read_text().replace("\\-", "-").replace("\\(aq", "'").replace("\\&", "")
    return re.sub(r"\\f[BIR]", "", text)


def items(text):
    """The terms of the tagged paragraphs."""
    return re.findall(r"^\.TP\n(.*)$", text, re.M)


# Both pages are clean: no warning, no word on style.
for name in ("perp.1", "perpd.8"):
    done = subprocess.run(["mandoc", "-T", "lint", "-W", "style", pages / name],
                          capture_output=True, text=True)
    check(done.returncode == 0 and done.stdout == "", done.stdout, done.stderr)

# perp(1): every command with its places and flags, every flag with its place, every exit code.
page = source("perp.1")
terms = items(page)
for command in commands:
    check(f'.SS "perp {command}"\n' in page, command)
    section = page.split(f'.SS "perp {command}"\n')[1].split(".SS")[0].replace("\n", " ")
    common = {flag for flag, _ in flags_of("time")} - {"--count"}
    for flag, place in flags_of(bare(command)):
        check(flag in common or re.search(rf"{flag}{' ' + place if place else ''}[,.]", section),
              command, flag)
every = {(flag, place) for command in commands for flag, place in flags_of(bare(command))}
check(len(every) >= 50, len(every))
for flag, place in every:
    check(f"{flag} {place}".strip() in terms, flag, place)
for code in re.findall(r"^  (\d)  ", help_text.split("exit codes\n")[1], re.M):
    check(code in page.split("EXIT STATUS")[1], code)

# perpd(8): every option that is built has an entry, every other one is named as refused.
page = source("perpd.8")
options = re.findall(r"^  (--[a-z]+\.[a-z_]+)=.*\n +(.*)$", subprocess.run(
    [build / "perpd", "--help"], capture_output=True, text=True).stdout, re.M)
check(len(options) >= 60, len(options))
refused = (page.split("refuses, with exit code 2") + [""])[1].split(".SH")[0]
check(bool(refused) == any("[not in this binary]" in text for _, text in options), refused)
for option, text in options:
    absent = "[not in this binary]" in text
    check((f"{option}=" in items(page)) != absent, option)
    check(bool(re.search(rf"[ \n]{option[2:]}[,.]", refused)) == absent, option)
for code in range(5):
    check(str(code) in items(page.split("EXIT STATUS")[1]), code)

# Completion: what bash would offer at the end of a line.
subprocess.run(["bash", "-n", pages / "perp.bash"], check=True)
COMPLETE = """
set -u
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_"${1##*/}" && printf '%s\\n' "${COMPREPLY[@]+${COMPREPLY[@]}}"
"""


def offers(*words, environment=None):
    done = subprocess.run(["bash", "-c", COMPLETE, "bash", pages / "perp.bash", *map(str, words)],
                          capture_output=True, text=True, cwd=perp.folder,
                          env={"PATH": "/usr/bin:/bin", "HOME": str(perp.folder),
                               **(environment or {})})
    check(done.stderr == "", words, done.stderr)
    return done.stdout.split()


firsts = {bare(command).split()[0] for command in commands}
check(set(offers("perp", "")) == firsts)
check(offers("perp", "ca") == ["cancel", "cancel-all", "cancel-conditional"])
check(offers("perp", "wat") == ["watch"])
check(offers("perp", "session", "") == ["create", "list", "revoke", "revoke-all"])
check(offers("perp", "session", "revoke-") == ["revoke-all"])
check(offers("perp", "--profile", "x", "watch", "") == ["book", "private", "trades"])
for command in commands:
    own = bare(command)
    check(set(offers("perp", *own.split(), "--")) == {flag for flag, _ in flags_of(own)}, command)
    check(offers("perp", *own.split(), "--outp") == ["--output"], command)
check(offers("perp", "order", "BTC-PERP", "s") == ["sell", "sells"])
check(offers("perp", "keys", "new", "") == ["ed25519", "secp256k1"])
check(offers("perp", "order", "--ack", "") == ["full", "binary", "receipt"])
check(offers("perp", "order", "--ack", "=", "b") == ["binary"])
check(offers("perp", "order", "--ack", "=") == ["full", "binary", "receipt"])
check(offers("perp", "-o", "j") == ["json"])
check(offers("perp", "orders", "--status", "PART") == ["PARTIALLY_FILLED"])
# --url http://h:1 and GTT:2030-01-31T12:00:00Z come cut at their colons.
check(offers("perp", "--url", "http", ":", "//h", ":", "1", "keys", "") ==
      ["new", "rotate", "show"])
check(offers("perp", "order", "--tif", "GTT", ":", "2030-01-31T12", ":", "00", "x", "bu")
      == ["buy", "buys"])
check(offers("perp", "order", "--tif", "GTT", ":") == [])
(perp.folder / "my.session").touch()
check(offers("perp", "order", "--session-key", "my.s") == ["my.session"])
check(offers("perp", "keys", "show", "my") == ["my.session"])

# Markets are those of the exchange; without one there is nothing to offer, and nothing is said.
exchange = Exchange()
program = build / "perp"
check(offers(program, "book", "", environment={"PERP_URL": exchange.url})
      == ["BTC-PERP", "ETH-PERP"])
check(offers(program, "orders", "--market", "E", environment={"PERP_URL": exchange.url})
      == ["ETH-PERP"])
check(offers(program, "order", "--market", "E", environment={"PERP_URL": exchange.url})
      == ["ETH-PERP"])  # there --market takes no value: this is the place MARKET
exchange.server_close()
check(offers(program, "book", "", environment={"PERP_URL": "http://127.0.0.1:9"}) == [])

# What completion offers for a flag is what perp takes.
exchange = Exchange()
perp.run("keys", "new", "ed25519", "session.key")
order = ["order", "BTC-PERP", "buy", "1", "1", "--dry-run", "--account", "7", "--session-key",
         "session.key", "--url", exchange.url]
for flag in ("--stp", "--ack", "--output"):
    for word in offers("perp", "order", flag, ""):
        perp.run(*order, flag, word)
for word in ("GTC", "IOC", "FOK"):
    check(word in offers("perp", "order", "--tif", ""))
    perp.run(*order, "--tif", word)

# perpd: options that are built, and the words of those that have some.
built = {f"{option}=" for option, text in options if "[not in this binary]" not in text}
check(set(offers("perpd", "--")) == built | {"--config", "--help", "--print-config"})
check(offers("perpd", "--net.allow_plain", "=") == ["on", "off"])
check(offers("perpd", "--store.durability", "=", "l") == ["local"])
check("auto" in offers("perpd", "--node.topology", "=", ""))
check(offers("perpd", "--config", "my") == ["my.session"])

# Installed: programs that run, pages and completion where man and bash look.
with tempfile.TemporaryDirectory(prefix="perp-install-") as folder:
    done = subprocess.run(["cmake", "--install", build, "--prefix", folder], capture_output=True,
                          text=True)
    check(done.returncode == 0, done.stderr)
    found = {str(path.relative_to(folder)) for path in pathlib.Path(folder).rglob("*")
             if path.is_file()}
    check(found == {"bin/perp", "bin/perpd", "share/man/man1/perp.1", "share/man/man8/perpd.8",
                    "share/bash-completion/completions/perp",
                    "share/bash-completion/completions/perpd",
                    "lib/systemd/system/perpd.service", "lib/sysusers.d/perpd.conf",
                    "lib/tmpfiles.d/perpd.conf"}, found)
    shown = subprocess.run([f"{folder}/bin/perp", "--help"], capture_output=True, text=True).stdout
    check(shown == help_text)
