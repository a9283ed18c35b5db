"""Loads, which are given in the world, in the axes of their links, as recursions in moving coordinates need them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import casadi as ca

from colloc.model import Load, Model


class LinkLoad(NamedTuple):
    """A load in the frame of the link it acts on.

    Parameters
    ----------
    body : int
        Index of the loaded body.
    force, moment : SX, shape (3,) [N], [N m]
    point : SX, shape (3,) [m]
        Where the force acts.
    """

    body: int
    force: ca.SX
    moment: ca.SX
    point: ca.SX


def loads_in_links(model: Model, rotations: Sequence[ca.SX], loads: Sequence[Load]) -> list[LinkLoad]:
    """Every load in the frame of its link.

    Parameters
    ----------
    model : Model
    rotations : sequence of SX, each shape (3, 3)
        From the axes of every link to those of its parent.
    loads : sequence of Load
    """
    if not loads:
        return []
    to_world: list[ca.SX] = []
    for rotation, parent in zip(rotations, model.parents, strict=True):
        to_world.append(rotation if parent < 0 else to_world[parent] @ rotation)
    found = []
    for load in loads:
        k = model.index(load.body)
        found.append(LinkLoad(k, to_world[k].T @ load.force, to_world[k].T @ load.moment, load.point))
    return found
