#!/usr/bin/env python3
"""tools/check_exports.py names what nobody, its own file alone or a test alone uses."""
import json

from planted import CLEAN, SOURCE, Tree, expect, finish

TURN_C, TURN_H = CLEAN["src/engine/turn.c"], CLEAN["src/engine/turn.h"]
MAIN = """#include "engine/turn.h"
#include "net/wire.h"

int main(void)
{
    return wire_send() + (int)turn_twice(1);
}
"""
THRICE = TURN_C + "\nuint64_t turn_thrice(uint64_t value)\n{\n    return value + 3;\n}\n"
DECLARED = TURN_H.replace("\n#endif", "uint64_t turn_thrice(uint64_t value);\n\n#endif")
SEAMS = "tools/test_seams.txt"

PLANTED = [  # name, files, what the check says (None: nothing)
    ("clean", {}, None),
    ("nobody", {"src/engine/turn.c": THRICE, "src/engine/turn.h": DECLARED},
     "src/engine/turn.c exports turn_thrice, which no other object"),
    ("its own file", {"src/engine/turn.h": DECLARED, "src/engine/turn.c": THRICE.replace(
        "return tick_next(tick_next(value))", "return turn_thrice(value)")},
     "src/engine/turn.c exports turn_thrice, which no other object"),
    ("a test alone", {"src/node/main.c": MAIN.replace(" + (int)turn_twice(1)", "")},
     "src/engine/turn.c exports turn_twice, which no other object"),
    ("a table", {"src/base/tick.c": CLEAN["src/base/tick.c"] + "\nextern const int tick_table[2];\n"
                 "const int tick_table[2] = { 1, 2 };\n"},
     "src/base/tick.c exports tick_table, which no other object"),
    ("a seam", {"src/engine/turn.c": THRICE, "src/engine/turn.h": DECLARED,
                SEAMS: "# why\nturn_thrice\n", "tests/engine/test_turn.c": "turn_thrice(1);\n"},
     None),
    ("a seam that no test has", {"src/engine/turn.c": THRICE, "src/engine/turn.h": DECLARED,
                                 SEAMS: "turn_thrice\n"},
     "no test and no benchmark names turn_thrice"),
    ("a seam that is gone", {SEAMS: "turn_thrice\n"}, "turn_thrice is not exported"),
    ("a seam that is used", {SEAMS: "turn_twice\n"}, "turn_twice is used"),
]


def build(tree):
    """The objects of src/, as CMake names them."""
    entries = []
    for source in sorted(tree.root.glob("src/**/*.c")):
        output = f"CMakeFiles/all.dir/{source.relative_to(tree.root)}.o"
        (tree.root / "build" / output).parent.mkdir(parents=True, exist_ok=True)
        done = tree.run("cc", "-O3", "-Isrc", "-o", f"build/{output}", "-c", source)
        if done[0]:
            return done
        entries.append({"file": str(source), "command": f"cc -o {output} -c {source}"})
    (tree.root / "build/compile_commands.json").write_text(json.dumps(entries))
    return 0, ""


for name, files, want in PLANTED:
    with Tree({"src/node/main.c": MAIN, SEAMS: "", **files}) as tree:
        if expect(f"{name}: builds", None, build(tree)):
            expect(name, want, tree.check(SOURCE / "tools/check_exports.py", "build", tree.root))
finish()
