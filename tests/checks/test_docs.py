#!/usr/bin/env python3
"""Every rule of tools/check_docs.py finds the fault planted for it."""
from planted import CLEAN, SOURCE, Tree, expect, finish

FILES = "<!-- files -->\n<!-- end -->\n"
CHANGES = "# Changelog\n\n## 1\n\n### Wire\n\n### Journal format\n\n### Performance\n"
DECISION = "# Title\n\n## Context\n\n## Choice\n\n## Rejected\n\n## Cost\n"
READMES = {f"src/{layer}/README.md": f"# {layer}\n\n{FILES}"
           for layer in ("base", "crypto", "engine", "store", "net", "node")}
READMES |= {f"{name}/README.md": "# x\n" for name in ("bench", "perf", "tests", "tools",
                                                     "docs/decisions")}
CLEAN_DOCS = READMES | {"CHANGELOG.md": CHANGES, "docs/decisions/0001-a-title.md": DECISION}

PLANTED = [  # name, file, text, what the check says (None: nothing)
    ("clean documents", "README.md", "See [base](src/base/README.md), `src/base/tick`.\n", None),
    ("broken link", "README.md", "See [it](docs/GONE.md).\n", "link to docs/GONE.md"),
    ("link outside", "README.md", "See [it](https://example.com/x).\n", None),
    ("path that is not there", "README.md", "See `src/base/gone.h`.\n", "is not there"),
    ("command in a block", "README.md", "```\nsrc/base/gone.h\n```\n", None),
    ("new header", "src/net/late.h", CLEAN["src/net/wire.h"], "its table is old"),
    ("changed sentence", "src/net/wire.h", CLEAN["src/net/wire.h"].replace("bytes", "octets"),
     "its table is old"),
    ("table without markers", "src/net/README.md", "# net\n", "no table between"),
    ("decision out of number", "docs/decisions/0003-b.md", DECISION, "expected 0002-title.md"),
    ("decision too long", "docs/decisions/0001-a-title.md", DECISION + "\n" * 40, "limit 40"),
    ("decision without its cost", "docs/decisions/0001-a-title.md",
     DECISION.replace("## Cost\n", ""), "no heading Cost"),
    ("changelog heading", "CHANGELOG.md", CHANGES.replace("### Wire\n", ""), "no heading Wire"),
    ("older version complete", "CHANGELOG.md", "# C\n\n## 2\n\nx\n\n" + CHANGES[13:],
     "no heading Performance"),
]

check = SOURCE / "tools" / "check_docs.py"
for name, path, text, want in PLANTED:
    with Tree(CLEAN_DOCS) as tree:
        expect(f"{name}: tables made", None, tree.run(check, "--write", tree.root))
        (tree.root / path).write_text(text)
        expect(name, want, tree.run(check, tree.root))
ROOM = {"src/net/http/line.h": CLEAN["src/net/wire.h"].replace("wire.h - ", "line.h - "),
        "src/net/http/README.md": f"# http\n\nOne line: of bytes. Not two.\n\n{FILES}",
        "src/net/README.md": f"# net\n\n<!-- rooms -->\n<!-- end -->\n\n{FILES}"}
with Tree(CLEAN_DOCS | ROOM) as tree:
    expect("room: tables made", None, tree.run(check, "--write", tree.root))
    expect("room", None, tree.run(check, tree.root))
    made = (tree.root / "src/net/README.md").read_text()
    if "| [`http`](http/README.md) | One line: of bytes |" not in made:
        expect("table of rooms", None, (1, made))
    (tree.root / "src/net/http/late.h").write_text(CLEAN["src/net/wire.h"])
    expect("new header in a room", "http/README.md: its table is old", tree.run(check, tree.root))
    (tree.root / "src/net/http/late.h").unlink()
    (tree.root / "src/net/http/README.md").write_text(f"# http\n\nAnother line.\n\n{FILES}")
    expect("changed room", "src/net/README.md: its table is old", tree.run(check, tree.root))
    (tree.root / "src/net/http/README.md").unlink()
    expect("room without README", "http/README.md: missing", tree.run(check, "--write", tree.root))
    (tree.root / "src/net/README.md").write_text(READMES["src/net/README.md"])
    expect("folder that hides its rooms", "no table between <!-- rooms -->",
           tree.run(check, tree.root))
with Tree(CLEAN_DOCS) as tree:
    (tree.root / "perf/README.md").unlink()
    expect("folder without README", "perf/README.md: missing",
           tree.run(check, "--write", tree.root))
finish()
