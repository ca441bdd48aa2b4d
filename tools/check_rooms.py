#!/usr/bin/env python3
"""check_rooms.py [BUILD [ROOT]] - prints the graph of calls between the rooms of each folder,
counted in the archives of a release build (build/release if none is given), and fails on a call
that goes up. Excepted upward calls are printed and counted.

A call is a relocation in one object against a symbol that another object of the same archive
defines. Pointers in tables count. Code inlined from a header counts for the file that includes it;
tools/check_layers.py reads the includes. tools/rooms.txt lists the rooms and the excepted edges.
The circles of files that call each other follow the graph.
"""
import collections
import pathlib
import re
import subprocess
import sys

import command_line
from rooms import Rooms

ARCHIVES = {"tools/perp": "libclient.a"}  # else lib<last part>.a


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def defined(archive):
    """symbol -> the object (without its endings) that exports it"""
    owner, member = {}, ""
    out = run("nm", "--format=posix", "--defined-only", "--extern-only", archive)
    for line in out.splitlines():
        if line.endswith("]:"):  # "libengine.a[book.c.o]:"
            member = line[line.index("[") + 1:-2].split(".")[0]
        elif line:
            owner[line.split()[0]] = member
    return owner


def calls(archive):
    """(object, other object, symbol) -> how often the first refers to the symbol of the second"""
    owner = defined(archive)
    found, member, counts = collections.Counter(), "", False
    for line in run("objdump", "-r", archive).splitlines():
        if match := re.match(r"(\S+):\s+file format", line):
            member = match[1].split(".")[0]
        elif match := re.match(r"RELOCATION RECORDS FOR \[(.*)\]:", line):
            counts = not match[1].startswith((".debug", ".eh_frame"))
        elif counts and (match := re.match(r"[0-9a-f]+ R_\S+\s+([^\s+-]+)", line)):
            other = owner.get(match[1])
            if other is not None and other != member:
                found[member, other, match[1]] += 1
    return found


def circles(edges):
    """The groups of more than one name that reach each other (edges: name -> names)."""
    def reach(start):
        seen, todo = set(), [start]
        while todo:
            for name in edges.get(todo.pop(), ()):
                if name not in seen:
                    seen.add(name)
                    todo.append(name)
        return seen
    reached = {name: reach(name) for name in edges}
    groups = {frozenset(other for other in names if name in reached.get(other, ()))
              for name, names in reached.items() if name in names}
    return sorted(sorted(group) for group in groups)


def paths_of(root, folder):
    """file name without ending -> its path from the root without ending"""
    return {path.stem: path.relative_to(root).with_suffix("").as_posix()
            for path in sorted((root / folder).rglob("*.c"))}


def excepted(rooms, source, target):
    """A header excepted for a .c or .h of the source, or for another header: includes are
    transitive.
    """
    return any(header == f"{target}.h" and (name.endswith(".h") or name == f"{source}.c")
               for name, header in rooms.excepted)


def look(rooms, root, folder, archive, passed):
    """Prints the graph of one folder; yields what goes up. `passed` takes what is excepted."""
    where = paths_of(root, folder)
    room_of = {stem: rooms.of(f"{path}.c")[1] for stem, path in where.items()}
    graph = collections.defaultdict(collections.Counter)
    files = collections.defaultdict(set)
    for (source, target, symbol), count in sorted(calls(archive).items()):
        if source not in where or target not in where:
            gone = target if source in where else source
            yield f"{archive.name} holds {gone}, which {folder} does not have: rebuild it"
            continue
        files[source].add(target)
        room, other = room_of[source], room_of[target]
        graph[room][other] += count
        if rooms.allowed(folder, room, other):
            continue
        text = (f"{where[source]}.c calls {symbol}, up from {rooms.title(folder, room)} to "
                f"{rooms.title(folder, other)}")
        if excepted(rooms, where[source], where[target]):
            passed.append(text)
        else:
            yield text
    between = sum(n for room, row in graph.items() for other, n in row.items() if other != room)
    print(f"{folder}: {between} calls between rooms")
    for room in rooms.may[folder]:
        if any(value == room for value in room_of.values()):
            row = "  ".join(f"{rooms.title(folder, other)} {graph[room][other]}"
                            for other in rooms.may[folder] if graph[room][other] and other != room)
            print(f"  {rooms.title(folder, room):<10} {row or '-'}")
    for circle in circles(files):
        parts = sorted({rooms.title(folder, room_of[name]) for name in circle})
        print(f"  circle in {', '.join(parts)}: {' '.join(circle)}")


def main(build, root):
    rooms = Rooms(root)
    wrong, passed = [], []
    for folder in rooms.may:
        archive = build / ARCHIVES.get(folder, f"lib{folder.split('/')[-1]}.a")
        if archive.exists():
            wrong += look(rooms, root, folder, archive, passed)
        elif list((root / folder).rglob("*.c")):
            wrong.append(f"{archive}: not built; build the release preset first")
    for text in passed:
        print(f"excepted: {text}")
    clean = f"no call goes up but {len(passed)} excepted" if passed else "no call goes up"
    print("\n".join(wrong) if wrong else clean)
    return 1 if wrong else 0


HERE = pathlib.Path(__file__).resolve().parent.parent
command_line.check(__doc__, 0, 2)
sys.exit(main(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "build/release",
              pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else HERE))
