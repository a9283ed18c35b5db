"""What becomes of robots' files, are their dynamics those of the programs the files are for, and what does it cost?

Every URDF and MJCF file below a folder (by default of example_robot_data, pybullet_data and dm_control, where they are
installed) is read as it is, with inertia="nearest", or on a free base if nothing in it moves; or refused, and why.
Torque, derivatives, mass matrix and forward dynamics at random states are compared with Pinocchio, which has its own
reader, and with MuJoCo. For some robots a batch of 1,000 samples is timed against loops of theirs in Python.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

import colloc as co
from colloc.studies.benchmarks.robot_peers import MujocoRobot, Peer, PinocchioRobot, State, all_joints
from colloc.studies.benchmarks.timing import alternately
from colloc.studies.reporting import Option, arguments, finish
from colloc.support.display import Table

OPTIONS = (Option("folder", "", "folder of files, instead of those of installed packages"),)
PACKAGES = ("cmeel.prefix/share/example-robot-data", "pybullet_data", "dm_control/suite")
TIMED = ("ur5_robot", "panda", "solo12", "g1_29dof_rev_1_0", "icub", "cheetah", "humanoid", "quadruped", "humanoid_CMU")
RANDOM = "random_urdfs"  # a thousand files of single blocks
STATES = 4
BATCH = 1000
QUANTITIES = ("torque", "dq", "dqd", "mass", "forward")


class Robot(NamedTuple):
    """A file that was read."""

    reading: co.formats.Reading
    how: str  # "as it is", "nearest", "free"
    root: str | None  # link that moves freely


def files(folder: str) -> Iterator[Path]:
    """All files of robots below a folder, or of the packages that are installed; links to a file only once."""
    places = [Path(folder)] if folder else [Path(place) / name for place in sys.path for name in PACKAGES]
    known: set[Path] = set()
    for place in places:
        for path in sorted([*place.rglob("*.urdf"), *place.rglob("*.xml")]):
            if path.resolve() not in known and RANDOM not in path.parts and _is_robot(path):
                known.add(path.resolve())
                yield path


def _is_robot(path: Path) -> bool:
    return path.suffix == ".urdf" or "<mujoco" in path.read_text(errors="replace")[:2000]


def read(path: Path) -> Robot | str:
    """The robot of a file, or why there is none."""
    if path.suffix == ".xml":
        try:
            return Robot(co.formats.from_mjcf(path), "as it is", None)
        except co.InputError as error:
            return str(error)
    reasons = []
    for how, base, inertia in (
        ("as it is", "fixed", "strict"),
        ("nearest", "fixed", "nearest"),
        ("free", "free", "strict"),
        ("nearest, free", "free", "nearest"),
    ):
        try:
            reading = co.formats.from_urdf(path, base=base, inertia=inertia)
            root = reading.model.joint_names[0].removesuffix("_tx") if base == "free" else None
            return Robot(reading, how, root)
        except co.InputError as error:
            reasons.append(str(error))
    return reasons[0]


def peer(path: Path, robot: Robot) -> Peer:
    """The same file in its own program; an inertia that was replaced is kept there, so it is kept here too."""
    model = robot.reading.model
    return MujocoRobot(str(path), model) if path.suffix == ".xml" else PinocchioRobot(str(path), model, robot.root)


def rigid(path: Path, robot: Robot) -> co.Model:
    """The model as its peer has it: with inertias as printed, without friction, of URDF without passive parts."""
    model = robot.reading.model
    if "nearest" in robot.how:
        base = "fixed" if robot.root is None else "free"
        model = co.formats.from_urdf(path, base=base, inertia="given").model
    bodies = []
    for body in model.bodies:
        passive = replace(body.joint.passive, friction=None) if path.suffix == ".xml" else co.Passive()
        bodies.append(replace(body, joint=replace(body.joint, passive=passive)))
    return replace(model, bodies=bodies)


def errors(model: co.Model, other: Peer, count: int = STATES) -> dict[str, float]:
    """Largest differences at random states, relative to the largest entry; of slopes, to those of the torque too."""
    evaluator, rng = co.Evaluator(model), np.random.default_rng(7)
    worst: dict[str, float] = dict.fromkeys(QUANTITIES, 0.0)
    for _ in range(count):
        q, qd, qdd = rng.uniform(-1, 1, model.n), *rng.normal(size=(2, model.n))
        state, T = _state(model, other, q, qd, qdd)
        tau, mass = T.T @ other.torque(state), T.T @ other.mass(state) @ T
        ours = evaluator.sensitivities(q, qd, qdd)
        pairs = {"torque": (ours.tau, tau), "mass": (evaluator.mass_matrix(q), mass)}
        if other.plain and isinstance(other, PinocchioRobot):
            dq, dqd = (T.T @ slope @ T for slope in other.slopes(state))
            pairs |= {"dq": (ours.dq, dq), "dqd": (ours.dqd, dqd)}
        try:
            pairs["forward"] = (evaluator.forward_dynamics(q, qd, tau), qdd)
        except co.InputError:  # links without inertia
            worst["forward"] = np.nan
        for name, (mine, theirs) in pairs.items():
            size = max(np.abs(theirs).max(), np.abs(tau).max() if name in ("dq", "dqd") else 0.0, 1e-300)
            worst[name] = max(worst[name], float(np.abs(mine - theirs).max() / size))
    return worst if other.plain else {name: e for name, e in worst.items() if name not in ("dq", "dqd")}


def _state(model: co.Model, other: Peer, *vectors: np.ndarray) -> tuple[State, np.ndarray]:
    """A state of the peer, and its velocities per rate of the model's coordinates."""
    if not other.whole:
        state = other.state(*vectors)
        return state, state.T
    state = other.state(*all_joints(model, *vectors))
    return state, state.T @ np.column_stack([all_joints(model, vectors[0], row)[1] for row in np.eye(model.n)])


def microseconds(model: co.Model, other: Peer) -> dict[str, float]:
    """Microseconds a sample of torques and of derivatives, ours in a compiled batch and theirs in a loop."""
    rng = np.random.default_rng(1)
    q, qd, qdd = rng.uniform(-1, 1, (BATCH, model.n)), *rng.normal(size=(2, BATCH, model.n))
    states = [_state(model, other, *row)[0] for row in zip(q, qd, qdd, strict=True)]
    evaluator = co.Evaluator(model, compile=co.kernels.Compile(threads=1))
    out = evaluator.sensitivities(q, qd, qdd)
    calls = {
        "torque": lambda: evaluator.torque(q, qd, qdd),
        "torque_peer": lambda: [other.torque(state) for state in states],
        "slopes": lambda: evaluator.sensitivities(q, qd, qdd, out=out),
    }
    if isinstance(other, PinocchioRobot) and other.plain:
        calls["slopes_peer"] = lambda: [other.slopes(state) for state in states]
    return {name: 1e6 * timing.minimum / BATCH for name, timing in alternately(calls, rounds=5).items()}


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the benchmark; see --help."""
    quick = "every tenth file, and no times"
    args = arguments("benchmarks.robots", __doc__, argv, quick=quick, options=OPTIONS, figure=False)
    warnings.simplefilter("ignore", co.support.InputWarning)
    numbers: dict[str, float] = dict.fromkeys(("robots.files", "robots.read", "robots.refused", "robots.compared"), 0.0)
    rows: list[tuple[str, ...]] = []
    worst: dict[str, float] = dict.fromkeys(QUANTITIES, 0.0)
    for path in list(files(args.folder))[:: 10 if args.quick else 1]:
        numbers["robots.files"] += 1
        robot = read(path)
        if isinstance(robot, str):
            numbers["robots.refused"] += 1
            rows.append((_name(path), "refused", robot[:110], *[""] * 6))
            continue
        numbers["robots.read"] += 1
        model = rigid(path, robot)
        cells = {name: "" for name in (*QUANTITIES, "time")}
        note = robot.how + (f", {len(model.couplings)} follow" if model.couplings else "")
        try:
            other = peer(path, robot)
            differ = errors(model, other)
        except (KeyError, ValueError) as error:  # a peer that cannot read it, or has other joints
            rows.append((_name(path), f"{model.n}", f"{note}; not compared: {str(error)[:60]}", *[""] * 6))
            continue
        numbers["robots.compared"] += 1
        for name, error in differ.items():
            cells[name] = f"{error:.0e}"
            worst[name] = max(worst[name], error if np.isfinite(error) else 0.0)
            numbers[f"robots.over_1e-9.{name}"] = numbers.get(f"robots.over_1e-9.{name}", 0.0) + (error > 1e-9)
        if not args.quick and path.stem in TIMED:
            us = microseconds(model, other)
            numbers |= {f"robots.us.{path.parent.name}.{path.stem}.{name}": value for name, value in us.items()}
            cells["time"] = ", ".join(f"{name} {value:.2f}" for name, value in us.items())
        rows.append((_name(path), f"{model.n}", note, *(cells[name] for name in (*QUANTITIES, "time"))))
    numbers |= {f"robots.error.{name}": error for name, error in worst.items()}
    header = ("file", "n", "read", *QUANTITIES, "us a sample")
    counts = ", ".join(f"{numbers[f'robots.{key}']:.0f} {key}" for key in ("files", "read", "refused", "compared"))
    print(Table(counts, header, rows).text())
    return finish(args, numbers)


def _name(path: Path) -> str:
    return "/".join(path.parts[-2:])


if __name__ == "__main__":
    main()
