"""A motion as tables for other programs, with OpenSim's names and signs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import casadi as ca
import numpy as np

from colloc.formats.sto import reaction_columns
from colloc.formats.time_series import TimeSeriesTable
from colloc.problem import Instant
from colloc.solution.phases import PhasesSolution
from colloc.solution.solution import Solution
from colloc.support.checks import InputError, as_tuple, finite_array, instance, mapping, quoted, spelt, text

_BARE = 1e-9  # of the largest vertical force: one that is rounding, of which there is no centre of pressure


@spelt
def coordinate_table(solution: Solution | PhasesSolution, t: Any = None) -> TimeSeriesTable:
    """The joint coordinates over time, in columns with the joints' names: OpenSim's format of a motion (.mot).

    Parameters
    ----------
    solution : Solution or PhasesSolution
    t : shape (N,), optional [s]
        Rising, within 0 .. duration; the times of the nodes by default.

    Returns
    -------
    TimeSeriesTable
        [rad, m]

    Raises
    ------
    InputError
        For times that do not rise or lie outside, and phases of different joints: make a table of each phase.

    See Also
    --------
    colloc.formats.write_table, torque_table, ground_reaction_table

    Examples
    --------
    >>> motion = co.storage.coordinate_table(solution, np.linspace(0.0, solution.duration, 101))
    >>> co.formats.write_table(motion, "swing.mot", degrees=True)
    >>> motion
    TimeSeriesTable(101 samples from 0 to 0.39... s: shoulder [rad], elbow [rad])
    """
    return replace(signal_table(solution, "q", t), metadata={"header": "Coordinates"})


@spelt
def signal_table(solution: Solution | PhasesSolution, names: str | Sequence[str], t: Any = None) -> TimeSeriesTable:
    """Signals over time: activations, thrusts, states, joint velocities, and all others of `solution.signals`.

    Columns of a single signal have the names of its components, as in OpenSim's tools for muscles: ``flexor``. Columns
    of a list of signals have both: ``activation[flexor]``.

    Parameters
    ----------
    solution : Solution or PhasesSolution
    names : str or sequence of str
        Of the signals.
    t : shape (N,), optional [s]
        As in `coordinate_table`.

    Returns
    -------
    TimeSeriesTable
        In the units of the signals.

    Raises
    ------
    InputError
        As in `coordinate_table`, and for unknown names.

    See Also
    --------
    coordinate_table, colloc.storage.to_csv

    Examples
    --------
    >>> co.storage.signal_table(solution, ["qd", "tau"], [0.0, 0.1, 0.2]).names
    ('qd[shoulder]', 'qd[elbow]', 'tau[shoulder]', 'tau[elbow]')
    """
    times = _times(solution, t)
    wanted = (
        [names] if isinstance(names, str) else [text("name of a signal", name) for name in as_tuple("names", names)]
    )
    columns, units = {}, {}
    for name, values in solution.signals.at(times, *wanted).items():
        signal = solution.signals.definitions[name]
        labels = tuple(signal.names) if isinstance(names, str) and signal.names else signal.labels
        if "" not in solution.phases and np.isnan(values).any():
            first = next(iter(solution.phases))
            raise InputError(f"{name} has other components in some phases: use one phase, as in solution[{first!r}]")
        columns |= dict(zip(labels, np.asarray(values).T, strict=True))
        units |= dict(zip(labels, signal.units, strict=True))
    return TimeSeriesTable(times, columns, units)


@spelt
def torque_table(solution: Solution | PhasesSolution, t: Any = None) -> TimeSeriesTable:
    """The actuator torques over time, with the names and signs of OpenSim's inverse dynamics.

    The column of a joint that turns is elbow_moment, that of a slide slide_force; positive torques increase the
    coordinate.

    Parameters
    ----------
    solution : Solution or PhasesSolution
    t : shape (N,), optional [s]
        As in `coordinate_table`.

    Returns
    -------
    TimeSeriesTable
        [N m, N]

    Raises
    ------
    InputError
        As in `coordinate_table`.

    See Also
    --------
    coordinate_table

    Examples
    --------
    >>> torques = co.storage.torque_table(solution)
    >>> co.formats.write_table(torques, "swing.sto")
    >>> torques.names
    ('shoulder_moment', 'elbow_moment')
    """
    torques = signal_table(solution, "tau", t)
    names = {joint: f"{joint}_{'moment' if unit == 'N m' else 'force'}" for joint, unit in torques.units.items()}
    columns = {name: torques[joint] for joint, name in names.items()}
    units = {name: torques.units[joint] for joint, name in names.items()}
    return TimeSeriesTable(torques.t, columns, units, {"header": "Inverse Dynamics Generalized Forces"})


@spelt
def ground_reaction_table(
    solution: Solution | PhasesSolution, feet: Mapping[str, str | Sequence[str]], t: Any = None
) -> TimeSeriesTable:
    """The loads on feet over time as ground reactions: OpenSim's file of external loads (.mot).

    For a foot named r the force on it, ground_force_r_vx to _vz, its point of application, ground_force_r_px to _pz,
    and the moment about this point, ground_torque_r_x to _z, all in the world's axes. The ground is the plane y = 0, y
    pointing up, and the point is the centre of pressure, about which the moment is vertical. Without a vertical force
    the point is the world's origin, so that the columns always contain the full load.

    Parameters
    ----------
    solution : Solution or PhasesSolution
    feet : mapping of str to str or sequence of str
        By the foot's name in the columns, the body or bodies with its loads.
    t : shape (N,), optional [s]
        As in `coordinate_table`.

    Returns
    -------
    TimeSeriesTable
        [N, m, N m]

    Raises
    ------
    InputError
        As in `coordinate_table`, without feet, and for bodies without a load.

    See Also
    --------
    coordinate_table, colloc.problem.ground.recorded

    Examples
    --------
    >>> push = co.Load("elbow", force=(0.0, 10.0, 0.0))  # N
    >>> pushed = co.Problem(two_link(), 1.0, co.integral(lambda now: ca.sumsqr(now.tau)), [], loads=[push])
    >>> motion = co.solve(pushed, co.BSpline(6), guess=co.line((0.1, 0.1), (0.1, 0.1)))
    >>> reactions = co.storage.ground_reaction_table(motion, {"r": "elbow"})
    >>> reactions.vector("ground_force_r_v")[0]
    array([ 0., 10.,  0.])
    """
    times = _times(solution, t)
    if not mapping("feet", feet):
        raise InputError(
            f"feet must name at least one foot and its bodies, as in {{'r': 'foot_r'}}, got {quoted(feet)}"
        )
    bodies = {name: _bodies(name, value) for name, value in feet.items()}
    for body in {body for group in bodies.values() for body in group}:
        loaded = {load.body for phase in solution.phases.values() for load in phase.problem.all_loads}
        if body not in loaded:
            raise InputError(f"feet must be bodies with a load, got {body!r} (loaded: {', '.join(sorted(loaded))})")
    reactions: dict[str, tuple[np.ndarray, str]] = {}
    for name, group in bodies.items():
        wrench = solution.evaluate(partial(_wrench, group), times)
        reactions |= reaction_columns(name, *_contact(wrench[:, :3], wrench[:, 3:]))
    columns = {name: values for name, (values, _) in reactions.items()}
    units = {name: unit for name, (_, unit) in reactions.items()}
    return TimeSeriesTable(times, columns, units, {"header": "Ground reactions"})


def _wrench(bodies: Sequence[str], now: Instant) -> ca.SX:
    """Force and moment about the world's origin of the loads on some bodies, SX, shape (6,)."""
    total = ca.SX.zeros(6)
    for load in now.loads or ():
        if load.body in bodies:
            place = now.point(load.body, load.point).position
            total += ca.vertcat(load.force, load.moment + ca.cross(place, load.force))
    return total


def _contact(force: np.ndarray, moment: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Force, point and moment about it, each shape (N, 3), of wrenches about the world's origin."""
    up = force[:, 1]
    bare = np.abs(up) <= _BARE * np.abs(up).max(initial=0.0)
    pressure = np.where(bare, 1.0, up)
    point = np.column_stack([moment[:, 2] / pressure, 0.0 * up, -moment[:, 0] / pressure])
    point[bare] = 0.0
    about = moment - np.cross(point, force)
    about[~bare, 0] = about[~bare, 2] = 0.0  # by the choice of the point, to rounding
    return force, point, about


def _times(solution: Solution | PhasesSolution, t: Any) -> np.ndarray:
    instance("solution", solution, Solution | PhasesSolution, "see co.solve")
    return np.unique(solution.nodes.t) if t is None else finite_array("t", t, (None,))


def _bodies(name: str, value: Any) -> tuple[str, ...]:
    text("name of a foot", name)
    bodies = (value,) if isinstance(value, str) else as_tuple(f"bodies of foot {name!r}", value)
    if not bodies:
        raise InputError(f"bodies of foot {name!r} must be at least one, got {quoted(value)}")
    return tuple(text(f"body of foot {name!r}", body) for body in bodies)
