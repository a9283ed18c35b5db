"""Random mechanisms, and the same mechanisms as models of Pinocchio and MuJoCo.

Everything is drawn from the generator that is passed in, so that a seed names a mechanism. The conversions read the
numbers of a `Model` and never its recursions: what they are compared with shares no code with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple
from xml.etree import ElementTree

import casadi as ca
import numpy as np
import pinocchio
from scipy.spatial.transform import Rotation

import colloc as co

pin: Any = pinocchio  # has no type stubs


class State(NamedTuple):
    """Coordinates, rates and accelerations, each shape (n,)."""

    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray


class Case(NamedTuple):
    """A mechanism with loads in a state."""

    model: co.Model
    loads: list[co.Load]
    state: State


def numbers(matrix: Any) -> np.ndarray:
    """Values of a constant SX or DM; columns become vectors."""
    array = np.array(ca.DM(matrix))
    return array.ravel() if matrix.shape[1] == 1 else array


def evaluate(expressions: Sequence[Any], symbols: Sequence[ca.SX], values: Sequence[Any]) -> list[np.ndarray]:
    """Values of SX expressions by a Function of the given symbols, as the library's users evaluate them."""
    function = ca.Function("f", list(symbols), [ca.SX(e) for e in expressions])
    return [numbers(result) for result in function.call([ca.DM(value) for value in values])]


def relative_error(value: np.ndarray, reference: np.ndarray) -> float:
    """Largest difference, relative to the largest reference value but at least 1."""
    assert np.shape(value) == np.shape(reference)
    return float(np.abs(value - reference).max() / max(1.0, np.abs(reference).max()))


def torque(formulation: Any, model: co.Model, state: State, loads: Any = ()) -> np.ndarray:
    """Torque of a formulation at one state."""
    symbols = coordinates(model)
    return evaluate([formulation(model, *symbols, loads)], symbols, state)[0]


def derivatives(recursion: Any, model: co.Model, state: State, loads: Any = ()) -> list[np.ndarray]:
    """Torque, shape (n,), and its three derivatives, each shape (n, n), of a recursion at one state."""
    symbols = coordinates(model)
    tau, *slopes = evaluate(recursion(model, *symbols, loads), symbols, state)
    return [tau, *(slope.reshape(model.n, model.n) for slope in slopes)]


def coordinates(model: co.Model) -> tuple[ca.SX, ca.SX, ca.SX]:
    """Symbols q, qd, qdd."""
    q, qd, qdd = (ca.SX.sym(name, model.n) for name in ("q", "qd", "qdd"))
    return q, qd, qdd


def random_state(rng: np.random.Generator, model: co.Model) -> State:
    """Coordinates all around the circle, rates and accelerations of several units."""
    return State(rng.uniform(-np.pi, np.pi, model.n), 2 * rng.normal(size=model.n), 4 * rng.normal(size=model.n))


def random_tree(
    rng: np.random.Generator, n_bodies: int | None = None, *, virtual: bool = True, threads: bool = True
) -> co.Model:
    """A tree of 1 to 12 bodies on one or several roots, in a random gravity field.

    Joints are revolute, prismatic, helical or fixed; given by a DH row, by a placement, or by transforms on both sides
    of the screw. Angles are often multiples of a right angle and lengths often zero, as they are in anatomical models.

    Parameters
    ----------
    rng : Generator
    n_bodies : int, optional
    virtual : bool
        Whether links may be massless, a rod or a particle. Such a link at a tip makes the mass matrix singular.
    threads : bool
        Whether joints may be helical, which MuJoCo does not know.
    """
    count = int(rng.integers(1, 13)) if n_bodies is None else n_bodies
    bodies: list[co.Body] = []
    for k in range(count):
        joint = _random_joint(rng, moving=k == 0, threads=threads)
        # Mostly the body before, which makes long chains; else any earlier one or the world, which makes forks.
        parent = k - 1 if rng.random() < 0.6 else int(rng.integers(-1, k))
        properties = {} if virtual and rng.random() < 0.3 else random_inertia(rng, degenerate=virtual)
        bodies.append(co.Body(f"body{k}", joint, bodies[parent].name if parent >= 0 else None, **properties))
    return co.Model(bodies, gravity=9.81 * random_unit(rng), name="random tree")


@lru_cache
def tree_case(seed: int, *, virtual: bool = True, threads: bool = True) -> Case:
    """Random tree number `seed` under up to four loads: 1 to 12 bodies for the first twelve, 20 and 40 for two more."""
    rng = np.random.default_rng(seed)
    size = seed + 1 if seed < 12 else {22: 20, 23: 40}.get(seed)
    model = random_tree(rng, size, virtual=virtual, threads=threads)
    return Case(model, random_loads(rng, model, count=int(rng.integers(0, 5))), random_state(rng, model))


def related(model: co.Model) -> np.ndarray:
    """Whether one body is an ancestor of the other or the same, shape (n_bodies, n_bodies); from `parents` alone."""
    above = np.eye(len(model.bodies), dtype=bool)
    for k, parent in enumerate(model.parents):
        if parent >= 0:
            above[k] |= above[parent]
    return above | above.T


def branches(model: co.Model) -> list[int]:
    """Bodies that begin a run without a fork: children of the world, or of a body with several children."""
    return [k for k, parent in enumerate(model.parents) if parent < 0 or model.parents.count(parent) > 1]


def random_loads(rng: np.random.Generator, model: co.Model, count: int = 3) -> list[co.Load]:
    """Wrenches on links drawn with replacement, so that a link may carry several."""
    names = [model.bodies[k].name for k in rng.integers(len(model.bodies), size=count)]
    return [
        co.Load(name, force=10 * rng.normal(size=3), moment=5 * rng.normal(size=3), point=rng.normal(size=3))
        for name in names
    ]


def random_inertia(rng: np.random.Generator, *, degenerate: bool = False) -> dict[str, Any]:
    """Mass, centre of mass and inertia of a cloud of point masses; a particle or a rod where degenerate."""
    points = int(rng.choice([1, 2, 8])) if degenerate else 8
    masses, positions = rng.uniform(0.1, 1.0, points), 0.4 * rng.normal(size=(points, 3)) + 0.3 * rng.normal(size=3)
    return point_cloud_inertia(masses, positions)


def point_cloud_inertia(masses: np.ndarray, positions: np.ndarray) -> dict[str, Any]:
    """The textbook sums over particles: total mass, centroid, and sum of m (|r|^2 1 - r r') about the centroid."""
    mass = masses.sum()
    com = masses @ positions / mass
    inertia = np.zeros((3, 3))
    for m, r in zip(masses, positions - com, strict=True):
        inertia += m * (r @ r * np.eye(3) - np.outer(r, r))
    return {"mass": mass, "com": com, "inertia": inertia}


def random_unit(rng: np.random.Generator) -> np.ndarray:
    """A direction."""
    vector = rng.normal(size=3)
    return vector / np.linalg.norm(vector)


def _random_joint(rng: np.random.Generator, *, moving: bool, threads: bool) -> co.model.Joint:
    kind = rng.choice(["revolute", "prismatic"] if moving else ["revolute", "revolute", "prismatic", "fixed"])
    form = rng.choice(["dh", "placed", "two-sided"])
    if threads and kind == "revolute" and rng.random() < 0.3:
        if form == "two-sided":  # an axis that misses the joint frame's origin
            return co.model.Joint(_placement(rng), (random_unit(rng), 0.3 * rng.normal(size=3)), _placement(rng))
        return co.model.helical(tuple(3 * random_unit(rng)), rng.normal(scale=0.2), _placement(rng))
    if form == "dh" and kind != "fixed":
        make = co.dh_prismatic if kind == "prismatic" else co.dh_revolute
        return make(_angle(rng), _length(rng), _length(rng), _angle(rng))
    if form == "two-sided":
        return co.model.Joint(_placement(rng), random_screw(rng, kind), _placement(rng))
    if kind == "fixed":
        return co.fixed(_placement(rng))
    make = co.prismatic if kind == "prismatic" else co.revolute
    return make(axis=tuple(3 * random_unit(rng)), placement=_placement(rng))


def random_screw(rng: np.random.Generator, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Angular and linear part of a hinge, a slide or a rigid connection."""
    none = np.zeros(3)
    if kind == "fixed":
        return none, none
    axis = random_unit(rng)
    return (none, axis) if kind == "prismatic" else (axis, none)


def _placement(rng: np.random.Generator) -> ca.SX:
    return co.placement([_length(rng) for _ in range(3)], [_angle(rng) for _ in range(3)])


def _angle(rng: np.random.Generator) -> float:
    return float(rng.choice([-1, 0, 1, 2]) * np.pi / 2 if rng.random() < 0.3 else rng.uniform(-np.pi, np.pi))


def _length(rng: np.random.Generator) -> float:
    return 0.0 if rng.random() < 0.3 else float(rng.uniform(-0.6, 0.6))


class PinocchioTree(NamedTuple):
    """A model in Pinocchio.

    Pinocchio wants its joints numbered depth first (its mass matrix is wrong otherwise), so `dofs` gives the
    coordinate in colloc of every Pinocchio coordinate, or -1 for a fixed joint that is kept as a locked hinge.
    """

    model: Any
    joints: list[int]  # Pinocchio joint that carries each body; 0 is the world
    offsets: list[Any]  # SE3 of each link frame in the frame of that joint
    dofs: np.ndarray

    def into(self, vector: np.ndarray) -> np.ndarray:
        """A vector in colloc's order, in Pinocchio's; zero at locked hinges."""
        return np.where(self.dofs < 0, 0.0, vector[self.dofs])

    def back(self, vector: np.ndarray) -> np.ndarray:
        """A vector in Pinocchio's order, in colloc's."""
        result = np.empty((self.dofs >= 0).sum())
        result[self.dofs[self.dofs >= 0]] = vector[self.dofs >= 0]
        return result


def pinocchio_tree(model: co.Model, *, lock_fixed: bool = False) -> PinocchioTree:
    """The same mechanism in Pinocchio.

    Pinocchio's joint frame is what `before` places, and it moves with the joint; what colloc places after the joint
    goes into the placement of the children, of the inertia and of the points.

    Parameters
    ----------
    model : Model
    lock_fixed : bool
        Keep a fixed joint as a hinge held at zero, so that Pinocchio tells its reaction; by default the body is
        welded to the joint that carries it.
    """
    other = pin.Model()
    other.gravity.linear = model.gravity
    joints, offsets = [0] * len(model.bodies), [pin.SE3.Identity()] * len(model.bodies)
    dofs: list[int] = []

    def add(k: int, carrier: int, offset: Any) -> None:
        body, dof = model.bodies[k], model.dofs[k]
        before, after = pin.SE3(numbers(body.joint.before)), pin.SE3(numbers(body.joint.after))
        if dof is None and not lock_fixed:
            joints[k], offsets[k] = carrier, offset * before * after
        else:
            joints[k] = other.addJoint(carrier, pinocchio_joint(body.joint), offset * before, body.name)
            offsets[k] = after
            dofs.append(-1 if dof is None else dof)
        inertia = pin.Inertia(float(body.mass), numbers(body.com), numbers(body.inertia))
        other.appendBodyToJoint(joints[k], inertia, offsets[k])
        for child in children(model, k):
            add(child, joints[k], offsets[k])

    for root in children(model, -1):
        add(root, 0, pin.SE3.Identity())
    return PinocchioTree(other, joints, offsets, np.array(dofs))


def pinocchio_mass_matrix(tree: PinocchioTree, model: co.Model, q: np.ndarray) -> np.ndarray:
    """Mass matrix in colloc's order by pin.crba."""
    upper = np.triu(pin.crba(tree.model, tree.model.createData(), tree.into(q)))
    return symmetric_in_order(tree, upper)


def symmetric_in_order(tree: PinocchioTree, upper: np.ndarray) -> np.ndarray:
    """A symmetric matrix in colloc's order, of whose upper triangle in Pinocchio's order is known."""
    matrix = np.empty_like(upper)
    matrix[np.ix_(tree.dofs, tree.dofs)] = np.triu(upper) + np.triu(upper, 1).T
    return matrix


def pinocchio_joint(joint: co.model.Joint) -> Any:
    """The same joint in Pinocchio; a fixed one as a hinge."""
    angular, linear = joint.screw
    if not angular.any() and linear.any():
        return pin.JointModelPrismaticUnaligned(linear)
    if not linear.any():
        return pin.JointModelRevoluteUnaligned(angular if angular.any() else np.array([0.0, 0.0, 1.0]))
    return pin.JointModelHelicalUnaligned(angular, float(angular @ linear))


def children(model: co.Model, k: int) -> list[int]:
    """Bodies attached to body k; -1 is the world."""
    return [child for child, parent in enumerate(model.parents) if parent == k]


def pinocchio_inverse_dynamics(
    tree: PinocchioTree, model: co.Model, state: State, loads: Sequence[co.Load]
) -> tuple[np.ndarray, Any]:
    """Torques in colloc's order by pin.rnea, and Pinocchio's data with the force of every joint."""
    data = tree.model.createData()
    q, qd, qdd = map(tree.into, state)
    torque = pin.rnea(tree.model, data, q, qd, qdd, _joint_forces(tree, model, q, loads))
    return tree.back(torque), data


def _joint_forces(tree: PinocchioTree, model: co.Model, q: np.ndarray, loads: Sequence[co.Load]) -> Any:
    """Loads as spatial forces in Pinocchio's joint frames."""
    data = tree.model.createData()
    pin.forwardKinematics(tree.model, data, q)
    forces = pin.StdVec_Force()
    forces.extend([pin.Force.Zero() for _ in range(tree.model.njoints)])
    for load in loads:
        k = model.index(load.body)
        at_point = pin.SE3(np.eye(3), data.oMi[tree.joints[k]] * (tree.offsets[k] * numbers(load.point)))
        in_world = at_point.act(pin.Force(numbers(load.force), numbers(load.moment)))
        forces[tree.joints[k]] += data.oMi[tree.joints[k]].actInv(in_world)
    return forces


def mujoco_xml(model: co.Model) -> str:
    """The same mechanism in MJCF; every moving link needs a mass and a full inertia.

    A MuJoCo body is placed by the parent's `after` and the joint's `before`, with the joint at its origin.
    """
    root = ElementTree.Element("mujoco")
    ElementTree.SubElement(root, "compiler", angle="radian")
    ElementTree.SubElement(root, "option", gravity=_text(model.gravity))
    world = ElementTree.SubElement(root, "worldbody")

    def add(k: int, above: ElementTree.Element, offset: np.ndarray) -> None:
        body = model.bodies[k]
        place, after = offset @ numbers(body.joint.before), numbers(body.joint.after)
        turn = after[:3, :3]
        element = ElementTree.SubElement(
            above, "body", name=body.name, pos=_text(place[:3, 3]), quat=_quaternion(place)
        )
        if body.joint.moves:
            kind = "hinge" if body.joint.turns else "slide"
            ElementTree.SubElement(element, "joint", name=body.name, type=kind, axis=_text(body.joint.axis))
        tensor = turn @ numbers(body.inertia) @ turn.T
        ElementTree.SubElement(
            element,
            "inertial",
            mass=repr(float(body.mass)),
            pos=_text(after[:3, 3] + turn @ numbers(body.com)),
            fullinertia=_text([tensor[i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]),
        )
        for child in children(model, k):
            add(child, element, after)

    for base in children(model, -1):
        add(base, world, np.eye(4))
    return ElementTree.tostring(root, encoding="unicode")


def _quaternion(transform: np.ndarray) -> str:
    return _text(Rotation.from_matrix(transform[:3, :3]).as_quat(scalar_first=True))


def _text(values: Any) -> str:
    return " ".join(repr(float(value)) for value in values)
