"""web_sizes.py DIST - what the web console weighs, compressed as it is sent, against its budgets.

A first load is the page, and what its HTML and its scripts import without being asked to.
"""
import gzip
import pathlib
import re
import subprocess
import sys

DIST = pathlib.Path(sys.argv[1])
# Page, coding, bytes: of the first load; "" is everything that is embedded.
BUDGETS = (("index.html", "gzip", 90_000), ("index.html", "br", 80_000),
           ("operator.html", "gzip", 45_000), ("", "gzip", 140_000))
STATIC = re.compile(r"""(?:from|import)\s*["']\./([\w.-]+)["']""")


def size(path, coding):
    if coding == "gzip":
        return len(gzip.compress(path.read_bytes(), 9))
    return len(subprocess.run(["brotli", "-q", "11", "-c", path], stdout=subprocess.PIPE,
                              check=True).stdout)


def first_load(page):
    """The page and what it loads at once."""
    found, waiting = set(), [page]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        text = (DIST / name).read_text()
        waiting += re.findall(r'"/console/([\w.-]+)"', text) if name == page else []
        waiting += STATIC.findall(text) if name.endswith(".js") else []
    return found


wrong = False
for page, coding, budget in BUDGETS:
    if page and not (DIST / page).exists():
        continue
    names = first_load(page) if page else {path.name for path in DIST.iterdir()}
    total = sum(size(DIST / name, coding) for name in names)
    wrong |= total > budget
    print(f"{page or 'everything':14} {coding:4} {total:7} of {budget} bytes"
          + (" - too large" if total > budget else ""))
sys.exit(wrong)
