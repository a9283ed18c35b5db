"""The page that compares: its tables are those of the full run that is kept, its versions those that are installed."""

import re
import sys
from importlib import import_module
from pathlib import Path

import pytest

from colloc.studies.benchmarks.peers.comparison import TOOLS
from colloc.studies.benchmarks.peers.problems import problems, rises, steps, walks
from colloc.studies.results import record
from tests.studies.test_results import numerals, prose, quotations

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT / "docs"))
compared = import_module("compared")
PAGE = (ROOT / "docs" / "compared.md").read_text()


def test_tables_are_those_of_the_full_run():
    run = record(compared.STUDY)
    assert compared.filled(PAGE, run.numbers) == PAGE
    assert f"Run on {run.date}" in PAGE


def test_all_problems_and_tools_are_on_the_page():
    assert compared.PROBLEMS.keys() <= {*problems(), *rises(), *steps(), *walks(), "hop"}
    assert len(compared.PROBLEMS) + 2 >= 10  # with torques and derivatives of the human
    assert compared.NAMES.keys() == TOOLS.keys()
    numbers = record(compared.STUDY).numbers
    assert {key.split(".")[0] for key in numbers} == {*compared.PROBLEMS, "human43"}
    assert len({key.split(".")[1] for key in numbers} - {"best", "colloc", "colloc_grid"}) >= 6


def test_versions_on_the_page_are_those_that_are_installed():
    pinned = dict(re.findall(r"^([\w-]+)==([\w.]+)$", (ROOT / ".ci" / "peers.txt").read_text(), re.M))
    pinned |= dict(re.findall(r"(opty)==([\d.]+)", (ROOT / ".ci" / "peers").read_text()))
    (text,) = re.findall(r"runs everything: (.*?)\n\n", PAGE, re.S)
    named = dict(re.findall(r"([\w-]+) (\d+\.[\w.]*\w)", " ".join(text.split())))
    for name in ("Python", "CasADi"):
        named.pop(name)
    assert {"rockit-meco", "opensim", "drake", "crocoddyl", "dymos", "opty", "toppra", "mujoco", "pin"} <= named.keys()
    assert {name: pinned[name] for name in named} == named


def test_every_number_of_the_text_has_a_source():
    """A key of the run, or what was chosen; that quotations are right is asked in tests/studies/test_results.py."""
    ours, others = quotations(PAGE)
    quoted = {numeral for quotation in ours for numeral in numerals(quotation.text)}
    versions = re.sub(r"runs everything: .*?\n\n", "", PAGE, flags=re.S)
    assert set(numerals(prose(versions))) <= quoted | others[compared.STUDY]


def test_an_answer_is_the_same_or_says_what_it_lacks():
    base = {"p.best": 1.0}
    for miss, cost, good, said in (
        (1e-4, 1.0005, 1.0, ""),
        (1e-4, 1.05, 1.0, "dearer by 5 %"),
        (1e-1, 1.0, 0.0, "misses"),
        (1e-4, 1.0, 0.0, "over limits"),
    ):
        numbers = base | {"p.drake.miss": miss, "p.drake.true_cost": cost, "p.drake.good": good}
        assert compared.verdict(numbers, "p", "drake") == said
    assert compared.verdict({"p.drake.good": 0.0}, "p", "drake") == "no answer"
    straight = base | {"p.toppra.miss": 0.0, "p.toppra.true_cost": 1.1, "p.toppra.good": 1.0}
    assert compared.verdict(straight, "p", "toppra") == "dearer by 10 %, straight"


def test_the_same_answers_come_first_and_of_them_the_fastest():
    numbers = {"p.best": 1.0}
    for tool, cold, cost in (("opti", 0.3, 1.1), ("drake", 0.7, 1.0), ("colloc", 0.5, 1.0)):
        numbers |= {f"p.{tool}.cold": cold, f"p.{tool}.true_cost": cost, f"p.{tool}.good": 1.0, f"p.{tool}.miss": 0.0}
    assert compared.tools(numbers, "p") == ["colloc", "drake", "opti"]


@pytest.mark.parametrize("tool", TOOLS)
def test_marked_parts_are_whole(tool: str):
    """What the pages include, and what lines are counted of."""
    text = Path(str(getattr(TOOLS[tool], "STATEMENT", TOOLS[tool]).__file__)).read_text()
    opened, closed = (re.findall(pattern, text, re.M) for pattern in (r"^    # \[(\w+)$", r"^    # (\w+)\]$"))
    assert opened == closed
    assert opened
