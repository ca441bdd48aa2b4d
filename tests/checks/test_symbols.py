#!/usr/bin/env python3
"""Every rule of tools/check_symbols.py finds the fault planted for it in real archives, and the
engine's tests cannot link what the engine may not reach.
"""
import shutil

from planted import CLEAN, SOURCE, Tree, expect, finish

TURN_C, TICK_C = CLEAN["src/engine/turn.c"], CLEAN["src/base/tick.c"]
HEAP = "#include <stdlib.h>\n"
BODY = "uint64_t turn_twice(uint64_t value)\n{\n"

PLANTED = [  # name, file, text, what the check says (None: nothing)
    ("clean tree", "README.md", "\n", None),
    ("engine allocates", "src/engine/turn.c",
     HEAP + TURN_C.replace("return tick", "return *(uint64_t *)calloc(1, 8) + tick"),
     "engine/turn.c reaches calloc"),
    ("engine reads the clock", "src/engine/turn.c",
     "#include <time.h>\n" + TURN_C.replace("return tick", "return (uint64_t)time(NULL) + tick"),
     "engine/turn.c reaches time"),
    ("pure file of base allocates", "src/base/tick.c",
     HEAP + TICK_C.replace("return value", "return *(uint64_t *)calloc(1, 8) + value"),
     "base/tick.c reaches calloc"),
    ("engine reaches an impure file of base", "tools/engine_symbols.txt", "libc memcpy\n",
     "engine/turn.c reaches tick_next"),
    ("engine has a global", "src/engine/turn.c",
     TURN_C.replace(BODY, "static uint64_t turn_count;\n" + BODY + "    turn_count += value;\n")
     .replace("return ", "return turn_count + "), "holds writable data: turn_count"),
    ("engine has a constant table", "src/engine/turn.c",
     TURN_C.replace(BODY, 'static const char *const turn_names[] = { "a", "b" };\n' + BODY)
     .replace("return ", "return (uint64_t)turn_names[value & 1][0] + "), None),
    ("misnamed export", "src/base/tick.c",
     TICK_C + "\nuint64_t tock(uint64_t value);\nuint64_t tock(uint64_t value)\n{\n"
     "    return value;\n}\n", "base/tick.c exports tock"),
    ("prefix of another word", "src/base/tick.c",
     TICK_C + "\nuint64_t ticker(uint64_t value);\nuint64_t ticker(uint64_t value)\n{\n"
     "    return value;\n}\n", "base/tick.c exports ticker"),
]

REACHING_TEST = """int wire_send(void);

int main(void)
{
    return wire_send();
}
"""

check = SOURCE / "tools" / "check_symbols.py"
with Tree({}) as tree:
    tree.configure()
    for name, path, text, want in PLANTED:
        before = (tree.root / path).read_text()
        (tree.root / path).write_text(text)
        if expect(f"{name}: builds", None, tree.run("ninja", "-C", "build", "base", "engine")):
            expect(name, want, tree.check(check, "build", tree.root))
        (tree.root / path).write_text(before)

with Tree({"tests/engine/test_reach.c": REACHING_TEST}) as tree:
    tree.configure()
    expect("engine test links engine", None, tree.run("ninja", "-C", "build", "test_engine_turn"))
    missing = "undefined symbol: wire_send" if shutil.which("mold") \
        else "undefined reference to `wire_send'"
    expect("engine test cannot link net", missing,
           tree.run("ninja", "-C", "build", "test_engine_reach"))
finish()
