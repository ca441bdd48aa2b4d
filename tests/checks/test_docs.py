#!/usr/bin/env python3
"""Every rule of tools/check_docs.py finds the fault planted for it.

Names and marks that resolve nowhere are put together here, so that this file has none itself.
"""
from planted import CLEAN, SOURCE, Tree, expect, finish

MD = ".m" + "d"
FILES = "<!-- files -->\n<!-- end -->\n"
CHANGES = "# Changelog\n\n## 1\n\n### Wire\n\n### Journal format\n\n### Performance\n"
DECISION = "# 1. Title\n\n## Context\n\n## Choice\n\n## Rejected\n\n## Cost\n"
SECOND = DECISION.replace("# 1.", "# 3.")
INDEX = f"# x\n[1](0001-a-title{MD}) [3](0003-b{MD})\n"
READMES = {f"src/{layer}/README.md": f"# {layer}\n\n{FILES}"
           for layer in ("base", "crypto", "engine", "store", "repl", "net", "node")}
READMES |= {f"{name}/README.md": "# x\n" for name in ("bench", "perf", "tests", "tools",
                                                     "docs/decisions")}
RULES = """# Rules

## R2 Positions

| mark | what holds |
|---|---|
| I1 | sums |

**L1** sells. Row order is R11's.

| 7 | no row of R11 |
|---|---|

## R11 Order of checks

| row | check |
|---|---|
| 0 | window |
| 17b | notional |
"""
SPEC = {
    "docs/spec/rules.md": RULES,
    "docs/spec/wire.md": "# Wire\n\n## W3 Layouts\n\n### W3a Operator\n\n## Enum codes\n",
    "docs/spec/json.md": "# JSON\n\n## J8 Problem object\n",
    "docs/spec/journal.md": "# Journal\n\n## Frame\n\n## Segment\n",
    "docs/spec/signatures.md": "# Signatures\n", "docs/spec/interface.md": "# Interface\n",
    "docs/spec/roles.md": "# Roles\n", "docs/spec/console.md": "# Console\n",
    "docs/spec/replication.md": "# Replication\n\n## Keys\n", "docs/STYLE.md": "# Style\n",
    "docs/ARCHITECTURE.md": "# Architecture\n", "docs/reference.md": "# Reference\n",
}
GONE = "decision " + "54 is not there"
FIRST = "docs/decisions/0001-a-title" + MD
CLEAN_DOCS = READMES | SPEC | {"CHANGELOG.md": CHANGES, FIRST: DECISION,
                               f"docs/decisions/0003-b{MD}": SECOND,
                               "docs/decisions/README.md": INDEX}


def code(text):
    return CLEAN["src/base/tick.c"] + f"\n/* {text} */\n"


PLANTED = [  # name, file, text, what the check says (None: nothing)
    ("clean documents", "README.md", "See [base](src/base/README.md), `src/base/tick`.\n", None),
    ("broken link", "README.md", f"See [it](docs/GONE{MD}).\n", "link to docs/GONE" + MD),
    ("link to a heading", "README.md", "[R2](docs/spec/rules.md#r2-positions)\n", None),
    ("link to no heading", "README.md", "[R2](docs/spec/rules.md#r2-sums)\n", "no such heading"),
    ("link to no heading here", "README.md", "# A b\n[x](#a-b) [y](#b)\n", "#b: no such heading"),
    ("link from a name", "README.md", "[`tick_next`](src/base/tick.c)\n", None),
    ("link from a name that is not there", "README.md", "[`tick_nex`](src/base/tick.c)\n",
     "link from tick_nex to src/base/tick.c, which does not have it"),
    ("link outside", "README.md", "See [it](https://example.com/x).\n", None),
    ("path that is not there", "README.md", "See `src/base/gone.h`.\n", "is not there"),
    ("command in a block", "README.md", "```\nsrc/base/gone.h\n```\n", None),
    ("new header", "src/net/late.h", CLEAN["src/net/wire.h"], "its table is old"),
    ("changed sentence", "src/net/wire.h", CLEAN["src/net/wire.h"].replace("bytes", "octets"),
     "its table is old"),
    ("table without markers", "src/net/README.md", "# net\n", "no table between"),
    ("decision of the same number", "docs/decisions/0001-b" + MD, DECISION,
     "another decision has the number 0001"),
    ("decision with another number inside", "docs/decisions/0003-b" + MD, DECISION,
     "its first line is not"),
    ("decision without a number", "docs/decisions/b" + MD, DECISION, "is not a number"),
    ("decision without its cost", FIRST, DECISION.replace("## Cost\n", ""), "no heading Cost"),
    ("decision that the index lacks", "docs/decisions/000" + "4-c" + MD,
     DECISION.replace("1.", "4."), "its index lacks 0004-c"),
    ("changelog heading", "CHANGELOG.md", CHANGES.replace("### Wire\n", ""), "no heading Wire"),
    ("older version complete", "CHANGELOG.md", "# C\n\n## 2\n\nx\n\n" + CHANGES[13:],
     "no heading Performance"),

    ("test that is there", f"docs/reliability{MD}", "`test_engine_turn`\n", None),
    ("test that is not there", f"docs/reliability{MD}", "`test_engine_gone`\n",
     "is the test test_engine_gone"),
    ("marks that are there", "src/base/tick.c", code("R2's I1, L1; W3, W3a Operator (J8)"), None),
    ("registers and others", "src/base/tick.c", code("%r14, 0xR9, AB1, W3C"), None),
    ("rule", "src/base/tick.c", code("see R" + "3"), "R" + "3: docs/spec/rules.md has no"),
    ("invariant", "src/base/tick.c", code("I1 to I" + "6"), "I" + "6: docs/spec/rules.md has no"),
    ("level", "src/base/tick.c", code("L" + "2 of R2"), "L" + "2: docs/spec/rules.md has no"),
    ("wire mark", "src/net/wire.h", CLEAN["src/net/wire.h"] + "/* W" + "3b */\n",
     "W" + "3b: docs/spec/wire.md has no"),
    ("JSON mark", "tests/engine/test_turn.c", "/* (J" + "1) */\n", "test_turn.c:1: J" + "1: "),
    ("mark in a script", "tools/run", "#!/bin/sh\n# R" + "4\n", "tools/run:2: R" + "4: "),
    ("mark in TypeScript", "tools/view.ts", "// R" + "4\n", "tools/view.ts:1: R" + "4: "),
    ("mark in a patch", "tools/a.patch", "+/* R" + "4 */\n", "tools/a.patch:1: R" + "4: "),
    ("range", "src/base/tick.c", code("I1-I" + "6"), "I" + "6: docs/spec/rules.md has no"),
    ("section of replication", "src/base/tick.c", code(f"replication{MD}, Rooms"),
     "docs/spec/replication.md has no section 'Rooms"),
    ("mark of another document", "src/base/tick.c", code(f"wire{MD}, R2"),
     "R2 is a mark of rules.md"),
    ("rows that are there", "src/base/tick.c", code("Rows 0 and 17b; row 0"), None),
    ("row", "src/base/tick.c", code("row " + "17"), "row 17: the table of R11"),
    ("row of another table", "src/base/tick.c", code("row " + "7"), "row 7: the table of R11"),
    ("second of two rows", "src/base/tick.c", code("rows " + "0 to 5"), "row 5: the table of R11"),
    ("section", "src/base/tick.c", code(f"journal{MD}, Frame and Segment"), None),
    ("section with a mark", "src/base/tick.c", code(f"rules{MD}, Positions; wire{MD}, W3"), None),
    ("section over two lines", "src/base/tick.c", code(f"wire{MD}, Enum\n * codes"), None),
    ("section that is not there", "src/base/tick.c", code(f"journal{MD}, Record"),
     "tick.c:8: docs/spec/journal.md has no section 'Record"),
    ("second section", "src/base/tick.c", code(f"journal{MD}, Frame and Snapshot"),
     "has no section 'Snapshot"),
    ("section in a string", "src/base/tick.c", code("") + f"static_assert(1, \"journal{MD}, "
     "Frames\");\n", "has no section 'Frames"),
    ("document", "src/base/tick.c", code("archi" + "tecture" + MD), "is not there"),
    ("document of another case", "src/base/tick.c", code("JOURNAL" + MD), "is not there"),
    ("decisions that are there", "src/base/tick.c",
     code("decision 1, docs/decisions/0001, decisions 1\n * and 1"), None),
    ("decision", "src/base/tick.c", code("decision " + "54"), GONE),
    ("decision with a capital", "src/base/tick.c", code("Decision " + "54"), GONE),
    ("second decision", "src/base/tick.c", code("decisions " + "1 and 54"), GONE),
    ("path of a decision", "src/base/tick.c", code("docs/decisions/00" + "54"),
     GONE),
    ("decision in a decision", FIRST, DECISION + "As 00" + "54 says.\n", GONE),
]

MAKER = "clients/x/examples/quickstart_maker.py"
EXAMPLE = {MAKER: "import perpd\n", "README.md": f"# x\n<!-- example {MAKER} -->\n<!-- end -->\n"}
check = SOURCE / "tools" / "check_docs.py"
with Tree(CLEAN_DOCS) as tree:
    expect("tables made", None, tree.check(check, "--write", tree.root))
    CLEAN_DOCS = {name: (tree.root / name).read_text() for name in CLEAN_DOCS}
for name, path, text, want in PLANTED:
    with Tree(CLEAN_DOCS) as tree:
        (tree.root / path).write_text(text)
        expect(name, want, tree.check(check, tree.root))
INNER = "src/net/http/README" + MD
ROOM = {"src/net/http/line.h": CLEAN["src/net/wire.h"].replace("wire.h - ", "line.h - "),
        INNER: f"# http\n\nOne line: of bytes. Not two.\n\n{FILES}",
        "src/net/README.md": f"# net\n\n<!-- rooms -->\n<!-- end -->\n\n{FILES}"}
with Tree(CLEAN_DOCS | ROOM) as tree:
    expect("room: tables made", None, tree.check(check, "--write", tree.root))
    expect("room", None, tree.check(check, tree.root))
    made = (tree.root / "src/net/README.md").read_text()
    if f"| [`http`](http/README{MD}) | One line: of bytes |" not in made:
        expect("table of rooms", None, (1, made))
    (tree.root / "src/net/http/late.h").write_text(CLEAN["src/net/wire.h"])
    expect("new header in a room", f"http/README{MD}: its table is old",
           tree.check(check, tree.root))
    (tree.root / "src/net/http/late.h").unlink()
    (tree.root / INNER).write_text(f"# http\n\nAnother line.\n\n{FILES}")
    expect("changed room", "src/net/README.md: its table is old", tree.check(check, tree.root))
    (tree.root / INNER).unlink()
    expect("room without README", f"http/README{MD}: missing",
           tree.check(check, "--write", tree.root))
    (tree.root / "src/net/README.md").write_text(READMES["src/net/README.md"])
    expect("folder that hides its rooms", "no table between <!-- rooms -->",
           tree.check(check, tree.root))
with Tree(CLEAN_DOCS | EXAMPLE) as tree:
    expect("example made", None, tree.check(check, "--write", tree.root))
    expect("example", None, tree.check(check, tree.root))
    shown = (tree.root / "README.md").read_text()
    if "```py\nimport perpd\n```\n<!-- end -->" not in shown:
        expect("block of an example", None, (1, shown))
    (tree.root / MAKER).write_text("import perpd.sync\n")
    expect("example that has changed", "README.md: its table is old",
           tree.check(check, tree.root))
    (tree.root / "README.md").write_text("# x\n")
    expect("quickstart that is not shown", f"README.md: it does not show {MAKER}",
           tree.check(check, tree.root))
    (tree.root / "README.md").write_text(EXAMPLE["README.md"] + shown)
    (tree.root / MAKER).unlink()
    expect("example that is gone", f"example {MAKER} is not there", tree.check(check, tree.root))
with Tree(CLEAN_DOCS) as tree:
    (tree.root / "docs/spec/roles.md").unlink()
    expect("document that must exist", "docs/spec/roles.md: missing", tree.check(check, tree.root))
with Tree(CLEAN_DOCS) as tree:
    (tree.root / "perf/README.md").unlink()
    expect("folder without README", "perf/README.md: missing",
           tree.check(check, "--write", tree.root))
finish()
