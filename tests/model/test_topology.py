"""Branches of trees: a chain, the 43-joint human of the literature, and random trees."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import colloc as co
from colloc.model import Topology, find_topology
from tests.support.random_trees import random_tree

# Zhakatayev, Rogovchenko and Paetzold (2023), equations 18 to 20: parent joint of every joint of a human with 43
# degrees of freedom (three slides at the base; 6-13 and 14-21 the legs; 23-31 and 32-40 the arms; 41-43 the head), its
# branches with their parents, and their first and last joints.
HUMAN_PARENTS = [
    0, 1, 2, 3, 4,
    5, 6, 7, 8, 9, 10, 11, 12,
    5, 14, 15, 16, 17, 18, 19, 20,
    5,
    22, 23, 24, 25, 26, 27, 28, 29, 30,
    22, 32, 33, 34, 35, 36, 37, 38, 39,
    22, 41, 42,
]  # fmt: skip
HUMAN_BRANCH_PARENTS = [(1, 0), (2, 1), (3, 1), (4, 1), (5, 4), (6, 4), (7, 4)]
HUMAN_BRANCH_ENDS = [(1, 5), (6, 13), (14, 21), (22, 22), (23, 31), (32, 40), (41, 43)]


def random_parents(seed: int) -> list[int]:
    """Parents of up to 40 joints, some with the world as a parent, in no particular order of branches."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 41))
    return [k - 1 if rng.random() < 0.6 else int(rng.integers(0, k)) for k in range(1, n + 1)]


def forks(parents: list[int], joint: int) -> bool:
    """Whether branches begin after a joint: it is the world, or has several children."""
    return joint == 0 or parents.count(joint) > 1


def test_a_chain_is_one_branch():
    assert find_topology([0, 1, 2, 3]) == Topology((0, 1, 2, 3), ((1, 2, 3, 4),), (0,))


def test_a_single_joint_is_one_branch():
    assert find_topology([0]) == Topology((0,), ((1,),), (0,))


def test_two_trees_on_the_world_are_two_branches():
    assert find_topology([0, 1, 0, 3]) == Topology((0, 1, 0, 3), ((1, 2), (3, 4)), (0, 0))


def test_a_fork_ends_a_branch_and_begins_one_for_each_child():
    topology = find_topology([0, 1, 2, 2, 3])
    assert topology.branches == ((1, 2), (3, 5), (4,))
    assert topology.branch_parents == (0, 1, 1)


def test_human_has_the_published_branches():
    topology = find_topology(HUMAN_PARENTS)
    assert topology.parents == tuple(HUMAN_PARENTS)
    assert topology.branches == tuple(tuple(range(first, last + 1)) for first, last in HUMAN_BRANCH_ENDS)
    assert list(enumerate(topology.branch_parents, start=1)) == HUMAN_BRANCH_PARENTS


@pytest.mark.parametrize("seed", range(30))
def test_branches_partition_the_joints(seed):
    parents = random_parents(seed)
    joints = [joint for branch in find_topology(parents).branches for joint in branch]
    assert sorted(joints) == list(range(1, len(parents) + 1))


@pytest.mark.parametrize("seed", range(30))
def test_a_branch_is_a_chain_without_a_fork(seed):
    parents = random_parents(seed)
    for branch in find_topology(parents).branches:
        for above, joint in pairwise(branch):
            assert parents[joint - 1] == above
            assert not forks(parents, above)


@pytest.mark.parametrize("seed", range(30))
def test_a_branch_is_as_long_as_it_can_be(seed):
    """It begins after a fork or the world, and ends at a fork or a tip."""
    parents = random_parents(seed)
    for branch in find_topology(parents).branches:
        assert forks(parents, parents[branch[0] - 1])
        assert parents.count(branch[-1]) != 1


@pytest.mark.parametrize("seed", range(30))
def test_the_parent_of_a_branch_ends_where_the_branch_begins(seed):
    parents = random_parents(seed)
    topology = find_topology(parents)
    for branch, above in zip(topology.branches, topology.branch_parents, strict=True):
        last = 0 if above == 0 else topology.branches[above - 1][-1]
        assert parents[branch[0] - 1] == last


@pytest.mark.parametrize("seed", range(30))
def test_branches_are_numbered_by_their_first_joint_and_after_their_parents(seed):
    topology = find_topology(random_parents(seed))
    first = [branch[0] for branch in topology.branches]
    assert first == sorted(first)
    assert all(above < number for number, above in enumerate(topology.branch_parents, start=1))


def test_model_counts_bodies_from_one_fixed_joints_included():
    bodies = [
        co.Body("trunk", co.revolute()),
        co.Body("left", co.revolute(), "trunk"),
        co.Body("right", co.fixed(), "trunk"),
        co.Body("hand", co.prismatic(), "right"),
    ]
    assert co.Model(bodies).topology == Topology((0, 1, 1, 3), ((1,), (2,), (3, 4)), (0, 1, 1))


@pytest.mark.parametrize("seed", range(5))
def test_model_parents_and_topology_tell_the_same_tree(seed):
    model = random_tree(np.random.default_rng(seed))
    names = [body.name for body in model.bodies]
    expected = tuple(0 if body.parent is None else names.index(body.parent) + 1 for body in model.bodies)
    assert model.topology.parents == expected
