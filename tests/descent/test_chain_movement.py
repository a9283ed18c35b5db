"""Movements of closed chains on splines: derivatives, energy, the optimum of every method, and the two studies."""

import json
from functools import cache
from typing import Any

import casadi as ca
import numpy as np
import pytest

import colloc as co
import colloc.studies.closed_chains.five_bar
import colloc.studies.closed_chains.rower
from colloc import loops
from colloc.descent import ChainMovement, Movement, Objective, SplineMotion, Stop, bfgs, interior_point, modified_newton
from colloc.dynamics import potential_energy
from colloc.models.closed.five_bar import END, START, five_bar
from colloc.models.closed.four_bar import four_bar
from colloc.models.closed.rower import (
    ARM,
    CATCH,
    FINISH,
    FOREARM,
    HAND,
    OAR_PIVOT,
    PELVIS,
    RANGES,
    SHANK,
    THIGH,
    TRUNK,
    oar_load,
    rower,
)  # fmt: skip

METHODS = (modified_newton, bfgs, interior_point)


def rest(start, end, duration: float = 1.0, intervals: int = 5, degree: int = 3, rows: int = 3) -> SplineMotion:
    first, last = (np.vstack([pose, np.zeros((rows - 1, len(pose)))]) for pose in (start, end))
    return SplineMotion(first, last, duration, intervals, degree)


def cranking(weights: Any = 1.0, actuators=("crank", "rocker"), intervals: int = 5) -> ChainMovement:
    return ChainMovement(four_bar(actuators=actuators, weights=weights), rest((0.5,), (2.5,), intervals=intervals))


def reach(now: co.problem.Instant) -> ca.SX:
    """A smooth function of dependent and independent joints."""
    return ca.sumsqr(now.point("wrist", (0.1, 0, 0)).position) * ca.sin(now.q[6]) + now.q[0] * now.q[7] ** 2


MOVEMENTS = {
    "exactly actuated": lambda: ChainMovement(five_bar(), rest(START, END)),
    "passive coordinates": lambda: cranking(actuators=("rocker",)),
    "redundant, weighted": lambda: cranking((0.7, 2.0)),
    "loads and two loops": lambda: ChainMovement(
        rower(weights=np.linspace(1, 2, 7)), rest(CATCH, FINISH), [oar_load()]
    ),
    "soft cost": lambda: ChainMovement(rower(), rest(CATCH, FINISH), [oar_load()], soft=1e4 * co.integral(reach)),
}
every_movement = pytest.mark.parametrize("name", MOVEMENTS)


@cache
def made(name: str) -> ChainMovement:
    return MOVEMENTS[name]()


def near(movement: ChainMovement, seed: int = 0) -> np.ndarray:
    return movement.start() + 0.1 * np.random.default_rng(seed).standard_normal(movement.motion.size)


# -- derivatives and physics ------------------------------------------------------------------------------------------


@every_movement
def test_derivatives_equal_central_differences(name):
    movement = made(name)
    errors = movement.objective.check_derivatives(near(movement))
    assert max(errors.values()) < 1e-6, errors


@pytest.mark.parametrize(("method", "found"), [("sensitivities", "gradient"), ("hessian", "hessian")])
def test_a_wrong_derivative_is_seen(method: str, found: str, monkeypatch: pytest.MonkeyPatch):
    exact = getattr(loops.ChainEvaluator, method)

    def careless(self, *given):
        value = exact(self, *given)
        return value._replace(dtau=1.01 * value.dtau) if method == "sensitivities" else 1.5 * value

    monkeypatch.setattr(loops.ChainEvaluator, method, careless)
    movement = MOVEMENTS["redundant, weighted"]()
    assert movement.objective.check_derivatives(near(movement))[found] > 1e-4


@every_movement
def test_a_sample_is_a_motion_of_the_closed_chain(name):
    movement = made(name)
    chain, x, step = movement.chain, near(movement), 1e-5
    t = np.linspace(0.1, 0.9, 7)
    sample = movement.sample(x, t)
    later, earlier = (movement.sample(x, t + side) for side in (step, -step))
    np.testing.assert_allclose((later.q - earlier.q) / (2 * step), sample.qd, atol=1e-6)
    np.testing.assert_allclose((later.qd - earlier.qd) / (2 * step), sample.qdd, atol=1e-5)
    assert sample.gap.max() < 1e-11
    assert np.array_equal(sample.gap, loops.closure_error(chain, sample.q))
    passive = [k for k, joint in enumerate(chain.model.joint_names) if joint not in chain.actuators]
    assert not sample.tau[:, passive].any()
    ends = movement.sample(x, np.array([0.0, 1.0]))
    np.testing.assert_allclose(ends.q[:, chain.independent_dofs], [movement.motion.start[0], movement.motion.end[0]])
    np.testing.assert_allclose(ends.qd, 0, atol=1e-9)
    assert sample.force.shape == sample.moment.shape == (7, len(chain.loops), 3)
    assert movement.sample(x, t[:0]).force.shape == (0, len(chain.loops), 3)


@every_movement
def test_actuators_do_the_work(name):
    """From rest to rest: the rise in potential energy, less what the load does."""
    movement = made(name)
    model = movement.chain.model
    sample = movement.sample(near(movement), np.linspace(0, 1, 1001))
    power = (sample.tau * sample.qd).sum(axis=1)
    if movement.loads:
        power -= 40.0 * sample.qd[:, model.joint_names.index("oar")]
    first, last = (float(ca.DM(potential_energy(model, ca.SX(sample.q[k])))) for k in (0, -1))
    assert np.trapezoid(power, sample.t) == pytest.approx(last - first, abs=1e-5 * np.abs(power).max())


def test_the_cost_is_the_weighted_integral():
    movement = made("redundant, weighted")
    x = near(movement)
    fine = movement.sample(x, np.linspace(0, 1, 4001))
    integrand = 0.5 * fine.tau[:, [0, 2]] ** 2 @ [0.7, 2.0]
    assert movement.objective.first(x)[0] == pytest.approx(np.trapezoid(integrand, fine.t), rel=1e-4)


def test_a_loop_that_holds_nothing_new_changes_nothing():
    """An arm whose tip is tied to a body that follows it freely, against the arm as an ordinary problem."""
    arm = [
        co.Body("upper", co.dh_revolute(a=0.4), mass=1.0, com=(-0.2, 0, 0), inertia=(0, 0.02, 0.02)),
        co.Body("lower", co.dh_revolute(a=0.3), "upper", 0.8, (-0.15, 0, 0), (0, 0.01, 0.01)),
    ]
    sledge = [co.Body("along", co.prismatic((1, 0, 0))), co.Body("across", co.prismatic((0, 1, 0)), "along")]
    pin = loops.revolute_loop("pin", "lower", "across")
    chain = loops.ClosedChain(co.Model([*arm, *sledge]), [pin], ("upper", "lower"), guess=(0.3, 0.4, 0.6, 0.3))
    tied = ChainMovement(chain, rest((0.3, 0.4), (1.2, -0.5)))
    ends = [co.initial(q=(0.3, 0.4), qd=0.0, qdd=0.0), co.final(q=(1.2, -0.5), qd=0.0, qdd=0.0)]
    effort = 0.5 * co.integral(lambda now: now.tau[0] ** 2 + now.tau[1] ** 2)
    free = Movement(co.transcribe(co.Problem(co.Model(arm), 1.0, effort, ends), co.BSpline(5)))
    x = near(tied)
    for mine, theirs in zip(_all(tied.objective, x), _all(free.objective, x), strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-10 * np.abs(theirs).max())


def _all(objective: Objective, x: np.ndarray):
    assert objective.hessian is not None
    return *objective.first(x), objective.hessian(x)


# -- optima -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["passive coordinates", "redundant, weighted"])
def test_all_methods_find_the_same_optimum(name):
    movement = made(name)
    runs = [method(movement.objective, movement.start(), Stop(1e-7)) for method in METHODS]
    assert all(run.success for run in runs)
    for run in runs[1:]:
        assert run.value == pytest.approx(runs[0].value, rel=1e-10)
        np.testing.assert_allclose(run.x, runs[0].x, atol=1e-5)
    rng = np.random.default_rng(1)
    for _ in range(10):
        assert movement.objective.first(runs[0].x + 0.01 * rng.standard_normal(runs[0].x.size))[0] > runs[0].value


def test_a_finer_spline_goes_on_where_a_coarse_one_ended():
    coarse, fine = cranking(intervals=4), cranking(intervals=8)
    best = modified_newton(coarse.objective, coarse.start(), Stop(1e-8))
    x = fine.motion.nearest(coarse.motion.states(best.x, fine.motion.quadrature[0])[0])
    t = np.linspace(0, 1, 23)
    np.testing.assert_allclose(fine.motion.states(x, t), coarse.motion.states(best.x, t), atol=1e-9)
    assert fine.objective.first(x)[0] == pytest.approx(best.value, rel=1e-3)  # by another quadrature
    assert modified_newton(fine.objective, x, Stop(1e-8)).value < best.value


def test_where_the_loop_cannot_be_closed_the_cost_is_infinite():
    movement = cranking(actuators=("rocker",))
    rocker = loops.ClosedChain(movement.chain.model, movement.chain.loops, ("rocker",), guess=(1.0, -0.4, 1.8))
    swinging = ChainMovement(rocker, rest((1.8,), (2.2,)))
    far = swinging.start() + 3.0  # the rocker's swing is limited
    value, gradient = swinging.objective.first(far)
    assert value == np.inf
    assert not gradient.any()
    with pytest.raises(co.InputError, match="cannot be closed at sample"):
        swinging.sample(far)
    with pytest.raises(co.InputError, match="cannot be closed at sample"):
        ChainMovement(rocker, rest((1.8,), (5.0,))).start()


def test_misfits_are_refused():
    chain = four_bar()
    with pytest.raises(co.InputError, match="motion must have 1 coordinates, those of joints crank, got 3"):
        ChainMovement(chain, rest(START, END))
    with pytest.raises(co.InputError, match="motion must be a SplineMotion"):
        ChainMovement(chain, None)  # pyright: ignore[reportArgumentType]
    with pytest.raises(co.InputError, match="chain must be a ClosedChain"):
        ChainMovement(chain.model, rest((0.5,), (2.5,)))  # pyright: ignore[reportArgumentType]
    for soft in (3.0, co.duration(), co.final_cost(lambda now: now.q[0])):
        with pytest.raises(co.InputError, match=r"soft must be a .* of the posture"):
            ChainMovement(chain, rest((0.5,), (2.5,)), soft=soft)  # pyright: ignore[reportArgumentType]
    with pytest.raises(co.InputError, match="soft cost 'integral' must depend only on the posture"):
        ChainMovement(chain, rest((0.5,), (2.5,)), soft=co.integral(lambda now: now.qd[0]))
    with pytest.raises(co.InputError, match="end must be within bounds -1 and 2"):
        SplineMotion(np.zeros((1, 1)), np.full((1, 1), 2.5), 1.0, 5, lower=-1, upper=2)
    with pytest.raises(co.InputError, match=r"q must have shape \(N, 3\)"):
        loops.closure_error(chain, [[0.0]])
    with pytest.raises(co.InputError, match=r"q must have shape \(20, 1\)"):
        rest((0.5,), (2.5,)).nearest(np.zeros((3, 1)))


# -- studies ----------------------------------------------------------------------------------------------------------


def run(study, tmp_path) -> dict[str, float]:
    files = {
        name: tmp_path / f"study.{end}" for name, end in (("figure", "png"), ("animation", "html"), ("json", "json"))
    }
    numbers = study.main(["--quick", *(word for name, file in files.items() for word in (f"--{name}", str(file)))])
    assert json.loads(files["json"].read_text(encoding="utf-8")) == numbers
    assert files["figure"].stat().st_size > 100_000
    assert files["animation"].stat().st_size > 50_000
    for kind in ("iterations", "seconds", "cost"):
        assert {f"{kind}.{method}" for method in ("newton", "bfgs", "steepest_descent", "ipopt")} <= set(numbers)
    assert numbers["optimum.spread"] < 1e-10
    assert numbers["closure.error"] < 1e-10
    assert numbers["iterations.steepest_descent"] == 200
    assert not numbers["converged.steepest_descent"]
    assert numbers["iterations.newton"] < numbers["iterations.bfgs"] < 200
    return numbers


def test_table_one(tmp_path, capsys):
    numbers = run(colloc.studies.closed_chains.five_bar, tmp_path)
    assert numbers["iterations.newton"] <= 7
    assert numbers["iterations.ipopt"] <= 7
    assert numbers["cost.newton"] == pytest.approx(6.14472322, rel=1e-7)
    assert numbers["cost.start"] == pytest.approx(12.781558, rel=1e-6)
    assert numbers["ways.difference"] < 1e-9
    assert numbers["way_b.cost"] == pytest.approx(4.3518799625, rel=1e-9)
    assert numbers["way_b.gap"] < 1e-12
    assert numbers["gravity.optimum.spread"] < 1e-10
    assert numbers["gravity.cost.newton"] == pytest.approx(33.48975347, rel=1e-7)
    assert numbers["gravity.iterations.newton"] <= 7 < numbers["gravity.iterations.bfgs"] < 200
    assert not numbers["gravity.converged.steepest_descent"]
    assert numbers["gravity.crank.lowest"] > 25  # degrees from where the crank is singular
    assert numbers["gravity.crank.highest"] < 125
    assert not numbers["printed_with_gravity.converged"]
    assert numbers["printed_with_gravity.crank"] == pytest.approx(180.0, abs=2.0)
    assert numbers["gravity.belts.cost"] == pytest.approx(numbers["gravity.optimum.newton"], rel=1e-9)
    assert numbers["belts.crank"] > 185
    assert numbers["belts.cost"] < numbers["printed_with_gravity.cost"]
    assert "Both ways" in capsys.readouterr().out


def test_the_rower(tmp_path, capsys):
    numbers = run(colloc.studies.closed_chains.rower, tmp_path)
    assert numbers["cost.newton"] == pytest.approx(3113.86843521, rel=1e-7)
    assert numbers["factor"] == pytest.approx(5375.841875 / 3113.868435, rel=1e-6)
    assert "the interpolated start costs 5375.842" in capsys.readouterr().out
    assert numbers["clearance.arms_legs"] > 0.07  # m, between the middles of limbs
    assert numbers["clearance.oar_legs"] > 0.1
    assert numbers["clearance.hands_above_knees"] > 0.07
    assert numbers["clearance.ranges"] > 0.1  # rad
    assert numbers["halfway.trunk"] < numbers["halfway.legs"] < numbers["halfway.arms"]


def test_limbs_neither_cross_nor_leave_their_ranges_in_the_optimal_stroke():
    """By kinematics of its own: angles added up along the body."""
    movement = colloc.studies.closed_chains.rower.rowing()
    best = modified_newton(movement.objective, movement.start(), Stop(1e-6))
    q = movement.sample(best.x, np.linspace(0, 1, 201)).q
    lengths = [part.length for part in (SHANK, THIGH, PELVIS, TRUNK, ARM, FOREARM)] + [HAND]
    angles = np.cumsum(q[:, :7], axis=1)
    links = np.array(lengths)[:, None] * np.stack([np.cos(angles), np.sin(angles)], axis=2)
    ankle, knee, hip, _, _, elbow, wrist, hand = np.cumsum(np.insert(links, 0, 0.0, axis=1), axis=1).swapaxes(0, 1)
    pivot = np.broadcast_to(OAR_PIVOT, hand.shape)
    for limb in ((elbow, wrist), (wrist, hand), (pivot, hand)):
        for leg in ((ankle, knee), (knee, hip)):
            assert not crossing(*limb, *leg).any()
    down = np.array([0.0, -0.1])
    assert crossing(elbow, wrist, elbow + down, wrist - down).all()
    assert (hand[:, 1] > knee[:, 1] + 0.07).all()  # and so above the thighs
    passed = hand[:, 0] < knee[:, 0]
    assert (passed[0], passed[-1]) == (False, True)
    assert np.count_nonzero(np.diff(passed)) == 1  # once
    assert (knee[passed, 1] < knee[0, 1] - 0.05).all()  # after the knees have come down
    for joint, (low, high) in RANGES.items():
        angle = q[:, movement.chain.model.joint_names.index(joint)]
        assert low < angle.min() <= angle.max() < high


def crossing(a, b, c, d) -> np.ndarray:
    """Where the segments a-b and c-d cross, for ends of shape (N, 2)."""

    def side(root, tip, point):
        return np.sign((tip - root)[:, 0] * (point - root)[:, 1] - (tip - root)[:, 1] * (point - root)[:, 0])

    return (side(a, b, c) != side(a, b, d)) & (side(c, d, a) != side(c, d, b))
