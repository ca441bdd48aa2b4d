"""test_docs.py BUILD - docs/perp.md shows the commands, flags and exit codes that perp has."""
import pathlib
import re
import sys

from fake import Perp, check

perp = Perp(sys.argv[1])
page = (pathlib.Path(__file__).resolve().parents[2] / "docs/perp.md").read_text()
help_text = perp.run("--help").stdout

# The page ends with the help text, word for word.
check(page.endswith(f"```\n{help_text}```\n"), "docs/perp.md is not what perp --help says")

# Each command has a help of its own that begins with its line, and says which flags it takes.
lines = help_text.split("commands\n")[1].split("\n\n")[0].splitlines()
commands = [" ".join(word for word in re.split("  +", line)[1].split() if word[0].islower())
            for line in lines]
check(len(set(commands)) >= 34 and {"order", "session revoke-all"} <= set(commands), commands)
for words in commands:
    shown = perp.run(*words.split(), "--help").stdout
    check(shown.startswith(f"perp {words}") and "\nflags\n" in shown, words, shown)
    check(perp.run("help", *words.split()).stdout == shown, words)

# Every command line of the page is one that perp knows: no unknown command, flag or missing word.
for line in re.findall(r"^\$ perp (.*?)(?:\s+#.*)?$", page, re.M):
    done = perp.run(*line.split(), "--help")
    check(done.stdout.startswith("perp "), line)
