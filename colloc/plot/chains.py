"""The stick figure of a closed chain, whose loops a tree does not show."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np

from colloc.loops import ClosedChain, Frame
from colloc.model import Body, Model, fixed, placement
from colloc.plot.skeleton import Skeleton, Ties, assembled, places
from colloc.problem import Problem

Postures = Callable[[np.ndarray], np.ndarray]


def chain_pose(
    chain: ClosedChain, postures: Postures, points: Mapping[str, tuple[str, Any]] | None = None
) -> Callable[[np.ndarray], Skeleton]:
    """A closed chain as a stick figure that `draw_poses` and `write_film` can draw.

    Links run to where the loops are cut, which are drawn as hinges, or as slides.

    Parameters
    ----------
    chain : ClosedChain
    postures : callable
        Times, shape (N,) [s] -> q of all joints, shape (N, n).
    points : mapping of str to (str, shape (3,)), optional
        Further ends of links by name: a body and the point [m] in its frame. They leave a path.
    """
    model, ties = _with_cuts(chain)
    ends = [Body(name, fixed(placement(place)), body) for name, (body, place) in (points or {}).items()]
    model = replace(model, bodies=[*model.bodies, *ends])
    q = ca.SX.sym("q", model.n)
    function = ca.Function("places", [q], [places(model, q)])

    def pose(t: np.ndarray) -> Skeleton:
        return assembled(model, t, np.array(function.map(t.size)(postures(t).T)), ties)

    return pose


def drawn_model(problem: Problem) -> tuple[Model, Ties]:
    """The model of a problem, with the cuts of its loops and what they tie together, if it has any."""
    chain = getattr(problem.coordinates, "chain", None)
    return _with_cuts(chain) if isinstance(chain, ClosedChain) else (problem.model, ())


def _with_cuts(chain: ClosedChain) -> tuple[Model, Ties]:
    """The tree of a chain with a massless body on either side of every cut, and the pairs of these."""
    bodies, ties = list(chain.model.bodies), []
    for loop in chain.loops:
        bodies += [_marked(loop.name, side, frame) for side, frame in (("first", loop.first), ("second", loop.second))]
        ties.append((len(bodies) - 2, len(bodies) - 1, loop.translations < 3))
    return replace(chain.model, bodies=bodies), tuple(ties)


def _marked(loop: str, side: str, frame: Frame) -> Body:
    """A massless body where a loop is cut."""
    return Body(f"{loop}, {side}", fixed(frame.placement), frame.body)
