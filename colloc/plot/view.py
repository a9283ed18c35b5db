"""A viewer of a model, of a posture, or of motions."""

from __future__ import annotations

from collections.abc import Sequence as Listing
from typing import Any, overload

import casadi as ca
import numpy as np

from colloc.formats import LinkShape
from colloc.loops import ClosedChain
from colloc.model import Model
from colloc.model.functions import CoordinateFunction
from colloc.model.kinematics import frames
from colloc.muscles import Muscles
from colloc.plot.bars import bars_of
from colloc.plot.live import LiveViewer
from colloc.plot.motion import guess_pose
from colloc.plot.posture import postures
from colloc.plot.recording import curves_by_unit, from_figure, guess_recording, solution_recording
from colloc.plot.sampling import title_of
from colloc.plot.skeleton import Skeleton, places, skeleton_from
from colloc.plot.triangles import LinkMeshes, link_meshes
from colloc.plot.viewer import Viewer, viewer
from colloc.problem import Phases, Problem
from colloc.solution import PhasesSolution, Solution
from colloc.support.checks import InputError, as_tuple, finite_number, instance, quoted, spelt, text
from colloc.sweeps import Optima, Sweep

Viewed = Model | ClosedChain | Problem | Phases | Solution | PhasesSolution | Sweep | Optima
_RANGE = np.pi  # rad, of a slider of a joint without limits; of a slide as much as the mechanism is long
_SAMPLES = 201  # of a curve by which a joint follows
_KINDS = "a Model, a ClosedChain, a Problem, a Solution, a list of Solutions, a Sweep or Optima"


@overload
def view(
    x: Problem | Phases, *, guess: Any = None, slow: float | None = None, muscles: Muscles | None = None
) -> LiveViewer: ...


@overload
def view(
    x: Viewed | Listing[Solution | PhasesSolution], q: Any = None, t: Any = None, *,
    labels: Listing[str] | None = None, guess: Any = None, slow: float | None = None, muscles: Muscles | None = None,
    meshes: Listing[LinkShape] | None = None,
) -> Viewer: ...  # fmt: skip


@spelt
def view(
    x: Viewed | Listing[Solution | PhasesSolution],
    q: Any = None,
    t: Any = None,
    *,
    labels: Listing[str] | None = None,
    guess: Any = None,
    slow: float | None = None,
    muscles: Muscles | None = None,
    meshes: Listing[LinkShape] | None = None,
) -> Viewer:
    """A page on which a mechanism is seen from all sides, moved, or played: one file that needs no network.

    It turns, shifts and zooms with the mouse, with fingers and by keys, and has the time, the curves of all signals and
    the names of the phases below. Links are as thick as water of their mass would make them; obstacles, shapes on
    links, markers, ways of the tips, and forces and moments of loads are drawn as well. Of a model every joint has a
    slider.

    Parameters
    ----------
    x : Model, ClosedChain, Problem, Phases, Solution, PhasesSolution, Sweep, Optima or sequence of solutions
        Of a problem the motion from which a solve would start is played, and as `progress` of a solve its iterates.
        Several solutions are drawn on top of each
        other or side by side; those of a sweep are those of its cases that have one.
    q : shape (n_q,), or (N, n_q) with t [rad, m], optional
        Posture of a model or of a chain, or a motion of it; a model is shown as it is placed, a chain as assembled.
    t : shape (N,) [s], optional
        Rising times of postures.
    labels : sequence of str, optional
        Names of several solutions.
    guess : optional
        What a solve began with, as in `solve`, or True for its default: a ghost beside a solution. Of a problem the
        guess itself.
    slow : float, optional
        Duration of the play over that of the motion; by default real time, and about three seconds for motions shorter
        than one.
    muscles : Muscles, optional
        Drawn as lines through the points of their paths, from blue at rest to red in full activation; of a solution in
        whose problem they are. Where polynomials stand for paths, `Muscles` of those to which they were fitted.
    meshes : sequence of LinkShape, optional
        ``reading.shapes`` of `from_urdf` or `from_mjcf`, or meshes of your own in OBJ, STL or DAE files, in place of
        bars: what links look like, and of links without looks what they collide as. Not of a problem. Together they
        have at most 300,000 triangles, to which more are thinned.

    Returns
    -------
    Viewer, or LiveViewer of a problem
        Shown by notebooks as the last line of a cell; ``.save("view.html")`` writes it.

    Raises
    ------
    InputError
        For anything else, models with symbols, postures of another shape, labels that are not one for each solution,
        a sweep without a solution, or a guess that does not fit. For meshes that are not there, in another format or
        without triangles, by name, and for shapes of bodies that the model does not have.
    ImportError
        For meshes without trimesh and pycollada, which ``pip install 'colloc[meshes]'`` brings.

    Examples
    --------
    >>> co.plot.view(solution, guess=True)
    Viewer of two-link arm, ... kB: .save('view.html'), or the last line of a cell
    >>> co.plot.view(model, (0.5, -1.0)).save("posture.html").name
    'posture.html'
    >>> with open("blade.obj", "w") as file:
    ...     _ = file.write("v 0 0 0\\nv 1 0 0\\nv 0 0.1 0\\nv 0 0 0.1\\nf 1 3 2\\nf 1 2 4\\nf 2 3 4\\nf 1 4 3\\n")
    >>> blade = co.formats.LinkShape("elbow", "visual", "mesh", np.eye(4), {"filename": "blade.obj"}, ".")
    >>> co.plot.view(solution, meshes=[blade]).save("blade.html").name
    'blade.html'
    >>> solution = co.solve(problem, progress=co.plot.view(problem))
    """
    if slow is not None:
        finite_number("slow", slow, positive=True)
    if isinstance(x, Model | ClosedChain):
        for name, value in (("labels", labels), ("guess", guess), ("muscles", muscles)):
            if value is not None:
                raise InputError(f"{name} goes with solutions, got {quoted(value)} beside {quoted(x)}")
        return _mechanism(x, q, t, slow, None if meshes is None else link_meshes(meshes))
    if q is not None or t is not None:
        raise InputError(f"q and t are postures of a Model or a ClosedChain, got them beside {quoted(x)}")
    if isinstance(x, Problem | Phases):
        if meshes is not None:
            raise InputError("meshes go with a Model, a ClosedChain or solutions, not with a problem")
        pose, duration = guess_pose(x, None if guess is True else guess)
        name = ", ".join(dict.fromkeys(problem.model.name for problem in x.phases.values()))
        return LiveViewer(guess_recording(pose, duration, "guess", ghost=False), name, slow, muscles)
    solutions, names = _solutions(x)
    if labels is not None:
        names = [text("label", label) for label in as_tuple("labels", labels)]
        if len(names) != len(solutions):
            raise InputError(f"labels must be one for each of {len(solutions)} solutions, got {quoted(labels)}")
    share = max(0.25, 1.5 / (0.5 + len(solutions)))
    if muscles is not None:
        instance("muscles", muscles, Muscles)
    named = zip(solutions, names, strict=True)
    parts = None if meshes is None else link_meshes(meshes)
    recordings = [solution_recording(solution, name, share, muscles, meshes=parts) for solution, name in named]
    if guess is not None:
        pose, duration = guess_pose(solutions[0].problem, None if guess is True else guess)
        recordings.append(guess_recording(pose, duration, "guess", ghost=True))
    title = ", ".join(dict.fromkeys(title_of(solution) for solution in solutions))
    return viewer(recordings, title, slow)


def _solutions(x: Any) -> tuple[list[Solution | PhasesSolution], list[str]]:
    """All solutions with names; InputError for what has none."""
    if isinstance(x, Solution | PhasesSolution):
        return [x], [title_of(x)]
    if isinstance(x, Sweep):
        cases = [case for case in range(len(x)) if case not in x.failed]
        if not cases:
            raise InputError("no case of the sweep has a solution")
        names = [", ".join(f"{name} = {x[name][case]:.4g}" for name in x.names) for case in cases]
        return [x.solution(case) for case in cases], names
    if isinstance(x, Optima):
        solutions = [optimum.solution for optimum in x.optima]
        return solutions, [f"optimum {k}" for k in range(len(solutions))]
    solutions = list(x) if isinstance(x, list | tuple) else []
    if not solutions or not all(isinstance(item, Solution | PhasesSolution) for item in solutions):
        raise InputError(f"x must be {_KINDS}, got {quoted(x)}")
    return solutions, [f"solution {k + 1}" for k in range(len(solutions))]


def _mechanism(x: Model | ClosedChain, q: Any, t: Any, slow: float | None, meshes: LinkMeshes | None) -> Viewer:
    """A model or a chain: with sliders, in a posture, or through postures."""
    model, ties, times, rows = postures(x, q, t)
    symbol = ca.SX.sym("q", model.n_q)
    function = ca.Function("places", [symbol], [places(model, symbol)])
    figure = skeleton_from(model, times - times[0], np.array(function.map(times.size)(rows.T)), ties)
    recording = from_figure(figure, model.name)
    if meshes is not None:
        moved = ca.Function("frames", [symbol], [meshes.frames(model, symbol)]).map(times.size)(rows.T)
        recording = recording.in_meshes(meshes, [np.array(moved).T])
    if t is None:
        joints = _joints(figure, rows[0], meshes) if isinstance(x, Model) else None
        return viewer([recording], model.name, slow, joints)
    groups = curves_by_unit("position", model.position_names, model.position_units, rows)
    return viewer([recording.having(groups)], model.name, slow)


def _joints(figure: Skeleton, q: np.ndarray, meshes: LinkMeshes | None) -> dict[str, Any]:
    """What the page needs to move a model by itself: its joints, and to which body each point and mesh is fixed."""
    model = figure.model
    points = bars_of(figure)
    symbol = ca.SX.sym("q", model.n_q)
    still = ca.SX(model.n, 1)
    function = ca.Function("frames", [symbol], frames(model, symbol, still, still).position)
    transforms = [np.array(frame) for frame in function.call([q])]
    bodies, size = [], float(np.ptp(np.concatenate(figure.extent)))
    limits = model.limits("position")
    for k, (body, parent, place) in enumerate(zip(model.bodies, model.parents, model.places, strict=True)):
        joint, leads = body.joint, model.leaders[k] == k
        simple = joint.positions == 1  # a ball joint is turned about its link's axes from where it is
        follows = None if leads else model.couplings[body.joint_name]
        before = joint.frame(ca.SX(q[place])) if joint.moves else joint.before
        low, high = (float(side[place][0]) for side in limits) if simple else (-np.inf, np.inf)
        reach = _RANGE if joint.turns else max(size, 1.0) / 2
        bodies.append({
            "name": body.joint_name,
            "parent": parent,
            "before": _numbers(before),
            "after": _numbers(joint.after),
            "angular": _numbers(joint.screw.angular),
            "linear": _numbers(joint.screw.linear),
            "slider": joint.moves and leads,
            "leader": model.leaders[k],
            "ratio": 1.0 if follows is None else follows.ratio,
            "offset": 0.0 if follows is None else follows.offset,
            "curve": [] if follows is None or follows.curve is None else _sampled(follows.curve, limits, place),
            "unit": "rad" if joint.turns else "m",
            "low": low if np.isfinite(low) else min(-reach, high - reach if np.isfinite(high) else 0.0),
            "high": high if np.isfinite(high) else max(reach, low + reach if np.isfinite(low) else 0.0),
            "q": float(q[place][0]) if simple else 0.0,
        })  # fmt: skip
    local = []
    for k, place in zip(points.bodies, points.places, strict=True):
        frame = np.eye(4) if k < 0 else transforms[k]
        local.append([k, *_numbers(frame[:3, :3].T @ (place[0] - frame[:3, 3]))])
    names = [body.name for body in model.bodies]
    return {"bodies": bodies, "points": local, "links": [names.index(name) for name in meshes.bodies] if meshes else []}


def _sampled(curve: CoordinateFunction, limits: tuple[np.ndarray, np.ndarray], place: slice) -> list[float]:
    """A curve for the page: its first place, the step, and values, beyond which it stays."""
    low, high = (float(side[place][0]) for side in limits)
    low, high = max(low, -2 * _RANGE), min(high, 2 * _RANGE)
    symbol = ca.SX.sym("q")
    values = ca.Function("curve", [symbol], curve.derivatives(symbol, 0)).map(_SAMPLES)(
        np.linspace(low, high, _SAMPLES)
    )
    return [low, (high - low) / (_SAMPLES - 1), *_numbers(values)]


def _numbers(values: Any) -> list[float]:
    """Entries row after row; of a homogeneous transform the first three rows."""
    array = np.array(ca.DM(ca.SX(values)))
    return [round(float(value), 7) for value in array[:3].ravel()]
