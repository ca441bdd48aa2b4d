#!/usr/bin/env python3
"""apply.py SOURCE PATCH OUT - writes SOURCE with a planted bug to OUT.
apply.py --check ROOT - applies every patch of ROOT/tests/*/planted to its file of ROOT/src.

A patch is one hunk. It applies where its context and the lines that it takes away are found in the
file, once; line numbers say nothing. Its file is the one of src/ with the name of its header, in
whatever room. A patch that does not apply is named, exit code 1.
"""
import pathlib
import sys


def source_of(patch, root):
    """The file of src/ that the patch changes."""
    name = patch.read_text().split("\n", 1)[0].removeprefix("--- ")
    found = sorted((root / "src").rglob(pathlib.Path(name).name))
    if len(found) != 1:
        raise ValueError(f"{len(found)} files of src/ have the name of {name}")
    return found[0]


def planted(source, patch):
    """The text with the bug."""
    lines = patch.read_text().splitlines(keepends=True)
    if [line[:3] for line in lines[:3]] != ["---", "+++", "@@ "] or any(
            line[:1] not in " +-" for line in lines[3:]):
        raise ValueError("it is not one hunk")
    old = "".join(line[1:] for line in lines[3:] if line[0] != "+")
    new = "".join(line[1:] for line in lines[3:] if line[0] != "-")
    text = source.read_text()
    if text.count(old) != 1:
        raise ValueError(f"its lines are {text.count(old)} times in {source}; write it anew")
    return text.replace(old, new)


def check(root):
    patches, bad = sorted((root / "tests").glob("*/planted/*.patch")), 0
    for patch in patches:
        try:
            planted(source_of(patch, root), patch)
        except ValueError as error:
            print(f"{patch.relative_to(root)} does not apply: {error}")
            bad = 1
    if not patches:
        print(f"no patches in {root}/tests")
    return bad or not patches


def main():
    if sys.argv[1] == "--check":
        return int(check(pathlib.Path(sys.argv[2])))
    source, patch, out = map(pathlib.Path, sys.argv[1:4])
    try:
        text = planted(source, patch)
    except ValueError as error:
        print(f"{patch} does not apply: {error}", file=sys.stderr)
        return 1
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
