"""Every public name has an example in its docstring, and every example runs and prints what it says."""

import contextlib
import doctest
import inspect
import io
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.models.closed.four_bar import four_bar
from colloc.models.two_link import two_link

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "docs" / "extensions"))
groups = import_module("names").groups
NAMES = [name for _, names in groups().values() for name in names]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def value(name: str) -> Any:
    module, _, last = name.rpartition(".")
    return getattr(import_module(module), last)


@pytest.fixture(scope="module")
def given() -> dict[str, Any]:
    """Names that the examples of the reference may use."""
    problem = co.Problem(
        model=two_link(),
        duration=co.Free(lower=0.1, upper=5.0),
        minimize=co.duration(),
        subject_to=[co.initial(q=(0.0, -2.0), qd=0.0), co.final(q=(1.0, -1.0), qd=0.0), co.bounds(tau=(-10.0, 10.0))],
    )
    return {
        "co": co,
        "ca": ca,
        "np": np,
        "two_link": two_link,
        "model": two_link(9.81),
        **{name: ca.SX.sym(name, 2) for name in ("q", "qd", "qdd")},
        "chain": four_bar(),
        "problem": problem,
        "solution": co.solve(problem, progress=False),
    }


def test_the_reference_lists_every_public_name():
    assert set(co.__all__) <= {part for name in NAMES for part in name.split(".")}
    assert len(NAMES) == len(set(NAMES)) > 150


@pytest.mark.parametrize("name", NAMES)
def test_examples_run_as_printed(name: str, given: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    thing = value(name)
    if not (inspect.isclass(thing) or inspect.isfunction(thing)):
        return  # a type, without a docstring
    examples = doctest.DocTestParser().get_doctest(inspect.getdoc(thing) or "", dict(given), name, None, 0)
    assert examples.examples, f"{name} has no example"
    monkeypatch.chdir(tmp_path)
    failures = io.StringIO()
    with contextlib.redirect_stderr(io.StringIO()):
        doctest.DocTestRunner(optionflags=FLAGS).run(examples, out=failures.write)
    assert not failures.getvalue(), failures.getvalue()
