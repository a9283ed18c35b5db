"""Pairs of shapes that have to be kept apart: links from each other and from obstacles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from itertools import combinations
from typing import Any

import casadi as ca
import numpy as np

from colloc.model.distance import hull_distance
from colloc.model.kinematics import frames
from colloc.model.shapes import SHAPES, Shape
from colloc.model.tree import Model
from colloc.support.checks import InputError, as_tuple, finite_array, instance, mapping, spelt, text, unknown_name

_TOUCHING = 1e-4  # m, the smoothing of distances that tell what touches


@spelt
def avoidance_pairs(
    model: Model, shapes: Sequence[Shape], postures: Mapping[str, Any] | None = None
) -> tuple[tuple[Shape, Shape], ...]:
    """Pairs of shapes that a motion might bring together, and that should be kept apart.

    These are all pairs of shapes on bodies except

    - those on one body, or on bodies that do not move relative to each other,
    - those of neighbours: bodies of which one carries the other, with no moving body with a shape between them,
    - those that touch at zero or in a named posture, where contact is taken as intended.

    Shapes in the world are obstacles for all that move.

    Parameters
    ----------
    model : Model
        Of numbers, without symbols.
    shapes : sequence of Capsule, Box or ConvexHull
    postures : mapping of str to mapping of str to float, or to shape (n_q,) [rad, m], optional
        Such as `Reading.postures`; coordinates that a posture does not name are zero.

    Returns
    -------
    pairs : tuple of (Shape, Shape)
        In the order of the shapes.

    Raises
    ------
    InputError
        For a model with symbols, unknown bodies and joints, and objects that are no shapes.

    See Also
    --------
    clearance

    Examples
    --------
    >>> upper = co.Capsule("shoulder", (-0.4, 0, 0), (0, 0, 0), radius=0.04)
    >>> fore = co.Capsule("elbow", (-0.4, 0, 0), (0, 0, 0), radius=0.04)
    >>> table = co.model.Box(None, (1, 1, 0.1), co.placement((0.6, -0.6, 0)), name="table")
    >>> pairs = co.model.avoidance_pairs(two_link(), [upper, fore, table])
    >>> [(a.label, b.label) for a, b in pairs]
    [('shoulder', 'table'), ('elbow', 'table')]
    >>> keep_off = [co.clearance(a, b, by=0.01) for a, b in pairs]
    """
    instance("model", model, Model)
    if model.symbols:
        raise InputError(f"avoidance_pairs needs a model of numbers, got one with {', '.join(map(str, model.symbols))}")
    listed = [instance("shape", shape, Shape, SHAPES) for shape in as_tuple("shapes", shapes)]
    carriers = [-1 if shape.body is None else _carrier(model, model.index(shape.body)) for shape in listed]
    on_bodies = {carrier for shape, carrier in zip(listed, carriers, strict=True) if shape.body is not None}
    pairs, alone = [], []  # alone are those without an obstacle
    for i, j in combinations(range(len(listed)), 2):
        if carriers[i] == carriers[j]:
            continue
        if listed[i].body is None or listed[j].body is None:
            pairs.append((i, j))
        elif not _next(model, on_bodies, carriers[i], carriers[j]):
            pairs.append((i, j))
            alone.append((i, j))
    touching = _touching(model, [(listed[i], listed[j]) for i, j in alone], _rows(model, postures))
    left_out = {pair for pair, touches in zip(alone, touching, strict=True) if touches}
    return tuple((listed[i], listed[j]) for i, j in pairs if (i, j) not in left_out)


def _carrier(model: Model, k: int) -> int:
    """The moving body to which a body is fixed, itself or another; -1 for the world."""
    while k >= 0 and not model.bodies[k].joint.moves:
        k = model.parents[k]
    return k


def _next(model: Model, on_bodies: Set[int], i: int, j: int) -> bool:
    """Whether one of two bodies is the first with a shape on the other's path to the world, or that is the world."""
    for lower, upper in ((i, j), (j, i)):
        k = lower
        while k >= 0 and (k == lower or k not in on_bodies):
            k = _carrier(model, model.parents[k])
        if lower >= 0 and k == upper:
            return True
    return False


def _rows(model: Model, postures: Mapping[str, Any] | None) -> list[np.ndarray]:
    """Zero and the named postures, each shape (n_q,)."""
    rows = [model.neutral]
    for name, posture in mapping("postures", postures).items():
        text("name of a posture", name)
        if not isinstance(posture, Mapping):
            rows.append(finite_array(f"posture {name!r}", posture, (model.n_q,)))
            continue
        q = model.neutral
        for joint, value in posture.items():
            if joint not in model.position_names:
                raise unknown_name(f"joint (of posture {name!r})", joint, model.position_names)
            q[model.position_names.index(joint)] = finite_array(f"posture {name!r}", value, ())
        rows.append(q)
    return rows


def _touching(model: Model, pairs: Sequence[tuple[Shape, Shape]], postures: Sequence[np.ndarray]) -> np.ndarray:
    """Whether pairs touch in any posture, shape (pairs,)."""
    if not pairs:
        return np.zeros(0, dtype=bool)
    q, zero = ca.SX.sym("q", model.n_q), ca.SX(model.n, 1)
    links = frames(model, q, zero, zero).position
    cores = {s: s.core.placed(links[model.index(s.body)]) for pair in pairs for s in pair if s.body is not None}
    gaps = [hull_distance(cores[a], cores[b], _TOUCHING) - a.rounding - b.rounding for a, b in pairs]
    function = ca.Function("gaps", [q], [ca.vertcat(*gaps)])
    return np.any([np.array(function(row))[:, 0] <= 0 for row in postures], axis=0)
