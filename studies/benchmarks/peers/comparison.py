"""How does colloc stand beside other tools, on the same problems, each stated in its own best style?

Tools run in turn, each in a process of its own, on finer and finer grids until one judge, who shares no code with them,
finds that their torques lead where they should, within limits and at no more than the least cost. Of that grid the
table has the processor's seconds from the start of Python to the answer (cold), and of stating and solving it again in
the same process (warm). Tools that are not installed are passed over; `.ci/peers` installs all.

With `--answers FOLDER` every answer is kept as soon as it is there, and asked for once: a run that was stopped, or that
`--minutes` ended, goes on where it was, and says what is left.
"""

from __future__ import annotations

import os
import re
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from math import inf, isfinite
from pathlib import Path
from statistics import median
from types import ModuleType
from typing import Any

import numpy as np

import colloc as co
from colloc.models.human43 import human43
from colloc.studies.benchmarks import ticks
from colloc.studies.benchmarks.peers import (
    with_acados,
    with_asset,
    with_biosym,
    with_colloc,
    with_colloc_grid,
    with_crocoddyl,
    with_drake,
    with_dymos,
    with_moco,
    with_mujoco,
    with_nosnoc,
    with_opti,
    with_opty,
    with_pinocchio,
    with_rockit,
    with_toppra,
    with_yapss,
)
from colloc.studies.benchmarks.peers.answers import Answers, OutOfTime, asked
from colloc.studies.benchmarks.peers.problems import SINGLE, problems, rises, stands, steps, walks, written
from colloc.studies.benchmarks.peers.truth import Truth, judged, judged_hop, judged_rise, judged_step, judged_walk
from colloc.studies.benchmarks.peers.truth_of_states import (
    judged_alp_rider,
    judged_delta_iii,
    judged_goddard,
    judged_slide,
    judged_stand,
)
from colloc.studies.reporting import Option, arguments, finish
from colloc.studies.results import commit, machine
from colloc.support.display import Table

TOOLS: dict[str, ModuleType] = {
    "colloc": with_colloc,
    "colloc_grid": with_colloc_grid,
    "opti": with_opti,
    "rockit": with_rockit,
    "moco": with_moco,
    "drake": with_drake,
    "crocoddyl": with_crocoddyl,
    "dymos": with_dymos,
    "opty": with_opty,
    "toppra": with_toppra,
    "asset": with_asset,
    "yapss": with_yapss,
    "acados": with_acados,
    "nosnoc": with_nosnoc,
    "biosym": with_biosym,
    "pinocchio": with_pinocchio,
    "mujoco": with_mujoco,
}
MISS, OVERSTEP, COSTLIER = 1e-3, 5e-3, 1e-3  # what counts as the same answer
MISSES = {"walk_by_muscles": 2e-2, "predict_by_muscles": 2e-2}  # set when answers of the first were known: stiff ground
FINEST = 4  # grids or tolerances a tool is asked for at most
PATIENCE = 40.0  # s of the processor, of a process
PATIENT = {"rise": 400.0, "walk": 400.0, "predict_by_muscles": 3000.0, "stand": 400.0}  # s, the problem's first
LONG = 600.0  # s, of an answer that is not asked for again to be timed
MOST = {"rise": 2, "walk": 1, "stand": 1}  # grids, in place of the finest
JUDGES = {"reach": judged, "hop": judged_hop, "rise": judged_rise, "step": judged_step, "walk": judged_walk}
JUDGES |= {
    "goddard": judged_goddard,
    "alp_rider": judged_alp_rider,
    "delta_iii": judged_delta_iii,
    "slide": judged_slide,
    "stand": judged_stand,
}
HOPELESS = ("missing", "unfit")
QUICK = "the two-link problems on two grids, one warm run"
HEADER = ("", "lines", "cold s", "warm s", "iterations", "claimed cost", "true cost", "costlier", "off by", "claims")
OPTIONS = (
    Option("only", "", "tools that run, by commas"),
    Option("problems", "", "problems, by commas"),
    Option("answers", os.environ.get("COLLOC_PEERS", ""), "folder of answers, kept and taken up again"),
    Option("minutes", 1e6, "after which nothing new is asked", above=0.0),
)


@dataclass(frozen=True)
class Run:
    """A tool on a problem.

    Parameters
    ----------
    tool, problem : str
    grid : int
        How often it was asked for a finer one.
    said : mapping
        Its answer: cost, iterations, status, torques, seconds; or `missing` or `failed`, a sentence.
    truth : Truth, optional
        What its torques do.
    """

    tool: str
    problem: str
    grid: int
    said: Mapping[str, Any]
    truth: Truth | None = None

    @property
    def good(self) -> bool:
        """Whether its torques do what they should."""
        most = MISSES.get(self.problem, MISS)
        return self.truth is not None and self.truth.miss <= most and self.truth.overstep <= OVERSTEP

    @property
    def error(self) -> float:
        """The larger of its miss and its overstep, without an answer inf."""
        return inf if self.truth is None else max(self.truth.miss, self.truth.overstep)

    @property
    def cost(self) -> float:
        """True cost, without an answer inf."""
        return inf if self.truth is None else self.truth.cost


def excess(cost: float, best: float) -> float:
    """How much costlier an answer is than the best, over the size of that; costs are negative where more is better."""
    return (cost - best) / abs(best) if isfinite(best) else -inf


def patience(work: str, problem: Mapping[str, Any]) -> float:
    """The processor's seconds that a process has for a problem."""
    return PATIENT.get(str(problem["name"]), PATIENT.get(work, PATIENCE))


def climbed(
    tool: str, module: ModuleType, work: str, problem: Mapping[str, Any], most: int, answers: Answers
) -> list[Run]:
    """A tool's answers to a problem, on finer and finer grids, until one does what it should and a finer one would not
    be cheaper by `COSTLIER`.

    Parameters
    ----------
    tool : str
    module : module
    work : "reach", "hop", "rise", "step", "walk" or "stand"
    problem : mapping
    most : int
        Grids to be tried.
    answers : Answers
    """
    runs: list[Run] = []
    if not hasattr(module, work):
        return [Run(tool, str(problem["name"]), 0, {"unfit": "not stated"})]

    def ask(grid: int) -> dict[str, Any]:
        said = asked(str(module.__file__), work, problem, grid, 0, patience(work, problem))
        return {"said": said, "truth": JUDGES[work](problem, said) if "cost" in said else None}

    most = 1 if problem.get("intervals") else min(most, MOST.get(work, most), getattr(module, "FINEST", FINEST))
    for grid in range(most):
        kept = answers.get(f"{problem['name']}.{tool}.{grid}", partial(ask, grid), patience(work, problem))
        said, truth = kept["said"], kept["truth"] and Truth(*kept["truth"])
        runs.append(Run(tool, str(problem["name"]), grid, said, truth))
        if any(word in said for word in HOPELESS) or "within" in said.get("failed", ""):
            break
        before = [run for run in runs[:-1] if run.good]
        if runs[-1].good and before and excess(before[-1].cost, runs[-1].cost) <= COSTLIER:
            break
    return runs


def chosen(runs: Sequence[Run], best: float) -> Run:
    """The coarsest answer that does what it should at a cost within `COSTLIER` of the best or, if all are other local
    optima, of the tool's own best; if none does, the nearest to that."""
    good = [run for run in runs if run.good]
    for least in (best, min((run.cost for run in good), default=inf)):
        close = [run for run in good if excess(run.cost, least) <= COSTLIER]
        if close:
            return close[0]
    answered = [run for run in runs if run.truth is not None]
    return min(answered, key=lambda run: run.error) if answered else runs[-1]


def measured(
    run: Run, module: ModuleType, work: str, problem: Mapping[str, Any], again: int, answers: Answers
) -> dict[str, float]:
    """Numbers of an answer, from a fresh process that solves it several times unless that takes `LONG`."""
    assert run.truth is not None
    said = run.said
    if said["cold"] < LONG:
        question = (str(module.__file__), work, problem, run.grid, again, 2 * patience(work, problem))
        most = min(question[-1], 2 * (again + 1) * said["cold"])
        said = answers.get(f"{problem['name']}.{run.tool}.{run.grid}.again", lambda: asked(*question), most)
    if "cold" not in said:
        said = run.said
    numbers = {
        "lines": float(lines(module, work)),
        "grid": float(run.grid),
        "cold": said["cold"],
        "warm": median(said["warm"]) if said["warm"] else said["cold"],
        "cost": run.said["cost"],
        "true_cost": run.truth.cost,
        "miss": run.truth.miss,
        "overstep": run.truth.overstep,
        "solved": float(run.said["solved"]),
        "good": float(run.good),
    }
    if run.said["iterations"] is not None:
        numbers["iterations"] = float(run.said["iterations"])
    return numbers


def lines(module: ModuleType, work: str) -> int:
    """Lines of a statement: those between the marks of its name that are neither empty nor comments."""
    text = Path(str(getattr(module, "STATEMENT", module).__file__)).read_text(encoding="utf-8")
    bodies = [re.findall(rf"# \[{name}\n(.*?)# {name}\]", text, re.S) for name in (work, "equations")]
    every = [
        line.strip() for body in (*bodies[0], *(bodies[1] if work == "reach" else ())) for line in body.splitlines()
    ]
    return sum(bool(line) and not line.startswith("#") for line in every)


def motions(
    tools: Mapping[str, ModuleType], names: Sequence[str], most: int, again: int, answers: Answers
) -> tuple[dict[str, float], list[str]]:
    """All motions by all tools, printed problem by problem, and what is left of them."""
    numbers: dict[str, float] = {}
    left: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            work, problem = stated(name, Path(folder))
            try:
                numbers |= motion(name, work, problem, tools, most, again, answers)
            except OutOfTime as error:
                left.append(str(error))
    return numbers, left


def stated(name: str, folder: Path) -> tuple[str, dict[str, Any]]:
    """The family of a problem and its numbers, its URDF file written to a folder."""
    families = {"reach": problems(), "rise": rises(), "step": steps(), "walk": walks(), "stand": stands()}
    for work, every in families.items():
        if name in every:
            return work, written(name, every[name], folder)
    return name, asdict(SINGLE[name]) | {"name": name}


def motion(
    name: str,
    work: str,
    problem: Mapping[str, Any],
    tools: Mapping[str, ModuleType],
    most: int,
    again: int,
    answers: Answers,
) -> dict[str, float]:
    """A motion by all tools, printed."""
    numbers: dict[str, float] = {}
    runs = {tool: climbed(tool, module, work, problem, most, answers) for tool, module in tools.items()}
    best = min((run.cost for each in runs.values() for run in each if run.good), default=inf)
    rows = []
    for tool, each in runs.items():
        run = chosen(each, best)
        if run.truth is None:
            rows.append((tool, *[""] * 8, _sentence(run.said)))
            if "failed" in run.said:
                numbers[f"{name}.{tool}.good"] = 0.0
            continue
        found = measured(run, tools[tool], work, problem, again, answers)
        numbers |= {f"{name}.{tool}.{key}": value for key, value in found.items()}
        rows.append(_row(tool, found, best, str(run.said["status"])))
    if isfinite(best):
        numbers[f"{name}.best"] = best
    print(Table(name, HEADER, rows).text(), flush=True)
    return numbers


def dynamics(tools: Mapping[str, ModuleType], samples: int, answers: Answers) -> dict[str, float]:
    """Inverse dynamics of the human of 43 degrees of freedom and all their first derivatives, printed."""
    model = human43()
    rng = np.random.default_rng(43)
    q, qd, qdd = (scale * rng.standard_normal((samples, model.n)) for scale in (1.0, 2.0, 4.0))
    numbers: dict[str, float] = {}
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "human43.urdf"
        co.formats.to_urdf(model, path)
        problem = {"urdf": str(path), "names": list(model.joint_names), "gravity": [float(g) for g in model.gravity]}
        problem |= {"q": q.tolist(), "qd": qd.tolist(), "qdd": qdd.tolist(), "name": "human43"}
        exact = co.Evaluator(model, compile=False).torque(q[:1], qd[:1], qdd[:1])[0]
        for tool, module in tools.items():
            if not hasattr(module, "inverse_dynamics"):
                continue
            question = (str(module.__file__), "inverse_dynamics", problem, 0, 0, PATIENCE)
            said = answers.get(f"human43.{tool}", partial(asked, *question))
            if "values" not in said:
                rows.append((tool, "", "", _sentence(said)))
                continue
            mine = exact[[model.joint_names.index(joint) for joint in said["names"]]]
            apart = float(np.abs(np.array(said["values"]) - mine).max() / np.abs(mine).max())
            us = {key: 1e6 * said[key] for key in ("torque", "derivatives")}
            numbers |= {f"human43.{tool}.{key}_us": value for key, value in us.items()}
            numbers |= {f"human43.{tool}.difference": apart, f"human43.{tool}.cold": said["cold"]}
            rows.append((tool, f"{us['torque']:.2f}", f"{us['derivatives']:.2f}", f"{apart:.0e}"))
    print(Table("human43, us a sample", ("", "torque", "and derivatives", "apart from ours"), rows).text(), flush=True)
    return numbers


def controllers(tools: Mapping[str, ModuleType], count: int, answers: Answers) -> dict[str, float]:
    """Controllers that plan a Panda's motion again at every tick, printed."""
    shown, numbers = ticks.table(ticks.loops(count, [tool for tool in ticks.TOOLS if tool in tools], answers))
    print(shown.text(), flush=True)
    return {f"ticks.{name}": value for name, value in numbers.items()}


def _sentence(said: Mapping[str, Any]) -> str:
    if "missing" in said:
        return f"not installed here: {said['missing']}"
    return str(said.get("unfit") or said.get("failed")).partition("\n")[0][:60]


def _row(tool: str, found: Mapping[str, float], best: float, status: str) -> tuple[str, ...]:
    above = f"{100 * excess(found['true_cost'], best):.2f} %" if isfinite(best) else ""
    iterations = f"{found['iterations']:.0f}" if "iterations" in found else ""
    seconds = f"{found['cold']:.2f}", f"{found['warm']:.2f}"
    costs = f"{found['cost']:.6g}", f"{found['true_cost']:.6g}", above
    return (
        tool,
        f"{found['lines']:.0f}",
        *seconds,
        iterations,
        *costs,
        f"{max(found['miss'], found['overstep']):.0e}",
        status[:32],
    )


APART = {"human43": dynamics, "ticks": controllers}  # what is no motion


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the benchmark; see --help."""
    args = arguments("benchmarks.peers.comparison", __doc__, argv, quick=QUICK, options=OPTIONS, figure=False)
    only = args.only.split(",") if args.only else list(TOOLS)
    every = [*problems(), *SINGLE, *rises(), *steps(), *walks(), *stands()]
    names = args.problems.split(",") if args.problems else every[:2] if args.quick else [*every, *APART]
    for word, known in ((only, TOOLS), (names, [*every, *APART])):
        if strange := set(word) - set(known):
            raise co.InputError(f"there is no {', '.join(sorted(strange))}, only {', '.join(known)}")
    tools = {tool: TOOLS[tool] for tool in only}
    most, again = (2, 1) if args.quick else (FINEST, 3)
    answers = kept(args.answers, args.minutes)
    numbers, left = motions(tools, [name for name in names if name not in APART], most, again, answers)
    for name, work in APART.items():
        try:
            numbers |= work(tools, 50 if args.quick else 1000, answers) if name in names else {}
        except OutOfTime as error:
            left.append(str(error))
    if left:
        print(f"  left, from these on: {', '.join(left)}; the same command goes on there")
        args.json = None
    elif answers.folder is not None:
        numbers["seconds"] = answers.seconds()
    return finish(args, numbers)


def kept(folder: str, minutes: float) -> Answers:
    """Answers in a folder, where one is named, for this commit and machine."""
    begin = time.monotonic()
    if not folder:
        return Answers(begin=begin, until=begin + 60 * minutes)
    if "dirty" in (at := commit()):
        raise co.InputError(f"--answers: the code has changed since commit {at.partition('-')[0]}; commit it first")
    Path(folder).mkdir(parents=True, exist_ok=True)
    return Answers(at, machine(), Path(folder).resolve(), begin, begin + 60 * minutes)


if __name__ == "__main__":
    main()
