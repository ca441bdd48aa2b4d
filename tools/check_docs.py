#!/usr/bin/env python3
"""check_docs.py [--write] [ROOT] - fails when the documents no longer describe the tree.

1. Each folder and each of its rooms (tools/rooms.txt) has a README.md. In those of src/ and of the
   rooms the table between the markers `<!-- files -->` and `<!-- end -->` is made of the first
   sentences of the headers; that between `<!-- rooms -->` and `<!-- end -->`, in the README.md of a
   folder with rooms, of the first sentences of theirs. --write makes both.
2. A relative link with its anchor, and a path in backquotes that begins with a folder of the tree,
   exist. A link from a name in backquotes to a C file leads to a file that has this name.
3. A decision is a file of docs/decisions: a number of four digits that no other has, a title, and
   the headings Context, Choice, Rejected and Cost. Numbers may have holes. README.md lists all.
4. CHANGELOG.md has the headings Wire, Journal format and Performance under its newest version.
5. In code, tests, tools and documents every name of a document, every section named after it, every
   mark of docs/spec, every row of R11 and every decision resolves (references.py).
6. A block between `<!-- example PATH -->` and `<!-- end -->` is the file at PATH, which tests of
   clients/ run. README.md has such a block for each quickstart of clients/. --write makes it.
"""
import pathlib
import re
import sys

import command_line
from references import References, decision_files, document, prose_of
from rooms import Rooms

LAYERS = ("base", "crypto", "engine", "store", "repl", "net", "node")
FOLDERS = [f"src/{layer}" for layer in LAYERS] + ["bench", "perf", "tests", "tools",
                                                 "docs/decisions"]
HEADINGS = {"Context", "Choice", "Rejected", "Cost"}


def tidied(text):
    return re.sub(r"\s+", " ", text).strip().rstrip(".:").replace("|", "\\|")


def first_sentence(source):
    """From `/* name.h - ` to the first full stop, the end of the paragraph or of the comment.
    A source without a header has it too."""
    text = re.sub(r"\n \* ?", "\n", source.read_text())
    match = re.match(r"/\* \S+ - (.*?)(?:\.\s|\.$|\n\n|\*/)", text, re.S)
    return tidied(match[1]) if match else ""


def files_table(folder):
    stems = sorted({path.stem for path in folder.glob("*.[ch]")})
    rows = ["| file | what it is |", "|---|---|"]
    for stem in stems:
        header = folder / f"{stem}.h"
        source = header if header.exists() else folder / f"{stem}.c"
        rows.append(f"| `{stem}` | {first_sentence(source) or 'program'} |")
    return "\n".join(rows) + "\n"


def rooms_table(folder, names):
    rows = ["| room | what it is |", "|---|---|"]
    for name in names:
        path = folder / name / "README.md"
        text = path.read_text() if path.exists() else ""
        match = re.match(r"# [^\n]*\n\n(.*?)(?:\.\s|\.$|\n\n)", text, re.S)
        rows.append(f"| [`{name}`]({name}/README.md) | {tidied(match[1]) if match else ''} |")
    return "\n".join(rows) + "\n"


def made(root, name, mark, table, write):
    """The table after `<!-- mark -->` in the README.md of folder `name` must be `table`."""
    path = root / name / "README.md"
    text = path.read_text()
    match = re.search(rf"(<!-- {mark} -->\n)(.*?)(<!-- end -->)", text, re.S)
    if not match:
        yield f"{name}/README.md: no table between <!-- {mark} --> and <!-- end -->"
    elif match[2] != table and write:
        path.write_text(text[:match.start(2)] + table + text[match.end(2):])
    elif match[2] != table:
        yield f"{name}/README.md: its table is old; tools/check_docs.py --write renews it"


def readme(root, name, inner, write):
    """Checks the README.md of a folder with the rooms `inner`, and of each room."""
    for room in inner:
        yield from readme(root, f"{name}/{room}", [], write)
    if not (root / name / "README.md").exists():
        yield f"{name}/README.md: missing"
        return
    if inner:
        yield from made(root, name, "rooms", rooms_table(root / name, inner), write)
    if inner or name.count("/") > 1 or name.startswith("src/"):
        yield from made(root, name, "files", files_table(root / name), write)


def examples(root, write):
    """Blocks that are files, and the quickstarts that README.md must show."""
    for path in documents(root):
        name = path.parent.relative_to(root)
        for file in re.findall(r"^<!-- example (\S+) -->$", path.read_text(), re.M):
            if not (root / file).exists():
                yield f"{path.relative_to(root)}: example {file} is not there"
                continue
            text = f"```{file.rpartition('.')[2]}\n{(root / file).read_text()}```\n"
            yield from made(root, name, f"example {file}", text, write)
    front = (root / "README.md").read_text() if (root / "README.md").exists() else ""
    for file in sorted(root.glob("clients/*/examples/quickstart*")):
        if f"<!-- example {file.relative_to(root)} -->" not in front:
            yield f"README.md: it does not show {file.relative_to(root)}"


def documents(root):
    return [path for path in sorted(root.rglob("*.md"))
            if not {"build", "node_modules"} & set(path.relative_to(root).parts)]


def folders(root):
    """(folder, its rooms that have a file)"""
    may = Rooms(root).may
    for name in sorted({*FOLDERS, *may}, key=lambda name: (name not in FOLDERS, name)):
        inner = [room for room in may.get(name, ())
                 if room and list((root / name / room).glob("*.[ch]"))]
        if name in FOLDERS or inner:
            yield name, inner


def paths(root, path):
    prose = prose_of(path.read_text())
    for target, anchor in re.findall(r"\]\(([^)#\s]*)(?:#([^)\s]*))?[^)]*\)", prose):
        if "://" in target:
            continue
        file = path.parent / target if target else path
        if not file.exists():
            yield f"{path.relative_to(root)}: link to {target}, which is not there"
        elif anchor and (file.suffix != ".md" or anchor not in document(file).anchors):
            yield f"{path.relative_to(root)}: link to {target}#{anchor}: no such heading"
    for name, target in re.findall(r"\[`(\w+)`\]\(([^)\s]+\.[ch])\)", prose):
        file = path.parent / target
        if file.exists() and not re.search(rf"\b{name}\b", file.read_text()):
            yield f"{path.relative_to(root)}: link from {name} to {target}, which does not have it"
    for name in re.findall(r"`((?:src|tools|tests|bench|perf|docs)/[\w./-]*\w)`", prose):
        # A name without its extension means the pair, or the program built of it.
        if not (root / name).exists() and not list(root.glob(name + ".*")):
            yield f"{path.relative_to(root)}: `{name}` is not there"


def tests_named(root, path):
    """A test that a document names is a file of tests/."""
    for name in set(re.findall(r"`((?:test|heavy)_\w+)`", prose_of(path.read_text()))):
        kind, _, rest = name.removesuffix("_dedicated").partition("_")
        folder = next((one.name for one in (root / "tests").glob("*/")
                       if rest.startswith(one.name + "_") and list(
                           one.glob(f"{kind}_{rest.removeprefix(one.name + '_')}.*"))), None)
        if folder is None:
            yield f"{path.relative_to(root)}: no file of tests/ is the test {name}"


def decisions(root):
    before = None
    for path in decision_files(root):
        name = path.relative_to(root)
        if not re.match(r"\d{4}-[a-z0-9-]+\.md$", path.name):
            yield f"{name}: its name is not a number of four digits and a title"
        if path.name[:4] == before:
            yield f"{name}: another decision has the number {before}"
        before = path.name[:4]
        lines = path.read_text().splitlines()
        if not lines or not re.match(rf"# {before.lstrip('0')}\. \S", lines[0]):
            yield f"{name}: its first line is not `# {before.lstrip('0')}. title`"
        headings = {line.lstrip("# ") for line in lines if line.startswith("## ")}
        if missing := HEADINGS - headings:
            yield f"{name}: no heading {', '.join(sorted(missing))}"


def decision_index(root):
    """Each decision is a link of docs/decisions/README.md."""
    path = root / "docs/decisions/README.md"
    text = path.read_text() if path.exists() else ""
    for decision in decision_files(root):
        if f"]({decision.name})" not in text:
            yield f"docs/decisions/README.md: its index lacks {decision.name}"


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
    for path in documents(root):
        wrong += paths(root, path)
    for name in ("docs/console-checks.md", "docs/reliability.md"):
        if (root / name).exists():
            wrong += tests_named(root, root / name)
    wrong += examples(root, write)
    wrong += decisions(root)
    wrong += decision_index(root)
    wrong += changelog(root)
    wrong += References(root).faults()
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


command_line.check(__doc__, 0, 1, ("--write",))
sys.exit(main(sys.argv[1:]))
