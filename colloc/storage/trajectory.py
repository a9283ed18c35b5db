"""A motion for controllers: joint trajectories of ROS, and the coefficients of its polynomials."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np

from colloc.solution.phases import PhasesSolution
from colloc.solution.solution import Solution
from colloc.storage.tables import signal_table
from colloc.support.checks import InputError, instance, spelt
from colloc.support.files import check_writable, write_atomically

_FIELDS = {"positions": "q", "velocities": "qd", "accelerations": "qdd", "effort": "tau"}


@spelt
def to_joint_trajectory(solution: Solution | PhasesSolution, path: str | os.PathLike[str], t: Any = None) -> None:
    """Write a motion as a message of ROS, trajectory_msgs/JointTrajectory.

    Points have positions, velocities, accelerations and efforts, the torques of the motion.

    Parameters
    ----------
    solution : Solution or PhasesSolution
    path : str or PathLike
        Ends in .json or .yaml.
    t : shape (N,), optional [s]
        Rising times of the points, within 0 .. duration; by default those of the nodes.

    Raises
    ------
    InputError
        For a path that cannot be written, ball joints on quaternions, whose positions the message does not have, times
        that do not rise or lie outside, phases of different joints, and cases.

    See Also
    --------
    to_csv, piece_coefficients

    Examples
    --------
    >>> co.storage.to_joint_trajectory(solution, "swing.yaml", np.linspace(0.0, solution.duration, 11))
    >>> with open("swing.yaml") as file:
    ...     print(file.read(91))
    header:
      stamp: {"sec": 0, "nanosec": 0}
      frame_id: ""
    joint_names: ["shoulder", "elbow"]
    """
    instance("solution", solution, Solution | PhasesSolution, "see co.solve")
    target = check_writable(path, (".json", ".yaml"))
    table = signal_table(solution, list(_FIELDS.values()), t)
    first = next(iter(solution.phases.values())).problem.model
    if not first.has_plain_velocities:
        balls = ", ".join(map(repr, first.balls))
        raise InputError(f"a joint trajectory has one position per joint, and {balls} is on a quaternion: see to_csv")
    names = first.joint_names
    columns = {field: np.column_stack([table[f"{of}[{name}]"] for name in names]) for field, of in _FIELDS.items()}
    points = [
        {field: values[k].tolist() for field, values in columns.items()} | {"time_from_start": _stamp(time)}
        for k, time in enumerate(table.t.tolist())
    ]
    header = {"stamp": _stamp(0.0), "frame_id": ""}
    message = {"header": header, "joint_names": list(names), "points": points}
    words = json.dumps(message, indent=1) if target.suffix == ".json" else "\n".join(_yaml(message))
    write_atomically(target, (words + "\n").encode())


def _stamp(time: float) -> dict[str, int]:
    sec, nanosec = divmod(round(time * 1e9), 1_000_000_000)
    return {"sec": sec, "nanosec": nanosec}


def _yaml(message: dict[str, Any]) -> list[str]:
    """Lines of YAML: blocks with a value in JSON, which is YAML as well, on each line."""
    lines = ["header:", *(f"  {key}: {_inline(value)}" for key, value in message["header"].items())]
    lines += [f"joint_names: {_inline(message['joint_names'])}", "points:"]
    for point in message["points"]:
        lines += [f"{'  ' if k else '- '}{key}: {_inline(value)}" for k, (key, value) in enumerate(point.items())]
    return lines


def _inline(value: Any) -> str:
    """A value in JSON; floats with a point, without which YAML 1.1 takes 1e-05 for text."""
    if isinstance(value, list):
        return f"[{', '.join(map(_inline, value))}]"
    words = json.dumps(value)
    return words.replace("e", ".0e") if isinstance(value, float) and "." not in words else words


@spelt
def piece_coefficients(solution: Solution) -> tuple[np.ndarray, np.ndarray]:
    """The polynomials of which the joints' motion consists.

    On interval k the positions are sum over i of c[k, :, i] (t - breaks[k])^i. Torques are no polynomials.

    Parameters
    ----------
    solution : Solution
        For a motion in phases ``solution["flight"]``, with its times from the start of the phase.

    Returns
    -------
    breaks : ndarray, shape (N + 1,) [s]
    c : ndarray, shape (N, n_q, degree + 1) [rad, m] per s^i
        Zero beyond the degree of an interval.

    Raises
    ------
    InputError
        For ball joints on quaternions, and for joints that depend on others: their positions are no polynomials.

    See Also
    --------
    to_joint_trajectory

    Examples
    --------
    >>> breaks, c = co.storage.piece_coefficients(solution)
    >>> middle = (breaks[0] + breaks[1]) / 2
    >>> q = np.polynomial.polynomial.polyval(middle - breaks[0], c[0].T)
    >>> bool(np.allclose(q, solution.at(middle).q, atol=1e-12))
    True
    """
    curve = instance("solution", solution, Solution, "or one phase of a motion in phases").curve
    problem = solution.problem
    if problem.coordinates is not None or not problem.model.has_plain_velocities:
        which = "joints that depend on others" if problem.coordinates is not None else "quaternions"
        raise InputError(f"positions of {which} are no polynomials of the time: sample them by solution.at(t).q")
    breaks, degrees = solution.mesh_times, curve.basis.degrees
    c = np.zeros((degrees.size, problem.model.n_q, curve.basis.degree + 1))
    for k, degree in enumerate(degrees.tolist()):
        places = (1 - np.cos(np.pi * (np.arange(degree + 1) + 0.5) / (degree + 1))) / 2  # Chebyshev's, in 0 .. 1
        width = breaks[k + 1] - breaks[k]
        samples = np.asarray(solution.at(breaks[k] + width * places).q)
        powers = np.linalg.solve(np.vander(places, increasing=True), samples)
        c[k, :, : degree + 1] = (powers / width ** np.arange(degree + 1)[:, None]).T
    return breaks, c
