"""Closed postures near a guess and within limits, ends that follow from others, and freedoms without an actuator."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc import loops
from colloc.loops.assembly import closed_way
from colloc.models.closed.five_bar import five_bar
from colloc.models.closed.four_bar import four_bar
from tests.support.problems import effort
from tests.support.random_loops import Closed, closed_chain, pinocchio_forward, with_limits

KINDS = (("weld",), ("spherical", "on_line"), ("revolute",), ("planar", "spherical"), ("prismatic",), ("cylindrical",))


@lru_cache
def limited(seed: int) -> tuple[Closed, co.Model]:
    """A random tree with loops that are closed at a random posture, and with limits of some joints around it."""
    rng = np.random.default_rng(500 + seed)
    drawn = closed_chain(rng, KINDS[seed], 10)
    return drawn, with_limits(rng, drawn, 0.6)


@pytest.mark.parametrize("size", [0.3, 1.0])
@pytest.mark.parametrize("seed", range(len(KINDS)))
def test_random_loops_close_within_a_turn_of_a_guess_and_within_limits(seed: int, size: float):
    """No farther from the guess than the posture in which they were drawn, for guesses near it."""
    drawn, model = limited(seed)
    guess = drawn.q + size * np.random.default_rng(seed).uniform(-1, 1, model.n)
    chain = loops.ClosedChain(model, drawn.loops, guess=guess)
    lower, upper = model.limits("position")
    assert loops.closure_error(chain, chain.posture) < 1e-9
    assert ((lower <= chain.posture) & (chain.posture <= upper)).all()
    assert np.abs(chain.posture - guess).max() < 2 * np.pi
    if size < 1:
        assert np.linalg.norm(chain.posture - guess) <= 1.001 * np.linalg.norm(drawn.q - guess)


def test_the_nearest_posture_is_stationary_on_the_closed_ones():
    """The way from the guess is orthogonal to all motions of the chain."""
    chain, guess = five_bar(), five_bar().posture + 0.3 * np.array([0, 1, -1, 1, 1])
    moved = loops.ClosedChain(chain.model, chain.loops, guess=guess)
    way = moved.posture - guess
    assert np.linalg.norm(way) > 0.1
    assert moved.basis(moved.posture).T @ way == pytest.approx(0.0, abs=1e-6)


def test_a_chain_that_closes_beyond_limits_only_is_reported_by_joint():
    chain = four_bar()
    bodies = [
        replace(body, joint=replace(body.joint, limits=co.Limits(position=limits)))
        for body, limits in zip(chain.model.bodies, ((0.9, 1.1), (-0.1, 0.1), (-3.0, 3.0)), strict=True)
    ]
    message = r"closes only beyond limits: joint '(crank|coupler)' at .* with limits .* limits=\{\"position\": None\}"
    with pytest.raises(co.InputError, match=message):
        loops.ClosedChain(replace(chain.model, bodies=bodies), chain.loops, guess=(1.0, 0.0, 1.5))


@pytest.mark.parametrize(("x", "closes"), [(0.9, True), (2.0, False)])
def test_frames_whose_attitudes_keep_a_chain_open_are_reported(x: float, closes: bool):
    bodies = [
        co.Body(
            f"link{k}", co.revolute(placement=co.placement((0.5 * (k > 0), 0, 0))), f"link{k - 1}" if k else None, 1.0
        )
        for k in range(4)
    ]
    place = co.placement((x, 0, 0), rpy=(0.3, 0, 0))  # out of the plane in which all links move
    weld = loops.weld("grip", loops.Frame("link3"), loops.Frame(None, place))
    with pytest.raises(co.InputError, match=r"loop 'grip' stays open by .* rad") as error:
        loops.ClosedChain(co.Model(bodies), [weld], guess=0.3)
    assert ("with every loop a spherical_loop it closes" in str(error.value)) == closes


# -- freedoms without an actuator -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kinds", [("weld",), ("spherical",), ("spherical", "spherical")])
def test_chains_with_few_actuators_move_as_pinocchio_has_them(kinds: tuple[str, ...]):
    """Torques of two actuators move the chain; inverse dynamics gives them back, and zero at all other joints."""
    rng = np.random.default_rng(len(kinds) + len(kinds[0]))
    drawn = closed_chain(rng, kinds, 13)
    driven = drawn.model.joint_names[:2]
    chain = loops.ClosedChain(drawn.model, drawn.loops, actuators=driven, guess=drawn.q)
    assert chain.posture == pytest.approx(drawn.q, abs=1e-9)
    assert len(chain.passive) == chain.mobility - 2
    tau = np.zeros(drawn.model.n)
    tau[chain.actuator_dofs[:2]] = rng.normal(size=2)
    qd = chain.basis(chain.posture) @ rng.normal(size=chain.mobility)
    qdd, wrenches = pinocchio_forward(drawn, chain.posture, qd, tau)
    places = chain.independent_dofs
    forces = loops.ChainEvaluator(chain).forces(chain.posture, qd[places], qdd[places])
    size = max(1.0, float(np.abs(wrenches).max()))
    assert forces.tau == pytest.approx(tau, abs=1e-8 * size)
    assert np.stack([forces.force, forces.moment], axis=1) == pytest.approx(wrenches, abs=1e-8 * size)


def rod_on_balls() -> loops.ClosedChain:
    """A crank that moves a slider by a rod with a ball at either end: the rod may turn about itself."""
    link = {"mass": 1.0, "com": (0.1, 0, 0), "inertia": (0.01, 0.02, 0.02)}
    rod = co.spherical("rod", parent="crank", placement=co.placement((0.3, 0, 0)), mass=0.5, com=(0.5, 0, 0),
                       inertia=(0.001, 0.05, 0.05), sequence="zyx")  # fmt: skip
    slider = co.Body("slider", co.prismatic((1, 0, 0)), mass=2.0, inertia=(0.01, 0.01, 0.01))
    model = co.Model([co.Body("crank", co.revolute((0, 0, 1)), **link), *rod, slider])
    guess = dict.fromkeys(model.joint_names, 0.0) | {"crank": 1.0, "slider": 1.1, "rod_rz": -1.2}
    ball = loops.spherical_loop("ball", loops.Frame("rod", (1.0, 0, 0)), "slider")
    return loops.ClosedChain(model, [ball], actuators=["crank"], guess=[guess[name] for name in model.joint_names])


def test_a_rod_that_turns_about_itself_is_passive():
    chain = rod_on_balls()
    assert chain.mobility == 2
    assert "crank" in chain.independent
    assert chain.passive == ("rod_rx",)
    assert "passive: rod_rx (1 of 2 freedoms without an actuator: no torque)" in repr(chain)
    problem = co.Problem(chain.model, 1.0, co.duration(), parts=[loops.IndependentJoints(chain)])
    assert problem.passive == ("rod_rx",)


def test_a_spinning_rod_keeps_its_spin_in_a_motion_of_its_crank():
    """Without friction nothing changes the angular momentum about its axis."""
    chain = rod_on_balls()
    u = chain.posture[chain.independent_dofs]
    start = dict(zip(chain.independent, u, strict=True))
    problem = co.Problem(
        chain.model, 0.5, co.integral(effort),
        [co.initial(q=start, qd={"crank": 0.0, "rod_rx": 3.0}), co.final(q={"crank": 1.4}, qd={"crank": 0.0})],
        parts=[loops.IndependentJoints(chain)],
    )  # fmt: skip
    solution = co.solve(problem, co.BSpline(10), tol=1e-5)
    assert solution.status is co.solver.Status.SOLVED
    z, y, x = (chain.model.joint_names.index(f"rod_r{axis}") for axis in "zyx")
    crank = chain.model.joint_names.index("crank")
    rate = solution.qd[:, x] - np.sin(solution.q[:, y]) * (solution.qd[:, z] + solution.qd[:, crank])
    assert rate == pytest.approx(rate[0], abs=1e-4)


def test_actuators_may_be_none():
    chain = loops.ClosedChain(four_bar().model, four_bar().loops, actuators=(), guess=four_bar().posture)
    assert (chain.actuators, chain.passive) == ((), chain.independent)


def test_descents_need_an_actuator_for_each_freedom():
    chain = loops.ClosedChain(five_bar().model, five_bar().loops, actuators=("waist",), guess=five_bar().posture)
    with pytest.raises(co.InputError, match="freedoms of the chain have no actuator"):
        co.descent.ChainMovement(chain, None)  # pyright: ignore[reportArgumentType]


def test_independent_joints_that_are_not_named_are_chosen():
    chain = five_bar()
    few = loops.ClosedChain(chain.model, chain.loops, ("waist",), guess=chain.posture)
    assert few.independent[0] == "waist"
    assert len(few.independent) == few.mobility


# -- guesses and ends -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("part", [loops.IndependentJoints, loops.CutJoints])
def test_whole_postures_at_the_ends_are_those_of_independent_joints(part):
    """Values that the loops imply are no further equations: the same optimum, at the postures as stated."""
    chain = four_bar()
    postures = loops.assemble(chain, [[0.5], [2.5]])
    costs, curve = [], co.BSpline(32, degree=5)
    for start, end, still in ((*postures, 0.0), ({"crank": 0.5}, {"crank": 2.5}, {"crank": 0.0})):
        ends = [co.initial(q=start, qd=still), co.final(q=end, qd=still)]
        solution = co.solve(co.Problem(chain.model, 1.0, co.integral(effort), ends, parts=[part(chain)]), curve)
        assert solution.status is co.solver.Status.SOLVED
        assert solution.q[-1] == pytest.approx(postures[1], abs=1e-6)
        costs.append(solution.cost)
    assert costs[0] == pytest.approx(costs[1], rel=1e-6)


def chain_of(links: int, span: float) -> loops.ClosedChain:
    """Links of 1 m and 1 kg in a row between two pins, hanging down, with a motor at the first."""
    bodies = [
        co.Body(f"link{k}", co.revolute(placement=co.placement((float(k > 0), 0, 0))), f"link{k - 1}" if k else None,
                1.0, (0.5, 0, 0), (0, 1 / 12, 1 / 12))
        for k in range(links)
    ]  # fmt: skip
    pin = loops.on_line("pin", loops.Frame(f"link{links - 1}", (1, 0, 0)), loops.Frame(None, (span, 0, 0)))
    guess = np.diff(np.linspace(-1.0, 1.0, links), prepend=0.0)
    return loops.ClosedChain(co.Model(bodies, gravity=(0, -9.81, 0)), [pin], actuators=["link0"], guess=guess)


@pytest.mark.parametrize("links", [4, 5, 6])
def test_a_way_from_hanging_to_upright_is_closed_and_without_jumps(links: int):
    """The straight line passes through the stretched chain, which is longer than its span."""
    chain = chain_of(links, links - 1.0)
    way = closed_way(chain, np.array([chain.posture, -chain.posture]))
    assert loops.closure_error(chain, way).max() < 1e-9
    assert way[[0, -1]] == pytest.approx(np.array([chain.posture, -chain.posture]), abs=1e-9)
    assert np.abs(np.diff(way, axis=0)).max() < 0.3


def test_independent_joints_that_leave_the_reach_are_replaced_by_nearby_postures():
    chain = loops.ClosedChain(four_bar().model, four_bar().loops, ("rocker",), guess=four_bar().posture)
    line = np.linspace(chain.posture, (1.0, -0.5, 0.2), 9)  # which the rocker does not reach
    with pytest.raises(co.InputError, match="cannot be closed at sample"):
        loops.assemble(chain, line[:, chain.independent_dofs])
    postures = loops.IndependentJoints(chain).postures(line)
    assert loops.closure_error(chain, postures).max() < 1e-9
    with pytest.raises(co.InputError, match="start must have shape"):
        loops.IndependentJoints(chain).postures(line, start=np.zeros(2))
    assert np.abs(postures - line).max() < 2.0


def test_a_hanging_chain_of_four_links_swings_upright_by_one_motor():
    """Cut loops, by the plain call; the motion simulated forwards ends where it should."""
    chain = chain_of(4, 3.0)
    ends = [co.initial(q=chain.posture, qd=0.0), co.final(q=-chain.posture, qd=0.0)]
    swing = co.Problem(chain.model, 2.0, co.integral(effort), ends, parts=[loops.CutJoints(chain)])
    solution = co.solve(swing, tol=1e-5)
    fine = solution.at(np.linspace(0, 2, 2001))
    assert solution.status is co.solver.Status.SOLVED
    assert loops.closure_error(chain, fine.q).max() < 1e-6
    assert np.abs(fine.tau[:, 1:]).max() < 1e-2 * np.abs(fine.tau[:, 0]).max()
    assert float(ca.norm_inf(ca.DM(solution.q[-1] + chain.posture))) < 1e-6
