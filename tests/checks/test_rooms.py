#!/usr/bin/env python3
"""tools/check_rooms.py finds an upward call planted in real archives, and counts the calls between
rooms.
"""
from planted import CLEAN, SOURCE, Tree, expect, finish

ROOMS = CLEAN["tools/rooms.txt"]


def source(name, includes, body):
    lines = [f'#include "engine/{path}"' for path in includes]
    return "\n".join(lines) + f"\n\nuint64_t {name}(uint64_t value)\n{{\n    return {body};\n}}\n"


def header(name):
    return f"#include <stdint.h>\nuint64_t {name}(uint64_t value);\n"


HOUSE = {
    "src/engine/risk/low.h": header("low_do"),
    "src/engine/trade/high.h": header("high_do"),
    "src/engine/risk/low.c": source("low_do", ["risk/low.h"], "value"),
    "src/engine/trade/high.c": source("high_do", ["trade/high.h", "risk/low.h"],
                                      "low_do(value) + low_do(value + 1)"),
}
UP = source("low_do", ["risk/low.h", "trade/high.h"], "value ? high_do(value) : 0")
# No include goes up here: only the call does.
HIDDEN = (header("low_do") + header("high_do")
          + "\nuint64_t low_do(uint64_t value)\n{\n    return high_do(value);\n}\n")
TABLE = source("low_do", ["risk/low.h", "trade/high.h"], "low_table[value & 1](value)").replace(
    "uint64_t low_do", "static uint64_t (*const low_table[])(uint64_t) = { low_do, high_do };\n"
    "uint64_t low_do", 1)

PLANTED = [  # name, file, text, what the check says (None: nothing)
    ("clean rooms", "README.md", "\n", None),
    ("upward call", "src/engine/risk/low.c", UP, "risk/low.c calls high_do, up from risk to trade"),
    ("upward call without include", "src/engine/risk/low.c", HIDDEN, "calls high_do"),
    ("upward pointer in a table", "src/engine/risk/low.c", TABLE, "calls high_do"),
    ("object of a file that is gone", "src/engine/risk/low.c", None,
     "which src/engine does not have"),
]

check = SOURCE / "tools" / "check_rooms.py"
BUILD = ("ninja", "-C", "build", "base", "engine", "net")
with Tree(HOUSE) as tree:
    tree.configure()
    for name, path, text, want in PLANTED:
        before = (tree.root / path).read_text()
        if text is None:
            (tree.root / path).unlink()
        else:
            (tree.root / path).write_text(text)
            expect(f"{name}: builds", None, tree.run(*BUILD))
        expect(name, want, tree.check(check, "build", tree.root))
        (tree.root / path).write_text(before)
    expect("builds again", None, tree.run(*BUILD))
    out = tree.check(check, "build", tree.root)[1]
    for line in ("src/engine: 2 calls between rooms", "  trade      risk 2", "no call goes up"):
        if line not in out.splitlines():
            expect(f"graph has {line}", None, (1, out))
    (tree.root / "src/engine/risk/low.c").write_text(UP)
    (tree.root / "tools/rooms.txt").write_text(
        ROOMS + "except src/engine/risk/low.c src/engine/trade/high.h\n")
    expect("excepted: builds", None, tree.run(*BUILD))
    expect("excepted call", None, tree.check(check, "build", tree.root))
    out = tree.check(check, "build", tree.root)[1]
    for line in ("excepted: src/engine/risk/low.c calls high_do, up from risk to trade",
                 "no call goes up but 1 excepted", "  circle in risk, trade: high low"):
        if line not in out.splitlines():
            expect(f"excepted graph has {line}", None, (1, out))
    # The exception of one file is not that of another.
    (tree.root / "tools/rooms.txt").write_text(
        ROOMS + "except src/engine/risk/other.c src/engine/trade/high.h\n")
    expect("excepted for another file", "calls high_do, up from risk to trade",
           tree.check(check, "build", tree.root))
    # That of a header is: every file may reach it.
    (tree.root / "tools/rooms.txt").write_text(
        ROOMS + "except src/engine/risk/other.h src/engine/trade/high.h\n")
    expect("excepted for a header", None, tree.check(check, "build", tree.root))
finish()
