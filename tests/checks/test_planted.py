#!/usr/bin/env python3
"""Headers alone, words, format and tidy: each check finds the fault planted for it."""
import os

from planted import CLEAN, SOURCE, Tree, expect, finish

TICK_C, TICK_H = CLEAN["src/base/tick.c"], CLEAN["src/base/tick.h"]

HEADERS = [
    ("clean headers", "README.md", "\n", None),
    ("header needs another first", "src/base/tick.h", TICK_H.replace("#include <stdint.h>\n", ""),
     "unknown type name"),
    ("C++ only", "src/base/tick.h", TICK_H.replace("/* The", "class tick;\n/* The"), "error"),
]

WORDS = [
    ("clean words", "A tree.", None),
    ("promise", "TODO: the rest", "a promise"),
    ("promise in prose", "Funding is not implemented.", "a promise"),
    ("promise in passing", "It returns zero for now.", "a promise"),
    ("stub", "static int stub(void);", "a promise"),
    ("machine path", "see /work/main/src", "a path of one machine"),
    ("home path", "cd /home/someone/perpd", "a path of one machine"),
    ("relative path", "see perf/work/file and ~/work/x", None),
    ("registry host", "pip install -i https://pypi.org/simple x", "a registry host"),
    ("private address", "curl http://10.1.2.3:8080/", "an address of one network"),
    ("loopback", "curl http://127.0.0.1:8080/", None),
    ("making of", "as asked in issue 7", "not of its making"),
    ("template of mktemp", "mktemp -d perpd.XXXXXX", None),
    ("inverted", "Whoever asks is told.", "Whoever"),
    ("archaic", "It is entered anew.", "anew"),
    ("a word of another meaning", "A list dooms: the doom of an order.", "doom"),
    ("parts of words", "a newer row, at handover", None),
]

NAMES = [
    ("clean name", TICK_C, None),
    ("a function that takes", TICK_C + "/* take(value) */\n", "'take('"),
    ("a function that tells rows", TICK_C + "/* tell_rows(value) */\n", "'tell_rows('"),
    ("an exported take", TICK_C + "void tick_take(struct tick *tick);\n", "accept, pop, copy"),
    ("an exported give", TICK_C + "void tick_give(uint32_t line);\n", "accept, pop, copy"),
    ("a place that is no order's", TICK_C + "uint32_t tick_place(const struct tick *tick);\n",
     "orders are placed"),
    ("a struct of entries", TICK_C + "struct tick_entry;\n", "location or row"),
    ("a shadow", TICK_C + "/* shadow->order */\n", "location or row"),
    ("an order that is placed", TICK_C + "/* conditional_order_place(engine); place.h */\n", None),
    ("tokens of a bucket", TICK_C + "/* rate_take(rates), take_over(node) */\n", None),
]

FORMAT = [
    ("clean format", TICK_C, None),
    ("tab", TICK_C.replace("    return", "\treturn"), "should be clang-formatted"),
    ("brace", TICK_C.replace(")\n{", ") {"), "should be clang-formatted"),
]

REDUNDANT = "static inline uint64_t tick_same(uint64_t value)\n{\n    return value | value;\n}\n"

TIDY = [  # what passed is remembered; a fault put in it afterwards, or in what it includes, is seen
    ("clean tidy", "src/base/tick.c", TICK_C, None),
    ("clean tidy, remembered", "src/base/tick.c", TICK_C, None),
    ("null dereference", "src/base/tick.c", TICK_C.replace("return value + 1",
     "const uint64_t *p = 0;\n    if (value)\n        p = &value;\n    return *p"),
     "NullDereference"),
    ("the same again", "src/engine/turn.c", CLEAN["src/engine/turn.c"], "NullDereference"),
    ("redundant expression", "src/base/tick.c",
     TICK_C.replace("value + 1", "(value | value) + 1"), "misc-redundant-expression"),
    ("mended", "src/base/tick.c", TICK_C, None),
    ("redundant expression of a header", "src/base/tick.h",
     TICK_H.replace("#endif", REDUNDANT + "#endif"), "misc-redundant-expression"),
    ("header mended", "src/base/tick.h", TICK_H, None),
    ("file of no build", "src/base/tock.c", TICK_C, "no command"),
]

with Tree({}) as tree:
    tree.configure()
    for name, path, text, want in HEADERS:
        before = (tree.root / path).read_text()
        (tree.root / path).write_text(text)
        expect(name, want, tree.run(SOURCE / "tools/check_headers.sh", "build"))
        (tree.root / path).write_text(before)
    for name, text, want in WORDS:
        (tree.root / "README.md").write_text(text + "\n")
        expect(name, want, tree.check(SOURCE / "tools/check_words.py", tree.root))
    (tree.root / "README.md").write_text("A tree.\n")
    for name, text, want in NAMES:
        (tree.root / "src/base/tick.c").write_text(text)
        expect(name, want, tree.check(SOURCE / "tools/check_words.py", tree.root))
    for name, text, want in FORMAT:
        (tree.root / "src/base/tick.c").write_text(text)
        expect(name, want, tree.run(SOURCE / "tools/check_format.sh", tree.root))
    os.environ["PERPD_TIDY_CACHE"] = str(tree.root / "remembered")
    for name, path, text, want in TIDY:
        (tree.root / path).write_text(text)
        expect(name, want, tree.run(SOURCE / "tools/check_tidy.py", "build", tree.root))
finish()
