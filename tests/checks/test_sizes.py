#!/usr/bin/env python3
"""Every pin of test_struct_sizes.c breaks the build when its number, or its struct, changes."""
import re
import shutil

from planted import SOURCE, Tree, expect, finish

PINS = (SOURCE / "tests/checks/test_struct_sizes.c").read_text()
ROW = re.compile(r"^PIN\((.*), (\d+)\);", re.M)


def compiles(tree, text):
    (tree.root / "pins.c").write_text(text)
    return tree.run("cc", "-std=c11", "-D_GNU_SOURCE", "-fsyntax-only", "-fmax-errors=0", "-Isrc",
                    "pins.c")


with Tree({}) as tree:
    shutil.rmtree(tree.root / "src")
    shutil.copytree(SOURCE / "src", tree.root / "src")
    expect("as it is", None, compiles(tree, PINS))
    # All of them at once: the compiler goes on, and says each.
    others = ROW.sub(lambda row: f"PIN({row[1]}, {int(row[2]) + 1});", PINS)
    result = compiles(tree, others)
    for row in ROW.finditer(PINS):
        expect(f"pin of {row[1]}", f'"{row[1]} is pinned to {int(row[2]) + 1}"', result)
    book = tree.root / "src/engine/table/book_pages.h"
    changed = book.read_text().replace("struct book_level {", "struct book_level {\n    int x;")
    book.write_text(changed)
    expect("field added to a level", "book_level) is pinned to", compiles(tree, PINS))
    if len(ROW.findall(PINS)) < 20:
        expect("pins are found", None, (1, "the pattern no longer finds the pins"))
finish()
