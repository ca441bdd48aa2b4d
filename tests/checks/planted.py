"""planted.py - a small tree that every check accepts, and the means to plant one fault in it."""
import contextlib
import io
import os
import pathlib
import re
import runpy
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ.get("PERPD_SOURCE", pathlib.Path(__file__).parents[2]))

CLEAN = {
    "src/base/tick.h": """/* tick.h - a counter with one noun; any thread. */
#ifndef BASE_TICK_H
#define BASE_TICK_H

#include <stdint.h>

/* The value after `value`. */
uint64_t tick_next(uint64_t value);

#endif
""",
    "src/base/tick.c": """#include "base/tick.h"

uint64_t tick_next(uint64_t value)
{
    return value + 1;
}
""",
    "src/engine/turn.h": """/* turn.h - what the engine does with a tick. */
#ifndef ENGINE_TURN_H
#define ENGINE_TURN_H

#include <stdint.h>

/* Two ticks on. */
uint64_t turn_twice(uint64_t value);

#endif
""",
    "src/engine/turn.c": """#include "engine/turn.h"

#include "base/tick.h"

uint64_t turn_twice(uint64_t value)
{
    return tick_next(tick_next(value));
}
""",
    "src/net/wire.h": """/* wire.h - bytes out; the net thread. */
#ifndef NET_WIRE_H
#define NET_WIRE_H

/* Sends nothing. */
int wire_send(void);

#endif
""",
    "src/net/wire.c": """#include "net/wire.h"

int wire_send(void)
{
    return 0;
}
""",
    "tests/engine/test_turn.c": """#include "check.h"
#include "engine/turn.h"

int main(void)
{
    CHECK(turn_twice(1) == 3);
    return 0;
}
""",
    "tools/engine_symbols.txt": "libc memcpy\nprovided effects_emit\npure tick\n",
    "tools/rooms.txt": re.sub(r"^except .*\n", "", (SOURCE / "tools/rooms.txt").read_text(),
                              flags=re.M),
    "tools/long_files.txt": "# no file\n",
    "README.md": "A tree.\n",
}

COPIED = ("CMakeLists.txt", "tests/CMakeLists.txt", "tests/check.h", "bench/CMakeLists.txt",
          "bench/shim.h", "bench/shim.cc", ".clang-format", ".clang-tidy")
# What only the build reads: the document that perpd answers, the options and the simulator's seeds.
CONFIGURED = ("docs/openapi.json", "docs/asyncapi.json", "tools/openapi.cmake",
              "src/net/json/openapi.h", "src/net/json/asyncapi.h",
              "tools/assets.cmake", "src/net/http/asset_table.h", "src/base/option.h",
              "src/base/compiler.h",
              "tests/node/planted/seeds.txt")

failures = []


class Tree:
    """The clean tree in a temporary folder, with `changes` (path -> text) made to it."""

    def __init__(self, changes):
        self.folder = tempfile.TemporaryDirectory(prefix="planted-")
        self.root = pathlib.Path(self.folder.name)
        self.copy(COPIED)
        for name, text in {**CLEAN, **changes}.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def copy(self, names):
        for name in names:
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(SOURCE / name, self.root / name)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.folder.cleanup()

    def run(self, *command):
        """(exit code, everything it printed)"""
        done = subprocess.run([str(word) for word in command], cwd=self.root, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.returncode, done.stdout

    def check(self, script, *arguments):
        """The same of a Python program, which runs in this process: an interpreter of its own for
        each of a hundred faults takes longer than the checks."""
        said, code, before = io.StringIO(), 0, (sys.argv, sys.path, os.getcwd())
        loaded = set(sys.modules)
        sys.argv = [str(word) for word in (script, *arguments)]
        sys.path = [str(pathlib.Path(script).parent), *sys.path]
        os.chdir(self.root)
        try:
            with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
                runpy.run_path(str(script), run_name="__main__")
        except SystemExit as end:
            code = end.code
        finally:
            sys.argv, sys.path = before[:2]
            os.chdir(before[2])
            for name in set(sys.modules) - loaded:  # the next one has other files
                if (SOURCE / "tools" / f"{name}.py").exists():
                    del sys.modules[name]
        if isinstance(code, str):  # what sys.exit prints
            return 1, said.getvalue() + code
        return code or 0, said.getvalue()

    def configure(self):
        """With what the build found out about compilers and libraries: 20 times as fast."""
        self.copy(CONFIGURED)
        known = os.environ.get("PERPD_BUILD")
        for path in pathlib.Path(known).glob("CMakeFiles/3*/*.cmake") if known else []:
            copy = self.root / "build/CMakeFiles" / path.parent.name / path.name
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, copy)
        if known:
            cache = (pathlib.Path(known) / "CMakeCache.txt").read_text()
            (self.root / "build/CMakeCache.txt").write_text(
                cache.replace(known, str(self.root / "build")).replace(str(SOURCE), str(self.root)))
        code, out = self.run("cmake", "-S", ".", "-B", "build", "-G", "Ninja",
                             "-DCMAKE_BUILD_TYPE=Release")
        if code:
            raise RuntimeError(out)


def expect(name, want, result):
    """`want` None: the command succeeds. Else it fails and its output contains `want`."""
    code, out = result
    good = code == 0 if want is None else code != 0 and want in out
    if not good:
        failures.append(name)
        print(f"FAILED {name}: wanted {want or 'success'}, got exit {code}:\n{out}")
    return good


def finish():
    print(f"{len(failures)} planted faults unnoticed" if failures else "every planted fault found")
    sys.exit(1 if failures else 0)
