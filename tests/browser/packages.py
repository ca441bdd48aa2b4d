"""packages.py - where tools/setup --browser puts the npm packages of package-lock.json."""
import os
import pathlib
import shutil
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2]
FOLDER = SOURCE / "build/browser"


def lacking(*names):
    """What of node and the packages is not installed."""
    missing = [name for name in names if not (FOLDER / "node_modules" / name).exists()]
    return (["node"] if shutil.which("node") is None else []) + missing


def skip_without(*names):
    """Ends the test as skipped, with one line that says why."""
    if missing := lacking(*names):
        print(f"skipped: {', '.join(missing)} not installed (tools/setup --browser installs it)")
        sys.exit(77)


def lacking_of_console():
    """What the console's own tests need and this machine lacks."""
    esbuild = SOURCE / "web/node_modules/esbuild"
    return (["node"] if shutil.which("node") is None else []) + (
        [] if esbuild.exists() else ["esbuild"])


def run(script, *arguments, text=None):
    """The output of a script of this folder, which finds the packages in its environment."""
    done = subprocess.run(
        ["node", SOURCE / "tests/browser" / script, *map(str, arguments)], input=text,
        stdout=subprocess.PIPE, text=True, timeout=200,
        env={**os.environ, "PERPD_PACKAGES": str(FOLDER), "NODE_NO_WARNINGS": "1"})
    if done.returncode:
        sys.exit(f"{script} failed: {done.stdout[-2000:]}")
    return done.stdout
