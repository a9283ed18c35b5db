"""Numbers of full runs of the studies, and whether the code has changed since.

Beside this file lies FAMILY.NAME.json for every study that was run in full, with its day, commit, machine, and digests
of the code that ran. ``python docs/results.py FAMILY.NAME`` writes it, and the pages quote it.
"""

from __future__ import annotations

import ast
import json
import os
import platform
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

import colloc
from colloc.support.files import write_atomically

FOLDER = Path(__file__).parent
PACKAGE = Path(colloc.__file__).parent
APART = ("__main__", "plot", "studies.films", "studies.reporting", "studies.results")  # change no number
DATA = (".c", ".h", ".csv", ".json", ".osim", ".txt")  # files beside modules that these read


@dataclass(frozen=True)
class Record:
    """A full run of a study.

    Parameters
    ----------
    study : str
        Family and name.
    date : str
        Day of the run, year first, in UTC.
    commit : str
        Commit of the code, with "-dirty" where code had changed since.
    machine : str
        Kind of processor, its widest vectors, cores, and versions.
    seconds : float
        Duration of the run, on a machine that may have done other things as well.
    code : mapping of str to str
        By package, such as "refinement", a digest of the code that the run loaded and the names of its modules, as from
        `digests`. Empty for a run whose code was not recorded.
    numbers : mapping of str to float
        What the study reports as JSON.
    """

    study: str
    date: str
    commit: str
    machine: str
    seconds: float
    code: Mapping[str, str]
    numbers: Mapping[str, float]

    @property
    def since(self) -> str:
        """Packages whose code has changed since the run, separated by commas; "all" where its code was not recorded."""
        now = digests(f"{package}.{name}" for package, kept in self.code.items() for name in kept.split()[1:])
        changed = [package for package, kept in self.code.items() if kept != now.get(package)]
        return ", ".join(sorted(changed)) if self.code else "all"

    def write(self) -> Path:
        """The file in this folder, written."""
        path = FOLDER / f"{self.study}.json"
        write_atomically(path, (json.dumps(asdict(self), indent=1) + "\n").encode())
        return path


def record(study: str) -> Record:
    """The full run of a study that is kept; FileNotFoundError if there is none."""
    return Record(**json.loads((FOLDER / f"{study}.json").read_text(encoding="utf-8")))


def records() -> dict[str, Record]:
    """All full runs that are kept, by study."""
    return {path.stem: record(path.stem) for path in sorted(FOLDER.glob("*.json"))}


def made(study: str, numbers: Mapping[str, float], seconds: float, modules: Iterable[str]) -> Record:
    """The record of a run that has just ended and loaded these modules, named without "colloc."."""
    day = datetime.now(UTC).date().isoformat()
    return Record(study, day, commit(), machine(), round(seconds, 1), digests(modules), dict(numbers))


def commit() -> str:
    """The commit of this checkout, with "-dirty" if code has changed since; "" without one, or without Git."""
    program = shutil.which("git")
    if program is None:
        return ""
    git = [program, "-C", str(FOLDER)]
    head = subprocess.run([*git, "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    if head.returncode:
        return ""
    changed = subprocess.run([*git, "diff", "--quiet", "HEAD", "--", ":/*.py"], check=False).returncode
    return head.stdout.strip() + ("-dirty" if changed else "")


def machine() -> str:
    """Conditions on which numbers of seconds, and of iterations, may depend."""
    cpuinfo = Path("/proc/cpuinfo")
    text = cpuinfo.read_text(encoding="utf-8") if cpuinfo.exists() else ""
    name = re.search(r"model name\s*: (.*)", text)
    vectors = "AVX-512" if "avx512f" in text else "AVX2" if "avx2" in text else ""
    parts = [name[1] if name else platform.machine(), vectors, f"{os.cpu_count()} cores"]
    versions = f"Python {platform.python_version()}, CasADi {version('casadi')}"
    return ", ".join([*(part for part in parts if part), versions])


def digests(modules: Iterable[str]) -> dict[str, str]:
    """By package, a digest of the code of these modules and their names, without those that change no number.

    Modules are named without "colloc.". Files of data beside them count as well.
    """
    packages: dict[str, list[str]] = {}
    for module in sorted({*modules} - {""}):
        if not f"{module}.".startswith(tuple(f"{apart}." for apart in APART)):
            package, _, name = module.rpartition(".") if not source(module).is_dir() else (module, "", "__init__")
            packages.setdefault(package, []).append(name)
    return {package: " ".join((_digest(package, names), *names)) for package, names in packages.items()}


def changed(before: Mapping[Path, str], run: Record) -> bool:
    """Whether code that a run loaded is no longer what `texts` said."""
    files = (source(f"{package}.{name}") for package, kept in run.code.items() for name in kept.split()[1:])
    return any(
        code(before.get(path, "")) != code(path.read_text(encoding="utf-8"))
        for path in (file.resolve() for file in files)
    )


def texts() -> dict[Path, str]:
    """All modules of the package, of models and of studies, by their files."""
    folders = (PACKAGE.resolve(), source("models").resolve(), source("studies").resolve())
    return {path: path.read_text(encoding="utf-8") for folder in folders for path in folder.rglob("*.py")}


def source(module: str) -> Path:
    """File of a module, or folder of a package, named without "colloc."; it need not exist."""
    parts = module.split(".")
    beside = parts[0] in ("models", "studies")  # of which this folder is one: in a checkout they are not in the package
    place = (FOLDER.parents[1] if beside else PACKAGE).joinpath(*parts)
    return place if place.is_dir() else place.with_suffix(".py")


def _digest(package: str, names: Iterable[str]) -> str:
    folder = source(package)
    files = [folder / f"{name}.py" for name in names]
    places = [
        place for place in (folder, *folder.glob("*/")) if place == folder or not (place / "__init__.py").exists()
    ]
    files += sorted(path for place in places for path in place.glob("*") if path.suffix in DATA)
    whole = sha256()
    for path in files:
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        whole.update(f"{path.name}\n{code(text, path.suffix)}\n".encode())
    return whole.hexdigest()[:12]


@cache
def code(text: str, suffix: str = ".py") -> str:
    """The part of a file that can change a number.

    Python is read without docstrings, comments, layout and the text of raised errors, C without comments and layout.
    """
    if suffix in (".c", ".h"):
        return " ".join(re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.S).split())
    if suffix != ".py":
        return text
    tree = ast.parse(text)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and _is_text(body[0]):
            del body[0]
        if isinstance(node, ast.Raise):
            for part in ast.walk(node):
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    part.value = ""
    return ast.dump(tree)


def _is_text(node: ast.AST) -> bool:
    value = node.value if isinstance(node, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)
