"""client_tarball.py - makes the npm tarball of clients/ts: its sources compiled by TypeScript, an
archive of the same bytes of the same sources, on every machine.
"""
import gzip
import io
import json
import pathlib
import subprocess
import tarfile
import tempfile

EPOCH_S = 499162500  # the time of every file in the archive, which is npm's own


class NoCompiler(Exception):
    """TypeScript is not installed."""


def compiled(folder, target, compiler):
    """Compiles the library of `folder` into `target`."""
    if not compiler.exists():
        raise NoCompiler(f"{compiler} is missing: tools/setup --browser installs it")
    done = subprocess.run([compiler, "-p", folder, "--outDir", target], capture_output=True,
                          text=True)
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


def pack(folder, licence, compiler, target):
    """Compiles and writes the tarball; its path, or NoCompiler."""
    with tempfile.TemporaryDirectory() as name:
        dist = pathlib.Path(name)
        compiled(folder, dist, compiler)
        return archive(folder, licence, dist, target)
