"""Random motion problems that can be solved, in plain numbers that any library can read.

A mechanism and a smooth motion of it are drawn first; Pinocchio computes the torques that this motion needs, and the
limits leave some room around it. The motion between the same ends is therefore known to exist, whatever a solver says.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
import pinocchio
from numpy.polynomial import Polynomial

import colloc as co

pin: Any = pinocchio  # has no type stubs
GRAVITY = 9.81  # m/s2
COSTS = ("time", "effort", "mixed")


@dataclass(frozen=True)
class Link:
    """A body and the joint that carries it; its frame is that of the joint.

    Parameters
    ----------
    parent : int
        Number of the link before, -1 for the world.
    slides : bool
        Whether the joint is prismatic; revolute otherwise.
    axis, translation, rpy : ndarray, shape (3,)
        Axis in the link's own frame; place [m] and orientation [rad] of that frame in the parent's.
    mass : float [kg]
    com : ndarray, shape (3,) [m]
    inertia : ndarray, shape (3, 3) [kg m2]
        About the centre of mass.
    """

    parent: int
    slides: bool
    axis: np.ndarray
    translation: np.ndarray
    rpy: np.ndarray
    mass: float
    com: np.ndarray
    inertia: np.ndarray


@dataclass(frozen=True)
class Case:
    """A problem from rest to rest.

    Parameters
    ----------
    links : list of Link
        Depth first, as Pinocchio wants them.
    gravity : ndarray, shape (3,) [m/s2]
    cost : "time", "effort" or "mixed"
        The duration, the integral of the squared torques, or both with the weight `share` of the latter.
    duration : float [s]
        Duration of the known motion: what an effort is given, and what a time may not need to exceed.
    start, end : ndarray, shape (n,) [rad, m]
    limits : dict of str to (lower, upper), each shape (n,)
        Of "q", "qd" and "tau"; those that are absent are infinite.
    share : float
    """

    links: list[Link]
    gravity: np.ndarray
    cost: str
    duration: float
    start: np.ndarray
    end: np.ndarray
    limits: dict[str, tuple[np.ndarray, np.ndarray]]
    share: float

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(self.links)


def random_case(seed: int) -> Case:
    """The feasible problem of a seed: two to six joints, in a plane or in space, with or without gravity."""
    rng = np.random.default_rng([20, seed])
    n, planar = int(rng.integers(2, 7)), bool(rng.random() < 0.4)
    links = _planar_links(rng, n) if planar else _spatial_links(rng, n)
    down = np.array([0.0, -1.0, 0.0] if planar else [0.0, 0.0, -1.0])
    gravity = GRAVITY * down if rng.random() < 0.75 else np.zeros(3)
    cost = str(rng.choice(COSTS, p=(0.3, 0.4, 0.3)))
    size = np.where([link.slides for link in links], 0.3, 2.5)
    start, step = size * rng.uniform(-1, 1, n), size * rng.uniform(-1, 1, n)
    T = float(rng.uniform(1.0, 5.0))
    bumps = 0.5 * size * rng.uniform(-1, 1, n)
    u = np.linspace(0, 1, 401)
    q, qd, qdd = _known_motion(start, step, bumps, T, u)
    world = pinocchio_model(links, gravity)
    data = world.createData()
    tau = np.array([pin.rnea(world, data, *state) for state in zip(q, qd, qdd, strict=True)])
    limits = {}
    if cost == "time" or rng.random() < 0.4:
        limits["tau"] = _symmetric(10 ** rng.uniform(0.1, 1.0, n) * np.maximum(np.abs(tau).max(axis=0), 0.1))
    if rng.random() < 0.4:
        limits["qd"] = _symmetric(10 ** rng.uniform(0.1, 1.0, n) * np.maximum(np.abs(qd).max(axis=0), 0.1))
    if rng.random() < 0.4:
        room = rng.uniform(0.1, 1.0, n) * size
        limits["q"] = (q.min(axis=0) - room, q.max(axis=0) + room)
    share = 10 ** rng.uniform(-0.5, 2.5) * T / float(np.trapezoid((tau**2).sum(axis=1), T * u))
    return Case(links, gravity, cost, T, start, start + step, limits, share)


def pinocchio_model(links: list[Link], gravity: np.ndarray) -> Any:
    """The mechanism in Pinocchio."""
    world = pin.Model()
    world.gravity.linear = gravity
    for k, link in enumerate(links):
        make = pin.JointModelPrismaticUnaligned if link.slides else pin.JointModelRevoluteUnaligned
        place = pin.SE3(pin.rpy.rpyToMatrix(*link.rpy), link.translation)
        joint = world.addJoint(link.parent + 1, make(link.axis), place, f"link{k}")
        world.appendBodyToJoint(joint, pin.Inertia(link.mass, link.com, link.inertia), pin.SE3.Identity())
    return world


def colloc_problem(case: Case) -> co.Problem:
    """The problem in this library's terms; a duration to be found has no guess."""
    bodies = []
    for k, link in enumerate(case.links):
        place, make = co.placement(link.translation, link.rpy), co.prismatic if link.slides else co.revolute
        parent = f"link{link.parent}" if link.parent >= 0 else None
        bodies.append(
            co.Body(f"link{k}", make(tuple(link.axis), place), parent, link.mass, tuple(link.com), link.inertia)
        )
    effort = co.integral(lambda now: ca.sumsqr(now.tau), "effort")
    cost = {"time": co.duration(), "effort": effort, "mixed": co.duration() + case.share * effort}[case.cost]
    T, limits = case.duration, case.limits.get
    return co.Problem(
        model=co.Model(bodies, gravity=tuple(case.gravity)),
        duration=T if case.cost == "effort" else co.Free(T / 10, 4 * T),
        minimize=cost,
        subject_to=[
            co.initial(q=case.start, qd=0.0),
            co.final(q=case.end, qd=0.0),
            *([co.bounds(q=limits("q"), qd=limits("qd"), tau=limits("tau"))] if case.limits else []),
        ],
    )


def _known_motion(
    start: np.ndarray, step: np.ndarray, bumps: np.ndarray, T: float, u: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Positions, velocities and accelerations (u, joint): a quintic from rest to rest and a detour, at rest too."""
    quintic, detour = Polynomial([0, 0, 0, 10, -15, 6]), Polynomial([0, 4, -4]) ** 3
    found = []
    for order in range(3):
        line, bend = (p.deriv(order)(u) if order else p(u) for p in (quintic, detour))
        found.append((np.outer(line, step) + np.outer(bend, bumps)) / T**order)
    return start + found[0], found[1], found[2]


def _planar_links(rng: np.random.Generator, n: int) -> list[Link]:
    """Rods in the x-y plane: hinges about z, slides along any direction in the plane."""
    links: list[Link] = []
    for parent in _parents(rng, n):
        slides, angle, length = bool(rng.random() < 0.25), rng.uniform(-np.pi, np.pi), rng.uniform(0.2, 0.5)
        axis = np.array([np.cos(angle), np.sin(angle), 0.0]) if slides else np.array([0.0, 0.0, 1.0])
        translation = np.array([rng.uniform(0.2, 0.5) if parent >= 0 else 0.0, 0.0, 0.0])
        mass = float(rng.uniform(0.3, 2.5))
        inertia = mass * length**2 / 12 * np.diag([0.01, 1.0, 1.0])
        links.append(
            Link(parent, slides, axis, translation, np.zeros(3), mass, np.array([length / 2, 0.0, 0.0]), inertia)
        )
    return links


def _spatial_links(rng: np.random.Generator, n: int) -> list[Link]:
    """Clouds of eight particles about skew axes."""
    links: list[Link] = []
    for parent in _parents(rng, n):
        slides, axis = bool(rng.random() < 0.25), rng.normal(size=3)
        translation, rpy = rng.uniform(-0.3, 0.3, 3), rng.uniform(-np.pi, np.pi, 3)
        masses, places = rng.uniform(0.03, 0.25, 8), 0.12 * rng.normal(size=(8, 3)) + rng.uniform(-0.2, 0.2, 3)
        com = masses @ places / masses.sum()
        second = (places - com).T @ (masses[:, None] * (places - com))
        inertia = np.trace(second) * np.eye(3) - second
        axis /= np.linalg.norm(axis)
        links.append(Link(parent, slides, axis, translation, rpy, float(masses.sum()), com, inertia))
    return links


def _parents(rng: np.random.Generator, n: int) -> list[int]:
    """Parents of n links: mostly the link before, else one of its ancestors or the world, so that trees fork."""
    parents = [-1]
    for k in range(1, n):
        parent = k - 1
        while parent >= 0 and rng.random() < 0.15:
            parent = parents[parent]
        parents.append(parent)
    return parents


def _symmetric(size: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return -size, size
