"""Films of mechanisms of which a study knows only the postures."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import casadi as ca
import numpy as np

import colloc as co
from colloc.plot.animation import write_film
from colloc.plot.skeleton import Skeleton, places, skeleton_from
from colloc.studies.reporting import Film


def of_postures(
    model: co.Model, postures: Callable[[np.ndarray], np.ndarray], duration: float, slow: float | None = None
) -> Film:
    """Film of a model from its coordinates at any times.

    Parameters
    ----------
    model : Model
    postures : callable
        Coordinates, shape (N, n) [rad, m], at times of shape (N,) [s].
    duration : float [s]
    slow : float, optional
        Duration of the film over that of the motion, as in `co.plot.animate`.
    """
    q = ca.SX.sym("q", model.n)
    placed = ca.Function("placed", [q], [places(model, q)])

    def pose(t: np.ndarray) -> Skeleton:
        return skeleton_from(model, t, np.array(placed(postures(t).T)))

    return partial(write_film, pose, np.linspace(0, duration, 401), model.name, slow=slow)


def of_samples(model: co.Model, t: np.ndarray, q: np.ndarray, slow: float | None = None) -> Film:
    """The same of coordinates, shape (N, n), at given times, shape (N,) [s], straight between them."""

    def postures(at: np.ndarray) -> np.ndarray:
        return np.column_stack([np.interp(at, t, column) for column in q.T])

    return of_postures(model, postures, float(t[-1]), slow)
