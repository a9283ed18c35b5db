"""Public names of the library, those at the top and those in its packages, grouped as the reference lists them."""

import inspect
from importlib import import_module
from types import ModuleType

import colloc as co

# Titles of groups by the package through which the names are reached, and packages that join the group of another one.
TITLES = {
    "model": "Mechanisms",
    "formats": "Models and recordings from files",
    "problem": "Problems",
    "transcription": "Curves and guesses",
    "refinement": "Solving",
    "solution": "Answers",
    "sweeps": "Many solves",
    "kernels": "Compiled code",
    "evaluator": "The evaluator",
    "support": "Errors and warnings",
}
JOINED = {
    "curves": "transcription",
    "errors": "solution",
    "solver": "refinement",
    "storage": "solution",
}


def public() -> list[str]:
    """Full names of all that is public."""
    inside = {f"{package}.{name}" for package, names in co._PACKAGES.items() for name in names.split()}
    return [f"colloc.{name}" for name in sorted({*co.__all__, *inside}, key=lambda name: name.rpartition(".")[2])]


def groups() -> dict[str, tuple[str, list[str]]]:
    """Title and full names of every group, by the name of its page."""
    pages: dict[str, tuple[str, list[str]]] = {key: (title, []) for key, title in TITLES.items()}
    for full in public():
        place, _, name = full.rpartition(".")
        value = getattr(import_module(place), name)
        if inspect.ismodule(value):
            about = (inspect.getdoc(value) or "").partition("\n")[0].rstrip(".")
            pages[name] = (
                f"co.{full.partition('.')[2]}: {about[0].lower()}{about[1:]}",
                [f"{full}.{inner}" for inner in sorted(getattr(value, "__all__", None) or defined(value))],
            )
            continue
        package = co._MODULES.get(name, place).rpartition(".")[2]
        key = JOINED.get(package, package)
        pages.setdefault(key, (key.capitalize(), []))[1].append(full)
    return {key: page for key, page in pages.items() if page[1]}


def defined(module: ModuleType) -> list[str]:
    """Names that a module defines, without those that it imports."""
    values = vars(module).items()
    return [name for name, value in values if name[0] != "_" and getattr(value, "__module__", "") == module.__name__]
