"""Impacts between two bodies: momenta and energies in closed form, random trees, blows and a catch that are solved."""

from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np
import pinocchio
import pytest

import colloc as co
from colloc.models.closed.slider_crank import slider_crank
from tests.support.random_trees import numbers, pinocchio_tree, random_state, random_tree

pin: Any = pinocchio  # has no type stubs
SLOTS = co.problem.Slots._fields


def solve(problem: Any, curve: Any = None, **given: Any) -> Any:
    return co.solve(problem, curve, compile=False, progress=False, **given)


def rows_of(impact: Any, model: co.Model, q: Any, before: Any, after: Any, impulse: Any) -> np.ndarray:
    """Rows of an impact between two phases, at given velocities and an impulse."""
    still = co.Problem(model, 1.0)
    across = co.Phases({"a": still, "b": still}, [impact]).rows["impact from a to b"]
    slots = [np.zeros(across.function.size1_in(k)) for k in range(across.function.n_in())]
    for offset, velocity in ((0, before), (len(SLOTS), after)):
        slots[offset + SLOTS.index("q")], slots[offset + SLOTS.index("qd")] = q, velocity
    slots[len(SLOTS) + SLOTS.index("constants")] = impulse
    return numbers(across.function(*slots))


# -- the equations -----------------------------------------------------------------------------------------------------


def pinocchio_jacobian(other: Any, tree: co.Model, body: str, q: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Jacobian of the point of a body that is at a place in the world, then of its angular velocity, shape (6, n)."""
    joint = other.joints[tree.index(body)]
    data = other.model.createData()
    pin.computeJointJacobians(other.model, data, q)
    pin.updateFramePlacements(other.model, data)
    turned = pin.getJointJacobian(other.model, data, joint, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED).reshape(6, -1)
    arm = place - data.oMi[joint].translation
    return np.vstack([turned[:3] - pin.skew(arm) @ turned[3:], turned[3:]])


@pytest.mark.parametrize("seed", range(40))
def test_two_bodies_of_random_trees_share_an_impulse(seed):
    """J M^-1 J' p of Pinocchio's matrices, the hit along one moving normal, all axes, or with turns."""
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, virtual=False)
    if len(tree.bodies) < 2:
        pytest.skip("one body only")
    hits, hit = (tree.bodies[k].name for k in rng.choice(len(tree.bodies), 2, replace=False))
    marked = co.Model(tree.bodies, gravity=tree.gravity, name=tree.name, markers={"face": (hits, (0.1, -0.2, 0.3))})
    state, other = random_state(rng, tree), pinocchio_tree(tree)
    q, before = other.into(state.q), other.into(state.qd)
    at = ca.SX.sym("q", tree.n)
    place = numbers(
        ca.Function("place", [at], [co.model.point_motion(tree, hits, (0.1, -0.2, 0.3), q=at).position])(state.q)
    )
    J = np.subtract(*(pinocchio_jacobian(other, tree, name, q, place.ravel()) for name in (hits, hit)))
    kind = ("normal", "axes", "grip")[seed % 3]
    normal = rng.normal(size=3)
    along = {"normal": lambda now: normal, "axes": "xyz", "grip": "xyz"}[kind]
    J = {"normal": normal[None] / np.linalg.norm(normal) @ J[:3], "axes": J[:3], "grip": J}[kind]
    if np.linalg.matrix_rank(J, 1e-3) < len(J):
        pytest.skip("the bodies cannot move relative to each other")
    e = 0.0 if kind == "grip" else float(rng.uniform(0, 1))
    M = pin.crba(other.model, other.model.createData(), q).reshape(tree.n, tree.n)
    M = np.triu(M) + np.triu(M, 1).T
    inverse = np.linalg.inv(M)
    p = np.linalg.solve(J @ inverse @ J.T, -(1 + e) * J @ before)
    after = before + inverse @ J.T @ p
    impact = co.impact("a", "b", {"face": along}, on=hit, turns="xyz" * (kind == "grip"), restitution=e)
    rows = rows_of(impact, marked, state.q, state.qd, other.back(after), p)
    np.testing.assert_allclose(rows, 0.0, atol=1e-9 * max(1.0, np.abs(M).max() * np.abs(after).max(), np.abs(p).max()))
    assert after @ M @ after <= before @ M @ before * (1 + 1e-9)


def discs(m: tuple[float, float], r: tuple[float, float]) -> co.Model:
    """Two discs that are free in a plane, with a marker at the edge of the first."""
    bodies = []
    for name, mass, radius in zip("ab", m, r, strict=True):
        inertia = (1.0, 1.0, mass * radius**2 / 2)
        bodies += [
            co.Body(f"x{name}", co.prismatic((1, 0, 0))),
            co.Body(f"y{name}", co.prismatic((0, 1, 0)), f"x{name}"),
            co.Body(name, co.revolute((0, 0, 1)), f"y{name}", mass=mass, inertia=inertia),
        ]
    return co.Model(bodies, gravity=(0, 0, 0), markers={"edge": ("a", (r[0], 0, 0)), "middle": ("a", (0, 0, 0))})


@pytest.mark.parametrize("rough", [False, True])
@pytest.mark.parametrize("e", [0.0, 0.4, 1.0])
def test_two_discs_collide_as_in_textbooks(e, rough):
    """Reduced masses along the line of centres, and across it where the edges stick (Brach 2007)."""
    (m1, m2), (r1, r2), angle = (2.0, 0.5), (0.3, 0.2), 0.7
    n, t = np.array([np.cos(angle), np.sin(angle)]), np.array([-np.sin(angle), np.cos(angle)])
    v1, w1, v2, w2 = np.array([1.0, 0.5]), 3.0, np.array([-2.0, 0.1]), -1.0
    across = t @ (v1 - v2) + w1 * r1 + w2 * r2
    pn = -(1 + e) * (n @ (v1 - v2)) / (1 / m1 + 1 / m2)
    pt = -across / (3 / m1 + 3 / m2) if rough else 0.0  # 1/m + r^2/I, I = m r^2/2
    p = pn * n + pt * t
    after = np.array([*v1 + p / m1, w1 + 2 * pt / (m1 * r1), *v2 - p / m2, w2 + 2 * pt / (m2 * r2)])
    q, before = np.array([0, 0, angle, *(r1 + r2) * n, 0.0]), np.array([*v1, w1, *v2, w2])
    if rough:  # e along the normal, none across: two directions, as two functions of the same place
        model = discs((m1, m2), (r1, r2))
        markers = {**model.markers, "edge again": model.markers["edge"]}
        model = co.Model(model.bodies, gravity=(0, 0, 0), markers=markers)
        along = {"edge": lambda now: now.rotation("a")[:, 0], "edge again": lambda now: now.rotation("a")[:, 1]}
        hit, impulse = co.impact("a", "b", along, on="b", restitution=(e, 0.0)), [pn, pt]
    else:
        model = discs((m1, m2), (r1, r2))
        centres = {"middle": lambda now: now.point("a").position - now.point("b").position}
        hit, impulse = co.impact("a", "b", centres, on="b", restitution=e), [-pn]
    np.testing.assert_allclose(rows_of(hit, model, q, before, after, impulse), 0.0, atol=1e-12)
    weights = np.array([m1, m1, m1 * r1**2 / 2, m2, m2, m2 * r2**2 / 2])
    lost = (1 - e**2) * (n @ (v1 - v2)) ** 2 / (1 / m1 + 1 / m2) + rough * across**2 / (3 / m1 + 3 / m2)
    assert weights @ (before**2 - after**2) == pytest.approx(lost)


# -- motions -----------------------------------------------------------------------------------------------------------


def hammer_and_nail() -> co.Model:
    """A hammer that turns about the origin, and a nail that slides down below its face; both fixed to the world."""
    arm = {"mass": 1.0, "com": (0.4, 0, 0), "inertia": (0.01, 0.01, 0.02)}
    bodies = [
        co.Body("hammer", co.revolute((0, 0, 1)), **arm),
        co.Body("nail", co.prismatic((0, 1, 0), co.placement((0.5, 0, 0))), mass=0.1, inertia=(1e-5, 1e-5, 1e-5)),
    ]
    return co.Model(bodies, gravity=(0, 0, 0), markers={"face": ("hammer", (0.5, 0, 0))}, name="hammer and nail")


@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_two_blows_drive_a_nail_to_its_depth(e):
    """The wood resists by a constant force; speeds at each blow follow from the depth that it adds."""
    model, wood, depths = hammer_and_nail(), 400.0, (0.004, 0.01)
    effort = co.integral(lambda now: now.tau[0] ** 2)
    stuck = co.path(lambda now: now.qd[1], equals=0.0, name="stuck", unit="m/s")
    slides = co.bounds(tau={"nail": (wood, wood)})
    phases, links, begin = {}, [], [co.initial(q=(0.8, 0.0), qd=0)]
    for k, depth in enumerate(depths, 1):
        touches = co.at(1.0, lambda now: now.marker("face").position[1] - now.q[1], equals=0.0, name="touches")
        phases[f"swing {k}"] = co.Problem(model, 0.4, effort, [*begin, stuck, touches])
        ends = [co.final(q={"nail": -depth}, qd={"nail": 0.0})]
        phases[f"drive {k}"] = co.Problem(model, co.Free(1e-4, 0.1, 0.01), effort, [slides, *ends])
        hit = {"face": lambda now: now.rotation("nail")[:, 1]}
        links.append(co.impact(f"swing {k}", f"drive {k}", hit, on="nail", restitution=e))
        begin = []
    found = solve(co.Phases(phases, links), co.Radau(6, degree=4))
    assert found.status is co.solver.Status.SOLVED
    inertia, added = 0.02 + 0.4**2, np.diff([0.0, *depths])
    for k, depth in enumerate(added, 1):
        before, after = found[f"swing {k}"].at(0.4), found[f"drive {k}"].at(0.0)
        speed = -np.sqrt(2 * wood * depth / 0.1)  # of the nail, stopped on its way
        lever = 0.5 * np.cos(before.q[0])
        assert after.qd[1] == pytest.approx(speed, rel=1e-6)
        assert before.qd[0] * lever * (1 + e) == pytest.approx(speed * (1 + 0.1 * lever**2 / inertia), rel=1e-6)
        assert after.qd[1] - after.qd[0] * lever == pytest.approx(e * before.qd[0] * lever, abs=1e-6)
        np.testing.assert_allclose(found[f"drive {k}"].constants["impulse"], [-0.1 * speed], rtol=1e-6)
    assert found.at(found.duration).q[1] == pytest.approx(-depths[-1], abs=1e-9)
    assert co.verify(found).terminal_miss < 1e-4


def test_a_ball_that_is_caught_becomes_part_of_the_hand():
    """A disc flies into a hand that turns freely about a pivot: closed forms of the speed, the impulse and the grip."""
    bodies = [
        co.Body("hand", co.revolute((0, 0, 1)), mass=2.0, com=(0.25, 0, 0), inertia=(0.01, 0.04, 0.04)),
        co.Body("x", co.prismatic((1, 0, 0))),
        co.Body("y", co.prismatic((0, 1, 0)), "x"),
        co.Body("disc", co.revolute((0, 0, 1)), "y", mass=0.5, inertia=(0.002, 0.002, 0.004)),
    ]
    model = co.Model(bodies, gravity=(0, 0, 0), markers={"palm": ("hand", (0.6, 0, 0))})
    grip = co.loops.weld("grip", co.loops.Frame("hand", (0.6, 0, 0)), "disc")
    chain = co.loops.ClosedChain(model, [grip], guess=[0, 0.6, 0, 0], actuators=["hand"])
    free, still = co.bounds(tau=(0.0, 0.0)), co.integral(lambda now: 0.0)
    start = co.initial(q={"hand": 0.0}, qd=(0, 2.0, 1.5, 5.0))  # from wherever the disc meets the palm
    idle = co.bounds(tau={"hand": (0.0, 0.0)})
    flight = co.Problem(model, 0.2, still, [start, free])
    hold = co.Problem(model, 0.3, still, [idle], parts=[co.Motors(["hand"]), co.loops.CutJoints(chain)])
    catch = co.impact("flight", "hold", {"palm": "xy"}, on="disc", turns="z", held=True)
    found = solve(co.Phases({"flight": flight, "hold": hold}, [catch]), co.Radau(6, degree=5))
    assert found.status is co.solver.Status.SOLVED
    inertia = 0.04 + 2 * 0.25**2 + 0.004 + 0.5 * 0.6**2
    speed = (0.6 * 0.5 * 1.5 + 0.004 * 5.0) / inertia  # of both about the pivot
    after = found["hold"].at(0.0)
    np.testing.assert_allclose(after.qd, [speed, 0.0, 0.6 * speed, speed], atol=1e-6)
    # On the hand, the opposite of what the disc loses.
    impulse = [0.5 * 2.0, 0.5 * (1.5 - 0.6 * speed), 0.004 * (5.0 - speed)]
    np.testing.assert_allclose(found["hold"].constants["impulse"], impulse, atol=1e-6)
    # The grip pulls the disc to the pivot, in the axes of the hand.
    forces = found["hold"].evaluate(lambda now: now.cut_forces, np.linspace(0, 0.3, 7))
    np.testing.assert_allclose(forces[:, :2], np.tile([-0.5 * 0.6 * speed**2, 0.0], (7, 1)), atol=1e-5)
    assert float(found["hold"].q[-1, 0]) == pytest.approx(0.3 * speed, abs=1e-6)


# -- wrong calls -------------------------------------------------------------------------------------------------------


def rows_of_discs(*given: Any, **more: Any) -> np.ndarray:
    zero = np.zeros(6)
    return rows_of(co.impact("a", "b", *given, **more), discs((1, 1), (1, 1)), zero, zero, zero, [0.0])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: co.impact("a", "b", {"edge": "x"}, restitution=(0.5, 0.5)), r"restitution must have shape \(1,\)"),
        (lambda: co.impact("a", "b", {"edge": "x"}, turns="z", restitution=0.5), "bodies do not turn must be 0"),
        (lambda: co.impact("a", "b", {"edge": "x"}, held=True, restitution=0.5), "an impact that is held must be 0"),
        (lambda: co.impact("a", "b", {"edge": "x"}, turns="zz"), "turns of an impact must be some of the letters xyz"),
        (lambda: rows_of_discs({"edge": "x"}, on="a"), "marker 'edge' is on 'a', the body that it should hit"),
        (lambda: rows_of_discs({"edge": "x"}, on="c"), "named 'c'"),
        (lambda: rows_of_discs({"edge": lambda now: now.q[:2]}), r"direction of marker 'edge' must have shape \(3,\)"),
    ],
)
def test_wrong_calls_say_what_is_wrong(call, message):
    with pytest.raises(co.InputError, match=message):
        call()


def test_loops_that_stay_closed_are_refused():
    """Their impulses are missing from the momenta: a crank that hits the ground would have to hit it at rest."""
    chain, hit = slider_crank(), co.impact("a", "b", {"pin": "y"})
    for part in (co.loops.IndependentJoints(chain), co.loops.CutJoints(chain)):
        free, tied = co.Problem(chain.model, 1.0), co.Problem(chain.model, 1.0, parts=[part])
        with pytest.raises(co.InputError, match=r"from a to b: loops pin are closed before and after it, .* qd=False"):
            co.Phases({"a": tied, "b": replace(tied)}, [hit])
        co.Phases({"a": tied, "b": tied}, [co.connect("a", "b", qd=False)])
        with pytest.raises(co.InputError, match="no marker"):  # it has none, and the loop is no reason
            co.Phases({"a": free, "b": tied}, [hit])
