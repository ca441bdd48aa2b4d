#!/usr/bin/env python3
"""check_layers.py [ROOT] - fails when the source breaks the architecture or the shape of a file.

The tables below and tools/rooms.txt (the subfolders) are the architecture; docs/ARCHITECTURE.md
explains them. To change it, change a table in a commit of its own.
"""
import collections
import pathlib
import re
import sys

import command_line
from rooms import Rooms

LAYERS = ("base", "crypto", "engine", "store", "repl", "net", "node")

MAY_INCLUDE = {  # folder -> the folders of src/ whose headers it may name
    "base": {"base"},
    "crypto": {"base", "crypto"},
    "engine": {"base", "engine"},
    "store": {"base", "store"},
    "repl": {"base", "repl"},
    "net": {"base", "crypto", "net"},
    "node": set(LAYERS),
    # The tests of a folder see what the folder sees; folders not listed here see all of src/.
    "tests/base": {"base"},
    "tests/crypto": {"base", "crypto"},
    "tests/engine": {"base", "engine"},
    "tests/store": {"base", "store"},
    "tests/repl": {"base", "repl"},
    "tests/net": {"base", "crypto", "net"},
}

SYSTEM_ONLY_IN = {  # <header> prefix -> the only folders (or files) of src/ that may name it
    "liburing": {"net", "store"},
    "sodium": {"base/hash.c", "crypto"},
    "secp256k1": {"crypto"},
    "openssl/": {"crypto", "repl", "net"},
    "nghttp2": {"repl"},
    "ck_": {"base/keyring.c"},
    "ini.h": {"base/config.c"},
    "jansson": {"net"},
    "zstd": {"store"},
    "lmdb": {"store"},
    "systemd/": {"node"},
    "stdatomic": {"base"},
    "pthread": {"base", "node"},
    "threads.h": {"base", "node"},
    "sched.h": {"base", "node"},
    "sys/": {"base", "store", "repl", "net", "node"},
    "linux/": {"base", "store", "net", "node"},
    "unistd": {"base", "store", "repl", "net", "node"},
    "fcntl": {"base", "store", "net", "node"},
    "dirent": {"base", "store", "node"},
    "signal": {"base", "node"},
    "poll": {"repl", "net", "node"},
    "spawn": {"node"},
    "netinet/": {"repl", "net", "node"},
    "arpa/": {"repl", "net", "node"},
    "netdb": {"repl", "net", "node"},
    "time.h": {"base", "store", "repl", "net", "node"},
    "stdio": {"base", "store", "repl", "net", "node"},
}

SYSTEM_WHITELIST = {  # folder -> the only system headers it may name: the engine touches nothing
    "engine": {"assert.h", "limits.h", "stdalign.h", "stdbool.h", "stddef.h", "stdint.h",
               "string.h"},
}

BANNED = [  # pattern, folders of src/ that may use it, why not elsewhere
    (r"(?<![.>])\b(strcpy|strcat|sprintf|vsprintf|gets|strtok|alloca|atoi|atol|atoll|atof|strncpy"
     r"|strncat|rand|srand|random|setjmp|longjmp|system|popen|gmtime|localtime|asctime"
     r"|ctime)\s*\(",
     set(), "unbounded, unsafe between threads, or silent about errors"),
    (r"\bvolatile\b", {"base"}, "volatile stays in base"),
    (r"\b(_Atomic\b|atomic_\w+)", {"base", "store", "node"},
     "engine, crypto, repl and net meet other threads through rings only"),
    (r"\b(atomic_thread_fence|atomic_signal_fence|__atomic_\w+|__sync_\w+|_mm_[lsm]fence)\b",
     {"base"}, "raw fences stay in base"),
    (r"\b(__asm__|asm)\b", {"base"}, "assembly stays in base"),
    (r"\b(printf|vprintf|fprintf|vfprintf|puts|fputs|putchar|perror|fopen|freopen)\s*\(",
     {"base", "node"}, "no output below the layer that decides"),
    (r"\b(float|double)\b", {"base", "crypto", "store", "repl", "net", "node"},
     "the engine has no float"),
    (r"\bgetenv\s*\(", {"base"}, "the environment is read in base/config.c"),
    (r"\b(exit|_exit|_Exit|quick_exit|abort)\s*\(", {"base", "node"},
     "only the node decides to end the process"),
    (r"\bNDEBUG\b|\bassert\s*\(", set(), "INVARIANT is always on; there is no other assertion"),
]

SOURCE_LINES, HEADER_LINES, FUNCTION_LINES, COLUMNS = 600, 200, 70, 100
TABLE_COLUMNS = 150  # a row of a table is one line, or its columns say nothing


def without_comments(text):
    """Blanks comments and the insides of string literals; line breaks stay."""
    def blank(match):
        token = match[0]
        if token[0] in "\"'":
            return token[0] + " " * (len(token) - 2) + token[0]
        return re.sub(r"[^\n]", " ", token)
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, text,
                  flags=re.S)


class Lengths:
    """tools/long_files.txt: `longest`, path -> the lines it may have; `tables`, without a limit."""

    def __init__(self, root):
        self.longest, self.tables, self.wrong, self.seen = {}, set(), [], set()
        for line in (root / "tools/long_files.txt").read_text().splitlines():
            match line.split("#")[0].split():
                case []:
                    pass
                case ["table", path]:
                    self.tables.add(path)
                case [count, path] if count.isdigit():
                    self.longest[path] = int(count)
                case fields:
                    self.wrong.append(f"not understood: {' '.join(fields)}")

    def check(self, name, lines):
        """Not above the limit, or not longer than it was; a table holds no function."""
        self.seen.add(name)
        if name in self.tables:
            yield from ((number, "a table of tools/long_files.txt holds no function")
                        for number, line in enumerate(lines, 1) if line == "{")
            return
        limit = HEADER_LINES if name.endswith(".h") else SOURCE_LINES
        longest = self.longest.get(name)
        if longest is None and len(lines) > limit:
            yield 1, f"{len(lines)} lines, limit {limit}"
        elif longest is not None and len(lines) > longest:
            yield 1, f"{len(lines)} lines: it had {longest} and may not grow"
        elif longest is not None and len(lines) < longest:
            rest = f"write {len(lines)}" if len(lines) > limit else "drop the line"
            yield 1, f"{len(lines)} lines, no longer {longest}: {rest} in tools/long_files.txt"

    def gone(self):
        return sorted((self.tables | set(self.longest)) - self.seen)


def shape(lines):
    table = False
    start = None
    for number, line in enumerate(lines, 1):
        if "clang-format off" in line:
            table = True
        if "clang-format on" in line:
            table = False
        is_row = table or re.match(r"\s*X\(", line)
        if len(line) > (TABLE_COLUMNS if is_row else COLUMNS):
            yield number, f"{len(line)} columns"
        if line == "{":
            start = number
        if line == "}" and start:
            if number - start - 1 > FUNCTION_LINES:
                yield start, f"function of {number - start - 1} lines, limit {FUNCTION_LINES}"
            start = None


def header_form(relative, lines):
    """Starts with `/* name.h - `, guarded by the path in capitals (at least the last folder)."""
    if not lines or not lines[0].startswith(f"/* {relative.name} - "):
        yield 1, f"a header begins with its first sentence: /* {relative.name} - ..."
    parts = [re.sub(r"\W", "_", part).upper() for part in relative.parts]
    guards = {"_".join(parts[n:]) for n in range(max(1, len(parts) - 1))}
    guard = next((m[1] for line in lines if (m := re.match(r"#ifndef (\w+)$", line))), None)
    if guard not in guards or f"#define {guard}" not in lines or lines[-1] != "#endif":
        yield 1, f"the include guard is {min(guards, key=len)}"


def includes(folder, name, lines):
    """`folder` is a layer, or tests/<folder>, tools, bench; `name` is folder/file."""
    allowed = MAY_INCLUDE.get(folder, set(LAYERS))
    for number, line in enumerate(lines, 1):
        if match := re.match(r'\s*#\s*include\s+"(?:([\w/]+)/)?[\w.]+"', line):
            target = match[1] and match[1].split("/")[0]
            if folder in LAYERS and target not in allowed:
                yield number, f"{folder} may not include {target or 'a file without its folder'}"
            if folder not in LAYERS and target in LAYERS and target not in allowed:
                yield number, f"{folder} may not include {target}"
        match = re.match(r"\s*#\s*include\s+<([\w/.]+)>", line)
        if not match or folder not in LAYERS:
            continue
        for prefix, places in SYSTEM_ONLY_IN.items():
            if match[1].startswith(prefix) and folder not in places and name not in places:
                yield number, f"<{match[1]}> belongs to {', '.join(sorted(places))}"
        if folder in SYSTEM_WHITELIST and match[1] not in SYSTEM_WHITELIST[folder]:
            yield number, f"<{match[1]}>: {folder} may touch nothing of the system"


def upward(rooms, relative, lines, used):
    """Includes of a room that this one may not name; `used` takes the exceptions that it needed."""
    name = relative.as_posix()
    folder, room = rooms.of(name)
    if room is None:
        return
    for number, line in enumerate(lines, 1):
        match = re.match(r'\s*#\s*include\s+"([\w./]+)"', line)
        target = f"{relative.parts[0]}/{match[1]}" if match else ""
        other, target_room = rooms.of(target)
        if other != folder or target_room is None or rooms.allowed(folder, room, target_room):
            continue
        if (name, target) in rooms.excepted:
            used.add((name, target))
        else:
            yield number, (f"{rooms.title(folder, room)} may not name "
                           f"{rooms.title(folder, target_room)}: {match[1]}")


def place(rooms, relative):
    """A file is in a layer, or in one of its rooms."""
    top, *parts = relative.parts
    folder, room = rooms.of(relative.as_posix())
    if top == "src" and (len(parts) < 2 or parts[0] not in LAYERS
                         or (folder is None and len(parts) != 2)):
        yield 1, f"src/ holds {', '.join(LAYERS)}, their rooms, and nothing else"
    elif folder is not None and room is None:
        names = ", ".join(filter(None, rooms.may[folder]))
        yield 1, f"no room of {folder}; its rooms: {names}"


def banned(folder, lines):
    for number, line in enumerate(lines, 1):
        for pattern, places, why in BANNED:
            if folder in places or (folder not in LAYERS and places):
                continue
            if match := re.search(pattern, line):
                yield number, f"banned: {match[0].rstrip('( ')} ({why})"


def problems(root, rooms, lengths, path, used):
    relative = path.relative_to(root)
    text = path.read_text()
    lines = text.splitlines()
    code = without_comments(text).splitlines()
    yield from lengths.check(relative.as_posix(), lines)
    yield from shape(lines)
    misplaced = list(place(rooms, relative))
    yield from misplaced
    if misplaced:
        return
    top = relative.parts[0]
    if path.suffix in (".c", ".h"):
        yield from upward(rooms, relative, lines, used)
    if top == "src":
        relative = path.relative_to(root / "src")
    if path.suffix == ".h":
        yield from header_form(relative, lines)
    if path.suffix in (".c", ".h"):
        folder = top if top != "src" else relative.parts[0]
        if top == "tests" and len(relative.parts) > 2:
            folder = "/".join(relative.parts[:2])
        yield from includes(folder, relative.as_posix(), lines)
        if top != "tests":
            yield from banned(folder, code)


def sources(root):
    for top in ("src", "tools", "bench", "tests", "perf", "clients"):
        for path in sorted((root / top).rglob("*")):
            if not path.is_file() or "__pycache__" in path.parts:
                continue
            if path.suffix in (".c", ".h", ".cc", ".py", ".sh"):
                yield path
            elif path.suffix == "" and path.read_bytes()[:2] == b"#!":
                yield path


def same_stem(root, rooms):
    """A file name occurs once in a folder, in any room: archives and symbols know no rooms."""
    for folder in rooms.may:
        found = collections.defaultdict(list)
        for path in sorted((root / folder).rglob("*.[ch]")):
            found[path.name].append(path)
        for paths in found.values():
            for path in paths[1:]:
                yield path, f"{folder} has this name twice: {paths[0].relative_to(root)}"


def main(root):
    rooms = Rooms(root)
    lengths = Lengths(root)
    wrong = [f"tools/rooms.txt: {text}" for text in rooms.wrong]
    wrong += [f"tools/long_files.txt: {text}" for text in lengths.wrong]
    used = set()
    for path in sources(root):
        for number, text in problems(root, rooms, lengths, path, used):
            wrong.append(f"{path.relative_to(root)}:{number}: {text}")
    for path, text in same_stem(root, rooms):
        wrong.append(f"{path.relative_to(root)}:1: {text}")
    for name, header in sorted(set(rooms.excepted) - used):
        wrong.append(f"tools/rooms.txt: {name} does not include {header}: drop the exception")
    wrong += [f"tools/long_files.txt: {name} is gone" for name in lengths.gone()]
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


command_line.check(__doc__, 0, 1)
sys.exit(main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()))
