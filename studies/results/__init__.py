"""Numbers of full runs of the studies, and whether they are older than the code that they measure.

Beside this file lies FAMILY.NAME.json of every study that was run in full, with its date, commit and machine;
``python docs/results.py FAMILY.NAME`` makes it, and the pages quote it.
"""

from __future__ import annotations

import ast
import json
import os
import platform
import re
import subprocess
from collections.abc import Iterator, Mapping
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
APART = ("plot", "models", "studies")  # what draws changes no number; models and studies count where they are used
FRAME = ("colloc.studies.reporting", "colloc.studies.films", "colloc.studies.results")


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
    study_code, library_code : str
        Digests of the code that ran, as in `digests`.
    numbers : mapping of str to float
        What the study reports as JSON.
    """

    study: str
    date: str
    commit: str
    machine: str
    seconds: float
    study_code: str
    library_code: str
    numbers: Mapping[str, float]

    @property
    def since(self) -> str:
        """What has changed since the run: "", "library", "study" or "library, study"."""
        now = digests(self.study)
        return ", ".join(part for part, digest in now.items() if digest != getattr(self, f"{part}_code"))

    def write(self) -> Path:
        """The file in this folder, written."""
        path = FOLDER / f"{self.study}.json"
        write_atomically(path, (json.dumps(asdict(self), indent=1) + "\n").encode())
        return path


def record(study: str) -> Record:
    """The full run of a study that is kept; FileNotFoundError if there is none."""
    return Record(**json.loads((FOLDER / f"{study}.json").read_text()))


def records() -> dict[str, Record]:
    """All full runs that are kept, by study."""
    return {path.stem: record(path.stem) for path in sorted(FOLDER.glob("*.json"))}


def made(study: str, numbers: Mapping[str, float], seconds: float) -> Record:
    """The record of a run that has just ended."""
    code = {f"{part}_code": digest for part, digest in digests(study).items()}
    day = datetime.now(UTC).date().isoformat()
    return Record(study, day, commit(), machine(), round(seconds, 1), numbers=dict(numbers), **code)


def commit() -> str:
    """The commit of this checkout, with "-dirty" if code has changed since; "" without one."""
    git = ["git", "-C", str(FOLDER)]
    head = subprocess.run([*git, "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    if head.returncode:
        return ""
    changed = subprocess.run([*git, "diff", "--quiet", "HEAD", "--", ":/*.py"], check=False).returncode
    return head.stdout.strip() + ("-dirty" if changed else "")


def machine() -> str:
    """What numbers of seconds, and of iterations, may depend on."""
    cpuinfo = Path("/proc/cpuinfo")
    text = cpuinfo.read_text() if cpuinfo.exists() else ""
    name = re.search(r"model name\s*: (.*)", text)
    vectors = "AVX-512" if "avx512f" in text else "AVX2" if "avx2" in text else ""
    parts = [name[1] if name else platform.machine(), vectors, f"{os.cpu_count()} cores"]
    versions = f"Python {platform.python_version()}, CasADi {version('casadi')}"
    return ", ".join([*(part for part in parts if part), versions])


def digests(study: str) -> dict[str, str]:
    """Digests of what a study runs: "library", colloc without its pictures, and "study", its file and what it imports.

    Comments and docstrings do not count.
    """
    return {"library": library(), "study": _digest(sorted(imported(f"colloc.studies.{study}")))}


@cache
def library() -> str:
    """Digest of the library, its pictures apart."""
    every = (path for path in PACKAGE.rglob("*.py") if path.relative_to(PACKAGE).parts[0] not in APART)
    return _digest(sorted(".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts) for path in every))


def imported(module: str) -> set[str]:
    """A module of studies or models with all of these that it imports, and what they import in turn."""
    every, new = set(), {module}
    while new:
        every |= new
        new = {name for one in new for name in _imports(one)} - every - set(FRAME)
    return every


def _imports(module: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(_path(module).read_text())):
        if (
            isinstance(node, ast.ImportFrom)
            and node.module
            and node.module.startswith(("colloc.studies", "colloc.models"))
        ):
            for name in (node.module, *(f"{node.module}.{alias.name}" for alias in node.names)):
                if _path(name).exists():
                    yield name


def _path(module: str) -> Path:
    place = PACKAGE.joinpath(*module.split(".")[1:])
    return place / "__init__.py" if place.is_dir() else place.with_suffix(".py")


def _digest(modules: list[str]) -> str:
    text = "".join(f"{module}\n{code(_path(module).read_text())}" for module in modules)
    return sha256(text.encode()).hexdigest()[:12]


def code(text: str) -> str:
    """A file without docstrings, lines of comments and empty lines."""
    lines: list[str | None] = list(text.splitlines())
    for node in ast.walk(ast.parse(text)):
        body = getattr(node, "body", None)
        if (
            isinstance(body, list)
            and body
            and isinstance(body[0], ast.Expr)
            and isinstance(body[0].value, ast.Constant)
        ):
            first, last = body[0].lineno, body[0].end_lineno or body[0].lineno
            lines[first - 1 : last] = [None] * (last - first + 1)
    return "".join(f"{line}\n" for line in lines if line and line.strip() and not line.strip().startswith("#"))
