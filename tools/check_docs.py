#!/usr/bin/env python3
"""check_docs.py [--write] [ROOT] - fails when the documents no longer describe the tree.

1. Each folder has a README.md. In those of src/ the table between the markers `<!-- files -->` and
   `<!-- end -->` is made of the first sentences of the headers; --write makes it anew.
2. A relative link, and a path in backquotes that begins with a folder of the tree, exists.
3. A decision is docs/decisions/NNNN-title.md, numbered without a hole, of at most 40 lines, with
   the headings Context, Choice, Rejected and Cost.
4. CHANGELOG.md has the headings Wire, Journal format and Performance under its newest version.
"""
import pathlib
import re
import sys

LAYERS = ("base", "crypto", "engine", "store", "net", "node")
FOLDERS = [f"src/{layer}" for layer in LAYERS] + ["bench", "perf", "tests", "tools",
                                                 "docs/decisions"]
DECISION_LINES = 40
HEADINGS = {"Context", "Choice", "Rejected", "Cost"}


def first_sentence(header):
    """From `/* name.h - ` to the first full stop, the end of the paragraph or of the comment."""
    text = re.sub(r"\n \* ?", "\n", header.read_text())
    match = re.match(r"/\* \S+ - (.*?)(?:\.\s|\.$|\n\n|\*/)", text, re.S)
    if not match:
        return ""
    return re.sub(r"\s+", " ", match[1]).strip().rstrip(".:").replace("|", "\\|")


def table(folder):
    stems = sorted({path.stem for path in folder.glob("*.[ch]")})
    rows = ["| file | what it is |", "|---|---|"]
    for stem in stems:
        header = folder / f"{stem}.h"
        rows.append(f"| `{stem}` | {first_sentence(header) if header.exists() else 'program'} |")
    return "\n".join(rows) + "\n"


def readme(root, name, write):
    path = root / name / "README.md"
    if not path.exists():
        yield f"{name}/README.md: missing"
        return
    text = path.read_text()
    if not name.startswith("src/"):
        return
    match = re.search(r"(<!-- files -->\n)(.*?)(<!-- end -->)", text, re.S)
    if not match:
        yield f"{name}/README.md: no table between <!-- files --> and <!-- end -->"
    elif match[2] != table(root / name):
        if write:
            path.write_text(text[:match.start(2)] + table(root / name) + text[match.end(2):])
        else:
            yield f"{name}/README.md: its table is old; tools/check_docs.py --write makes it anew"


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
    wrong = [text for name in FOLDERS for text in readme(root, name, write)]
    for path in sorted(root.rglob("*.md")):
        if "build" not in path.relative_to(root).parts:
            wrong += paths(root, path)
    wrong += decisions(root)
    wrong += changelog(root)
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


sys.exit(main(sys.argv[1:]))
