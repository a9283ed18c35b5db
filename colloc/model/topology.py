"""Who is attached to whom: parent joints and branches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Topology:
    """Connectivity of a tree of joints, numbered from 1; 0 is the world (Zhakatayev et al. 2023, section 2).

    A branch is a maximal run of joints without a fork: it starts at the world or after a joint with several
    children and ends before the next fork or at a tip.
    """

    parents: tuple[int, ...]  # parent joint of joint 1, 2, ...
    # joints of each branch from base to tip, branches numbered by their first joint
    branches: tuple[tuple[int, ...], ...]
    branch_parents: tuple[int, ...]  # parent branch of branch 1, 2, ...; 0 is the world


def find_topology(parents: Sequence[int]) -> Topology:
    """Branches of a tree given by the parent of every joint (1-based, parents before children)."""
    children = np.bincount(np.asarray(parents, dtype=int), minlength=len(parents) + 1)
    branch_of = [0]
    branches: list[list[int]] = []
    branch_parents: list[int] = []
    for joint, parent in enumerate(parents, start=1):
        if parent != 0 and children[parent] == 1:
            branch_of.append(branch_of[parent])
            branches[branch_of[parent] - 1].append(joint)
        else:
            branches.append([joint])
            branch_parents.append(branch_of[parent])
            branch_of.append(len(branches))
    return Topology(tuple(parents), tuple(map(tuple, branches)), tuple(branch_parents))
