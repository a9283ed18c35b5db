"""A motion refined at its switches: durations, costates and switches against closed forms and other means."""

import warnings
from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm
from scipy.optimize import root_scalar

import colloc as co
from colloc.optimality.limited import ActiveArc, LimitedSignal, active_arcs, limited
from colloc.refinement.run import Run
from colloc.refinement.switches import in_arcs
from colloc.studies.classics.arms import ARMS
from colloc.studies.classics.points import brachistochrone as bead
from colloc.studies.classics.points import bryson_denham, double_integrator
from colloc.studies.classics.states import brachistochrone, goddard
from colloc.studies.classics.switches import catalyst
from colloc.studies.two_link.time_optimal import problem as two_link

SHARP = co.Ipopt(tol=1e-11, bound_relax_factor=0.0)
EXHAUST, GRAVITY, HEIGHT, DRAG = 1580.9425279876559, 32.174, 23800.0, 5.49153484923381010e-5  # of Goddard's rocket


def coarse(problem: co.Problem, curve: co.curves.Transcription | None = None) -> co.Solution:
    """A motion on a grid that does not know when anything switches, whatever is said of it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.refinement.SolutionWarning)
        return co.solve(
            problem, curve or co.BSpline(20), plan=[co.refinement.Solve(between="nodes")], raise_on_failure=False
        )


def at_switches(problem: co.Problem, curve: co.curves.Transcription | None = None) -> co.solution.PhasesSolution:
    answer = co.refine(coarse(problem, curve), at="switches")
    assert isinstance(answer, co.solution.PhasesSolution)
    assert answer.status is co.solver.Status.SOLVED
    return answer


def in_time(answer: co.solution.PhasesSolution) -> tuple[np.ndarray, np.ndarray]:
    """Times and all costates of a motion in arcs, one arc after another."""
    along = co.optimality.costates(answer)
    t = np.concatenate([answer.start_times[name] + part.t for name, part in along.items()])
    return t, np.concatenate([part.all for part in along.values()])


@pytest.fixture(scope="module")
def rough() -> co.Solution:
    return coarse(two_link)


@pytest.fixture(scope="module")
def fastest(rough) -> co.solution.PhasesSolution:
    answer = co.refine(rough, at="switches")
    assert isinstance(answer, co.solution.PhasesSolution)
    return answer


def test_the_fastest_swing_is_that_of_the_maximum_principle(fastest):
    assert fastest.status is co.solver.Status.SOLVED
    assert fastest.duration == pytest.approx(0.391854539516, abs=1e-9)
    certificate = co.optimality.certify(fastest, tol=1e-6)
    assert certificate.passed
    assert certificate["Hamiltonian, constant"].value < 1e-6


def test_every_switch_is_a_zero_of_its_switching_function(fastest):
    arcs = co.optimality.arcs(fastest)
    assert len(arcs) == 4
    assert all(arc.off < 1e-6 for arc in list(arcs)[1:])
    assert np.isnan(arcs[0].off)
    assert arcs[1].active == {"tau[shoulder]": "upper", "tau[elbow]": "upper"}
    assert all(arc.singular == () for arc in arcs)
    assert np.allclose(arcs.switches, list(fastest.start_times.values())[1:])
    assert "tau[shoulder] upper, tau[elbow] lower" in repr(arcs)


def test_multipliers_of_another_motion_are_found_out(fastest):
    """The measures can fail: where multipliers are off so are zeros, and where they are turned their signs."""
    rows, variables = (fastest.multipliers[name] for name in ("g", "x"))
    off = {"g": rows * np.linspace(1.0, 1.05, rows.size), "x": variables}
    turned = {"g": -rows, "x": -variables}
    moved, wrong = (replace(fastest, outcome=replace(fastest.outcome, multipliers=lam)) for lam in (off, turned))
    assert max(arc.off for arc in list(co.optimality.arcs(moved))[1:]) > 1e-4
    assert co.optimality.certify(wrong)["minimum principle"].passed is False


def sides(answer: co.solution.PhasesSolution) -> list[dict[str, str]]:
    return [arc.active for arc in co.optimality.arcs(answer)]


def test_an_arc_too_many_is_dropped(rough, fastest):
    up, both, down, last = active_arcs(rough, limited(rough)[""])
    extra = ActiveArc(0.02, {"tau[shoulder]": -1, "tau[elbow]": -1})
    answer = in_arcs(rough, Run(rough.parameters, SHARP, False, 1e-3), [up, both, extra, down, last])
    assert isinstance(answer, co.solution.PhasesSolution)
    assert sides(answer) == sides(fastest)
    assert answer.duration == pytest.approx(0.391854539516, abs=1e-9)


def test_a_limit_that_no_arc_has_is_found():
    """Without the wall the particle would fly through it: it is put back, met for a while, and becomes an arc."""
    rough = coarse(bryson_denham(1 / 9))
    answer = in_arcs(rough, Run(rough.parameters, SHARP, False, 1e-3), [ActiveArc(1.0, {})])
    assert isinstance(answer, co.solution.PhasesSolution)
    assert sides(answer) == [{}, {"q[x]": "upper"}, {}]
    assert answer.cost == pytest.approx(4.0, abs=1e-9)


def test_a_limit_that_pushes_the_wrong_way_lets_go():
    """With the wall held from 0.1 s to 0.9 s the particle arrives too early; the ends of that arc push it away."""
    rough = coarse(bryson_denham(1 / 9))
    run = Run(rough.parameters, SHARP, False, 1e-3)
    answer = in_arcs(rough, run, [ActiveArc(0.2, {}), ActiveArc(0.6, {"q[x]": 1}), ActiveArc(0.2, {})])
    assert isinstance(answer, co.solution.PhasesSolution)
    assert answer.cost == pytest.approx(4.0, abs=1e-9)


def test_a_missing_arc_leaves_nothing_that_meets_the_ends_and_finer_grids_show_it(rough):
    up, both, *_, last = active_arcs(rough, limited(rough)[""])
    assert in_arcs(rough, Run(rough.parameters, SHARP, False, 1e-3), [up, both, last]) is None


def test_a_grid_that_shows_no_arcs_is_refined_until_it_does():
    rough = coarse(two_link, co.BSpline(4))
    assert co.refine(rough, at="switches").duration == pytest.approx(0.391854539516, abs=1e-9)


def test_the_costates_of_a_mass_moved_as_fast_as_its_force_can():
    answer = at_switches(double_integrator())
    t, costates = in_time(answer)
    assert answer.duration == pytest.approx(0.4, abs=1e-12)
    assert np.allclose(costates, np.column_stack([np.full(t.size, -0.2), 0.2 * t - 0.04]), atol=1e-9)


def test_the_costates_of_a_particle_that_touches_a_wall_for_a_while():
    """Bryson, Denham and Dreyfus (1963): six times 1 - 3 t before the wall, nothing at it, and back."""
    answer = at_switches(bryson_denham(1 / 9))
    t, costates = in_time(answer)
    assert answer.cost == pytest.approx(4.0, abs=1e-9)
    speed = 6 * np.where(t < 1 / 3, 1 - 3 * t, np.where(t > 2 / 3, 3 * t - 2, 0.0))
    assert np.abs(costates[:, 1] - speed).max() < 1e-4
    inside = np.abs(t - 0.5) > 0.17
    assert np.abs(costates[inside, 0] - 18 * np.sign(0.5 - t[inside])).max() < 1e-4


def test_the_catalysts_are_mixed_on_a_singular_arc():
    """For given times and mixture all is linear: products of exponentials, for the state and for the costates."""
    answer = at_switches(catalyst())
    arcs = co.optimality.arcs(answer)
    assert [arc.active for arc in arcs] == [{"u": "upper"}, {}, {"u": "lower"}]
    assert [arc.singular for arc in arcs] == [(), ("u",), ()]
    mixture = answer["arc 2"].at(np.linspace(0.01, 0.99, 9) * answer["arc 2"].duration).u
    assert np.ptp(mixture) < 1e-6

    def flow(u: float, T: float) -> np.ndarray:
        return expm(T * np.array([[-u, 10 * u], [u, -10 * u - (1 - u)]]))

    def cost(first: float, second: float, u: float) -> float:
        x = flow(0.0, 1 - second) @ flow(u, second - first) @ flow(1.0, first) @ [1.0, 0.0]
        return float(x.sum() - 1)

    best = np.array([*arcs.switches, mixture.mean()])
    assert answer.cost == pytest.approx(cost(*best), abs=1e-11)
    assert answer.cost == pytest.approx(-0.0480556, abs=1e-7)
    for k in range(3):  # no neighbour is better
        step = 1e-3 * np.eye(3)[k]
        assert cost(*(best + step)) > cost(*best) < cost(*(best - step))
    _, costates = in_time(answer)
    exact = np.ones(2) @ flow(0.0, 1 - best[1]) @ flow(best[2], best[1] - best[0]) @ flow(1.0, best[0])
    assert np.allclose(costates[0], exact, atol=1e-6)


def test_the_rocket_thrusts_on_a_singular_arc():
    """Its costates by the adjoint equations, integrated backwards along the motion from what the end says of them."""
    answer = at_switches(goddard())
    arcs = co.optimality.arcs(answer)
    assert answer.cost == pytest.approx(-18550.8718638, abs=1e-6)
    assert arcs[1].singular == ("thrust",)
    t, costates = in_time(answer)
    switch, T = arcs.switches[1], answer.duration

    def adjoint(time: float, lam: np.ndarray) -> list[float]:
        now = answer.at(np.clip(time, 0.0, T))
        h, v, m, thrust = (float(now.signals[name][0]) for name in ("h", "v", "m", "thrust"))
        drag = DRAG * v**2 * np.exp(-h / HEIGHT)
        by_speed = DRAG * 2 * v * np.exp(-h / HEIGHT)
        return [-lam[1] * drag / HEIGHT / m, -lam[0] + lam[1] * by_speed / m, lam[1] * (thrust - drag) / m**2]

    coasting = solve_ivp(adjoint, (T, switch), [-1.0, 0.0, 0.0], rtol=1e-10, atol=1e-12, max_step=2.0)
    at_end = coasting.y[:, -1]
    mass = float(answer.at(switch).signals["m"][0])
    lam = [*at_end[:2], EXHAUST * at_end[1] / mass]  # where thrust ends its switching function is zero
    before = solve_ivp(adjoint, (switch - 1e-9, 0.0), lam, rtol=1e-10, atol=1e-12, max_step=0.5, dense_output=True)
    earlier = t < switch
    exact = before.sol(np.minimum(t[earlier], switch - 1e-9)).T
    assert np.abs((costates[earlier] - exact) / np.abs(exact).max(axis=0)).max() < 1e-4


def test_the_slide_is_a_cycloid():
    """One arc: nothing switches. The costate of the way is -1 / (2 sqrt(g r)), r the radius of the rolling circle."""
    answer = at_switches(brachistochrone(), co.Radau(20))
    angle = root_scalar(lambda phi: (phi - np.sin(phi)) / (1 - np.cos(phi)) - 2.0, bracket=(1.0, 6.0)).root
    radius = 5.0 / (1 - np.cos(angle))
    assert answer.duration == pytest.approx(angle * np.sqrt(radius / 9.80665), abs=1e-8)
    _, costates = in_time(answer)
    assert np.allclose(costates[:, 0], -0.5 / np.sqrt(9.80665 * radius), atol=1e-4 * 0.1)


def test_arcs_are_those_of_the_local_optimum_that_a_grid_is_in():
    """A slide along a whole arch, up to where it began, and down the wall backwards, is optimal nearby."""
    radius, g = 10.0 / (2 * np.pi), 9.80665
    arch, fall = 2 * np.pi * np.sqrt(radius / g), np.sqrt(2 * 5.0 / g)

    def place(t: float) -> np.ndarray:
        if t > arch:
            return np.array([10.0, 10.0 - g * (t - arch) ** 2 / 2, -g * (t - arch)])
        phi = t * np.sqrt(g / radius)
        drop = radius * (1 - np.cos(phi))
        return np.array([radius * (phi - np.sin(phi)), 10.0 - drop, np.sqrt(2 * g * drop)])

    def angle(t: float) -> np.ndarray:
        return np.array([np.pi / 2 - min(t, arch) * np.sqrt(g / radius) / 2])

    problem = replace(brachistochrone(), duration=co.Free(0.1, 10.0, arch + fall))
    guess = {"z": place, "angle": angle}
    rough = co.solve(problem, co.BSpline(20), guess=guess, plan=[co.refinement.Solve(between="nodes")], progress=False)
    answer = co.refine(rough, at="switches")
    assert isinstance(answer, co.solution.PhasesSolution)
    assert answer.duration == pytest.approx(arch + fall, abs=1e-9)
    assert sides(answer) == [{}, {"angle": "lower"}]
    line = co.optimality.certify(answer)["local minimum"]
    assert line.passed is None
    assert "1 flat" in line.detail
    best = co.solve(
        brachistochrone(), co.BSpline(20), plan=[co.refinement.Solve(between="nodes"), co.refinement.SeekStarts(8)]
    )
    assert best.duration == pytest.approx(1.80160312, rel=1e-3)


def test_a_bead_on_a_wire_slides_along_the_cycloid():
    """The same slide as a mechanism on which no force does work."""
    answer = at_switches(bead((0.0, 10.0), (10.0, 5.0), 9.80665), co.Radau(20, degree=7))
    angle = root_scalar(lambda phi: (phi - np.sin(phi)) / (1 - np.cos(phi)) - 2.0, bracket=(1.0, 6.0)).root
    radius = 5.0 / (1 - np.cos(angle))
    assert answer.duration == pytest.approx(angle * np.sqrt(radius / 9.80665), abs=1e-9)
    assert sides(answer) == [{}]
    _, costates = in_time(answer)
    assert np.allclose(costates[:, 0], -0.5 / np.sqrt(9.80665 * radius), atol=1e-6)


def test_gauss_points_leave_an_equation_no_room_that_radau_points_do():
    """Of the bead's power: polynomials of degree 13 on every interval, whose integral is the energy gained."""
    slide = bead((0.0, 10.0), (10.0, 5.0), 9.80665)
    start = coarse(slide, co.BSpline(20, degree=4, continuity=1))
    gauss, radau = (
        co.solve(slide, curve, guess=start, plan=[co.refinement.Solve(tol=1.0, between="nodes")])
        for curve in (co.BSpline(8, degree=8, continuity=1), co.Radau(8, degree=7))
    )
    gained = []
    for answer in (gauss, radau):
        end = answer.at(answer.duration)
        gained.append(float((end.qd**2).sum() / 2 + 9.80665 * (end.q[1] - 10.0)))
    assert abs(gained[0]) < 1e-9
    assert abs(gained[1]) > 1.0
    assert radau.duration < gauss.duration - 1e-2


def test_velocity_limits_and_torques_take_turns_on_an_industrial_robot():
    answer = at_switches(ARMS["manutec_time"].problem(), co.Radau(20))
    assert answer.duration == pytest.approx(0.4951890, abs=1e-7)
    arcs = co.optimality.arcs(answer)
    assert len(arcs) == 9
    assert [len(arc.active) for arc in arcs] == [3] * 9
    certificate = co.optimality.certify(answer)
    assert certificate.passed
    assert certificate["Hamiltonian, constant"].value < 1e-6


def test_files_keep_a_motion_in_arcs(fastest, tmp_path):
    co.save(fastest, tmp_path / "fastest.npz")
    again = co.load(tmp_path / "fastest.npz", problem=fastest.problem)
    assert again.curve == fastest.curve
    assert again.duration == fastest.duration


def test_a_motion_in_phases_is_refused(fastest):
    with pytest.raises(co.InputError, match="needs the motion of a Problem"):
        co.refine(fastest, at="switches")


def test_another_place_is_refused(rough):
    with pytest.raises(co.InputError, match='at must be "switches", got'):
        co.refine(rough, at="ends")


def test_a_limit_on_time_gives_back_the_motion_there_was(rough):
    with pytest.warns(co.refinement.SolutionWarning, match="ran out"):
        answer = co.refine(rough, at="switches", seconds=1e-6)
    assert answer.status is co.solver.Status.TIME_LIMIT
    assert answer.duration == rough.duration


def test_where_no_arcs_hold_grids_are_refined_with_a_warning(rough, monkeypatch):
    monkeypatch.setattr("colloc.refinement.switches.in_arcs", lambda *_: None)
    with pytest.warns(co.refinement.SolutionWarning, match="no valid arcs were found"):
        answer = co.refine(rough, at="switches")
    assert isinstance(answer, co.Solution)
    assert answer.status is co.solver.Status.SOLVED


def test_a_tolerance_is_met_by_intervals_that_end_at_switches(fastest):
    """Expected with a tolerance: the motion of one curve, of a few intervals more than it has arcs."""
    answer = co.solve(two_link, co.BSpline(20), tol=1e-5)
    assert isinstance(answer, co.Solution)
    assert answer.status is co.solver.Status.SOLVED
    assert answer.duration == pytest.approx(0.391854539516, abs=1e-7)
    assert answer.nlp.n_x < 200
    breakpoints = answer.nlp.grid.breakpoints * answer.duration
    for switch in co.optimality.arcs(fastest).switches:
        assert np.abs(breakpoints - switch).min() < 1e-7
    assert [round.variables for round in answer.rounds[-2:]] == [fastest.nlp.n_x, answer.nlp.n_x]
    assert answer.cost_change < 1e-6
    assert co.optimality.certify(answer, tol=1e-4)["minimum principle"].passed


@pytest.fixture
def attempts(monkeypatch) -> list[co.Solution]:
    """Motions from which arcs were tried, in a library that finds none."""
    tried = []

    def none(solution: co.Solution, run: Run) -> None:
        tried.append(solution)

    monkeypatch.setattr("colloc.refinement.switches.refine_at_switches", none)
    return tried


def test_where_no_arcs_hold_a_tolerance_is_met_by_grids(attempts):
    answer = co.solve(two_link, co.Radau(12), tol=1e-5)
    assert len(attempts) == 1
    assert len(attempts[0].rounds) == 2
    assert answer.status is co.solver.Status.SOLVED
    assert answer.duration == pytest.approx(0.391854539516, abs=1e-5 * 0.4)
    assert answer.curve.basis.intervals > 20


@pytest.mark.parametrize(("stated", "tol"), [(two_link, 1e-3), (bryson_denham(1 / 9), 1e-6)])
def test_arcs_are_not_tried_where_grids_do_or_no_limit_jumps(attempts, stated, tol):
    assert co.solve(stated, co.Radau(12), tol=tol).success
    assert not attempts


def test_a_problem_that_cannot_be_divided_is_refined_on_grids(attempts):
    """The elbow is free only in the first half: when that ends arcs do not know."""
    half = co.path(lambda now: now.q[1], upper=0.0, during=(0.0, 0.5), name="elbow")
    answer = co.solve(replace(two_link, subject_to=[*two_link.subject_to, half]), co.Radau(12), tol=1e-4)
    assert answer.success
    assert not attempts


def test_a_closed_chain_is_refined_on_grids(attempts):
    """Its torque jumps once, from bound to bound."""
    link = {"mass": 1.0, "inertia": (0.01, 0.01, 0.01)}
    crank, coupler = (
        co.Body(name, co.dh_revolute(a=a), parent, **link)
        for name, a, parent in (("crank", 0.3, None), ("coupler", 0.8, "crank"))
    )
    rocker = co.Body("rocker", co.revolute(placement=co.placement((0.9, 0, 0))), **link)
    pin = co.loops.on_line("pin", "coupler", co.loops.Frame("rocker", (0.6, 0, 0)))
    chain = co.loops.ClosedChain(co.Model([crank, coupler, rocker]), [pin], actuators=["crank"], guess=(1.0, -0.5, 1.5))
    ends = [co.initial(q={"crank": 0.5}, qd={"crank": 0.0}), co.final(q={"crank": 2.5}, qd={"crank": 0.0})]
    stated = [*ends, co.bounds(tau={"crank": (-20, 20)})]
    parts = [co.loops.IndependentJoints(chain)]
    answer = co.solve(
        co.Problem(chain.model, co.Free(0.1, 3.0), co.duration(), stated, parts=parts), co.Radau(12), tol=1e-4
    )
    assert answer.success
    assert answer.duration == pytest.approx(0.266225, rel=2e-5)
    assert not attempts


def test_a_limit_on_time_while_arcs_are_tried_gives_back_the_grid(rough, monkeypatch):
    limit = co.solver.Status.TIME_LIMIT
    monkeypatch.setattr("colloc.refinement.switches.refine_at_switches", lambda *_: limit)
    answer = co.refine(rough, 1e-5)
    assert answer.status is limit
    assert isinstance(answer.curve, co.BSpline)
    assert len(answer.rounds) == 2


def test_a_coarse_answer_of_a_refinement_names_what_goes_further(rough, attempts, monkeypatch):
    monkeypatch.setattr("colloc.refinement.rounds._ROUNDS", 2)
    with pytest.warns(co.refinement.SolutionWarning) as caught:
        answer = co.refine(rough, 1e-5)
    (sentence,) = {str(warning.message) for warning in caught}
    assert answer.status is co.solver.Status.COARSE
    assert "refinement ended after 2 iterations, and limits become active or inactive near t = " in sentence
    assert sentence.endswith('try co.refine(solution, at="switches")')
    named = [float(time) for time in sentence.split("near t = ")[1].split(" s:")[0].split(", ")]
    assert all(np.abs(time - np.array([0.045709, 0.195927, 0.2353])).min() < 0.02 for time in named)


def test_a_coarse_answer_that_was_not_refined_is_to_be():
    with pytest.warns(co.refinement.SolutionWarning, match=r"refine, as in co.solve\(..., tol=0.001\)"):
        co.solve(two_link, co.BSpline(6), plan=[co.refinement.Solve(tol=1e-3, between="nodes")])


def test_a_coarse_answer_that_limits_do_not_hold_up_is_to_start_anew(monkeypatch):
    monkeypatch.setattr("colloc.refinement.rounds._ROUNDS", 1)
    swing = replace(two_link, duration=1.0, minimize=co.integral(lambda now: ca.sumsqr(now.tau)))
    with pytest.warns(co.refinement.SolutionWarning, match="first grid, as finer grids gave no improvement"):
        co.solve(swing, co.BSpline(3), tol=1e-6)


def test_a_control_on_its_way_switches_where_its_switching_function_is_zero():
    t = np.linspace(0.0, 1.0, 101)
    values, switching = np.clip((t - 0.45) * 10, -1.0, 1.0), 0.42 - t
    thing = LimitedSignal("tau[x]", True, True, (-1.0, 1.0), 1.0, t, np.full(101, 0.1), values, switching)
    (low, high) = thing.stretches()
    assert (low.side, high.side) == (-1, 1)
    assert high.start == pytest.approx(0.42)
    unknown = LimitedSignal("tau[x]", True, True, (-1.0, 1.0), 1.0, t, np.full(101, 0.1), values, np.full(101, np.nan))
    assert unknown.stretches()[1].start == pytest.approx(0.45)
