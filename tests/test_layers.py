"""Imports point down, in the order that the package's docstring states, and `import colloc` stays light."""

import ast
import importlib
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import colloc

ROOT = Path(colloc.__file__).parent.parent
LAYERS = re.findall(r"^    (\w+)  +\S", colloc.__doc__ or "", flags=re.MULTILINE)

# Names that a package lists for type checkers, and loads on first use, are no dependencies.
FOLDERS = {ROOT / "colloc": ROOT / "colloc", **dict.fromkeys((ROOT / "models", ROOT / "studies"), ROOT)}
FILES = {
    path: ("colloc", *path.relative_to(top).with_suffix("").parts)
    for folder, top in FOLDERS.items()
    for path in folder.rglob("*.py")
}
MODULES = {".".join(parts[:-1] if parts[-1] == "__init__" else parts): path for path, parts in FILES.items()}


@cache
def parsed(path: Path) -> ast.Module:
    """The tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imports(path: Path) -> tuple[str, ...]:
    """Modules of ours that a file imports anywhere in it; of a package the file that defines the name."""
    return tuple(_imports(path))


def _imports(path: Path) -> Iterator[str]:
    body = parsed(path).body
    if path.name == "__init__.py":
        body = [node for node in body if not isinstance(node, ast.If)]
    for node in (inner for outer in body for inner in ast.walk(outer)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.partition(".")[0] == "colloc")
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.partition(".")[0] == "colloc":
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in MODULES else node.module


def graph(paths: list[Path]) -> dict[str, set[str]]:
    known = {path: name for name, path in MODULES.items()}
    return {known[path]: {name for name in imports(path) if name in MODULES} for path in paths}


def test_the_docstring_lists_every_layer():
    shelf = {parts[1] for parts in FILES.values()}
    assert shelf - {"__init__", "__main__"} == set(LAYERS)
    assert len(LAYERS) == len(set(LAYERS))


def test_imports_point_down():
    for path, parts in FILES.items():
        if len(parts) == 2 and parts[1] in {"__init__", "__main__"}:
            continue
        for other in imports(path):
            if other == "colloc" and parts[1] in {"models", "studies"}:
                continue  # they are users of the library, like others
            assert other.startswith("colloc."), f"{path} imports {other}"
            layer = other.split(".")[1]
            low = LAYERS.index(layer) < LAYERS.index(parts[1]) or layer == parts[1]
            assert low, f"{path} imports {other}, which the docstring of colloc lists below it"


def test_no_files_import_each_other_in_a_circle():
    arrows = graph(list(FILES))
    for name in list(arrows):
        # A file of a package may be imported through its folder, which imports all its files.
        arrows[name] = {other for other in arrows[name] if not f"{name}.".startswith(f"{other}.")}
    done: set[str] = set()

    def visit(name: str, above: tuple[str, ...]) -> None:
        assert name not in above, f"a circle: {' -> '.join([*above[above.index(name) :], name])}"
        if name not in done:
            for other in sorted(arrows[name]):
                visit(other, (*above, name))
            done.add(name)

    for name in arrows:
        visit(name, ())


def test_a_name_stands_for_one_thing_in_all_of_the_library():
    """Classes, private ones among them, and public functions; in what is built on the library names may come again."""
    places: dict[str, set[str]] = {}
    for path, parts in FILES.items():
        if parts[1] in {"models", "studies"}:
            continue
        for node in parsed(path).body:
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name.lstrip("_"), set()).add(str(path))
            elif isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                places.setdefault(node.name, set()).add(str(path))
    assert {name: files for name, files in places.items() if len(files) > 1} == {}


def test_attributes_come_about_in_the_open():
    """Names that packages load and that users give are asked for in one place each; nothing is made behind a class."""
    texts = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in FILES}
    asked = {name for name, text in texts.items() if "def __getattr__(" in text}
    assert asked == {"colloc/__init__.py", "colloc/support/named.py", "colloc/support/packages.py"}
    for path in (
        path for path in FILES if re.search(r"copyreg|object\.__new__|vars\(", path.read_text(encoding="utf-8"))
    ):
        for node in ast.walk(parsed(path)):
            text = ast.unparse(node) if isinstance(node, ast.Call | ast.Import | ast.ImportFrom) else ""
            hidden = re.match(r"(import|from) copyreg|object\.__new__\(|vars\(.*\)\.update\(", text)
            assert not hidden, f"{path}: {text}"


def kinds_of_statements() -> set[str]:
    """Names of the classes of statements, of their rows, and of the times at which they hold."""
    kinds = {"Statement", "TimeSet", "PhaseRows", "ConstraintRows", "Tracked"}
    trees = {path: parsed(path) for path, parts in FILES.items() if parts[1] == "problem"}
    for _ in range(3):  # a class may derive from one that derives from Statement
        for path, tree in trees.items():
            for node in tree.body:
                if isinstance(node, ast.ClassDef):
                    bases = {ast.unparse(base) for base in node.bases}
                    if bases & kinds or (path.stem == "time_sets" and "NamedTuple" in bases):
                        kinds.add(node.name)
    return kinds


def kinds_asked_for(tree: ast.AST) -> Iterator[str]:
    """Names of classes that code asks of a value: by isinstance, issubclass, type(...) is, or a match statement."""
    for node in ast.walk(tree):
        asked: list[ast.expr] = []
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            asked = node.args[1:] if node.func.id in {"isinstance", "issubclass"} else []
        elif isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            typed = any(isinstance(k, ast.Call) and ast.unparse(k.func) == "type" for k in sides)
            typed |= any(isinstance(k, ast.Attribute) and k.attr == "__class__" for k in sides)
            asked = sides if typed else []
        elif isinstance(node, ast.MatchClass):
            asked = [node.cls]
        for part in asked:
            yield from (
                name.id if isinstance(name, ast.Name) else name.attr
                for name in ast.walk(part)
                if isinstance(name, ast.Name | ast.Attribute)
            )


def test_nobody_outside_of_problems_asks_for_the_kind_of_a_statement():
    """Nor of a time set: both have methods for all of it, so that a user-defined class works like the library's."""
    kinds = kinds_of_statements()
    assert {"Condition", "UnitLength", "Connection", "AcrossArcs", "Window", "Ends"} <= kinds
    for path, parts in FILES.items():
        if parts[1] not in {"problem", "models", "studies"}:
            assert not kinds & set(kinds_asked_for(parsed(path))), path
    asked = "isinstance(x, int | Window), issubclass(type(x), (a.Bounds,)), type(x) is Connection, Ends == x.__class__"
    assert {"Window", "Bounds", "Connection", "Ends"} <= set(kinds_asked_for(ast.parse(asked)))
    assert "Impact" in set(kinds_asked_for(ast.parse("match x:\n    case Impact(): pass")))


def test_a_folder_of_many_files_has_a_map_of_them_all():
    for folder in {path.parent for path in [*FILES, *(ROOT / "tests").rglob("*.py")]}:
        names = {path.stem for path in folder.glob("*.py")} - {"__init__"}
        if len(names) >= 16:
            docstring = ast.get_docstring(parsed(folder / "__init__.py")) or ""
            assert names - set(re.findall(r"\w+", docstring)) == set(), folder


def test_a_file_imports_its_own_package_by_file():
    """Through the folder's list of names a file would depend on all its neighbours."""
    for path, parts in FILES.items():
        own = ".".join(parts[:-1])
        if len(parts) > 2 and parts[-1] != "__init__":
            assert own not in set(imports(path)), f"{path} imports from {own} instead of the file in it"


def test_import_stays_light():
    heavy = {"matplotlib", "scipy", "colloc.plot", "colloc.storage.storage", "colloc.problem.ground"}
    code = "import sys, colloc; print(*sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert not heavy & set(out.stdout.split())


def test_import_takes_less_than_that_of_casadi_and_numpy():
    code = (
        "import time\nbegin = time.process_time()\nimport casadi, numpy\nmiddle = time.process_time()\n"
        "import colloc\nprint(middle - begin, time.process_time() - middle)"
    )
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT) for _ in range(3)]
    theirs, ours = (min(float(run.stdout.split()[k]) for run in runs) for k in range(2))
    assert ours < 0.5 * theirs


def test_a_plain_call_imports_what_it_needs():
    needless = {"matplotlib", "scipy", "pandas", "tqdm", "difflib", "html", "colloc.storage"}
    code = (
        "import sys, colloc as co\n"
        "from tests.support.problems import time_optimal\n"
        "co.solve(time_optimal(), progress=False)\n"
        "print(*sys.modules)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert not needless & set(out.stdout.split())


def test_names_that_are_loaded_on_first_use_are_no_files():
    """Python puts a file that it imports in the place of such a name."""
    packages = {name for path, parts in FILES.items() if path.name == "__init__.py" for name in [".".join(parts[:-1])]}
    loaded = {name: getattr(importlib.import_module(name), "_lazy", {}) for name in packages - {"colloc"}}
    assert {"colloc.formats", "colloc.problem", "colloc.loops"} <= {name for name, lazy in loaded.items() if lazy}
    for package, lazy in loaded.items():
        for name, module in lazy.items():
            assert f"{package}.{name}" not in MODULES or module == f"{package}.{name}", f"{package}.{name}"


def test_public_names_are_few_and_exist():
    assert len(colloc.__all__) <= 60
    for name in dir(colloc):
        assert getattr(colloc, name) is not None
    for package, names in colloc._PACKAGES.items():
        for name in names.split():
            assert getattr(getattr(colloc, package), name) is not None
            assert name not in colloc.__all__


def test_type_checkers_see_the_names_that_are_loaded():
    """Imports for type checkers have the names of the table."""
    tree = parsed(Path(colloc.__file__))
    checked = {
        alias.asname: node.module if node.module == "colloc" else f"{node.module}.{alias.name}"
        for branch in tree.body
        if isinstance(branch, ast.If)
        for node in branch.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname == alias.name
    }
    loaded = {name: f"{module}.{name}" for name, module in colloc._MODULES.items()}
    assert checked == loaded | dict.fromkeys(colloc._PACKAGES, "colloc")


@pytest.mark.parametrize(
    ("name", "place"),
    [("Sample", "solution"), ("Status", "solver"), ("newton_euler", "dynamics"), ("ground", "problem")],
)
def test_a_name_of_a_package_says_where_it_is(name: str, place: str):
    with pytest.raises(AttributeError, match=rf"named '{name}'; did you mean co\.{place}\.{name}\?"):
        getattr(colloc, name)


def test_a_misspelt_name_is_distinguished_from_those_at_the_top():
    with pytest.raises(AttributeError, match="no public name in colloc named 'sovle'; did you mean 'solve'"):
        colloc.sovle  # pyright: ignore[reportAttributeAccessIssue]  # noqa: B018


def test_text_is_read_and_written_as_utf_8():
    """Windows would take another encoding where none is named."""
    files = [*FILES, *(ROOT / "tests").rglob("*.py")]
    paths = [path for path in files if re.search(r"_text\(|\bopen\(", path.read_text(encoding="utf-8"))]
    calls = [(path, node) for path in paths for node in ast.walk(parsed(path)) if isinstance(node, ast.Call)]
    silent = [f"{path}:{call.lineno}" for path, call in calls if _opens_text(call) and not _keyword(call, "encoding")]
    assert silent == []


def _opens_text(call: ast.Call) -> bool:
    """Whether a call opens a file as text, as far as its words tell."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if isinstance(call.func, ast.Attribute):
        return name == "write_text" or (name == "read_text" and not call.args)
    mode = _keyword(call, "mode") or (call.args[1] if len(call.args) > 1 else ast.Constant("r"))
    return name == "open" and isinstance(mode, ast.Constant) and "b" not in str(mode.value)


def _keyword(call: ast.Call, name: str) -> ast.expr | None:
    return next((word.value for word in call.keywords if word.arg == name), None)
