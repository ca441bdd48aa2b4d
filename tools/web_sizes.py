"""web_sizes.py DIST - what the web console weighs, compressed as it is sent, against its budgets.

A first load is the page, what its HTML and its scripts import without being asked to, and of the
trader's page what its script asks for when the file is painted, and the chart, which comes at
once. Own code is what the first load weighs beside the
libraries in it.
"""
import gzip
import pathlib
import re
import subprocess
import sys

DIST = pathlib.Path(sys.argv[1])
TRADER, OPERATOR, ALL = "index.html", "operator.html", ""
# Of a first load, or of everything that is embedded: page, coding, bytes at most.
BUDGETS = ((TRADER, "gzip", 90_000), (TRADER, "br", 80_000), (OPERATOR, "gzip", 45_000),
           (ALL, "gzip", 140_000))
OWN_BUDGET = 28_000
# preact with its hooks and lightweight-charts with fancy-canvas, minified alone, gzip -9, the
# latter without its logo and the methods that are not called.
LIBRARIES = 56_423
PAGE, CHART = "page", "candle_chart"
STATIC = re.compile(r"""(?:from|import)\s*["']\./([\w.-]+)["']""")


def size(path, coding):
    if coding == "gzip":
        return len(gzip.compress(path.read_bytes(), 9))
    return len(subprocess.run(["brotli", "-q", "11", "-c", path], stdout=subprocess.PIPE,
                              check=True).stdout)


def first_load(page):
    """The page and what it loads at once."""
    found, waiting = set(), [page]
    if page == TRADER:
        waiting += [path.name for stem in (PAGE, CHART) for path in DIST.glob(f"{stem}.*.js")]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        text = (DIST / name).read_text()
        waiting += re.findall(r'"/console/([\w.-]+)"', text) if name == page else []
        waiting += STATIC.findall(text) if name.endswith(".js") else []
    return found


def judged(what, coding, total, budget):
    print(f"{what:14} {coding:4} {total:7} of {budget} bytes"
          + (" - too large" if total > budget else ""))
    return total > budget


wrong = False
for page, coding, budget in BUDGETS:
    if page and not (DIST / page).exists():
        continue
    names = first_load(page) if page else {path.name for path in DIST.iterdir()}
    for stem in (PAGE, CHART) if page == TRADER else ():
        if not any(name.startswith(stem) for name in names):
            sys.exit(f"web_sizes: {DIST} has no {stem}.*.js, which the first load counts")
    total = sum(size(DIST / name, coding) for name in names)
    wrong |= judged(page or "everything", coding, total, budget)
    if page == TRADER and coding == "gzip":
        wrong |= judged("own code in it", coding, total - LIBRARIES, OWN_BUDGET)
sys.exit(wrong)
