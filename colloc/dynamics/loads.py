"""Loads in the axes of their links, and derivatives of loads that depend on the state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import casadi as ca

from colloc.model import Load, Model


class LinkLoad(NamedTuple):
    """A load in the frame of the link it acts on."""

    body: int  # index of the loaded body
    force: ca.SX  # force, moment: shape (3,) [N], [N m]
    moment: ca.SX
    point: ca.SX  # shape (3,) [m]; where the force acts


def loads_in_links(model: Model, rotations: Sequence[ca.SX], loads: Sequence[Load]) -> list[LinkLoad]:
    """Every load in the frame of its link; rotations lead from the axes of every link to those of its parent."""
    if not loads:
        return []
    to_world: list[ca.SX] = []
    for rotation, parent in zip(rotations, model.parents, strict=True):
        to_world.append(rotation if parent < 0 else to_world[parent] @ rotation)
    in_links = []
    for load in loads:
        k = model.index(load.body)
        in_links.append(LinkLoad(k, to_world[k].T @ load.force, to_world[k].T @ load.moment, load.point))
    return in_links


# Values in one column, and their derivatives by q, qd and qdd.
Differentiated = tuple[ca.SX, Sequence[ca.SX]]


def with_varying_loads(
    differentiated: Callable[[Sequence[Load]], Differentiated],
    q: ca.SX,
    qd: ca.SX,
    qdd: ca.SX,
    loads: Sequence[Load],
) -> Differentiated:
    """Values and derivatives for constant loads, completed for loads that depend on the state."""
    state = ca.vertcat(q, qd, qdd)
    varying = [load for load in loads if ca.depends_on(load.wrench, state)]
    if not varying:
        return differentiated(loads)
    symbols = [ca.SX.sym("w", 9) for _ in varying]
    constant = [Load(load.body, w[:3], w[3:6], w[6:]) for load, w in zip(varying, symbols, strict=True)]
    fixed_loads = [load for load in loads if not ca.depends_on(load.wrench, state)]
    values, slopes = differentiated([*fixed_loads, *constant])
    symbol_column, wrenches = ca.vertcat(*symbols), ca.densify(ca.vertcat(*(load.wrench for load in varying)))
    # One Jacobian shares more between its columns than three would.
    added = ca.horzsplit(ca.jacobian(values, symbol_column) @ ca.jacobian(wrenches, state), q.shape[0])
    totals = [slope + part for slope, part in zip(slopes, added, strict=True)]
    values, *totals = ca.substitute([values, *totals], [symbol_column], [wrenches])
    return values, totals
