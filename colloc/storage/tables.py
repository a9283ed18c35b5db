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

_MUSCLE_STATES = {  # signals of muscles, and what OpenSim's names of states and controls end in
    "activation": "/activation",
    "fiber_length": "/fiber_length",
    "tension": "/normalized_tendon_force",
    "excitation": "",
}


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


@spelt
def joint_contact_table(
    solution: Solution | PhasesSolution, bodies: str | Sequence[str], t: Any = None
) -> TimeSeriesTable:
    """The contact forces of joints over time, as OpenSim's analysis JointReaction writes them (.sto).

    For the joint "knee" of a body "tibia" these are the force on the tibia, knee_on_tibia_in_ground_fx to _fz, the
    moment about the joint, _mx to _mz, and the place of the joint on the tibia, _px to _pz, all in the world's axes.
    Joints have the names of their coordinates, which may differ from those of a file of OpenSim's.

    Parameters
    ----------
    solution : Solution or PhasesSolution
    bodies : str or sequence of str
        The bodies beyond the joints.
    t : shape (N,), optional [s]
        As in `coordinate_table`.

    Returns
    -------
    TimeSeriesTable
        [N, N m, m]

    Raises
    ------
    InputError
        As in `coordinate_table`, and for a joint that a muscle of unknown direction crosses, see
        `Instant.joint_contact`.

    See Also
    --------
    colloc.muscles.JointContact, muscle_table

    Examples
    --------
    >>> co.storage.joint_contact_table(solution, "elbow").names[:2]
    ('elbow_on_elbow_in_ground_fx', 'elbow_on_elbow_in_ground_fy')
    """
    times = _times(solution, t)
    names = (
        (bodies,) if isinstance(bodies, str) else tuple(text("body of a joint", b) for b in as_tuple("bodies", bodies))
    )
    columns: dict[str, np.ndarray] = {}
    for body in names:
        values = solution.evaluate(partial(_joint_contact, body), times)
        model = next(iter(solution.phases.values())).problem.model
        stem = f"{model.bodies[model.index(body)].joint_name}_on_{body}_in_ground_"
        columns |= dict(zip([f"{stem}{what}{axis}" for what in "fmp" for axis in "xyz"], values.T, strict=True))
    units = {name: {"f": "N", "m": "N m", "p": "m"}[name[-2]] for name in columns}
    return TimeSeriesTable(times, columns, units, {"header": "Joint Reaction Loads"})


def _joint_contact(body: str, now: Instant) -> ca.SX:
    """Contact force on a body, its moment about the joint on the body, and the place of the joint, SX, shape (9,)."""
    force, moment = now.joint_contact(body)
    frame, model = now.frame(body), now.model
    index = model.index(body)
    parent, joint = model.parents[index], model.bodies[index].joint
    before = joint.before[:3, 3]
    on_parent = before if parent < 0 else now.point(model.bodies[parent].name, before).position
    on_body = frame[:3, 3] - frame[:3, :3] @ joint.after[:3, :3].T @ joint.after[:3, 3]
    turned = frame[:3, :3] @ force
    return ca.vertcat(turned, frame[:3, :3] @ moment + ca.cross(on_parent - on_body, turned), on_body)


@spelt
def muscle_table(solution: Solution | PhasesSolution, t: Any = None) -> TimeSeriesTable:
    """The states of muscles over time, in columns with the names of OpenSim's states and controls (.sto).

    For a muscle "flexor" these are /forceset/flexor/activation, /forceset/flexor/fiber_length,
    /forceset/flexor/normalized_tendon_force of a compliant tendon, and /forceset/flexor, its excitation, if that is
    the control. OpenSim's analysis of muscles has a file for each quantity, with a column for each muscle: write
    ``signal_table(solution, "tendon_force")`` or similar.

    Parameters
    ----------
    solution : Solution or PhasesSolution
    t : shape (N,), optional [s]
        As in `coordinate_table`.

    Returns
    -------
    TimeSeriesTable

    Raises
    ------
    InputError
        As in `coordinate_table`, and for a motion without muscles.

    See Also
    --------
    signal_table, joint_contact_table, coordinate_table

    Examples
    --------
    >>> points = co.muscles.ViaPoint("shoulder", (-0.3, 0.03, 0)), co.muscles.ViaPoint("elbow", (-0.35, 0.02, 0))
    >>> flexor = co.muscles.Muscle("flexor", co.muscles.MusclePath(points), 900.0, 0.15, 0.2)
    >>> part = co.muscles.Muscles(two_link(), [flexor], reserves={"shoulder": 50.0, "elbow": 50.0})
    >>> effort = co.integral(lambda now: ca.sumsqr(now.activation) + ca.sumsqr(now.reserve))
    >>> ends = co.initial(q=(0.0, 0.2), qd=0.0), co.final(q=(0.0, 1.0), qd=0.0)
    >>> bent = co.solve(co.Problem(two_link(), 0.5, effort, ends, parts=[part]), co.Radau(10))
    >>> co.storage.muscle_table(bent).names
    ('/forceset/flexor/activation', '/forceset/flexor/fiber_length')
    """
    times, known = _times(solution, t), solution.signals.definitions
    if not {"activation", "fiber_length"} <= set(known):
        raise InputError("a table of muscles needs a motion with muscles: see colloc.muscles.Muscles")
    columns: dict[str, np.ndarray] = {}
    units: dict[str, str] = {}
    for name, ending in _MUSCLE_STATES.items():
        if name in known:
            table = signal_table(solution, name, times)
            columns |= {f"/forceset/{muscle}{ending}": values for muscle, values in table.columns.items()}
            units |= {f"/forceset/{muscle}{ending}": unit for muscle, unit in table.units.items()}
    return TimeSeriesTable(times, columns, units, {"header": "States of muscles"})


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
