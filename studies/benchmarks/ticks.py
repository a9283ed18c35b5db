"""How long does a controller take that plans a Panda's motion again at every tick, beside acados and Crocoddyl?

Seven joints follow a target that moves on sines, 100 times a second, on a horizon of 0.5 s with 20 intervals. Torques,
speeds and positions have limits, and the target leaves the latter. In the loop is MuJoCo's arm, with noise of 1 mrad
and 10 mrad/s in what is measured. Every tool makes one step at a tick, or iterates until its plan does not change:
colloc to changes of 1e-6, acados to residuals of 1e-6, Crocoddyl to an expected decrease of 1e-8. Seconds are those of
the processor in the solver's call.

A tool that is not installed is left out. `.ci/peers` makes an environment that has all three.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import colloc as co
from colloc.models.panda import panda
from colloc.plot.figure import new_figure
from colloc.plot.style import BLUE, INK, VERMILLION, dress, styled
from colloc.studies.benchmarks.peers.answers import Answers, asked
from colloc.studies.reporting import arguments, finish
from colloc.support.display import Table

TOOLS = {"colloc": BLUE, "acados": VERMILLION, "crocoddyl": INK}
WAYS = ("one step", "converged")
PATIENCE = 900.0  # s of the processor
TASK = {
    "home": (0.0, -0.4, 0.0, -2.2, 0.0, 1.8, 0.8),  # rad
    "amplitude": (0.6,) * 7,  # rad
    "period": (2.0, 3.0, 4.0, 2.5, 3.5, 4.5, 5.0),  # s
    "position": (0.55,) * 7,  # rad, either side of home
    "speed": (1.5,) * 7,  # rad/s
    "torque": (87.0, 87.0, 87.0, 87.0, 12.0, 12.0, 12.0),  # N m
    "weights": (50.0, 0.1, 1e-3),  # of squares of distances, speeds and torques
    "gravity": (0.0, 0.0, -9.81),
    "horizon": 0.5,
    "tick": 0.01,  # s
    "substeps": 5,
    "intervals": 20,
    "noise": (1e-3, 1e-2),  # rad, rad/s
}


def loops(ticks: int, tools: Iterable[str], answers: Answers) -> dict[tuple[str, str], dict[str, Any]]:
    """The loop of every tool in both ways; those that fail have a word in place of numbers."""
    with tempfile.TemporaryDirectory() as folder:
        urdf = Path(folder) / "panda.urdf"
        co.formats.to_urdf(panda(), urdf)
        task = {**TASK, "urdf": str(urdf), "ticks": ticks}
        place = Path(__file__).with_name("loops")
        found = {}
        for tool in tools:
            for k, way in enumerate(WAYS):
                ask = partial(asked, str(place / f"with_{tool}.py"), "follow", task, k, 0, PATIENCE)
                found[tool, way] = answers.get(f"ticks.{tool}.{k}", ask)
        return found


def table(answers: Mapping[tuple[str, str], Mapping[str, Any]]) -> tuple[Table, dict[str, float]]:
    """Numbers of all loops, as a table and by name."""
    rows, notes, numbers = [], [], {}
    for (tool, way), said in answers.items():
        if not _has(said):
            notes.append(f"{tool}, {way}: {said.get('missing') or said.get('failed')}")
            continue
        values = measures(said)
        numbers |= {f"{tool}.{way.replace(' ', '_')}.{name}": value for name, value in values.items()}
        rows.append((tool, way, *(f"{value:.3g}" for value in values.values())))
    heads = ("tool", "at a tick", "median [ms]", "99 % [ms]", "worst [ms]", "miss [rad]", "position", "speed", "torque")
    notes.append("positions, speeds and torques: most used, of the limit")
    return Table("a controller's ticks", heads, rows, notes), numbers


def measures(said: Mapping[str, Any]) -> dict[str, float]:
    """Milliseconds of ticks, the median distance from the target where limits let it near, and limits that are used."""
    ms = 1e3 * np.array(said["seconds"])
    position, speed, torque = said["limits"]
    return {
        "median": float(np.median(ms)),
        "p99": float(np.percentile(ms, 99)),
        "worst": float(ms.max()),
        "miss": float(np.median(said["misses"])),
        "position": position,
        "speed": speed,
        "torque": torque,
    }


@styled
def draw(answers: dict[tuple[str, str], dict[str, Any]], file: str) -> None:
    """Histograms of the times of ticks."""
    figure = new_figure(figsize=(12.5, 3.8))
    for axes, way in zip(figure.subplots(1, 2), WAYS, strict=True):
        shown = {tool: 1e3 * np.array(answers[tool, way]["seconds"]) for tool in TOOLS if _has(answers[tool, way])}
        edges = np.geomspace(min(ms.min() for ms in shown.values()), max(ms.max() for ms in shown.values()), 60)
        for tool, ms in shown.items():
            label = f"{tool}: median {np.median(ms):.1f}, worst {ms.max():.1f}"
            axes.hist(ms, bins=edges.tolist(), color=TOOLS[tool], alpha=0.7, label=label)
        axes.set_xscale("log")
        axes.set_title(way, loc="left")
        axes.legend()
        dress(axes, "processor time of a tick [ms]", "ticks")
    co.plot.save_figure(figure, file)


def _has(said: Mapping[str, Any]) -> bool:
    return "seconds" in said


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments("benchmarks.ticks", __doc__, argv)
    answers = loops(100 if args.quick else 1000, TOOLS, Answers())
    shown, numbers = table(answers)
    print(shown.text())
    draw(answers, args.figure)
    return finish(args, numbers)


if __name__ == "__main__":
    main()
