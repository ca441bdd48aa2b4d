"""python_library.py - finds clients/python, as its users import it, and vectors of the bytes."""
import importlib
import importlib.util
import json
import pathlib
import subprocess
import sys
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHON = ROOT / "clients/python"
sys.path[:0] = [str(PYTHON / "src"), str(ROOT / "tests/system"), str(ROOT / "tools"),
                str(ROOT / "tests/browser")]


def vectors(name):
    """The vectors of tests/vectors/perpd/NAME.json."""
    return json.loads((ROOT / f"tests/vectors/perpd/{name}.json").read_text())["vectors"]


def installed(wheel, target):
    """The folder that an import finds: the wheel installed by pip without a registry, or where
    there is no pip unpacked."""
    if importlib.util.find_spec("pip") is None:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(target)
    else:
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-index",
                        "--disable-pip-version-check", "--root-user-action=ignore",
                        "--target", target, wheel], check=True)
    return target


class Hidden:
    """While it lasts, the named packages cannot be imported."""

    def __init__(self, *names):
        self.names = names

    def find_spec(self, name, *_):
        if name.split(".")[0] in self.names:
            raise ModuleNotFoundError(name)

    def __enter__(self):
        self.kept = {name: sys.modules.pop(name) for name in list(sys.modules)
                     if name.split(".")[0] in self.names}
        sys.meta_path.insert(0, self)
        importlib.invalidate_caches()

    def __exit__(self, *_):
        sys.meta_path.remove(self)
        sys.modules.update(self.kept)
