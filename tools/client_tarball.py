"""client_tarball.py - makes the npm tarball of clients/ts: its sources compiled by TypeScript, an
archive of the same bytes of the same sources, on every machine.
"""
import gzip
import io
import json
import pathlib
import shutil
import subprocess
import tarfile
import tempfile

EPOCH_S = 499162500  # the time of every file in the archive, which is npm's own


class NoCompiler(Exception):
    """TypeScript is not installed."""


def copy(folder, target, packages, *names):
    """Copies the library's sources into `target`, where they find what they need, and the packages
    `names`, in the folder `packages` of tools/setup --browser."""
    shutil.copytree(folder, target, ignore=shutil.ignore_patterns("dist", "node_modules"))
    for name in (*json.loads((folder / "package.json").read_text())["dependencies"], *names):
        link = target / "node_modules" / name
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(packages / name)


def compiled(folder, target, packages):
    """Compiles the library of `folder` into `target`."""
    compiler = packages / ".bin/tsc"
    if not compiler.exists():
        raise NoCompiler(f"{compiler} is missing: tools/setup --browser installs it")
    with tempfile.TemporaryDirectory() as name:
        copy(folder, pathlib.Path(name, "ts"), packages)
        done = subprocess.run([compiler, "-p", pathlib.Path(name, "ts"), "--outDir", target],
                              capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stdout)


def archive(folder, licence, dist, target):
    """Writes the tarball of a library that `dist` has compiled into `target`, which is made if it
    is missing; its path."""
    package = json.loads((folder / "package.json").read_text())
    files = {"package.json": folder / "package.json", "README.md": folder / "README.md",
             "LICENSE": licence}
    files |= {f"dist/{path.relative_to(dist).as_posix()}": path for path in dist.rglob("*")
              if path.is_file() and path.relative_to(dist).parts[0] != "examples"}
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.USTAR_FORMAT) as tarball:
        for name in sorted(files):
            data = files[name].read_bytes()
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size, entry.mode, entry.mtime = len(data), 0o644, EPOCH_S
            tarball.addfile(entry, io.BytesIO(data))
    target.mkdir(parents=True, exist_ok=True)
    path = target / f"{package['name']}-{package['version']}.tgz"
    path.write_bytes(gzip.compress(plain.getvalue(), 9, mtime=0))
    return path


def pack(folder, licence, packages, target):
    """Compiles and writes the tarball; its path, or NoCompiler."""
    with tempfile.TemporaryDirectory() as name:
        dist = pathlib.Path(name)
        compiled(folder, dist, packages)
        return archive(folder, licence, dist, target)
