"""A ball joint from outside: four positions, a quaternion of any length, and three velocities about the link's axes.

It is written here with what the library has: a subclass of `Joint`, a subclass of `Model`, and no new dynamics.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
import pinocchio
import pytest
from scipy.spatial.transform import Rotation

import colloc as co
from colloc.model import Joint, Screw
from colloc.model.kinematics import point_motion
from colloc.model.transforms import homogeneous

dynamics = co.dynamics
pin: Any = pinocchio  # its names are not typed
HERE = ca.SX.eye(4)


@dataclass(frozen=True, eq=False)
class BallScrew(Joint):
    """A turn about one of the link's axes; that about x has the positions of the joint."""

    first: bool = False

    @property
    def positions(self) -> int:
        return 4 if self.first else 0

    @property
    def hinge(self) -> bool:
        return False

    def coordinate(self, q: ca.SX) -> ca.SX:
        return ca.SX(1, 1)

    def rotation(self, q: ca.SX) -> ca.SX:
        return ca.SX.eye(3)

    def frame(self, q: ca.SX) -> ca.SX:
        return self.before @ homogeneous(rotation(q), ca.SX(3, 1)) if self.first else self.before


def rotation(p: ca.SX) -> ca.SX:
    v = ca.skew(p[1:])
    return ca.SX.eye(3) + 2 / ca.sumsqr(p) * (p[0] * v + v @ v)


def ball(name: str, placement: ca.SX = HERE, parent: str | None = None, **body: Any) -> list[co.Body]:
    bodies: list[co.Body] = []
    for k, letter in enumerate("xyz"):
        screw = Screw(np.eye(3)[k], np.zeros(3))
        joint = BallScrew(HERE if k else placement, screw, HERE, name=f"{name}_{letter}", first=k == 0)
        of = bodies[-1].name if k else parent
        bodies.append(co.Body(name, joint, of, **body) if k == 2 else co.Body(f"{name}_{letter}", joint, of))
    return bodies


class BallModel(co.Model):
    """A tree with ball joints."""

    def blocks(self, *vectors: ca.SX) -> Iterator[tuple[bool, Any]]:
        """Whether it is a ball, and its parts of vectors: of positions where they are so long, else of velocities."""
        q, v = 0, 0
        for joint in (joint for joint in self.joints if joint.positions):
            m, n = (4, 3) if joint.positions == 4 else (1, 1)
            yield m == 4, [x[q : q + m] if x.shape[0] == self.n_q else x[v : v + n] for x in vectors]
            q, v = q + m, v + n

    @property
    def neutral(self) -> np.ndarray:
        return np.concatenate([np.eye(4)[0] if ball else np.zeros(1) for ball, _ in self.blocks()])

    @property
    def position_names(self) -> tuple[str, ...]:
        letters = [(joint, letter) for joint in self.joints for letter in "wxyz"[: joint.positions]]
        return tuple(
            f"{str(joint.name)[:-1]}{letter}" if joint.positions == 4 else str(joint.name) for joint, letter in letters
        )

    def velocities(self, q: ca.SX, *rates: ca.SX) -> tuple[ca.SX, ...]:
        symbols = [ca.SX.sym("q", self.n_q) for _ in range(len(rates) + 1)]
        parts = [
            2 * (p[0] * r[1:] - r[0] * p[1:] - ca.cross(p[1:], r[1:])) / ca.sumsqr(p) if ball else r
            for ball, (p, r) in self.blocks(*symbols[:2])
        ]
        orders = [ca.vertcat(*parts)]
        for _ in rates[1:]:
            orders.append(ca.jtimes(orders[-1], ca.vertcat(*symbols[:-1]), ca.vertcat(*symbols[1:])))
        return tuple(ca.substitute(orders, symbols, [q, *rates]))

    def position_rates(self, q: ca.SX, qd: ca.SX) -> ca.SX:
        return ca.vertcat(
            *(
                ca.vertcat(-ca.dot(p[1:], v), p[0] * v + ca.cross(p[1:], v)) / 2 if ball else v
                for ball, (p, v) in self.blocks(q, qd)
            )
        )

    def screw_accelerations(self, qd: ca.SX, qdd: ca.SX) -> ca.SX:
        parts = self.blocks(qd, qdd)
        return ca.vertcat(
            *(a - ca.vertcat(v[1] * v[2], -v[0] * v[2], v[0] * v[1]) if ball else a for ball, (v, a) in parts)
        )


def random_tree(rng: np.random.Generator) -> tuple[BallModel, Any]:
    """Balls and hinges on each other, here and in Pinocchio."""
    gravity, bodies, theirs = (0.3, -9.81, 1.0), [], pin.Model()
    theirs.gravity.linear = np.array(gravity)
    for k, (kind, parent) in enumerate([("ball", -1), ("hinge", 0), ("ball", 1), ("ball", 1), ("hinge", 3)]):
        place = co.placement(rng.normal(size=3), rng.uniform(-1, 1, 3))
        spread = rng.normal(size=(3, 3))
        tensor = np.trace(spread @ spread.T) * np.eye(3) - spread @ spread.T
        mass, com, T = rng.uniform(1, 3), rng.normal(size=3), np.array(ca.DM(place))
        joint = pin.JointModelSpherical() if kind == "ball" else pin.JointModelRZ()
        number = theirs.addJoint(parent + 1, joint, pin.SE3(T[:3, :3], T[:3, 3]), f"b{k}")
        theirs.appendBodyToJoint(number, pin.Inertia(mass, com, tensor), pin.SE3.Identity())
        spec, of = {"mass": mass, "com": com, "inertia": tensor}, None if parent < 0 else f"b{parent}"
        hinge = co.Body(f"b{k}", co.revolute((0, 0, 1), place, name=f"b{k}"), of, **spec)
        bodies += ball(f"b{k}", place, of, **spec) if kind == "ball" else [hinge]
    return BallModel(bodies, gravity), theirs


def test_all_formulations_take_a_ball_joint_as_pinocchio_does():
    rng = np.random.default_rng(5)
    model, theirs = random_tree(rng)
    data = theirs.createData()
    assert (model.n, model.n_q) == (theirs.nv, theirs.nq) == (11, 14)
    q, v, a = pin.randomConfiguration(theirs, -np.ones(14), np.ones(14)), rng.normal(size=11), rng.normal(size=11)
    ours = q.copy()
    for joint in theirs.joints:
        if joint.nq == 4:  # (x, y, z, w) there, of length one
            part = slice(joint.idx_q, joint.idx_q + 4)
            ours[part] = np.roll(q[part], 1) * rng.uniform(0.5, 2)
    expected = pin.rnea(theirs, data, q, v, a)
    upper = np.triu(pin.crba(theirs, data, q))
    mass = upper + np.triu(upper, 1).T
    symbols = ca.SX.sym("q", 14), ca.SX.sym("v", 11), ca.SX.sym("a", 11)

    def value(expression: ca.SX, third: np.ndarray = a) -> np.ndarray:
        return np.array(ca.Function("f", symbols, [expression])(ours, v, third)).squeeze()

    size = np.abs(expected).max()
    for name in ("newton_euler", "lagrange", "lie", "regular_lagrange"):
        assert np.abs(value(getattr(dynamics, name)(model, *symbols)) - expected).max() < 1e-12 * size
    recursions = ("composite", "newton_euler", "lagrange", "lie")
    for slopes in (getattr(dynamics, f"{name}_sensitivities")(model, *symbols) for name in recursions):
        assert np.abs(value(slopes.tau) - expected).max() < 1e-12 * size
        assert np.abs(value(ca.densify(slopes.dqdd)) - mass).max() < 1e-12 * np.abs(mass).max()
    assert value(dynamics.forward_dynamics(model, *symbols), expected) == pytest.approx(a, rel=1e-9)
    load = [co.Load("b2", (1, -2, 3), (0.5, 0.2, -0.4), (0.1, 0.2, 0.3))]
    loaded = [value(getattr(dynamics, name)(model, *symbols, load)) for name in ("newton_euler", "lagrange", "lie")]
    assert np.array(loaded[1:]) == pytest.approx(np.array([loaded[0]] * 2), rel=1e-10)


def test_velocities_are_those_with_which_points_move():
    model, _ = random_tree(np.random.default_rng(6))
    q, v, a = symbols = ca.SX.sym("q", 14), ca.SX.sym("v", 11), ca.SX.sym("a", 11)
    point = (0.1, 0.2, 0.3)
    motion = point_motion(model, "b4", point, q=q, qd=v, qdd=a)
    rate = model.position_rates(q, v)
    differences = [
        ca.jacobian(motion.position, q) @ rate - motion.velocity,
        ca.jacobian(motion.velocity, q) @ rate + ca.jacobian(motion.velocity, v) @ a - motion.acceleration,
        dynamics.point_jacobian(model, "b4", point, q).linear @ v - motion.velocity,
        model.velocities(q, rate)[0] - v,
    ]
    numbers = np.random.default_rng(7).normal(size=36)
    off = ca.Function("f", symbols, [ca.vertcat(*differences)])(numbers[:14], numbers[14:25], numbers[25:])
    assert np.abs(np.array(off)).max() < 1e-11


def test_a_body_is_turned_as_eulers_equations_say():
    inertia, angle, axis = np.array([0.3, 0.2, 0.4]), 2.5, np.array([1.0, 2.0, 3.0]) / np.sqrt(14)
    model = BallModel(ball("top", mass=1.0, inertia=inertia.tolist()), (0, 0, 0))
    end = np.append(np.cos(angle / 2), np.sin(angle / 2) * axis)
    unit = co.path(lambda now: ca.sumsqr(now.q) - 1, equals=0.0, name="unit quaternion")
    ends = [co.initial(q=model.neutral, qd=0.0), co.final(q=end, qd=0.0)]
    problem = co.Problem(model, 1.0, co.integral(lambda now: ca.sumsqr(now.tau)), [*ends, unit])
    solution = co.solve(problem, co.BSpline(12, degree=5), progress=False, tol=1e-3)
    assert solution.cost < 12 * angle**2 * ((inertia * axis) ** 2).sum()  # about the axis between its ends

    def omega(t: float, h: float = 1e-4) -> np.ndarray:
        first, last = (Rotation.from_quat(np.roll(np.asarray(solution.at(t + d).q), -1)) for d in (-h, h))
        return (first.inv() * last).as_rotvec() / (2 * h)

    t, h = 0.37, 1e-4
    momentum_rate = inertia * (omega(t + h) - omega(t - h)) / (2 * h) + np.cross(omega(t), inertia * omega(t))
    sample = solution.at(t)
    assert np.asarray(sample.qd) == pytest.approx(omega(t), abs=1e-6)
    assert np.asarray(sample.tau) == pytest.approx(momentum_rate, abs=1e-5)
    assert (solution.qd["top_z"][-1], solution.q["top_w"][-1]) == pytest.approx((0.0, end[0]), abs=1e-9)
