"""How are robots' files read, are their dynamics those of the programs the files are for, and what does it cost?

Every URDF and MJCF file of example_robot_data, pybullet_data and dm_control, where they are installed, of a clone of
mujoco_menagerie (--menagerie), or below a folder instead (--folder), is read as it is, with inertia="nearest", or on a
free base if nothing in it moves; or refused, and why. Torque, derivatives, mass matrix and forward dynamics at random
states are compared with Pinocchio, which has its own reader, and with MuJoCo; free and ball joints by three angles and
by quaternions. Derivatives are Pinocchio's where it has them, and otherwise differences of eighth order of the peer's
torques, good to some 1e-13. Friction is compared where joints slide, of URDF with damping as Pinocchio has read it;
equality constraints by how far random postures are from meeting them. For some robots a batch of 1,000 samples is timed
against loops of theirs in Python.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import casadi as ca
import numpy as np

import colloc as co
from colloc.model.ball import BALLS, QUATERNION
from colloc.studies.benchmarks.robot_peers import MujocoRobot, Peer, PinocchioRobot
from colloc.studies.benchmarks.timing import alternately
from colloc.studies.reporting import Option, arguments, finish
from colloc.support.display import Table

OPTIONS = (
    Option("folder", "", "folder of files, instead of those of installed packages"),
    Option("menagerie", "", "folder of a clone of mujoco_menagerie, which has no package with its files"),
)
PACKAGES = {
    "example_robot_data": "cmeel.prefix/share/example-robot-data",
    "pybullet_data": "pybullet_data",
    "dm_control": "dm_control",
}
TIMED = (
    "ur5_robot", "panda", "solo12", "g1_29dof_rev_1_0", "icub", "cheetah", "humanoid", "quadruped", "humanoid_CMU",
    "go2", "cassie", "g1", "apptronik_apollo", "left_hand",
)  # fmt: skip
RANDOM = "random_urdfs"  # a thousand files of single blocks
WAYS = {
    "as it is": ("fixed", "strict"),
    "nearest": ("fixed", "nearest"),
    "free": ("free", "strict"),
    "nearest, free": ("free", "nearest"),
}
STATES = 4
BATCH = 1000
DIFFERENCES = 20  # samples of the batch at which MuJoCo's differences are timed
QUANTITIES = ("torque", "dq", "dqd", "mass", "forward", "friction", "equality")
STEP, WEIGHTS = 0.01, (4 / 5, -1 / 5, 4 / 105, -1 / 280)  # central differences of eighth order
COUNTS = ("files", "read", "refused", "compared")


class Robot(NamedTuple):
    """A file that was read."""

    reading: co.formats.Reading
    how: str  # one of WAYS
    root: str | None  # link that moves freely


def collections(folder: str, menagerie: str) -> dict[str, list[Path]]:
    """Folders of files by the names of their collections, empty where a package is not installed."""
    for given in (folder, menagerie):
        if given and not Path(given).is_dir():
            raise co.InputError(f"there is no folder {given!r}")
    if folder:
        return {Path(folder).resolve().name: [Path(folder).resolve()]}
    places = {
        name: [Path(place) / part for place in sys.path if (Path(place) / part).is_dir()][:1]
        for name, part in PACKAGES.items()
    }
    return places | {"mujoco_menagerie": [Path(menagerie).resolve()] if menagerie else []}


def files(folders: Sequence[Path]) -> Iterator[Path]:
    """All files of robots below some folders; links to a file only once."""
    known: set[Path] = set()
    for path in [path for place in folders for kind in ("urdf", "xml") for path in sorted(place.rglob(f"*.{kind}"))]:
        if path.resolve() not in known and RANDOM not in path.parts and _is_robot(path):
            known.add(path.resolve())
            yield path


def _is_robot(path: Path) -> bool:
    return path.suffix == ".urdf" or "<mujoco" in path.read_text(errors="replace", encoding="utf-8")[:2000]


def read(path: Path) -> Robot | str:
    """The robot of a file, or why there is none."""
    reasons = []
    for how in ("as it is",) if path.suffix == ".xml" else WAYS:
        try:
            reading = reading_of(path, how)
            if not reading.model.n and path.suffix != ".xml":  # a scene, unless its base is free
                reasons += reading.changed[-1:]
                continue
            root = reading.model.joint_names[0].removesuffix("_tx") if "free" in how else None
            return Robot(reading, how, root)
        except co.InputError as error:
            reasons.append(str(error))
    return reasons[0]


def reading_of(path: Path, how: str, balls: str = BALLS[0], inertia: str = "") -> co.formats.Reading:
    """A file in one of the ways, if need be with another choice for inertias that no body has."""
    if path.suffix == ".xml":
        return co.formats.from_mjcf(path, balls=balls)
    base, choice = WAYS[how]
    return co.formats.from_urdf(path, base=base, inertia=inertia or choice, balls=balls)


def peer(path: Path, robot: Robot, model: co.Model) -> Peer:
    """The same file in its own program."""
    return MujocoRobot(str(path), model) if path.suffix == ".xml" else PinocchioRobot(str(path), model, robot.root)


def rigid(path: Path, model: co.Model) -> co.Model:
    """The model as its peer's torques have it: without friction, of URDF without passive parts."""
    bodies = []
    for body in model.bodies:
        passive = replace(body.joint.passive, friction=None) if path.suffix == ".xml" else co.Passive()
        bodies.append(replace(body, joint=replace(body.joint, passive=passive)))
    return replace(model, bodies=bodies)


def compared(path: Path, robot: Robot) -> dict[str, float]:
    """Largest errors of a robot by quantity, free and ball joints by angles and by quaternions; inertias as printed."""
    worst: dict[str, float] = {}
    for balls in BALLS:
        reading = reading_of(path, robot.how, balls, "given" if "nearest" in robot.how else "")
        if balls == QUATERNION and reading.model.has_plain_velocities:
            break
        model = rigid(path, reading.model)
        other = peer(path, robot, model)
        differ = errors(model, other) | {"friction": resistance_error(reading.model, other)}
        if isinstance(other, MujocoRobot):
            differ["equality"] = equality_error(reading, other)
        for name, error in differ.items():
            worst[name] = float(np.maximum(worst.get(name, 0.0), error))  # nan where there is nothing to compare
    return worst


def errors(model: co.Model, other: Peer, count: int = STATES) -> dict[str, float]:
    """Largest differences at random states, relative to the largest entry; of slopes, to those of the torque too."""
    evaluator, rng = co.Evaluator(model), np.random.default_rng(7)
    worst: dict[str, float] = {}
    for _ in range(count):
        q = model.of_unit_length(rng.uniform(-1, 1, model.n_q))
        qd, qdd = rng.normal(size=(2, model.n))
        state = other.state(q, qd, qdd)
        tau, mass = state.T.T @ other.torque(state), state.T.T @ other.mass(state) @ state.T
        ours = evaluator.sensitivities(q, qd, qdd)
        dq, dqd = slopes(model, other, q, qd, qdd)
        pairs = {
            "torque": (ours.tau, tau), "dq": (ours.dq, dq), "dqd": (ours.dqd, dqd),
            "mass": (evaluator.mass_matrix(q), mass),
        }  # fmt: skip
        try:
            pairs["forward"] = (evaluator.forward_dynamics(q, qd, tau), qdd)
        except co.InputError:  # links without inertia
            worst["forward"] = np.nan
        for name, (mine, theirs) in pairs.items():
            size = max(np.abs(theirs).max(), np.abs(tau).max() if name in ("dq", "dqd") else 0.0, 1e-300)
            worst[name] = max(worst.get(name, 0.0), float(np.abs(mine - theirs).max() / size))
    return worst


def slopes(model: co.Model, other: Peer, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> list[np.ndarray]:
    """Derivatives of the peer's torques by displacements and velocities, each shape (n, n)."""
    if other.plain and isinstance(other, PinocchioRobot):
        state = other.state(q, qd, qdd)
        return [state.T.T @ slope @ state.T for slope in other.slopes(state)]

    def torque(q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        state = other.state(q, qd, qdd)
        return state.T.T @ other.torque(state)

    return [
        _differences(lambda x: torque(model.displaced(q, x), qd), model.n),
        _differences(lambda x: torque(q, qd + x), model.n),
    ]


def _differences(fn: Callable[[np.ndarray], np.ndarray], size: int) -> np.ndarray:
    """Derivative at zero, a column for each entry."""
    columns = []
    for direction in STEP * np.eye(size):
        pairs = [fn(k * direction) - fn(-k * direction) for k in range(1, len(WEIGHTS) + 1)]
        columns.append(sum(w * pair for w, pair in zip(WEIGHTS, pairs, strict=True)) / STEP)
    return np.column_stack(columns)


def resistance_error(model: co.Model, other: Peer) -> float:
    """Largest difference of damping, where torques of the peer have none, and friction of joints, to the largest."""
    theirs = other.resistances()
    passive = {joint.name: joint.passive for joint in model.tree.joints if joint.name in theirs}
    ours = {
        name: (float(p.damping), 0.0 if p.friction is None else float(p.friction.level)) for name, p in passive.items()
    }
    if not ours:
        return 0.0
    mine, others = (np.array([numbers[name] for name in ours]) for numbers in (ours, theirs))
    off = np.abs(mine - others)[~np.isnan(others)]
    return float(off.max() / max(np.nanmax(np.abs(others)), 1e-300)) if off.any() else 0.0


def equality_error(reading: co.formats.Reading, other: MujocoRobot) -> float:
    """How far MuJoCo's violations of connects and welds are from those of the loops, and couplings from being met."""
    model, rng = reading.model, np.random.default_rng(3)
    q = model.of_unit_length(rng.uniform(-1, 1, model.n_q))
    theirs = other.violations(other.state(q, *np.zeros((2, model.n))))
    gaps = {loop.name: _gap(model, loop, q) for loop in reading.loops}
    worst = 0.0
    for name, rows in theirs.items():
        if name in gaps:
            place, turn = gaps[name]
            off = [np.abs(rows[:3] - place).max(), abs(np.linalg.norm(rows[3:]) - turn) if rows.size > 3 else 0.0]
            worst = max(worst, *off)
        elif rows.size == 1 and not any("coupling" in line for line in reading.left_out):
            worst = max(worst, float(np.abs(rows).max()))
    return worst


def _gap(model: co.Model, loop: co.loops.Loop, q: np.ndarray) -> tuple[np.ndarray, float]:
    """From the second frame of a loop to the first, shape (3,), and the sine of half the turn between them."""
    symbols, zero = ca.SX.sym("q", model.n_q), ca.SX(model.n, 1)
    now = co.problem.Instant(model, ca.SX(0), ca.SX(0), symbols, zero, zero, zero)
    ends = [
        frame.placement if frame.body is None else now.frame(frame.body) @ frame.placement
        for frame in (loop.first, loop.second)
    ]
    first, second = (np.array(end) for end in ca.Function("ends", [symbols], ends)(q))
    turn = first[:3, :3].T @ second[:3, :3]
    sine = np.linalg.norm([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]])
    return first[:3, 3] - second[:3, 3], float(np.sin(np.arctan2(sine, np.trace(turn) - 1) / 2))


def microseconds(model: co.Model, other: Peer) -> dict[str, float]:
    """Microseconds a sample of torques and of derivatives, ours in a compiled batch and theirs in a loop."""
    rng = np.random.default_rng(1)
    q, qd, qdd = rng.uniform(-1, 1, (BATCH, model.n)), *rng.normal(size=(2, BATCH, model.n))
    states = [other.state(*row) for row in zip(q, qd, qdd, strict=True)]
    evaluator = co.Evaluator(model, compile=co.kernels.Compile(threads=1))
    out = evaluator.sensitivities(q, qd, qdd)
    calls = {
        "torque": lambda: evaluator.torque(q, qd, qdd),
        "torque_peer": lambda: [other.torque(state) for state in states],
        "slopes": lambda: evaluator.sensitivities(q, qd, qdd, out=out),
    }
    few = BATCH if isinstance(other, PinocchioRobot) else DIFFERENCES
    if isinstance(other, MujocoRobot) or other.plain:
        calls["slopes_peer"] = lambda: [other.slopes(state) for state in states[:few]]
    samples = {name: few if name == "slopes_peer" else BATCH for name in calls}
    return {name: 1e6 * timing.minimum / samples[name] for name, timing in alternately(calls, rounds=5).items()}


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the benchmark; see --help."""
    quick = "every tenth file, and no times"
    args = arguments("benchmarks.robots", __doc__, argv, quick=quick, options=OPTIONS, figure=False)
    warnings.simplefilter("ignore", co.support.InputWarning)
    numbers: dict[str, float] = dict.fromkeys((f"robots.{count}" for count in COUNTS), 0.0)
    numbers |= {f"robots.over_1e-9.{name}": 0.0 for name in QUANTITIES}
    worst: dict[str, float] = dict.fromkeys(QUANTITIES, 0.0)
    for collection, folders in collections(args.folder, args.menagerie).items():
        counts: dict[str, int] = dict.fromkeys(COUNTS, 0)
        rows: list[tuple[str, ...]] = []
        for path in list(files(folders))[:: 10 if args.quick else 1]:
            row, kind, differ, us = result(path, folders, timed=not args.quick and path.stem in TIMED)
            rows.append(row)
            for count in ("files", *kind):
                counts[count] += 1
            for name, error in differ.items():
                worst[name] = max(worst[name], error if np.isfinite(error) else 0.0)
                numbers[f"robots.over_1e-9.{name}"] += error > 1e-9
            numbers |= {f"robots.us.{path.parent.name}.{path.stem}.{name}": value for name, value in us.items()}
        if not folders:
            print(f"{collection}: not installed" if collection in PACKAGES else f"{collection}: no folder is given")
            continue
        header = ("file", "n", "read", *QUANTITIES, "us a sample")
        title = f"{collection}: " + ", ".join(f"{number} {count}" for count, number in counts.items())
        print(Table(title, header, rows).text(), flush=True)
        for count, number in counts.items():
            numbers[f"robots.{collection}.{count}"] = number
            numbers[f"robots.{count}"] += number
    numbers |= {f"robots.error.{name}": error for name, error in worst.items()}
    return finish(args, numbers)


def result(
    path: Path, folders: Sequence[Path], *, timed: bool
) -> tuple[tuple[str, ...], tuple[str, ...], dict[str, float], dict[str, float]]:
    """A file's row of the table, how it counts, its errors and its times."""
    name, robot = str(path.relative_to(folders[0])), read(path)
    empty = ("",) * (len(QUANTITIES) + 1)
    if isinstance(robot, str):
        reason = robot.replace(f"{str(path)!r}", "it").replace(str(folders[0]), "")
        return (name, "refused", reason[:110], *empty), ("refused",), {}, {}
    model = robot.reading.model
    note = robot.how + (f", {len(model.couplings)} follow" if model.couplings else "")
    loops = len(robot.reading.loops)
    note += f", {loops} loop{'s' * (loops > 1)}" if loops else ""
    try:
        differ = compared(path, robot)
        us = microseconds(rigid(path, model), peer(path, robot, model)) if timed else {}
    except (KeyError, ValueError) as error:  # a peer that cannot read it, or has other joints
        return (name, f"{model.n}", f"{note}; not compared: {str(error)[:60]}", *empty), ("read",), {}, {}
    cells = [f"{differ[quantity]:.0e}" if np.isfinite(differ.get(quantity, np.nan)) else "" for quantity in QUANTITIES]
    times = ", ".join(f"{which} {value:.2f}" for which, value in us.items())
    return (name, f"{model.n}", note, *cells, times), ("read", "compared"), differ, us


if __name__ == "__main__":
    main()
