#!/usr/bin/env python3
"""Every rule of tools/check_layers.py finds the fault planted for it."""
from planted import CLEAN, SOURCE, Tree, expect, finish

TURN_C, TURN_H = CLEAN["src/engine/turn.c"], CLEAN["src/engine/turn.h"]
TICK_C, WIRE_C = CLEAN["src/base/tick.c"], CLEAN["src/net/wire.c"]


def function(lines):
    return "static int turn_long(void)\n{\n" + "    /* . */\n" * lines + "}\n"


PLANTED = [  # name, file, text, what the check says (None: nothing)
    ("engine includes net", "src/engine/turn.c", '#include "net/wire.h"\n', "may not include net"),
    ("net includes store", "src/net/wire.c", '#include "store/disk.h"\n', "may not include store"),
    ("base includes engine", "src/base/tick.c", '#include "engine/turn.h"\n', "may not include"),
    ("no folder named", "src/net/wire.c", '#include "wire.h"\n', "without its folder"),
    ("engine tests see net", "tests/engine/test_x.c", '#include "net/wire.h"\n', "may not include"),
    ("node includes all", "src/node/match/matcher.c", '#include "engine/turn.h"\n', None),
    ("engine touches stdio", "src/engine/turn.c", "#include <stdio.h>\n", "<stdio.h>"),
    ("engine touches time", "src/engine/turn.c", "#include <time.h>\n", "<time.h>"),
    ("engine touches stdlib", "src/engine/turn.c", "#include <stdlib.h>\n", "touch nothing"),
    ("store has sockets", "src/store/disk.c", "#include <netinet/in.h>\n", "<netinet/in.h>"),
    ("base has io_uring", "src/base/tick.c", "#include <liburing.h>\n", "<liburing.h>"),
    ("store has io_uring", "src/store/disk.c", "#include <liburing.h>\n", None),
    ("sodium outside hash.c", "src/base/tick.c", "#include <sodium.h>\n", "<sodium.h>"),
    ("sodium in hash.c", "src/base/hash.c", "#include <sodium.h>\n", None),
    ("ck outside keyring.c", "src/node/match/matcher.c", "#include <ck_ring.h>\n", "<ck_ring.h>"),
    ("inih outside config.c", "src/node/run/start.c", "#include <ini.h>\n", "<ini.h>"),
    ("jansson outside net", "src/node/run/start.c", "#include <jansson.h>\n", "<jansson.h>"),
    ("threads in net", "src/net/wire.c", "#include <pthread.h>\n", "<pthread.h>"),
    ("atomics header in node", "src/node/a.c", "#include <stdatomic.h>\n", "<stdatomic.h>"),
    ("banned function", "src/base/tick.c", TICK_C + "/* */ int x = atoi(s);\n", "banned: atoi"),
    ("member of that name", "src/base/tick.c", "    x = disk->random(disk);\n", None),
    ("banned in tools", "tools/perp/main.c", "int n = sprintf(b, s);\n", "banned: sprintf"),
    ("only in a comment", "src/base/tick.c", "/* strcpy(a, b)\n   atoi(x) */\n", None),
    ("only in a string", "src/base/tick.c", 'static const char s[] = "gets(x)";\n', None),
    ("volatile in net", "src/net/wire.c", "static volatile int x;\n", "banned: volatile"),
    ("volatile in base", "src/base/tick.c", "static volatile int x;\n", None),
    ("atomic in net", "src/net/wire.c", "static _Atomic int x;\n", "banned: _Atomic"),
    ("atomic in engine", "src/engine/turn.c", "    atomic_load(&x);\n", "banned: atomic_load"),
    ("atomic in store", "src/store/disk.c", "static _Atomic int x;\n", None),
    ("fence in store", "src/store/disk.c", "    atomic_thread_fence(x);\n", "raw fences"),
    ("assembly in engine", "src/engine/turn.c", '__asm__("pause");\n', "banned: __asm__"),
    ("print in net", "src/net/wire.c", '    fprintf(stderr, "x");\n', "banned: fprintf"),
    ("float in engine", "src/engine/turn.c", "static double price;\n", "banned: double"),
    ("abort in store", "src/store/disk.c", "    abort();\n", "banned: abort"),
    ("assert", "src/base/tick.c", "    assert(x);\n", "banned: assert"),
    ("static_assert", "src/base/tick.c", 'static_assert(1, "x");\n', None),
    ("source too long", "src/net/wire.c", WIRE_C + "\n" * 600, "limit 600"),
    ("header too long", "src/net/wire.h", "/* wire.h - x */\n" + "\n" * 200, "limit 200"),
    ("function too long", "src/engine/turn.c", function(71), "function of 71 lines"),
    ("function at the limit", "src/engine/turn.c", function(70), None),
    ("line too long", "src/net/wire.c", "/* " + "x" * 98 + " */\n", "104 columns"),
    ("table row too long", "src/net/wire.c", "    X(" + "x" * 145 + ")\n", "152 columns"),
    ("table row wide", "src/net/wire.c", "    X(" + "x" * 143 + ")\n", None),
    ("guard of another file", "src/engine/turn.h", TURN_H.replace("_TURN_H", "_TUNR_H"), "guard"),
    ("guard without folder", "src/engine/turn.h", TURN_H.replace("ENGINE_", ""), "guard"),
    ("no first sentence", "src/engine/turn.h", TURN_H.split("\n", 1)[1], "first sentence"),
    ("file outside the layers", "src/extra/x.c", "int x;\n", "nothing else"),
    ("folder in a layer without rooms", "src/base/deep/x.c", "int x;\n", "nothing else"),
    ("folder that is no room", "src/net/extra/x.c", "int x;\n", "no room of src/net"),
    ("room in a room", "src/engine/trade/deep/x.c", "int x;\n", "no room of src/engine"),
    ("room of the tools", "tools/perp/extra/x.c", "int x;\n", "no room of tools/perp"),
    ("a room names a lower one", "src/engine/trade/x.c", '#include "engine/risk/y.h"\n', None),
    ("a room names its own", "src/engine/trade/x.c", '#include "engine/trade/y.h"\n', None),
    ("the top names a room", "src/engine/turn.c", '#include "engine/view/y.h"\n', None),
    ("a room names a higher one", "src/engine/risk/x.c", '#include "engine/trade/y.h"\n',
     "risk may not name trade: engine/trade/y.h"),
    ("a room names one beside it", "src/engine/price/x.c", '#include "engine/standing/y.h"\n',
     "price may not name standing"),
    ("a room names the top", "src/engine/view/x.c", '#include "engine/turn.h"\n',
     "view may not name engine"),
    ("a room of the tools names a higher one", "tools/perp/data/x.c",
     '#include "perp/command/y.h"\n', "data may not name command"),
    ("a room names another layer", "src/net/http/x.c", '#include "engine/turn.h"\n',
     "may not include engine"),
    ("tests name a room", "tests/engine/test_x.c", '#include "engine/trade/y.h"\n', None),
    ("guard of a room", "src/engine/risk/turn2.h",
     TURN_H.replace("turn.h", "turn2.h").replace("ENGINE_TURN_H", "RISK_TURN2_H"), None),
    ("guard of a whole path", "src/engine/risk/turn2.h",
     TURN_H.replace("turn.h", "turn2.h").replace("ENGINE_TURN_H", "ENGINE_RISK_TURN2_H"), None),
    ("guard without the room", "src/engine/risk/turn2.h",
     TURN_H.replace("turn.h", "turn2.h").replace("ENGINE_TURN_H", "ENGINE_TURN2_H"), "guard"),
    ("one name in two rooms", "src/engine/risk/turn.c", TURN_C, "has this name twice"),
    ("a table that goes up", "tools/rooms.txt", "src/engine  low  high\nsrc/engine  high\n",
     "low may not name high, which is above"),
]

ROOMS = CLEAN["tools/rooms.txt"]
EXCEPTED = ROOMS + "except src/engine/risk/x.c src/engine/trade/y.h\n"

check = SOURCE / "tools" / "check_layers.py"
with Tree({}) as tree:
    expect("clean tree", None, tree.check(check, tree.root))
for name, path, text, want in PLANTED:
    with Tree({path: text}) as tree:
        expect(name, want, tree.check(check, tree.root))
with Tree({"tools/rooms.txt": EXCEPTED,
           "src/engine/risk/x.c": '#include "engine/trade/y.h"\n'}) as tree:
    expect("excepted edge", None, tree.check(check, tree.root))
    (tree.root / "src/engine/risk/x.c").write_text('#include "engine/trade/z.h"\n')
    expect("edge beside the excepted", "risk may not name trade", tree.check(check, tree.root))
    (tree.root / "src/engine/risk/x.c").write_text("int x;\n")
    expect("exception without its edge", "drop the exception", tree.check(check, tree.root))

LONG = "tools/long_files.txt"
LENGTHS = [  # name, long_files.txt, lines of src/net/wire.c, what the check says
    ("long as recorded", "610 src/net/wire.c\n", 610, None),
    ("long and growing", "610 src/net/wire.c\n", 611, "it had 610 and may not grow"),
    ("long and shrinking", "610 src/net/wire.c\n", 605, "no longer 610: write 605"),
    ("no longer long", "610 src/net/wire.c\n", 600, "no longer 610: drop the line"),
    ("long and new", "610 src/net/tick.c\n", 610, "610 lines, limit 600"),
    ("recorded and gone", "610 src/net/gone.c\n", 10, "src/net/gone.c is gone"),
    ("a table", "table src/net/wire.c\n", 700, None),
    ("a table with a function", "table src/net/wire.c\n", 0, "holds no function"),
    ("a table that is gone", "table src/net/gone.c\n", 10, "src/net/gone.c is gone"),
    ("no number", "many src/net/wire.c\n", 10, "not understood: many src/net/wire.c"),
]
for name, text, count, want in LENGTHS:
    with Tree({LONG: text, "src/net/wire.c": "int x;\n" * count if count else WIRE_C}) as tree:
        expect(name, want, tree.check(check, tree.root))
finish()
