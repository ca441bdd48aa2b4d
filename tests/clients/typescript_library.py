"""typescript_library.py - compiles clients/ts into a folder of its own, and finds node. Ends the
test as skipped where tools/setup --browser was not called.
"""
import contextlib
import pathlib
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "tests/browser"))
import packages  # noqa: E402  (the folder comes first)

ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "NODE_NO_WARNINGS": "1"}


def said_by_tsc(project):
    """What tsc finds wrong with a project, which it compiles."""
    return subprocess.run([packages.FOLDER / "node_modules/.bin/tsc", "-p", project],
                          capture_output=True, text=True).stdout


@contextlib.contextmanager
def library():
    """A copy of clients/ts whose dist is compiled; its examples find the package `ws`."""
    packages.skip_without("typescript", "ws")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name, "ts")
        shutil.copytree(SOURCE / "clients/ts", folder, ignore=shutil.ignore_patterns("dist"))
        (folder / "node_modules").mkdir()
        (folder / "node_modules/ws").symlink_to(packages.FOLDER / "node_modules/ws")
        for project in (folder, folder / "examples"):
            if said := said_by_tsc(project):
                sys.exit(f"failed: {said}")
        yield folder
