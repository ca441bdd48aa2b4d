#!/usr/bin/env python3
"""check_exports.py BUILD [ROOT] - every function or table that an object of src/ exports is used by
another object of src/ or tools/. What nobody calls goes; what tests alone call belongs to tests/;
what its own file alone calls is static. tools/test_seams.txt lists what is exported for tests all
the same, and a test or benchmark must name it.
"""
import collections
import json
import pathlib
import re
import subprocess
import sys

import command_line

EXPORTED, REACHED = "TDBRVW", "U"


def objects_of(build, root):
    """The objects of the products, not of tests and benchmarks: path -> source, relative."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        source = pathlib.Path(entry["file"])
        output = re.search(r" -o (\S+)", entry["command"])[1]
        if output.startswith("CMakeFiles/") and source.is_relative_to(root) \
                and source.suffix == ".c" and build not in source.parents:
            found[build / output] = source.relative_to(root)
    return found


def named(root):
    """The words of the programs that test or measure."""
    words = set()
    for top in ("tests", "bench", "perf"):
        for path in (root / top).rglob("*.[ch]"):
            words |= set(re.findall(r"\w+", path.read_text(errors="replace")))
    return words


def main(build, root):
    objects = objects_of(build, root)
    missing = [path for path in objects if not path.exists()]
    if missing or not objects:
        print(f"{build}: {len(missing) or 'all'} objects are not built")
        return 1
    out = subprocess.run(["nm", "-A", "-P", *objects], check=True, capture_output=True,
                         text=True).stdout
    exported, reached = {}, collections.defaultdict(set)
    for line in out.splitlines():
        path, name, kind = re.match(r"(\S+): (\S+) (\S)", line).groups()
        source = objects[pathlib.Path(path)]
        if kind in EXPORTED and source.parts[0] == "src" and name != "main":
            exported[name] = source
        elif kind in REACHED:
            reached[name].add(source)
    unused = sorted((str(source), name) for name, source in exported.items()
                    if not reached[name] - {source})
    seams = {name for line in (root / "tools/test_seams.txt").read_text().splitlines()
             for name in line.split("#")[0].split()}
    wrong = [f"{source} exports {name}, which no other object of src/ or tools/ uses"
             for source, name in unused if name not in seams]
    wrong += [f"tools/test_seams.txt: {name} is {'used' if name in exported else 'not exported'}"
              for name in sorted(seams - {name for _, name in unused})]
    wrong += [f"tools/test_seams.txt: no test and no benchmark names {name}"
              for name in sorted(seams - named(root))]
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


HERE = pathlib.Path(__file__).resolve().parent.parent
command_line.check(__doc__, 1, 2)
sys.exit(main(pathlib.Path(sys.argv[1]).resolve(),
              pathlib.Path(sys.argv[2]).resolve() if len(sys.argv) > 2 else HERE))
