#!/usr/bin/env python3
"""check_symbols.py BUILD [ROOT] - checks what the archives of a release build export and link to.

1. Every exported symbol begins with its file's stem: book.o exports book_*.
2. The engine links to nothing but the symbols in tools/engine_symbols.txt. The files of base that
   are listed there as pure obey the same list. So the engine has no heap, no clock and no I/O.
3. Neither has writable data: two engines in one process share nothing.
"""
import collections
import pathlib
import subprocess
import sys

import command_line

LAYERS = ("base", "crypto", "engine", "store", "repl", "net", "node")
WRITABLE = (".data", ".bss", "*COM*", ".tdata", ".tbss")

Symbol = collections.namedtuple("Symbol", "member name kind section")


def symbols(archive):
    out = subprocess.run(["nm", "--format=sysv", archive], check=True, capture_output=True,
                         text=True).stdout
    member = ""
    for line in out.splitlines():
        if line.endswith(":") and "[" in line:  # "Symbols from libengine.a[book.c.o]:"
            member = line[line.index("[") + 1:line.rindex("]")].split(".")[0]
        elif line.count("|") == 6:
            name, _, kind, _, _, _, section = (part.strip() for part in line.split("|"))
            if name and name != "Name":
                yield Symbol(member, name, kind, section)


def allowed_names(path):
    words = collections.defaultdict(set)
    for line in path.read_text().splitlines():
        fields = line.split("#")[0].split()
        if fields:
            words[fields[0]].update(fields[1:])
    return words


def misnamed(layer, found):
    for symbol in found:
        if symbol.kind in "TDBRC" and symbol.name != symbol.member \
                and not symbol.name.startswith(symbol.member + "_"):
            yield f"{layer}/{symbol.member}.c exports {symbol.name}"


def impure(layer, found, allowed):
    for symbol in found:
        if symbol.kind in "Uw" and symbol.name not in allowed:
            yield f"{layer}/{symbol.member}.c reaches {symbol.name}"
        if symbol.section.startswith(WRITABLE) and not symbol.section.startswith(".data.rel.ro") \
                and symbol.kind in "dDbBC":
            yield f"{layer}/{symbol.member}.c holds writable data: {symbol.name}"


def exported(found):
    return {symbol.name for symbol in found if symbol.kind.isupper() and symbol.kind != "U"}


def main(build, root):
    tables = {}
    for layer in LAYERS:
        archive = build / f"lib{layer}.a"
        if archive.exists():
            tables[layer] = list(symbols(archive))
    if "base" not in tables:
        print(f"{build}: no archives; build the release preset first")
        return 1
    wrong = [text for layer, found in tables.items() for text in misnamed(layer, found)]
    words = allowed_names(root / "tools" / "engine_symbols.txt")
    pure = [symbol for symbol in tables["base"] if symbol.member in words["pure"]]
    engine = tables.get("engine", [])
    allowed = words["libc"] | words["provided"] | exported(pure)
    wrong += impure("base", pure, allowed)
    wrong += impure("engine", engine, allowed | exported(engine))
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


HERE = pathlib.Path(__file__).resolve().parent.parent
command_line.check(__doc__, 1, 2)
sys.exit(main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else HERE))
