"""The comparison with other tools: its tables are those of the full run that is kept."""

import re
import sys
from importlib import import_module
from pathlib import Path

import pytest

from colloc.studies.benchmarks.peers.comparison import APART, TOOLS
from colloc.studies.benchmarks.peers.problems import SINGLE, problems, rises, stands, steps, walks
from colloc.studies.results import record

sys.path.insert(0, str(Path(__file__).parents[3] / "docs" / "extensions"))
compared = import_module("peers")


def test_all_problems_and_tools_are_shown():
    assert compared.PROBLEMS.keys() == {*problems(), *rises(), *steps(), *walks(), *stands(), *SINGLE}
    assert compared.NAMES.keys() == TOOLS.keys()
    numbers = record(compared.STUDY).numbers
    assert {key.split(".")[0] for key in numbers} - {"seconds"} <= {*compared.PROBLEMS, *APART}
    assert len({key.split(".")[1] for key in numbers if "." in key} - {"best", "colloc", "colloc_grid"}) >= 6
    for problem in compared.PROBLEMS:
        for tool in compared.tools(numbers, problem):
            assert f"| {compared.NAMES[tool]} |" in compared.tables(numbers)[problem]


def test_an_answer_is_the_same_or_says_what_it_lacks():
    base = {"p.best": 1.0}
    for miss, cost, good, said in (
        (1e-4, 1.0005, 1.0, ""),
        (1e-4, 1.05, 1.0, "costlier by 5 %"),
        (1e-1, 1.0, 0.0, "misses"),
        (1e-4, 1.0, 0.0, "over limits"),
    ):
        numbers = base | {"p.drake.miss": miss, "p.drake.true_cost": cost, "p.drake.good": good}
        assert compared.verdict(numbers, "p", "drake") == said
    assert compared.verdict({"p.drake.good": 0.0}, "p", "drake") == "no answer"
    straight = base | {"p.toppra.miss": 0.0, "p.toppra.true_cost": 1.1, "p.toppra.good": 1.0}
    assert compared.verdict(straight, "p", "toppra") == "costlier by 10 %, straight"


def test_the_ticks_of_controllers_are_shown_by_way_and_tool():
    keys = ("median", "p99", "worst", "miss", "position", "speed", "torque")
    of = {("acados", "one_step"): 3.0, ("colloc", "one_step"): 1.5, ("colloc", "converged"): 4.0}
    numbers = {f"ticks.{tool}.{way}.{key}": value for (tool, way), value in of.items() for key in keys}
    rows = [row.split(" | ")[:3] for row in compared.controllers(numbers).splitlines()[2:]]
    assert rows == [["| colloc", "one step", "1.5"], ["| acados", "one step", "3"], ["| colloc", "converged", "4"]]


def test_the_same_answers_come_first_and_of_them_the_fastest():
    numbers = {"p.best": 1.0}
    for tool, cold, cost in (("opti", 0.3, 1.1), ("drake", 0.7, 1.0), ("colloc", 0.5, 1.0)):
        numbers |= {f"p.{tool}.cold": cold, f"p.{tool}.true_cost": cost, f"p.{tool}.good": 1.0, f"p.{tool}.miss": 0.0}
    assert compared.tools(numbers, "p") == ["colloc", "drake", "opti"]


def test_a_tool_that_was_not_asked_is_not_said_to_have_no_answer():
    numbers = {"squat.best": 1.0, "squat.colloc_grid.good": 0.0}
    assert compared.summary(numbers).splitlines()[-1] == "| squat to stand | not asked | no answer | none | 0 |"


def test_every_row_in_which_another_tool_is_sooner_says_why():
    numbers = {"squat.best": 1.0}
    for tool, cold, warm, cost in (("colloc", 0.5, 0.2, 1.0), ("opti", 0.4, 0.3, 1.0), ("drake", 0.1, 0.1, 1.1)):
        numbers |= {f"squat.{tool}.{key}": value for key, value in (("cold", cold), ("warm", warm), ("good", 1.0))}
        numbers |= {f"squat.{tool}.true_cost": cost, f"squat.{tool}.miss": 0.0}
    assert compared.behind(numbers) == {"squat": [("opti", "cold")]}
    assert "| squat to stand | CasADi Opti (cold) |" in compared.reasons(numbers)
    without = {key.replace("squat", "panda_time"): value for key, value in numbers.items()}
    with pytest.raises(KeyError, match="panda_time"):
        compared.reasons(without)
    compared.reasons(record(compared.STUDY).numbers)  # that is kept


def test_the_kept_run_is_whole():
    numbers = record(compared.STUDY).numbers
    assert numbers["seconds"] > 0  # only a run that left nothing out says how long it took
    assert not any("Not in the run" in table for table in compared.tables(numbers).values())


@pytest.mark.parametrize("tool", TOOLS)
def test_marked_parts_are_whole(tool: str):
    """Files that the pages include, and of which lines are counted."""
    text = Path(str(getattr(TOOLS[tool], "STATEMENT", TOOLS[tool]).__file__)).read_text(encoding="utf-8")
    opened, closed = (re.findall(pattern, text, re.M) for pattern in (r"^    # \[(\w+)$", r"^    # (\w+)\]$"))
    assert opened == closed
    assert opened
