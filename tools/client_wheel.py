"""client_wheel.py - makes the wheel of clients/python with the standard library alone: the same
bytes of the same sources, on every machine.
"""
import base64
import hashlib
import tomllib
import zipfile

EPOCH = (1980, 1, 1, 0, 0, 0)  # the time of every file in the wheel


def metadata(project):
    lines = ["Metadata-Version: 2.1", f"Name: {project['name']}", f"Version: {project['version']}",
             f"Summary: {project['description']}", f"License: {project['license']['text']}",
             "License-File: LICENSE",
             f"Requires-Python: {project['requires-python']}"]
    lines += [f"Requires-Dist: {name}" for name in project.get("dependencies", ())]
    for extra, names in project.get("optional-dependencies", {}).items():
        lines += [f"Provides-Extra: {extra}"]
        lines += [f'Requires-Dist: {name}; extra == "{extra}"' for name in names]
    return "\n".join(lines) + "\n"


def pack(folder, licence, target):
    """Writes the wheel into `target`, which is made if it is missing; its path."""
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    stem = f"{project['name']}-{project['version']}"
    info = f"{stem}.dist-info"
    source = folder / "src"
    files = [(path.relative_to(source).as_posix(), path.read_bytes())
             for path in sorted(source.rglob("*"))
             if path.suffix in (".py", ".typed") and "__pycache__" not in path.parts]
    files += [(f"{info}/METADATA", metadata(project).encode()),
              (f"{info}/WHEEL", b"Wheel-Version: 1.0\nGenerator: tools/clients\n"
                                b"Root-Is-Purelib: true\nTag: py3-none-any\n"),
              (f"{info}/LICENSE", licence.read_bytes())]
    record = [f"{name},sha256={digest(data)},{len(data)}" for name, data in files]
    record += [f"{info}/RECORD,,"]
    files += [(f"{info}/RECORD", "\n".join(record).encode() + b"\n")]
    target.mkdir(parents=True, exist_ok=True)
    path = target / f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, data in files:
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.external_attr = 0o644 << 16
            wheel.writestr(entry, data, zipfile.ZIP_DEFLATED)
    return path


def digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
