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
from colloc.plot.motion import guess_poses
from colloc.plot.posture import postures
from colloc.plot.recording import Recording, curves_by_unit, from_figure, guess_recording, solution_recording
from colloc.plot.sampling import one_by_one, title_of
from colloc.plot.skeleton import Skeleton, places, skeleton_from
from colloc.plot.triangles import LinkMeshes, link_meshes
from colloc.plot.viewer import Viewer, viewer
from colloc.problem import Phases, Problem
from colloc.solution import PhasesSolution, Solution
from colloc.solution.phases import initial_motion
from colloc.solution.warm_start import start_from
from colloc.support.checks import InputError, finite_number, instance, quoted, spelt
from colloc.sweeps import Optima, Sweep
from colloc.transcription import transcribe

Viewed = Model | ClosedChain | Problem | Phases | Solution | PhasesSolution | Sweep | Optima
_RANGE = np.pi  # rad, range of a joint without limits; that of a slide is the length of the mechanism
_SAMPLES = 201  # samples of a curve that a dependent joint follows
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
    """A page that shows a mechanism from all sides, moves it, or plays its motion: one file without network access.

    The view is turned, shifted and zoomed with the mouse, by touch and by keys. Time, curves of all signals and names
    of phases are shown below. Links have the thickness of water of their mass; obstacles, shapes on links, markers,
    paths of tips, and forces and moments of loads are drawn as well. For a model every joint has a slider.

    Parameters
    ----------
    x : Model, ClosedChain, Problem, Phases, Solution, PhasesSolution, Sweep, Optima or sequence of solutions
        For a problem the initial motion of a solve is played, or, as `progress` of a solve, the iterates. Several
        solutions are drawn on top of each other or side by side; for a sweep, those of all solved cases.
    q : shape (n_q,), or (N, n_q) with t [rad, m], optional
        Posture or motion of a model or a chain; by default a model is shown at q = 0, a chain as assembled.
    t : shape (N,) [s], optional
        Increasing times of postures.
    labels : sequence of str, optional
        Names of several solutions.
    guess : optional
        Guess of a solve, as in `solve`, or True for the default: shown as a ghost beside a solution. For a problem, the
        guess that is played.
    slow : float, optional
        Ratio of the durations of playback and motion; by default real time, and about three seconds for motions shorter
        than one second.
    muscles : Muscles, optional
        Muscles of the solution's problem, drawn as lines through their path points, from blue at rest to red at full
        activation. If paths are polynomials, the `Muscles` to which they were fitted.
    meshes : sequence of LinkShape, optional
        ``reading.shapes`` of `from_urdf` or `from_mjcf`, or your own meshes in OBJ, STL or DAE files, instead of bars:
        visual shapes of links, or collision shapes of links without visual ones. Not for a problem. More than 300,000
        triangles are thinned to this number.

    Returns
    -------
    Viewer, or LiveViewer for a problem
        Displayed by notebooks as the last line of a cell; ``.save("view.html")`` writes it.

    Raises
    ------
    InputError
        For other objects, models with symbols, postures of another shape, a wrong number of labels, a sweep without a
        solution, or a guess that does not fit. For meshes that are missing, in another format or without triangles, by
        name, and for shapes of bodies that the model does not have.
    ImportError
        For meshes without trimesh and pycollada: ``pip install 'colloc[meshes]'``.

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
                raise InputError(f"{name} is for solutions, got {quoted(value)} with {quoted(x)}")
        return _mechanism(x, q, t, slow, None if meshes is None else link_meshes(meshes))
    if q is not None or t is not None:
        raise InputError(f"q and t are for a Model or a ClosedChain, got them with {quoted(x)}")
    if isinstance(x, Problem | Phases):
        if meshes is not None:
            raise InputError("meshes are for a Model, a ClosedChain or solutions, got a problem")
        name = ", ".join(dict.fromkeys(problem.model.name for problem in x.phases.values()))
        return LiveViewer(_guesses(x, guess, ghost=False), name, slow, muscles)
    solutions, names = _solutions(x)
    problem = solutions[0].problem
    solutions, names = one_by_one(solutions, names if labels is None else labels)
    share = max(0.25, 1.5 / (0.5 + len(solutions)))
    if muscles is not None:
        instance("muscles", muscles, Muscles)
    named = zip(solutions, names, strict=True)
    parts = None if meshes is None else link_meshes(meshes)
    recordings = [solution_recording(solution, name, share, muscles, meshes=parts) for solution, name in named]
    if guess is not None:
        recordings += _guesses(problem, guess, ghost=True)
    title = ", ".join(dict.fromkeys(title_of(solution) for solution in solutions))
    return viewer(recordings, title, slow)


def _guesses(problem: Problem | Phases, guess: Any, *, ghost: bool) -> list[Recording]:
    """The recording of a guess, or one for each case; only of its signals for problems without joints."""
    guess = None if guess is True else guess
    phases = problem.phases.values()
    if not any(phase.model.n for phase in phases) and any(phase.all_unknowns for phase in phases):
        if not isinstance(guess, Solution | PhasesSolution):
            nlp = transcribe(problem)
            parameters = nlp.problem.parameter_values()
            guess = initial_motion(nlp, start_from(nlp, guess, parameters).x, parameters)
        drawn, names = one_by_one([guess], None)
        return [
            solution_recording(one, f"guess of {name}" if len(drawn) > 1 else "guess", detail="initial motion")
            for one, name in zip(drawn, names, strict=True)
        ]
    poses = guess_poses(problem, guess).items()
    return [guess_recording(*pose, f"guess of {name}" if name else "guess", ghost=ghost) for name, pose in poses]


def _solutions(x: Any) -> tuple[list[Solution | PhasesSolution], list[str] | None]:
    """All solutions with names, None for cases, which have their own; raise InputError if there are none."""
    if isinstance(x, Solution | PhasesSolution):
        return [x], [title_of(x)] if x.problem.in_sequence else None
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
    """A model or a chain with sliders, in a posture, or moving through postures."""
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
    """Data with which the page moves a model: its joints, and the body of each point and mesh."""
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
        simple = joint.positions == 1  # a ball joint is turned about its link's axes from its position
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
    """A curve for the page: first argument, step, and values; constant beyond."""
    low, high = (float(side[place][0]) for side in limits)
    low, high = max(low, -2 * _RANGE), min(high, 2 * _RANGE)
    symbol = ca.SX.sym("q")
    values = ca.Function("curve", [symbol], curve.derivatives(symbol, 0)).map(_SAMPLES)(
        np.linspace(low, high, _SAMPLES)
    )
    return [low, (high - low) / (_SAMPLES - 1), *_numbers(values)]


def _numbers(values: Any) -> list[float]:
    """Entries row by row; the first three rows of a homogeneous transform."""
    array = np.array(ca.DM(ca.SX(values)))
    return [round(float(value), 7) for value in array[:3].ravel()]
