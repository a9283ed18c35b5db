"""Films of mechanisms of which a study knows only the postures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import casadi as ca
import numpy as np

import colloc as co
from colloc.plot.animation import write_gif
from colloc.plot.recording import CurveGroup, ForceArrow, curves_by_unit, from_figure
from colloc.plot.skeleton import Pose, Skeleton, places, skeleton_from
from colloc.plot.viewer import viewer

TIMES = 200  # of a viewer
Writer = Callable[[str, float], Path]  # to a path, with a number of frames a second


def film_of(
    pose: Pose,
    duration: float,
    name: str,
    slow: float | None = None,
    groups: Callable[[np.ndarray], Sequence[CurveGroup]] = lambda t: (),
    forces: Callable[[np.ndarray], Sequence[ForceArrow]] = lambda t: (),
) -> Writer:
    """Film of any stick figure: a viewer, or a GIF by the suffix of its path.

    Parameters
    ----------
    pose : callable
        The stick figure at times of shape (N,) [s].
    duration : float [s]
    name : str
    slow : float, optional
        Duration of the film over that of the motion, as in `co.plot.view`.
    groups, forces : callable, optional
        Curves and forces at these times, for viewers.
    """

    def write(path: str, fps: float) -> Path:
        if Path(path).suffix.lower() == ".gif":
            return write_gif(pose, np.linspace(0, duration, 2 * TIMES), name, path, fps, slow)
        t = np.linspace(0, duration, TIMES)
        return viewer([from_figure(pose(t), name).having(groups(t), forces(t))], name, slow).save(path)

    return write


def of_postures(
    model: co.Model,
    postures: Callable[[np.ndarray], np.ndarray],
    duration: float,
    slow: float | None = None,
    forces: Callable[[np.ndarray], Sequence[ForceArrow]] = lambda t: (),
) -> Writer:
    """Film of a model from its coordinates at any times.

    Parameters
    ----------
    model : Model
    postures : callable
        Coordinates, shape (N, n) [rad, m], at times of shape (N,) [s].
    duration, slow, forces :
        As in `film_of`.
    """
    q = ca.SX.sym("q", model.n)
    placed = ca.Function("placed", [q], [places(model, q)])

    def pose(t: np.ndarray) -> Skeleton:
        return skeleton_from(model, t, np.array(placed(postures(t).T)))

    def groups(t: np.ndarray) -> list[CurveGroup]:
        return curves_by_unit("position", model.position_names, model.position_units, postures(t))

    return film_of(pose, duration, model.name, slow, groups, forces)


def of_samples(model: co.Model, t: np.ndarray, q: np.ndarray, slow: float | None = None) -> Writer:
    """The same of coordinates, shape (N, n), at given times, shape (N,) [s], straight between them."""

    def postures(at: np.ndarray) -> np.ndarray:
        return np.column_stack([np.interp(at, t, column) for column in q.T])

    return of_postures(model, postures, float(t[-1]), slow)
