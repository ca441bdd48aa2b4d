#!/usr/bin/env python3
"""check_docs.py [--write] [ROOT] - fails when the documents no longer describe the tree.

1. Each folder and each of its rooms (tools/rooms.txt) has a README.md. In those of src/ and of the
   rooms the table between the markers `<!-- files -->` and `<!-- end -->` is made of the first
   sentences of the headers; that between `<!-- rooms -->` and `<!-- end -->`, in the README.md of a
   folder with rooms, of the first sentences of theirs. --write makes both anew.
2. A relative link, and a path in backquotes that begins with a folder of the tree, exists.
3. A decision is docs/decisions/NNNN-title.md, numbered without a hole, of at most 40 lines, with
   the headings Context, Choice, Rejected and Cost.
4. CHANGELOG.md has the headings Wire, Journal format and Performance under its newest version.
"""
import pathlib
import re
import sys

from rooms import Rooms

LAYERS = ("base", "crypto", "engine", "store", "net", "node")
FOLDERS = [f"src/{layer}" for layer in LAYERS] + ["bench", "perf", "tests", "tools",
                                                 "docs/decisions"]
DECISION_LINES = 40
HEADINGS = {"Context", "Choice", "Rejected", "Cost"}


def tidied(text):
    return re.sub(r"\s+", " ", text).strip().rstrip(".:").replace("|", "\\|")


def first_sentence(header):
    """From `/* name.h - ` to the first full stop, the end of the paragraph or of the comment."""
    text = re.sub(r"\n \* ?", "\n", header.read_text())
    match = re.match(r"/\* \S+ - (.*?)(?:\.\s|\.$|\n\n|\*/)", text, re.S)
    return tidied(match[1]) if match else ""


def files_table(folder):
    stems = sorted({path.stem for path in folder.glob("*.[ch]")})
    rows = ["| file | what it is |", "|---|---|"]
    for stem in stems:
        header = folder / f"{stem}.h"
        rows.append(f"| `{stem}` | {first_sentence(header) if header.exists() else 'program'} |")
    return "\n".join(rows) + "\n"


def rooms_table(folder, names):
    rows = ["| room | what it is |", "|---|---|"]
    for name in names:
        path = folder / name / "README.md"
        text = path.read_text() if path.exists() else ""
        match = re.match(r"# .*\n\n(.*?)(?:\.\s|\.$|\n\n)", text, re.S)
        rows.append(f"| [`{name}`]({name}/README.md) | {tidied(match[1]) if match else ''} |")
    return "\n".join(rows) + "\n"


def made(root, name, mark, table, write):
    """The table behind `<!-- mark -->` in the README.md of folder `name` is `table`."""
    path = root / name / "README.md"
    text = path.read_text()
    match = re.search(rf"(<!-- {mark} -->\n)(.*?)(<!-- end -->)", text, re.S)
    if not match:
        yield f"{name}/README.md: no table between <!-- {mark} --> and <!-- end -->"
    elif match[2] != table and write:
        path.write_text(text[:match.start(2)] + table + text[match.end(2):])
    elif match[2] != table:
        yield f"{name}/README.md: its table is old; tools/check_docs.py --write makes it anew"


def readme(root, name, inner, write):
    """The README.md of a folder with the rooms `inner`, and of each of these."""
    for room in inner:
        yield from readme(root, f"{name}/{room}", [], write)
    if not (root / name / "README.md").exists():
        yield f"{name}/README.md: missing"
        return
    if inner:
        yield from made(root, name, "rooms", rooms_table(root / name, inner), write)
    if inner or name.count("/") > 1 or name.startswith("src/"):
        yield from made(root, name, "files", files_table(root / name), write)


def folders(root):
    """(folder, its rooms that have a file)"""
    may = Rooms(root).may
    for name in sorted({*FOLDERS, *may}, key=lambda name: (name not in FOLDERS, name)):
        inner = [room for room in may.get(name, ())
                 if room and list((root / name / room).glob("*.[ch]"))]
        if name in FOLDERS or inner:
            yield name, inner


def paths(root, path):
    text = path.read_text()
    prose = re.sub(r"```.*?```", "", text, flags=re.S)
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", prose):
        if "://" not in target and not (path.parent / target).exists():
            yield f"{path.relative_to(root)}: link to {target}, which is not there"
    for name in re.findall(r"`((?:src|tools|tests|bench|perf|docs)/[\w./-]*\w)`", prose):
        # A name without its extension means the pair, or the program built of it.
        if not (root / name).exists() and not list(root.glob(name + ".*")):
            yield f"{path.relative_to(root)}: `{name}` is not there"


def decisions(root):
    found = sorted(path for path in (root / "docs/decisions").glob("*.md")
                   if path.name != "README.md")
    for number, path in enumerate(found, 1):
        name = path.relative_to(root)
        if not re.match(rf"{number:04d}-[a-z0-9-]+\.md$", path.name):
            yield f"{name}: expected {number:04d}-title.md"
        lines = path.read_text().splitlines()
        if len(lines) > DECISION_LINES:
            yield f"{name}: {len(lines)} lines, limit {DECISION_LINES}"
        headings = {line.lstrip("# ") for line in lines if line.startswith("## ")}
        if missing := HEADINGS - headings:
            yield f"{name}: no heading {', '.join(sorted(missing))}"


def changelog(root):
    path = root / "CHANGELOG.md"
    text = path.read_text() if path.exists() else ""
    newest = re.split(r"^## ", text, flags=re.M)[1:2]
    for heading in ("Wire", "Journal format", "Performance"):
        if not newest or f"### {heading}\n" not in newest[0]:
            yield f"CHANGELOG.md: the newest version has no heading {heading}"


def main(arguments):
    write = "--write" in arguments
    names = [argument for argument in arguments if argument != "--write"]
    root = pathlib.Path(names[0] if names else ".").resolve()
    wrong = [text for name, inner in folders(root) for text in readme(root, name, inner, write)]
    for path in sorted(root.rglob("*.md")):
        if "build" not in path.relative_to(root).parts:
            wrong += paths(root, path)
    wrong += decisions(root)
    wrong += changelog(root)
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


sys.exit(main(sys.argv[1:]))
