"""Random closed chains: random trees with frames tied where they happen to be; and closed chains in Pinocchio."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

import colloc as co
from colloc import loops
from colloc.loops.loop import Loop
from tests.support.random_trees import (
    PinocchioTree,
    State,
    numbers,
    pin,
    pinocchio_inverse_dynamics,
    pinocchio_tree,
    random_tree,
    random_unit,
)

KINDS: tuple[str, ...] = ("weld", "revolute", "prismatic", "cylindrical", "spherical", "planar", "on_line", "on_plane")
HELD: dict[str, int] = dict(zip(KINDS, (6, 5, 5, 4, 3, 3, 2, 1), strict=True))  # by textbook


class Closed(NamedTuple):
    """A tree, the loops that close it with the axis of each, and a posture in which they are closed."""

    model: co.Model
    loops: list[Loop]
    axes: list[np.ndarray]
    q: np.ndarray


def with_limits(rng: np.random.Generator, drawn: Closed, share: float) -> co.Model:
    """The tree with limits of some joints, a share of all, around the posture in which it is closed."""
    sides = drawn.q + rng.uniform(0.05, 2.0, (2, drawn.model.n)) * np.array([[-1], [1]])
    bounded, bodies = rng.random(drawn.model.n) < share, list(drawn.model.bodies)
    for j, k in enumerate(drawn.model.moving):
        if bounded[j]:
            limits = co.Limits(position=(float(sides[0, j]), float(sides[1, j])))
            bodies[k] = replace(bodies[k], joint=replace(bodies[k].joint, limits=limits))
    return replace(drawn.model, bodies=bodies)


def closed_chain(rng: np.random.Generator, kinds: tuple[str, ...], bodies: int) -> Closed:
    """A tree closed by loops of these kinds whose rows are independent and leave one freedom at least."""
    for _ in range(100):
        model = random_tree(rng, bodies, virtual=False)
        if model.n <= sum(HELD[kind] for kind in kinds):
            continue
        for _ in range(10):  # another tree costs more than other loops
            q, axes = rng.uniform(-np.pi, np.pi, model.n), [random_unit(rng) for _ in kinds]
            found = [random_loop(rng, model, q, f"loop{k}", pair, axes[k]) for k, pair in enumerate(kinds)]
            chain = Closed(model, found, axes, q)
            if is_regular(chain):
                return chain
    raise AssertionError(f"no regular chain with {kinds} and {bodies} bodies")


def is_regular(chain: Closed) -> bool:
    """Whether the rows of all loops are far from dependent, and vary, as they do not where all joints are slides."""
    J = geometric_jacobian(chain, chain.q)
    values = np.linalg.svd(J, compute_uv=False)
    if values[-1] <= 0.03 * values[0]:
        return False
    return bool((np.abs(geometric_jacobian(chain, chain.q + 0.1) - J).max(axis=1) > 1e-3).all())


def random_loop(
    rng: np.random.Generator, model: co.Model, q: np.ndarray, name: str, kind: str, axis: np.ndarray
) -> Loop:
    """A loop between two bodies or a body and the world that is closed at q, anywhere along its free directions."""
    ends = rng.choice(np.arange(-1, len(model.bodies)), 2, replace=False)
    world = [*transforms(model, q), np.eye(4)]
    first = _rigid(_any_rotation(rng), 0.3 * rng.normal(size=3))
    second = np.linalg.inv(world[ends[1]]) @ world[ends[0]] @ first @ _free(rng, kind, axis)
    names = [None if k < 0 else model.bodies[k].name for k in ends]
    frames = [loops.Frame(body, frame) for body, frame in zip(names, (first, second), strict=True)]
    return constructor(kind)(name, *frames, *(() if kind in ("weld", "spherical") else (axis,)))


def constructor(kind: str) -> Any:
    """The function of `colloc.loops` that makes loops of a kind."""
    return getattr(loops, kind if kind in loops.__all__ else f"{kind}_loop")


@lru_cache(maxsize=16)
def _tree(model: co.Model) -> PinocchioTree:
    return pinocchio_tree(model)


def transforms(model: co.Model, q: np.ndarray) -> list[np.ndarray]:
    """Link frames in the world by Pinocchio, each shape (4, 4)."""
    tree = _tree(model)
    data = tree.model.createData()
    pin.forwardKinematics(tree.model, data, tree.into(q))
    return [(data.oMi[joint] * offset).homogeneous for joint, offset in zip(tree.joints, tree.offsets, strict=True)]


def relative_placement(model: co.Model, loop: Loop, q: np.ndarray) -> np.ndarray:
    """Transform from the second frame of a loop to the first, by Pinocchio."""
    first, second = _frames(model, loop, q)
    return np.linalg.inv(first) @ second


def geometric_jacobian(chain: Closed, q: np.ndarray) -> np.ndarray:
    """Constrained motion of the loops' second frames relative to their first, by Pinocchio.

    Rows as `held_rows` has them; valid where the loops are closed.
    """
    return np.concatenate([
        held_rows(loop.kind, axis) @ _relative_jacobian(chain.model, loop, q)
        for loop, axis in zip(chain.loops, chain.axes, strict=True)
    ])  # fmt: skip


def held_rows(kind: str, axis: np.ndarray) -> np.ndarray:
    """An orthonormal basis of what a closure holds of (linear, angular) in its first frame, shape (rows, 6)."""
    across, along, full, none = np.linalg.svd(axis[None, :])[2][1:], axis[None, :], np.eye(3), np.zeros((0, 3))
    linear = {"prismatic": across, "cylindrical": across, "planar": along, "on_line": across, "on_plane": along}
    angular = {"weld": full, "prismatic": full, "spherical": none, "on_line": none, "on_plane": none}
    v, w = linear.get(kind, full), angular.get(kind, across)
    return np.block([[v, np.zeros((len(v), 3))], [np.zeros((len(w), 3)), w]])


def _relative_jacobian(model: co.Model, loop: Loop, q: np.ndarray) -> np.ndarray:
    """Velocity of the second frame's origin and angular velocity, relative to and in axes of the first, per rate."""
    tree = _tree(model)
    data = tree.model.createData()
    pin.computeJointJacobians(tree.model, data, tree.into(q))
    first, second = _frames(model, loop, q)
    point, found = second[:3, 3], np.zeros((6, model.n))
    for frame, sign in ((loop.first, -1), (loop.second, 1)):
        if frame.body is None:
            continue
        joint = tree.joints[model.index(frame.body)]
        if joint == 0:
            continue
        world = pin.getJointJacobian(tree.model, data, joint, pin.ReferenceFrame.WORLD)  # at the world's origin
        at_point = np.concatenate([world[:3] - np.cross(point, world[3:], axisb=0).T, world[3:]])
        found += sign * np.array([tree.back(row) for row in at_point])
    turn = np.kron(np.eye(2), first[:3, :3].T)
    return turn @ found


def _frames(model: co.Model, loop: Loop, q: np.ndarray) -> list[np.ndarray]:
    world = transforms(model, q)
    carriers = [np.eye(4) if f.body is None else world[model.index(f.body)] for f in (loop.first, loop.second)]
    return [carrier @ numbers(f.placement) for carrier, f in zip(carriers, (loop.first, loop.second), strict=True)]


def _free(rng: np.random.Generator, kind: str, axis: np.ndarray) -> np.ndarray:
    """A transform that a closure leaves free."""
    about = Rotation.from_rotvec(axis * rng.uniform(-3, 3))
    anyhow, along = _any_rotation(rng), axis * rng.normal()
    in_plane = np.cross(axis, rng.normal(size=3))
    none = Rotation.from_quat([0, 0, 0, 1])
    turn = {"weld": none, "prismatic": none, "revolute": about, "cylindrical": about, "planar": about}
    shift = {"prismatic": along, "cylindrical": along, "on_line": along, "planar": in_plane, "on_plane": in_plane}
    return _rigid(turn.get(kind, anyhow), shift.get(kind, np.zeros(3)))


def _any_rotation(rng: np.random.Generator) -> Rotation:
    return Rotation.from_quat(rng.normal(size=4))


def _rigid(rotation: Rotation, translation: np.ndarray) -> np.ndarray:
    transform = np.eye(4)
    transform[:3, :3], transform[:3, 3] = rotation.as_matrix(), translation
    return transform


def pinocchio_forward(chain: Closed, q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Accelerations, and (force, moment) on the second frame of every loop, by Pinocchio's constrained dynamics.

    Pinocchio knows welds and point contacts (spherical loops).
    """
    tree = _tree(chain.model)
    data = tree.model.createData()
    models, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    for loop in chain.loops:
        ends = []
        for frame in (loop.first, loop.second):
            k = -1 if frame.body is None else chain.model.index(frame.body)
            offset = pin.SE3.Identity() if k < 0 else tree.offsets[k]
            ends += [0 if k < 0 else tree.joints[k], offset * pin.SE3(numbers(frame.placement))]
        kind = {"weld": pin.ContactType.CONTACT_6D, "spherical": pin.ContactType.CONTACT_3D}[loop.kind]
        models.append(pin.RigidConstraintModel(kind, tree.model, *ends, pin.ReferenceFrame.LOCAL))
        datas.append(models[-1].createData())
    pin.initConstraintDynamics(tree.model, data, models, datas)
    found = pin.constraintDynamics(tree.model, data, *map(tree.into, (q, qd, tau)), models, datas)
    # Its force acts on the first frame.
    return tree.back(found), -np.array([[each.contact_force.linear, each.contact_force.angular] for each in datas])


class Saddle(NamedTuple):
    """Accelerations and (force, moment) of every loop on its second frame, in the axes of the first."""

    qdd: np.ndarray
    wrenches: np.ndarray


def multiplier_forward(chain: Closed, q: np.ndarray, qd: np.ndarray, tau: np.ndarray, loads: Any = ()) -> Saddle:
    """Forward dynamics with Lagrange multipliers: Pinocchio's mass matrix and bias, and the textbook's held rows.

    The rate of the rows is a central difference along the motion.
    """
    tree = _tree(chain.model)
    n, zero = chain.model.n, np.zeros(chain.model.n)
    bias, _ = pinocchio_inverse_dynamics(tree, chain.model, State(q, qd, zero), loads)
    still, _ = pinocchio_inverse_dynamics(tree, chain.model, State(q, zero, zero), ())
    columns = [pinocchio_inverse_dynamics(tree, chain.model, State(q, zero, e), ())[0] - still for e in np.eye(n)]
    J, step = geometric_jacobian(chain, q), 1e-5
    rate = (geometric_jacobian(chain, q + step * qd) - geometric_jacobian(chain, q - step * qd)) / (2 * step)
    r = len(J)
    matrix = np.block([[np.array(columns).T, -J.T], [J, np.zeros((r, r))]])
    found = np.linalg.solve(matrix, np.concatenate([tau - bias, -rate @ qd]))
    held = [held_rows(loop.kind, axis) for loop, axis in zip(chain.loops, chain.axes, strict=True)]
    shares = np.split(found[n:], np.cumsum([len(rows) for rows in held])[:-1])
    return Saddle(found[:n], np.array([(rows.T @ x).reshape(2, 3) for rows, x in zip(held, shares, strict=True)]))


def constrained_acceleration(chain: loops.ClosedChain, q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> np.ndarray:
    """Accelerations of all joints under the torques of all joints, shape (n,).

    For hinges, slides and angles. Welds are contacts of six rows and ball joints of three; a hinge is two ball joints
    on its axis.
    """
    tree = pinocchio_tree(chain.model)
    models, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    for loop in chain.loops:
        kind = pin.ContactType.CONTACT_6D if loop.kind == "weld" else pin.ContactType.CONTACT_3D
        for shift in _pins(loop):
            ends = []
            for frame in (loop.first, loop.second):
                k = None if frame.body is None else chain.model.index(frame.body)
                joint, offset = (0, pin.SE3.Identity()) if k is None else (tree.joints[k], tree.offsets[k])
                ends += [joint, offset * pin.SE3(numbers(frame.placement) @ numbers(co.placement(shift)))]
            models.append(pin.RigidConstraintModel(kind, tree.model, *ends, pin.ReferenceFrame.LOCAL))
            datas.append(models[-1].createData())
    data = tree.model.createData()
    pin.initConstraintDynamics(tree.model, data, models, datas)
    settings = pin.ProximalSettings(1e-15, 1e-15, 1e-6, 100)  # for rows that follow from others
    state = tree.into(q), tree.into(qd), tree.into(tau)
    qdd = pin.constraintDynamics(tree.model, data, *state, models, datas, settings)
    return tree.back(qdd)


def _pins(loop: Loop) -> list[np.ndarray]:
    """Points in the frames of a loop that coincide."""
    if loop.kind in ("weld", "spherical"):
        return [np.zeros(3)]
    assert loop.kind == "revolute"
    axis = np.linalg.svd(loop.forms[-1, :3, :3])[0][:, 0]  # the row is axis times another direction
    return [np.zeros(3), 0.1 * axis]
