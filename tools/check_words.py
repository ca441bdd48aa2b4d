#!/usr/bin/env python3
"""check_words.py [ROOT] - fails on words that do not belong in a finished tree: promises of later
work, paths of one machine, hosts of a package registry, talk about how the text came to be, and,
outside tests, words that docs/STYLE.md (Words) replaces by plain ones; in src/ such verbs in the
names of functions too.

This file and tests/checks, which plants such words, are not read.
"""
import pathlib
import re
import subprocess
import sys

import command_line

BANNED = [  # pattern, why
    (r"\b(TODO|FIXME|XXX|HACK|WIP|TBD)\b", "a promise: do it, or state the limit as a fact"),
    (r"(?i)\b(not (yet )?implemented|unimplemented|stub(s|bed)?|for now|placeholder)\b",
     "a promise: do it, or state the limit as a fact"),
    (r"(?<![\w.~$}])/(work|root|home/\w+|Users/\w+|mnt|workspace)/", "a path of one machine"),
    (r"(?i)\b(pypi\.org|npmjs\.org|registry-\d\.docker\.io|docker\.io|gcr\.io|ghcr\.io"
     r"|artifactory|jfrog\.io|snapshot\.debian\.org|deb\.debian\.org)\b", "a registry host"),
    (r"\b(10\.\d+\.\d+\.\d+|192\.168\.\d+\.\d+)\b", "an address of one network"),
    (r"(?i)\b(LLMs?|chatgpt|copilot|claude|(sub-?|coding |ai )agents?|ai assistant)\b",
     "the repository speaks of the exchange, not of its making"),
    (r"(?i)\b(issue|ticket) #?\d+\b|\bshared/(spec|prototypes|vectors)\b",
     "the repository speaks of the exchange, not of its making"),
]
PLAIN = [
    (r"(?i)\b(anew|who(so)?ever|whereupon|at hand|of its own accord)\b",
     "docs/STYLE.md, Words: the subject first, in plain words"),
    (r"(?i)(?<!not )\b(doom(ed)?|(conditional|deleverage)_place|duplicate_entry)\b",
     "docs/STYLE.md, Words: kill; index, slot, rank or row"),
]
NAMES = [  # of functions in src/
    (r"(?<![\w.>])(take|tell)s?(_(?!over\b)\w+)?\((?=\w)",
     "docs/STYLE.md, Words: a function takes tokens of a bucket; accept, pop, check, report"),
    (r"\b(?!\w*rate_take\b)[a-z]\w*_(takes?|tells?|gives?|shadow)\((?=\w)",
     "docs/STYLE.md, Words: a function takes tokens of a bucket; accept, pop, copy, free, report"),
    (r"\b(?!(conditional_order|apply)_place\b)[a-z]\w*_place\((?=\w)",
     "docs/STYLE.md, Words: orders are placed; index, slot or location"),
    (r"\bstruct (\w+_)?(entry|place|shadow)\b|\b(entry|place|shadow)(->|\.(?!h\b)[a-z])",
     "docs/STYLE.md, Words: index, slot, location or row"),
]
PLAIN_SKIPPED = ("tests/", "docs/STYLE.md", "docs/decisions/")
SKIPPED = ("tools/check_words.py", "tests/checks/", "LICENSE", "web/dist/")


def tracked(root):
    git = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard", "-z"],
                         capture_output=True)
    if git.returncode == 0:
        names = git.stdout.decode().split("\0")
        return [root / name for name in sorted(filter(None, names)) if (root / name).is_file()]
    return [path for path in sorted(root.rglob("*"))
            if path.is_file() and "build" not in path.relative_to(root).parts]


def main(root):
    count = 0
    for path in tracked(root):
        name = path.relative_to(root).as_posix()
        if name.startswith(SKIPPED):
            continue
        data = path.read_bytes()
        if b"\0" in data or len(data) > 4 << 20:
            continue
        words = BANNED + ([] if name.startswith(PLAIN_SKIPPED) else PLAIN)
        if name.startswith("src/"):
            words = words + NAMES
        text = data.decode(errors="replace")
        for pattern, why in words:  # no pattern matches the end of a line
            for match in re.finditer(pattern, text):
                number = text.count("\n", 0, match.start()) + 1
                print(f"{name}:{number}: {match[0]!r}: {why}")
                count += 1
    return 1 if count else 0


command_line.check(__doc__, 0, 1)
sys.exit(main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()))
