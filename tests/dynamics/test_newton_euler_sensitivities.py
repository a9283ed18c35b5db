"""Derivatives of the Newton-Euler recursion against automatic and numerical differentiation, and the print."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.dynamics import joint_reactions
from colloc.dynamics.newtonian.sensitivities import newton_euler_sensitivities, reaction_sensitivities
from tests.support.random_trees import (
    Case,
    State,
    coordinates,
    evaluate,
    random_inertia,
    random_screw,
    random_state,
    random_tree,
    random_unit,
    related,
    relative_error,
    tree_case,
)

REVOLUTE, PRISMATIC, FIXED = "revolute", "prismatic", "fixed"
CHAINS = {
    "revolute": [REVOLUTE] * 6,
    "prismatic": [PRISMATIC] * 6,
    "slides first": [PRISMATIC, PRISMATIC, PRISMATIC, REVOLUTE, REVOLUTE, REVOLUTE],
    "alternating": [REVOLUTE, PRISMATIC, REVOLUTE, PRISMATIC, REVOLUTE, PRISMATIC],
    "with fixed joints": [FIXED, REVOLUTE, FIXED, PRISMATIC, FIXED, REVOLUTE, FIXED],
}


class Values(NamedTuple):
    """Numbers of one case: tau, force and moment (flat), and their derivatives by q, qd and qdd."""

    reactions: list[np.ndarray]
    tau: list[np.ndarray]
    force: list[np.ndarray]
    moment: list[np.ndarray]


@lru_cache
def chain_case(name: str) -> Case:
    """A chain with general joints, and on every link a load with a lever arm."""
    rng = np.random.default_rng(len(name))
    bodies = []
    for k, kind in enumerate(CHAINS[name]):
        before, after = (co.placement(rng.uniform(-0.5, 0.5, 3), rng.uniform(-3, 3, 3)) for _ in range(2))
        joint = co.model.Joint(before, random_screw(rng, kind), after)
        bodies.append(co.Body(f"link{k}", joint, f"link{k - 1}" if k else None, **random_inertia(rng)))
    model = co.Model(bodies, gravity=9.81 * random_unit(rng))
    loads = [co.Load(body.name, *5 * rng.normal(size=(3, 3))) for body in bodies]
    return Case(model, loads, random_state(rng, model))


def recursive_values(case: Case) -> Values:
    """By the recursion under test."""
    symbols = coordinates(case.model)
    found = reaction_sensitivities(case.model, *symbols, case.loads)
    return _values(symbols, case.state, found.reactions, found.actuation[1:], found.force, found.moment)


def automatic_values(case: Case) -> Values:
    """By CasADi's differentiation of the dynamics."""
    symbols = coordinates(case.model)
    reactions = joint_reactions(case.model, *symbols, case.loads)
    slopes = [[ca.jacobian(ca.vec(value), x) for x in symbols] for value in reactions]
    return _values(symbols, case.state, reactions, *slopes)


def _values(symbols: Sequence[ca.SX], state: State, *triples: Any) -> Values:
    flat = evaluate([expression for triple in triples for expression in triple], symbols, state)
    return Values(*(flat[k : k + 3] for k in (0, 3, 6, 9)))


def largest_error(values: Sequence[np.ndarray], references: Sequence[np.ndarray]) -> float:
    """Largest relative error of several values."""
    return max(relative_error(*pair) for pair in zip(values, references, strict=True))


def assert_agree(case: Case, tolerance: float = 1e-11) -> None:
    for found, expected in zip(recursive_values(case), automatic_values(case), strict=True):
        assert largest_error(found, expected) < tolerance


@pytest.mark.parametrize("seed", range(1, 23, 2))
def test_trees_agree_with_automatic_differentiation(seed):
    """Values, torque derivatives and reaction derivatives."""
    assert_agree(tree_case(seed))


@pytest.mark.parametrize("name", CHAINS)
def test_chains_agree_with_automatic_differentiation(name):
    assert_agree(chain_case(name))


def test_torque_derivatives_alone_are_those_given_with_the_reactions():
    model, loads, state = tree_case(11)
    symbols = coordinates(model)
    alone = evaluate(newton_euler_sensitivities(model, *symbols, loads), symbols, state)
    together = evaluate(reaction_sensitivities(model, *symbols, loads).actuation, symbols, state)
    assert largest_error(alone, together) == 0


@pytest.mark.parametrize("seed", range(1, 23, 2))
def test_only_related_joints_have_entries(seed):
    """And none of the entries that are stored is a plain zero."""
    model, loads, _ = tree_case(seed)
    found = reaction_sensitivities(model, *coordinates(model), loads)
    moving = [k for k, dof in enumerate(model.dofs) if dof is not None]
    by_body = related(model)[:, moving]
    for matrices, allowed in (
        (found.actuation[1:], by_body[moving]),
        (found.force, np.repeat(by_body, 3, axis=0)),
        (found.moment, np.repeat(by_body, 3, axis=0)),
    ):
        for matrix in matrices:
            assert matrix.shape == allowed.shape
            stored = np.array(ca.DM(matrix.sparsity(), 1)) == 1
            assert not (stored & ~allowed).any()
            assert matrix.nnz() == ca.sparsify(matrix).nnz()


def test_independent_mechanisms_cost_as_much_as_each_alone():
    """Derivatives by coordinates without influence are not computed."""
    rng = np.random.default_rng(5)
    joints = [co.dh_revolute(*rng.normal(size=4)) for _ in range(6)]
    inertias = [random_inertia(rng) for _ in range(6)]

    def operations(copies: int) -> int:
        bodies = []
        for c in range(copies):
            for k, (joint, inertia) in enumerate(zip(joints, inertias, strict=True)):
                bodies.append(co.Body(f"{c}.{k}", joint, f"{c}.{k - 1}" if k else None, **inertia))
        model = co.Model(bodies)
        symbols = coordinates(model)
        return ca.Function("f", list(symbols), list(newton_euler_sensitivities(model, *symbols))).n_instructions()

    assert operations(3) <= 3 * operations(1)


def test_pendulum_has_its_closed_form():
    """(I + m l^2) q'' + (m g + f) l sin q - M = tau, q from the hanging position, with a load (0, -f) and M at l."""
    mass, length, inertia, f, angle = 1.7, 0.6, 0.08, 3.0, 0.9
    bob = co.Body("bob", co.revolute(), mass=mass, com=(0, -length, 0), inertia=inertia * np.eye(3))
    model = co.Model([bob])
    loads = [co.Load("bob", force=(0, -f, 0), moment=(0, 0, 2.0), point=(0, -length, 0))]
    symbols = coordinates(model)
    tau, dq, dqd, dqdd = evaluate(newton_euler_sensitivities(model, *symbols, loads), symbols, [[angle], [2.0], [0.5]])
    weight = mass * 9.81 + f
    assert tau == pytest.approx((inertia + mass * length**2) * 0.5 + weight * length * np.sin(angle) - 2.0, rel=1e-14)
    assert dq == pytest.approx(weight * length * np.cos(angle), rel=1e-14)
    assert dqd == 0
    assert dqdd == pytest.approx(inertia + mass * length**2, rel=1e-14)


def test_a_turn_about_the_vertical_changes_nothing_without_loads():
    """Reactions are in link axes, so that the first joint's coordinate drops out when its axis is along gravity."""
    rng = np.random.default_rng(3)
    tree = random_tree(rng, 8)
    trunk = co.Body("trunk", co.revolute((0, 1, 0)), **random_inertia(rng))
    bodies = [co.Body(b.name, b.joint, b.parent or "trunk", b.mass, b.com, b.inertia) for b in tree.bodies]
    case = Case(co.Model([trunk, *bodies]), [], random_state(rng, co.Model([trunk, *bodies])))
    values = recursive_values(case)
    for slopes in (values.tau[0], values.force[0], values.moment[0]):
        by_q = slopes.reshape(-1, case.model.n)
        assert np.abs(by_q[:, 0]).max() < 1e-11
        assert np.abs(by_q[:, 1:]).max() > 1


# ---------------------------------------------------------------------------------------------------------------------
# The printed equations, in NumPy, for a serial chain in Denavit-Hartenberg coordinates.


class Row(NamedTuple):
    """A joint and its link: kind, what `random_inertia` gives, and the DH row."""

    kind: str
    inertia: dict[str, Any]
    theta: float
    d: float
    a: float
    alpha: float


class Wrench(NamedTuple):
    """A load on link k, as `Load`."""

    k: int
    force: np.ndarray
    moment: np.ndarray
    point: np.ndarray


class Printed(NamedTuple):
    """tau (n,), force and moment (n, 3), and their slopes: first index q, qd, qdd, second the coordinate."""

    tau: np.ndarray
    force: np.ndarray
    moment: np.ndarray
    dtau: np.ndarray
    dforce: np.ndarray
    dmoment: np.ndarray


class Link(NamedTuple):
    """Results of steps 2 to 8 for steps 9 and 10; a slope has shape (3, n, 3), see `Printed`."""

    rotation: np.ndarray
    drotation: np.ndarray  # by the link's own coordinate
    world: np.ndarray  # R of 3.62
    dworld: np.ndarray  # (n, 3, 3)
    axis: np.ndarray
    arm: np.ndarray
    darm: np.ndarray
    com: np.ndarray
    force: np.ndarray
    dforce: np.ndarray
    torque: np.ndarray
    dtorque: np.ndarray


def barman(chain: list[Row], gravity: np.ndarray, state: State, wrenches: list[Wrench], slip: str = "") -> Printed:
    """Chapter III of Barman (2020), with the signs of this library and the equation named `slip` as it is printed."""
    n = len(chain)
    links = barman_outward(chain, gravity, state, slip)
    force, moment = np.zeros((2, n, 3))
    dforce, dmoment = np.zeros((2, n, 3, n, 3))
    for j in reversed(range(n)):  # steps 9a and 9c
        link = links[j]
        distal, turned = np.zeros((2, 3))
        ddistal, dturned = np.zeros((2, 3, n, 3))
        if j + 1 < n:
            distal, ddistal = _to_parent(links[j + 1], j + 1, force[j + 1], dforce[j + 1])
            turned, dturned = _to_parent(links[j + 1], j + 1, moment[j + 1], dmoment[j + 1])
        force[j], dforce[j] = distal + link.force, ddistal + link.dforce
        moment[j] = turned + link.torque - np.cross(distal, link.arm) - np.cross(link.force, link.com)
        dmoment[j] = dturned + link.dtorque - np.cross(ddistal, link.arm) - np.cross(link.dforce, link.com)
        if slip != "3.83":
            dmoment[j] -= np.cross(distal + link.force, link.darm)
    for load in wrenches:
        _subtract_load(links, load, slip, force, moment, dforce, dmoment)
    tau, dtau = np.zeros(n), np.zeros((3, n, n))
    for j, link in enumerate(links):  # step 10, where R'_j,j e_z is zero
        value, slope = (force, dforce) if chain[j].kind == PRISMATIC else (moment, dmoment)
        tau[j], dtau[:, :, j] = value[j] @ link.axis, slope[j] @ link.axis
    return Printed(tau, force, moment, dtau, dforce, dmoment)


def barman_outward(chain: list[Row], gravity: np.ndarray, state: State, slip: str) -> list[Link]:
    """Steps 2 to 8."""
    n = len(chain)
    w, al, x2 = np.zeros((3, 3))
    dw, dal, dx2 = np.zeros((3, 3, n, 3))
    world, dworld = np.eye(3), np.zeros((n, 3, 3))
    links = []
    for j, (row, q, qd, qdd) in enumerate(zip(chain, *state, strict=True)):
        slide, (rotation, drotation, e, arm) = row.kind == PRISMATIC, _dh(row, q)
        darm = np.zeros((3, n, 3))
        darm[0, j] = slide * e
        (w, dw), (al, dal), (x2, dx2) = (
            _from_parent(rotation, drotation, j, *pair) for pair in ((w, dw), (al, dal), (x2, dx2))
        )
        if not slide:  # 3.17 and 3.18, before 3.11 and 3.12 change omega
            al, dal = al + e * qdd + np.cross(w, e * qd), dal + np.cross(dw, e * qd)
            dal[1, j] = np.cross(w, drotation.T @ [0, 0, 1] if slip == "3.18" else e)
            dal[2, j] = e
            w, dw[1, j] = w + e * qd, e
        elif slip == "3.13":
            dw[1] = 0
        spin = (w, dw, al, dal)
        com, inertia, mass = arm + row.inertia["com"], row.inertia["inertia"], row.inertia["mass"]
        delta, ddelta = _step7(j, spin, arm, darm, slide * e, qd, qdd)
        at_com, dat_com = _step7(j, spin, com, darm, slide * e, qd, qdd)
        if slip == "3.52" and slide:
            ddelta[0, j] = np.cross(w, e) + np.cross(w, np.cross(w, e))
        if slip == "3.51" and not slide:
            ddelta[2] = 0
        at_com, dat_com = x2 + at_com, dx2 + dat_com
        x2, dx2 = x2 + delta, dx2 + ddelta
        dworld = dworld @ rotation
        dworld[j] = world @ drotation
        world = world @ rotation
        g = -gravity if slip == "3.67" else gravity
        force, dforce = mass * (at_com - world.T @ g), mass * dat_com
        dforce[0] -= mass * np.swapaxes(dworld, 1, 2) @ g
        h, dh = inertia @ w, dw @ inertia
        torque, dtorque = inertia @ al + np.cross(w, h), dal @ inertia + np.cross(dw, h) + np.cross(w, dh)
        links.append(Link(rotation, drotation, world, dworld, e, arm, darm, com, force, dforce, torque, dtorque))
    return links


def _from_parent(
    rotation: np.ndarray, drotation: np.ndarray, j: int, value: np.ndarray, slope: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """R' times a vector of the parent, and its slope: 3.8 and 3.9."""
    turned = slope @ rotation
    turned[0, j] = drotation.T @ value
    return rotation.T @ value, turned


def _step7(
    j: int, spin: tuple[np.ndarray, ...], x: np.ndarray, dx: np.ndarray, slide: np.ndarray, qd: float, qdd: float
) -> tuple[np.ndarray, np.ndarray]:
    """Acceleration over the displacement x and its slope, 3.50 to 3.52; `slide` is a prismatic axis or zero."""
    w, dw, al, dal = spin
    x1, dx1 = np.cross(w, x) + slide * qd, np.cross(dw, x) + np.cross(w, dx)
    dx1[1, j] += slide
    x2 = np.cross(al, x) + np.cross(w, x1 + slide * qd) + slide * qdd
    dx2 = np.cross(dal, x) + np.cross(al, dx) + np.cross(dw, x1 + slide * qd) + np.cross(w, dx1)
    dx2[1, j] += np.cross(w, slide)
    dx2[2, j] += slide
    return x2, dx2


def _dh(row: Row, q: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """R of 2.10 and its derivative, the axis in link axes, and the link's own displacement in link axes."""
    theta, d = (row.theta, row.d + q) if row.kind == PRISMATIC else (row.theta + q, row.d)
    c, s, ca_, sa = np.cos(theta), np.sin(theta), np.cos(row.alpha), np.sin(row.alpha)
    rotation = np.array([[c, -ca_ * s, sa * s], [s, ca_ * c, -sa * c], [0, sa, ca_]])
    drotation = np.array([[-s, -ca_ * c, sa * c], [c, -ca_ * s, sa * s], [0, 0, 0]]) * (row.kind == REVOLUTE)
    return rotation, drotation, np.array([0, sa, ca_]), np.array([row.a, d * sa, d * ca_])


def _to_parent(link: Link, j: int, value: np.ndarray, slope: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """R_j times a vector of link j, and its slope: 3.72 and 3.73."""
    turned = slope @ link.rotation.T
    turned[0, j] += link.drotation @ value
    return link.rotation @ value, turned


def _subtract_load(
    links: list[Link],
    load: Wrench,
    slip: str,
    force: np.ndarray,
    moment: np.ndarray,
    dforce: np.ndarray,
    dmoment: np.ndarray,
) -> None:
    """Steps 9b, 9d and 9e, with the sign of a wrench that the environment applies."""
    link, shape = links[load.k], dforce.shape[1:]
    f, m, df, dm = link.world.T @ load.force, link.world.T @ load.moment, np.zeros(shape), np.zeros(shape)
    df[0], dm[0] = (np.swapaxes(link.dworld, 1, 2) @ v for v in (load.force, load.moment))
    lever = link.arm + (0 if slip == "3.85" else load.point)
    dm += np.cross(link.darm, f) + np.cross(lever, df)
    m = m + np.cross(link.arm + load.point, f)
    for j in reversed(range(load.k + 1)):
        if j < load.k:
            f, df = _to_parent(links[j + 1], j + 1, f, df)
            m, dm = _to_parent(links[j + 1], j + 1, m, dm)
            m, dm = m + np.cross(links[j].arm, f), dm + np.cross(links[j].darm, f) + np.cross(links[j].arm, df)
        force[j], dforce[j], moment[j], dmoment[j] = force[j] - f, dforce[j] - df, moment[j] - m, dmoment[j] - dm
        if slip == "3.79":
            dforce[j, 1:] = 0
        if slip == "3.87":
            dmoment[j, 1:] = 0


@lru_cache
def printed_case() -> tuple[list[Row], list[Wrench], Case]:
    """Slides and hinges in turn, with loads on two links, in the notation of the print and of the library."""
    rng = np.random.default_rng(2020)
    chain = [Row(kind, random_inertia(rng), *rng.uniform(-1, 1, 4)) for kind in (REVOLUTE, REVOLUTE, PRISMATIC) * 2]
    wrenches = [Wrench(k, *(3 * rng.normal(size=3) for _ in range(3))) for k in (3, 5)]
    bodies = []
    for k, row in enumerate(chain):
        joint = (co.dh_prismatic if row.kind == PRISMATIC else co.dh_revolute)(*row[2:])
        bodies.append(co.Body(f"link{k}", joint, f"link{k - 1}" if k else None, **row.inertia))
    model = co.Model(bodies, gravity=9.81 * random_unit(rng))
    loads = [co.Load(f"link{w.k}", w.force, w.moment, w.point) for w in wrenches]
    return chain, wrenches, Case(model, loads, random_state(rng, model))


def printed_error(slip: str) -> float:
    """Largest relative difference between the chapter, with one equation as printed, and the recursion."""
    chain, wrenches, case = printed_case()
    printed, n = barman(chain, case.model.gravity, case.state, wrenches, slip), case.model.n
    found = [printed.tau, printed.force.T, printed.moment.T, *printed.dtau.swapaxes(1, 2)]
    for slopes in (printed.dforce, printed.dmoment):  # (link, kind, coordinate, component)
        found += list(slopes.transpose(1, 0, 3, 2).reshape(3, 3 * n, n))
    expected = [value for values in recursive_values(case) for value in values]
    return largest_error(found, [e.reshape(f.shape) for e, f in zip(expected, found, strict=True)])


def test_corrected_print_is_the_recursion():
    """Chapter III without its slips: an independent program, equation by equation, with R and its derivative."""
    assert printed_error("") < 1e-12


@pytest.mark.parametrize("equation", ["3.13", "3.18", "3.51", "3.52", "3.67", "3.79", "3.83", "3.85", "3.87"])
def test_every_slip_of_the_print_shows(equation):
    assert printed_error(equation) > 1e-3
