#!/usr/bin/env python3
"""check_tidy.py BUILD [ROOT] - clang-tidy (.clang-tidy) over the C of src/ and tools/, with the
commands of BUILD. It does not report warning options that only gcc knows, and skips commands with
bugs planted on purpose.

A file that passed is skipped while its bytes, those of all it includes, its command, the checks and
clang-tidy are the same. The files that passed are the names of empty files in $PERPD_TIDY_CACHE
(~/.cache/perpd-tidy), kept for 30 days after the last use.

PERPD_TIDY_FILES=N checks at most N of the other files: those of the newest commits first, then the
next of the list from a place that PERPD_SAMPLE_SEED moves. Without it all of them are checked.
"""
import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import time

import command_line

KEPT_S = 30 * 86_400
NO_NEWS = "-Wno-unknown-warning-option"


@functools.cache
def digest(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).digest()


@functools.cache
def tool(root):
    version = subprocess.run(["clang-tidy", "--version"], check=True, capture_output=True).stdout
    return digest(__file__) + digest(root / ".clang-tidy") + hashlib.sha256(version).digest()


def included(entry):
    """The file and all that it includes, as clang finds them; None when it does not compile."""
    words = shlex.split(entry["command"])
    words = words[next(i for i, word in enumerate(words) if word.endswith(("cc", "gcc"))
                       and not word.endswith("ccache")) + 1:]
    del words[words.index("-o"):words.index("-o") + 2]
    words.remove("-c")
    done = subprocess.run(["clang", "-M", "-w", NO_NEWS, *words], cwd=entry["directory"],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        return None
    names = done.stdout.split(":", 1)[1].replace("\\\n", " ").split()
    return [os.path.join(entry["directory"], name) for name in names]


def key_of(root, entry):
    """A hash of all that the verdict depends on; None if it cannot be cached."""
    paths = included(entry)
    if paths is None:
        return None
    command = entry["command"].replace(str(root), "")
    inputs = hashlib.sha256(tool(root) + command.encode())
    for path in paths:
        inputs.update(digest(path))
    return inputs.hexdigest()


def is_remembered(cache, key):
    if key is None or not (cache / key).exists():
        return False
    (cache / key).touch()
    return True


def newest_first(root):
    """The files that the last 50 commits changed, those of the newest commit first."""
    done = subprocess.run(["git", "log", "-n", "50", "--name-only", "--format="], cwd=root,
                          capture_output=True, text=True, check=False)
    return [str(root / name) for name in dict.fromkeys(done.stdout.split())]


def in_turn(root, by_name):
    """The names in the order in which a sample takes them."""
    names = sorted(by_name)
    start = int(os.environ.get("PERPD_SAMPLE_SEED") or "0", 16) % len(names)
    order = dict.fromkeys(newest_first(root) + names[start:] + names[:start])
    return [name for name in order if name in by_name]


def take(root, cache, entries, threads):
    """(entries to look at, key by file): those that did not pass before, at most PERPD_TIDY_FILES.
    What comes after the last of them is not looked up, for a key costs a preprocessor."""
    by_name = {entry["file"]: entry for entry in entries}
    most = int(os.environ.get("PERPD_TIDY_FILES") or len(entries))
    keys, taken = {}, []
    order = in_turn(root, by_name) if most < len(entries) else list(by_name)
    if not any(cache.iterdir()):
        return [by_name[name] for name in order[:most]], keys
    step = max(1, 2 * most)
    for at in range(0, len(order), step):
        if len(taken) >= most:
            break
        part = order[at:at + step]
        keys.update(zip(part, threads.map(lambda name: key_of(root, by_name[name]), part)))
        taken += [by_name[name] for name in part if not is_remembered(cache, keys[name])]
    return taken[:most], keys


def look(commands, root, cache, key, entry):
    """What clang-tidy reports for the file; "" when it passed. The database of the folder
    `commands` has one command a file: clang-tidy checks a file by every command that it finds."""
    key = key or key_of(root, entry)
    done = subprocess.run(["clang-tidy", "--quiet", "-p", commands, f"--extra-arg={NO_NEWS}",
                           entry["file"]], cwd=root, text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        return done.stdout
    if key is not None:
        (cache / key).touch()
    return ""


def forget_old(cache):
    until = time.time() - KEPT_S
    for name in cache.iterdir():
        if name.stat().st_mtime < until:
            name.unlink(missing_ok=True)


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    root = pathlib.Path(sys.argv[2] if len(sys.argv) > 2
                        else pathlib.Path(__file__).parent.parent).resolve()
    cache = pathlib.Path(os.environ.get("PERPD_TIDY_CACHE") or "~/.cache/perpd-tidy").expanduser()
    cache.mkdir(parents=True, exist_ok=True)
    forget_old(cache)
    wanted = {str(path) for part in ("src", "tools") for path in (root / part).glob("**/*.c")}
    entries = {}  # the first command of a file
    for entry in json.loads((build / "compile_commands.json").read_text()):
        if entry["file"] in wanted:
            entries.setdefault(entry["file"], entry)
    for path in sorted(wanted - set(entries)):
        print(f"{path}: no command in {build}")
    with (tempfile.TemporaryDirectory() as commands,
          concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as threads):
        taken, keys = take(root, cache, list(entries.values()), threads)
        if len(taken) < len(entries):
            print(f"{len(taken)} of {len(entries)} files; all: tools/nightly tidy")
        taken.sort(key=lambda entry: -os.path.getsize(entry["file"]))
        (pathlib.Path(commands) / "compile_commands.json").write_text(json.dumps(taken))
        reports = list(threads.map(
            lambda entry: look(commands, root, cache, keys.get(entry["file"]), entry), taken))
    for text in reports:
        print(text, end="")
    return 1 if any(reports) or len(entries) < len(wanted) or not wanted else 0


if __name__ == "__main__":
    command_line.check(__doc__, 1, 2)
    sys.exit(main())
