"""Imports point down, and `import colloc` stays light."""

import ast
import subprocess
import sys
from pathlib import Path

import colloc

ROOT = Path(colloc.__file__).parent
RANK = {
    "errors": 0,
    "checks": 1,
    "display": 0,
    "numerics": 1,
    "kernels": 2,
    "model": 2,
    "dynamics": 4,
    "loops": 5,
    "problem": 6,
    "ground": 7,
    "cut_joints": 7,
    "transcription": 7,
    "batch": 3,
    "evaluator": 7,
    "solver": 8,
    "violations": 8,
    "solution": 9,
    "solve": 10,
    "descent": 10,
    "verify": 10,
    "control": 10,
    "io": 11,
    "plot": 12,
}


def imports(path: Path) -> list[str]:
    """First component below colloc of every module imported at run time."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            node.body = []
    found = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module]
    return [name.split(".")[1] for name in found if name.startswith("colloc.")]


def test_imports_point_down():
    for path in ROOT.rglob("*.py"):
        own = path.relative_to(ROOT).with_suffix("").parts[0]
        if own == "__init__":
            continue
        for other in imports(path):
            assert RANK[other] < RANK[own] or other == own, f"{path} imports colloc.{other}"


def test_import_loads_neither_matplotlib_nor_io():
    heavy = ("matplotlib", "scipy", "colloc.plot", "colloc.io")
    code = f"import sys, colloc; print([m for m in {heavy} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT.parent, check=True)
    assert out.stdout.strip() == "[]"


def test_every_public_name_exists():
    for name in colloc.__all__:
        assert getattr(colloc, name) is not None
