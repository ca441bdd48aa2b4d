"""typescript_library.py - compiles clients/ts into a folder of its own, and finds node. Ends the
test as skipped where tools/setup --browser was not called.
"""
import contextlib
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "tests/browser"))
sys.path.insert(0, str(SOURCE / "tools"))
import client_tarball  # noqa: E402  (the folders come first)
import packages  # noqa: E402

ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "NODE_NO_WARNINGS": "1"}


def said_by_tsc(project):
    """What tsc finds wrong with a project, which it compiles."""
    return subprocess.run([packages.FOLDER / "node_modules/.bin/tsc", "-p", project],
                          capture_output=True, text=True).stdout


@contextlib.contextmanager
def library():
    """A copy of clients/ts whose dist is compiled; its examples find the package `ws`."""
    packages.skip_without("typescript", "ws", "@noble/curves")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name, "ts")
        client_tarball.copy(SOURCE / "clients/ts", folder, packages.FOLDER / "node_modules", "ws")
        for project in (folder, folder / "examples"):
            if said := said_by_tsc(project):
                sys.exit(f"failed: {said}")
        yield folder


def installed(compiled, target):
    """A folder with the tarball of the compiled library and those of the packages that it requires,
    installed by npm without a registry, and with the compiled examples, which find nothing else
    but `ws`."""
    tarball = client_tarball.archive(SOURCE / "clients/ts", SOURCE / "LICENSE", compiled / "dist",
                                     target)

    def npm(*words):
        words = ["npm", *words, "--offline", "--ignore-scripts", "--silent"]
        return subprocess.run([*words, "--cache", target / "cache"], check=True, cwd=target,
                              stdout=subprocess.PIPE, text=True,
                              env={**ENVIRONMENT, "HOME": str(target)}).stdout

    package = json.loads((SOURCE / "clients/ts/package.json").read_text())
    required = [npm("pack", packages.FOLDER / "node_modules" / name).strip()
                for name in package["dependencies"]]
    npm("install", "--no-audit", "--no-fund", "--prefix", target, tarball,
        *(target / name for name in required))
    (target / "node_modules/ws").symlink_to(packages.FOLDER / "node_modules/ws")
    shutil.copytree(compiled / "dist/examples", target / "examples")
    (target / "examples/package.json").write_text('{"type": "module"}\n')
    return target
