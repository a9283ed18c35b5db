"""How are OpenSim's files read, and are frames, masses, forces and paths of muscles those that OpenSim has?

Every .osim file below a folder is read or refused, and why. Frames of bodies, markers, lengths of the muscles that wrap
round nothing, the mass matrix and the generalised forces at random states, at rest and in motion, are compared with
those of OpenSim where it is installed (`pip install opensim`), in this Python or in another that is named.

Two differences are OpenSim's. It rounds places to six digits as it converts files of version 3 and before. And where
several hinges of a custom joint turn with one coordinate, its terms with velocities are not the rate of its own energy
(as `tests/formats/test_osim.py` shows), so that forces in motion differ by up to 3e-4; the column at rest does not.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

import colloc as co
from colloc.studies.reporting import Option, arguments, finish
from colloc.support.display import Table

OPTIONS = (
    Option("folder", "", "folder of .osim files, by default the one this is called in"),
    Option("python", "", "a Python that has opensim, by default this one"),
)
QUANTITIES = ("bodies", "markers", "lengths", "mass", "forces at rest", "forces")
STATES = 2
CORNERS = ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0))  # m, which tell a body's frame
NEAR = 1.0  # rad or m from zero, as far as limits let the random states go

State = dict[str, tuple[float, float, float]]


def states(model: co.Model, rng: np.random.Generator) -> list[State]:
    """Random ones within limits of position, at rest and in motion."""
    low, high = model.limits("position")
    low = np.minimum(np.maximum(low, -NEAR), high)
    asked = []
    for _ in range(STATES):
        q = rng.uniform(low, np.maximum(low, np.minimum(high, NEAR)))
        qd, qdd = rng.normal(size=(2, model.n))
        asked += [_named(model, q, 0 * qd, qdd), _named(model, q, qd, qdd)]
    return asked


def _named(model: co.Model, *rows: np.ndarray) -> State:
    columns = np.array(rows).T.tolist()
    return {name: (q, qd, qdd) for name, (q, qd, qdd) in zip(model.joint_names, columns, strict=True)}


def ask(python: str, questions: dict[str, list[State]]) -> dict[str, Any] | None:
    """OpenSim's answers by file, or what it says against one; None where it is not installed."""
    if not python and importlib.util.find_spec("opensim") is None:
        return None
    peer = Path(__file__).with_name("opensim_peer.py")
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "states.json").write_text(json.dumps(questions), encoding="utf-8")
        command = [python or sys.executable, str(peer), "states.json", "answers.json"]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
        return json.loads((Path(folder) / "answers.json").read_text(encoding="utf-8"))


def errors(reading: co.formats.Reading, asked: Sequence[State], answers: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Largest differences: of places [m], and of masses and forces relative to the largest entry."""
    model = reading.model
    evaluator, q = co.Evaluator(model), ca.SX.sym("q", model.n)
    bodies = [body.name for body in model.bodies if body.name in answers[0]["bodies"]]
    corners = [co.model.point_motion(model, body, corner, q=q).position for body in bodies for corner in CORNERS]
    markers = [co.model.point_motion(model, *place, q=q).position for place in model.markers.values()]
    straight = [muscle for muscle in reading.muscle_data if muscle.points and not muscle.wraps]
    lengths = co.muscles.path_lengths(model, [co.muscles.from_file(muscle) for muscle in straight], q)
    outputs = [ca.horzcat(*corners), ca.horzcat(ca.SX(3, 0), *markers), ca.vertcat(0, lengths)]
    function = ca.Function("places", [q], outputs)
    worst: dict[str, float] = dict.fromkeys(QUANTITIES, 0.0)
    for number, (state, answer) in enumerate(zip(asked, answers, strict=True)):
        order = [list(state).index(joint) for joint in model.joint_names]
        q_k, qd, qdd = np.array([state[joint] for joint in model.joint_names]).T
        corners_k, markers_k, lengths_k = (np.array(part) for part in function(q_k))
        placed = [np.array(answer["bodies"][body]) @ [*corner, 1.0] for body in bodies for corner in CORNERS]
        tau, mass = np.array(answer["torque"])[order], np.array(answer["mass"])[np.ix_(order, order)]
        gaps: dict[str, list[Any]] = {
            "bodies": [corners_k - np.transpose(placed)],
            "markers": [
                place - answer["markers"][name] for place, name in zip(markers_k.T, model.markers, strict=True)
            ],
            "lengths": [
                length - answer["muscles"][muscle.name]
                for length, muscle in zip(lengths_k.ravel()[1:], straight, strict=True)
                if muscle.name in answer["muscles"]
            ],
            "mass": [(evaluator.mass_matrix(q_k) - mass) / (np.abs(mass).max() or 1.0)],
            "forces" if number % 2 else "forces at rest": [
                (evaluator.torque(q_k, qd, qdd) - tau) / (np.abs(tau).max() or 1.0)
            ],
        }
        for name, parts in gaps.items():
            worst[name] = max([worst[name], *(float(np.abs(part).max()) for part in parts)])
    return worst


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the benchmark; see --help."""
    quick = "every tenth file"
    args = arguments("benchmarks.skeletons", __doc__, argv, quick=quick, options=OPTIONS, figure=False)
    warnings.simplefilter("ignore", co.support.InputWarning)
    files = sorted(Path(args.folder or ".").resolve().rglob("*.osim"))[:: 10 if args.quick else 1]
    rng = np.random.default_rng(7)
    readings: dict[str, co.formats.Reading | str] = {}
    for path in files:
        try:
            readings[str(path)] = co.formats.from_osim(path)
        except co.InputError as error:
            readings[str(path)] = str(error)
    asked = {path: states(r.model, rng) for path, r in readings.items() if not isinstance(r, str)}
    answers = ask(args.python, asked)
    rows: list[tuple[str, ...]] = []
    numbers = {f"skeletons.{key}": 0.0 for key in ("files", "read", "refused", "compared")}
    worst: dict[str, float] = dict.fromkeys(QUANTITIES, 0.0)
    for path, reading in readings.items():
        numbers["skeletons.files"] += 1
        if isinstance(reading, str):
            numbers["skeletons.refused"] += 1
            rows.append((_name(path), "refused", "", "", *[""] * len(QUANTITIES), reading[:90]))
            continue
        numbers["skeletons.read"] += 1
        model, answer = reading.model, "" if answers is None else answers[path]
        sizes = _name(path), f"{model.n}", f"{len(model.couplings)}", f"{len(reading.muscle_data)}"
        if isinstance(answer, str):
            rows.append(
                (*sizes, *[""] * len(QUANTITIES), f"not compared: {' '.join(answer.split())[:75]}" if answer else "")
            )
            continue
        numbers["skeletons.compared"] += 1
        differ = errors(reading, asked[path], answer)
        for name, error in differ.items():
            worst[name] = max(worst[name], error)
            key = f"skeletons.over_1e-9.{name.replace(' ', '_')}"
            numbers[key] = numbers.get(key, 0.0) + (error > 1e-9)
        rows.append((*sizes, *(f"{differ[name]:.0e}" for name in QUANTITIES), ""))
    numbers |= {f"skeletons.error.{name.replace(' ', '_')}": error for name, error in worst.items()}
    header = ("file", "n", "follow", "muscles", *QUANTITIES, "")
    counts = ", ".join(f"{numbers[f'skeletons.{key}']:.0f} {key}" for key in ("files", "read", "refused", "compared"))
    print(Table(counts, header, rows).text())
    return finish(args, numbers)


def _name(path: str) -> str:
    return "/".join(Path(path).parts[-2:])[-45:]


if __name__ == "__main__":
    main()
