"""Closed chains: which rows count, mobility, assembly on a branch, and what is refused."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc import loops
from colloc.loops import Loop
from colloc.models.closed.five_bar import END, START, five_bar
from colloc.models.closed.four_bar import COUPLER, CRANK, GROUND, ROCKER, four_bar, slender
from colloc.models.closed.parallel_scara import parallel_scara
from colloc.models.closed.rower import CATCH, FINISH, INDEPENDENT, OAR_TORQUE, SEAT_HEIGHT, oar_load, rower
from colloc.models.closed.slider_crank import slider_crank
from tests.support.random_loops import HELD, closed_chain, constructor
from tests.support.random_trees import coordinates, evaluate

IN_PLANE = ("revolute", "spherical", "cylindrical", "on_line")


def linkage(kind: str = "revolute", lift: float = 0.0, lengths: tuple[float, ...] = (), **options: Any) -> Any:
    """A four-bar, its pin of some kind and lifted out of the plane."""
    crank, coupler, rocker, ground = lengths or (CRANK, COUPLER, ROCKER, GROUND)
    bodies = [
        slender("crank", crank, 0),
        slender("coupler", coupler, crank, "crank"),
        slender("rocker", rocker, ground),
    ]
    frames = loops.Frame("coupler", (coupler, 0, 0)), loops.Frame("rocker", (rocker, 0, lift))
    pin = constructor(kind)("pin", *frames)
    return loops.ClosedChain(co.Model(bodies), [pin], **({"guess": (1.0, -0.4, 1.8)} | options))


@pytest.mark.parametrize("kind", IN_PLANE)
def test_a_planar_loop_posed_in_space_keeps_two_rows(kind):
    """Whatever holds the pin in the plane: the same mobility, torques and force in the plane."""
    chain = linkage(kind, independent=("crank",))
    assert (chain.mobility, chain.rows.size) == (1, 2)
    found = loops.ChainEvaluator(chain).forces(chain.posture, 1.0, -2.0)
    expected = loops.ChainEvaluator(four_bar()).forces(chain.posture, 1.0, -2.0)
    assert found.tau == pytest.approx(expected.tau, rel=1e-12)
    assert found.force == pytest.approx(expected.force, rel=1e-10, abs=1e-12)
    assert found.moment == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(
    ("make", "mobility", "rows"),
    [(four_bar, 1, 2), (slider_crank, 1, 2), (five_bar, 3, 2), (parallel_scara, 4, 2), (rower, 5, 3)],
)
def test_models_have_the_mobility_of_their_kind(make, mobility, rows):
    chain = make()
    assert (chain.mobility, chain.rows.size, len(chain.independent)) == (mobility, rows, mobility)
    phi, J = chain.closures.at(chain.posture)
    assert np.abs(phi).max() < 1e-12
    assert np.linalg.matrix_rank(J, tol=1e-9) == rows
    assert f"mobility {mobility}" in repr(chain)
    assert "<table>" in chain._repr_html_()


@pytest.mark.parametrize("seed", range(6))
def test_random_chains_have_the_textbook_mobility_and_close_from_nearby(seed):
    rng = np.random.default_rng(seed)
    drawn = closed_chain(rng, ("spherical", "on_line"), 12)
    chain = loops.ClosedChain(drawn.model, drawn.loops, guess=drawn.q + 0.02 * rng.normal(size=drawn.model.n))
    assert chain.mobility == drawn.model.n - HELD["spherical"] - HELD["on_line"]
    q, *_ = coordinates(chain.model)
    assert np.abs(evaluate([loops.loop_residual(chain, q)], [q], [chain.posture])[0]).max() < 1e-12


def test_a_mechanism_with_more_rows_than_joints_moves_where_its_geometry_allows():
    """A parallelogram with a third crank: five joints, four rows in the plane, of which three are independent."""
    bodies = [slender("a", 0.3, 0.0), slender("bar", 1.0, 0.3, "a"), slender("b", 0.3, 0.4), slender("c", 0.3, 1.0)]
    ends = [loops.Frame("bar", (0.4, 0, 0)), loops.Frame("bar", (1.0, 0, 0))]
    closures = [
        loops.revolute_loop(f"pin_{k}", end, loops.Frame(k, (0.3, 0, 0))) for k, end in zip("bc", ends, strict=True)
    ]
    chain = loops.ClosedChain(co.Model(bodies), closures, ("a",), guess=(1.0, -1.0, 1.0, 1.0))
    assert (chain.mobility, chain.rows.size) == (1, 3)
    q = loops.assemble(chain, np.linspace(1.0, 2.0, 5)[:, None])
    assert q == pytest.approx(np.outer(np.linspace(1.0, 2.0, 5), [1, -1, 1, 1]), abs=1e-10)


def test_a_full_turn_of_the_crank_stays_on_its_branch():
    """Coupler and rocker return; the elbow never changes sides, which the guess has chosen."""
    turn = np.linspace(1.0, 1.0 + 2 * np.pi, 9)[:, None]  # in steps that must be halved
    chain = four_bar()
    for guess, side in (((1.0, -0.4, 1.8), 1), ((1.0, -1.9, -2.6), -1)):
        q = loops.assemble(chain, turn, guess)
        assert q[-1] == pytest.approx(q[0] + [2 * np.pi, -2 * np.pi, 0], abs=1e-9)
        # Angle from coupler to rocker at their pin: 0 and pi are where branches meet.
        assert (np.sign(np.sin(q[:, 2] - q[:, 0] - q[:, 1])) == side).all()
        for k, posture in enumerate(q):
            distance = np.hypot(GROUND - CRANK * np.cos(posture[0]), CRANK * np.sin(posture[0]))
            cosine = (COUPLER**2 + ROCKER**2 - distance**2) / (2 * COUPLER * ROCKER)
            assert np.cos(q[k, 2] - q[k, 0] - q[k, 1]) == pytest.approx(cosine, abs=1e-10)


def test_printed_poses_of_the_five_bar_and_both_ends_of_the_stroke_are_reached():
    """The forearm is opposite to the crank; the hip stays on its rail."""
    s = np.linspace(0, 1, 7)[:, None]
    q = loops.assemble(five_bar(), (1 - s) * START + s * np.array(END))
    assert q[:, 3] == pytest.approx(q[:, 2] - np.pi, abs=1e-10)
    chain = rower()
    q = loops.assemble(chain, (1 - s) * CATCH + s * np.array(FINISH))
    assert q[-1, chain.independent_dofs] == pytest.approx(FINISH, abs=1e-14)
    hips = co.Evaluator(chain.model).point("hip", q=q).position
    assert hips[:, 1] == pytest.approx(SEAT_HEIGHT, abs=1e-12)
    assert hips[[0, -1], 0] == pytest.approx([-0.40, -0.78], abs=1e-3)
    assert chain.independent == INDEPENDENT


def test_independent_joints_are_chosen_among_the_actuated_ones():
    assert linkage(actuators=("rocker",)).independent == ("rocker",)
    assert linkage(actuators=("crank",)).independent == ("crank",)
    chain = five_bar()
    free = loops.ClosedChain(chain.model, chain.loops, actuators=("waist", "upper_arm", "rod"), guess=chain.posture)
    assert set(free.independent) == {"waist", "upper_arm", "rod"}


def test_a_guess_with_all_links_in_line_is_left():
    """Least squares rests there, without a closure."""
    assert np.abs(linkage(guess=0.0).closures.at(linkage(guess=0.0).posture)[0]).max() < 1e-12


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lengths": (0.2, 2.0, 0.4, 0.5)}, r"cannot be closed: loop 'pin' stays open by 0\.9 m"),
        ({"lift": 0.01}, r"cannot be closed: loop 'pin' stays open by 0\.01 m"),
        ({"lengths": (0.2, 0.5, 0.2, 0.5), "guess": (0, 0, 0)}, "the assembly is singular: .* rows of loop 'pin'"),
        ({"independent": ("shank",)}, "no joint that moves, in independent, named 'shank'"),
        ({"independent": ("crank", "rocker")}, r"independent must name 1 joints, the mobility of the chain, got"),
        ({"actuators": ("crank", "crank")}, "actuators names joint 'crank' twice"),
        ({"actuators": ("crank", "motor")}, "no joint that moves, in actuators, named 'motor'"),
        (
            {"actuators": ("crank", "rocker"), "weights": (1.0, -2.0)},
            "weights must be positive, got -2 for .* 'rocker'",
        ),
        ({"weights": 0.0}, "weights must be positive, got 0 "),
        ({"weights": (1.0, 2.0)}, r"weights must have shape \(1,\)"),
        ({"guess": (0.0, 1.0)}, r"guess must have shape \(3,\)"),
    ],
)
def test_wrong_input_is_named(options, message):
    with pytest.raises(co.InputError, match=message):
        linkage(**options)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m: (3, []), "model must be a Model, got 3"),
        (lambda m: (m, []), "a closed chain needs at least one loop"),
        (lambda m: (m, ["pin"]), "loops must be Loop objects"),
        (lambda m: (m, [loops.weld("w", "cranc")]), "no body for loop 'w' named 'cranc'; did you mean 'crank'"),
        (lambda m: (m, [loops.on_line("w", "crank")] * 2), "two loops are named 'w'"),
        (lambda m: (m, [*four_bar().loops, _nailed(m)]), "constrained: 3 .* loops 'pin', 'nail' leave none of"),
        (lambda m: (_symbolic(m), [loops.on_line("w", "crank")]), "contains symbols, a closed chain needs numbers"),
    ],
)
def test_wrong_loops_are_named(change, message):
    with pytest.raises(co.InputError, match=message):
        loops.ClosedChain(*change(four_bar().model), guess=four_bar().posture)


def _nailed(model: co.Model) -> Loop:
    """The coupler tied to the world at mid-length, where the assembled four-bar has it."""
    place = co.Evaluator(model).point("coupler", (COUPLER / 2, 0, 0), q=four_bar().posture).position
    return loops.spherical_loop("nail", loops.Frame(None, place), loops.Frame("coupler", (COUPLER / 2, 0, 0)))


def _symbolic(model: co.Model) -> co.Model:
    return co.Model([co.Body("crank", co.revolute(), mass=ca.SX.sym("m")), *model.bodies[1:]])


def test_coordinates_that_leave_a_joint_free_are_not_independent():
    chain = five_bar()
    with pytest.raises(co.InputError, match="with all of them held, waist still move"):
        loops.ClosedChain(chain.model, chain.loops, ("upper_arm", "crank", "forearm"), guess=chain.posture)


@pytest.mark.parametrize("turn", [3.0, 3.1, np.pi, -3.1])
@pytest.mark.parametrize("kind", ["weld", "prismatic", "revolute", "cylindrical", "planar"])
def test_frames_half_a_turn_apart_are_turned_to_alignment(kind, turn):
    """Where the sines of all angles vanish as well, and are not a closure."""
    arm, spare = co.Body("arm", co.revolute((1, 0, 0)), mass=1.0), co.Body("spare", co.prismatic(), mass=1.0)
    stop = constructor(kind)("stop", None, "arm")
    chain = loops.ClosedChain(co.Model([arm, spare]), [stop], guess=(turn, 0.2))
    assert np.sin(chain.posture[0] / 2) == pytest.approx(0.0, abs=1e-9)
    assert chain.posture[1] == pytest.approx(0.2, abs=1e-6)
    assert abs(chain.posture[0] - turn) < 3.2  # half a turn, either way from there
    assert loops.closure_error(chain, [[np.pi, 0.0]]) == pytest.approx([np.pi])


@pytest.mark.parametrize("guess", [0.0, 0.3, -0.3, 1.0, 2.0, np.pi])
def test_four_bars_with_a_weld_close_within_a_turn(guess):
    """Two cranks and two couplers that end in a frame of the world: a loop of six equations, of which three count."""
    bars = [
        slender("a", 0.5, 0.0),
        slender("b", 0.6, 0.5, "a"),
        slender("c", 0.5, 0.6, "b"),
        slender("d", 0.1, 0.5, "c"),
    ]
    close = loops.weld("close", "d", loops.Frame(None, (0.9, 0, 0)))
    chain = loops.ClosedChain(co.Model(bars), [close], guess=guess)
    assert chain.mobility == 1
    assert np.abs(chain.posture - guess).max() < 2 * np.pi
    first, second, third = np.cumsum(chain.posture[:3])
    assert 0.5 * np.cos(first) + 0.6 * np.cos(second) + 0.5 * np.cos(third) == pytest.approx(0.9, abs=1e-9)
    assert 0.5 * np.sin(first) + 0.6 * np.sin(second) + 0.5 * np.sin(third) == pytest.approx(0.0, abs=1e-9)
    assert np.sin(chain.posture.sum() / 2) == pytest.approx(0.0, abs=1e-9)


def test_an_unreachable_sample_is_named_with_the_gap():
    chain = linkage(independent=("rocker",))
    reachable = chain.posture[chain.independent_dofs]
    with pytest.raises(co.InputError, match=r"closed at sample 1 on the branch .*: the way to rocker = 0\.2 "):
        loops.assemble(chain, [reachable, [0.2]])
    with pytest.raises(co.InputError, match=r"loop 'pin' stays open by 0\.\d+ m there"):
        loops.assemble(chain, [0.2])
    with pytest.raises(co.InputError, match=r"u must have shape \(1,\)"):
        loops.assemble(chain, [0.2, 0.3])
    with pytest.raises(co.InputError, match="guess must be finite"):
        loops.assemble(chain, reachable, np.full(3, np.nan))


def dead_centre() -> float:
    """Angle of the crank at which crank and coupler are in line."""
    reach = CRANK + COUPLER
    return float(np.arccos((reach**2 + GROUND**2 - ROCKER**2) / (2 * reach * GROUND)))


def test_an_actuator_singularity_is_named():
    """A rocker cannot drive its crank through the dead centre; the crank can, and so can both."""
    angles = dead_centre() + np.array([0.2, 0.1, 0.0])
    chain = four_bar(actuators=("rocker",))
    q = loops.assemble(chain, angles[:, None])
    evaluator = loops.ChainEvaluator(chain)
    assert np.isfinite(evaluator.forces(q[:2], 1.0, 0.0).tau).all()
    assert np.isfinite(evaluator.motion(q, 1.0, 0.0).qdd).all()
    match = "actuator singularity at sample 2: with rocker held, joints crank, coupler still move"
    for evaluate_ in (evaluator.forces, evaluator.sensitivities):
        with pytest.raises(co.InputError, match=match):
            evaluate_(q, 1.0, 0.0)
    with pytest.raises(co.InputError, match="actuator singularity at the assembled posture"):
        loops.ClosedChain(chain.model, chain.loops, ("crank",), ("rocker",), guess=q[2])
    for actuators in (("crank",), ("crank", "rocker")):
        driven = four_bar(actuators=actuators)
        assert np.abs(loops.ChainEvaluator(driven).forces(q, 1.0, 0.0).tau).max() < 100


def test_evaluator_refuses_open_and_singular_postures():
    chain = linkage(independent=("rocker",))
    evaluator = loops.ChainEvaluator(chain)
    with pytest.raises(co.InputError, match=r"q at sample 0: loop 'pin' is open by 0\.0"):
        evaluator.motion(chain.posture + 0.1, 1.0, 0.0)
    q = loops.assemble(four_bar(), [dead_centre()])
    with pytest.raises(co.InputError, match="q at sample 0 is singular: with rocker held, other joints still move"):
        evaluator.motion(q, 1.0, 0.0)
    with pytest.raises(co.InputError, match="chain must be a ClosedChain"):
        loops.ChainEvaluator(chain.model)
    with pytest.raises(co.InputError, match="the load on 'crank' must be numbers"):
        loops.ChainEvaluator(chain, loads=[co.Load("crank", force=lambda now: now.q)])
    with pytest.raises(co.InputError, match="compile must be True, False, None or a Compile, got 'yes'"):
        loops.ChainEvaluator(chain, compile="yes")  # pyright: ignore[reportArgumentType]
    assert "ChainEvaluator of " in repr(evaluator)


def test_rower_has_the_printed_masses():
    """Table II of Lee et al. (2005): pelvis, trunk, and two of each limb."""
    model = rower().model
    mass = {body.name: float(body.mass) for body in model.bodies}
    assert mass == {
        "ankle": 2 * 4.16, "knee": 2 * 8.35, "hip": 16.61, "waist": 29.27, "shoulder": 2 * 2.97, "elbow": 2 * 1.21,
        "wrist": 0.0, "oar": 0.0,
    }  # fmt: skip
    about_z = [float(body.inertia[2, 2]) for body in model.bodies]
    assert about_z == pytest.approx([2 * 0.056, 2 * 0.16, 0.18, 0.63, 2 * 0.025, 2 * 0.0054, 0, 0])


def test_rower_balances_the_oar_by_virtual_work():
    """Without gravity, at rest: what the actuators would do in any motion, the oar's load would undo."""
    chain = rower(gravity=(0, 0, 0))
    forces = loops.ChainEvaluator(chain, loads=[oar_load()]).forces(chain.posture, 0.0, 0.0)
    basis = chain.basis(chain.posture)
    assert basis.T @ forces.tau == pytest.approx(OAR_TORQUE * basis[7], abs=1e-9)
    assert np.abs(forces.tau).max() > 1
