#!/usr/bin/env python3
"""A planted bug that no longer applies is named: by its check, and by the build."""
from planted import CLEAN, SOURCE, Tree, expect, finish

PATCH = "tests/node/planted/01-counts-by-two.patch"
BUG = """--- src/base/tick.c
+++ src/base/tick.c
@@ -4,3 +4,3 @@
 {
-    return value + 1;
+    return value + 2;
 }
"""
TICK_C, APPLY = CLEAN["src/base/tick.c"], SOURCE / "tests/node/planted/apply.py"

PLANTED = [  # name, file, text, what the check says (None: nothing)
    ("clean", "README.md", "\n", None),
    ("more lines before it", "src/base/tick.c", TICK_C.replace("\n\n", "\n\n\n/* A */\n\n"), None),
    ("its line is another", "src/base/tick.c", TICK_C.replace("value + 1", "1 + value"),
     "its lines are 0 times"),
    ("its lines are there twice", "src/base/tick.c", TICK_C + TICK_C.split("\n", 2)[2],
     "its lines are 2 times"),
    ("two files of its name", "src/engine/tick.c", TICK_C, "2 files of src/ have the name"),
    ("its file is gone", PATCH, BUG.replace("tick.c", "tock.c"), "0 files of src/ have the name"),
    ("two hunks", PATCH, BUG + BUG[BUG.index("@@"):], "it is not one hunk"),
]

for name, path, text, want in PLANTED:
    with Tree({PATCH: BUG, path: text}) as tree:
        result = tree.check(APPLY, "--check", tree.root)
        expect(name, want, result)
        expect(f"{name}: is named", None if want is None else "01-counts-by-two.patch", result)

with Tree({PATCH: BUG}) as tree:
    files = (APPLY, "src/base/tick.c", PATCH, "build/tick.c")
    expect("a copy with the bug", None, tree.check(*files))
    expect("has it", None, tree.run("grep", "value + 2", "build/tick.c"))
    (tree.root / "src/base/tick.c").write_text(TICK_C.replace("value + 1", "1 + value"))
    expect("the build names it", "01-counts-by-two.patch does not apply", tree.check(*files))
with Tree({}) as tree:
    expect("no patches", "no patches in", tree.check(APPLY, "--check", tree.root))
finish()
