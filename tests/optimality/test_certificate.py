"""A certificate says of every condition of an optimum whether it is met, and of what is no optimum that it is not."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure

import colloc as co
from colloc.models.ur5 import ur5
from colloc.optimality import Certificate, certify
from colloc.optimality.hamiltonian import _ungoverned
from colloc.studies.classics.points import brachistochrone, bryson_denham, double_integrator, particle

CONDITIONS = [
    "stationarity", "feasibility", "complementarity", "sign", "minimum principle", "Hamiltonian, constant",
    "Hamiltonian, free duration", "transversality", "local minimum", "forward simulation",
]  # fmt: skip


@pytest.fixture(scope="module")
def fastest() -> co.Solution:
    return co.solve(
        double_integrator(), co.Radau(4), solver=co.Ipopt(tol=1e-11), plan=[co.refinement.Solve(between="nodes")]
    )


@pytest.fixture(scope="module")
def certificate(fastest: co.Solution) -> Certificate:
    return certify(fastest)


def moved(solution: co.Solution, **changes) -> co.Solution:
    """The same answer with another decision vector or other multipliers."""
    return replace(solution, outcome=replace(solution.outcome, **changes))


def verdicts(certificate: Certificate) -> dict[str, bool | None]:
    return {line.condition: line.passed for line in certificate.lines}


def test_an_optimum_passes_every_line_that_can_be_judged(certificate):
    assert list(verdicts(certificate)) == CONDITIONS
    assert certificate.passed
    assert None not in verdicts(certificate).values()
    assert certificate["minimum principle"].value < 1e-6
    assert certificate["Hamiltonian, constant"].value < 1e-6


def test_a_coarse_smooth_spline_fails_where_its_torque_is_on_its_way_between_bounds():
    coarse = co.solve(double_integrator(), co.BSpline(10), plan=[co.refinement.Solve(between="nodes")])
    certificate = certify(coarse, tol=1e-3)
    failed = {name for name, passed in verdicts(certificate).items() if passed is False}
    assert failed == {"minimum principle", "Hamiltonian, constant"}
    assert not certificate.passed
    assert certificate["minimum principle"].value == pytest.approx(1 - 0.4 / certificate.solution.cost, rel=0.1)
    assert "most by tau[x]" in certificate["minimum principle"].detail
    assert "t = 0.2" in certificate["Hamiltonian, constant"].detail


def test_a_motion_beside_the_optimum_is_found_out(fastest):
    x = fastest.x.copy()
    x[fastest.nlp.free] *= 1.001
    shifted = certify(moved(fastest, x=x))
    assert shifted["feasibility"].passed is False
    assert shifted["complementarity"].passed is False


def test_multipliers_of_another_sign_are_found_out(fastest):
    turned = {name: -value for name, value in fastest.multipliers.items()}
    certificate = certify(moved(fastest, multipliers=turned))
    assert certificate["stationarity"].passed is False
    assert certificate["minimum principle"].passed is False


def test_multipliers_at_bounds_far_away_are_found_out(fastest):
    multipliers = fastest.multipliers["g"].copy()
    distance = fastest.nlp.bounds_g[1] - np.array(fastest.nlp.g(fastest.x, fastest.parameters)).ravel()
    multipliers[distance.argmax()] = 1.0
    certificate = certify(moved(fastest, multipliers={"g": multipliers, "x": fastest.multipliers["x"]}))
    assert certificate["complementarity"].passed is False


@pytest.fixture(scope="module")
def reach() -> co.Problem:
    """A UR5 from rest to rest, as fast as the bounds on its velocities and torques allow."""
    start, end = (-1.6, 0.4, -2.0, 1.2, 0.3, 0.9), (1.1, -0.5, 0.6, -0.2, 1.9, -1.5)
    return co.transcription.point_to_point(ur5(), start, end)


@pytest.fixture(scope="module")
def best_reach(reach: co.Problem) -> co.Solution:
    return co.solve(reach, tol=1e-4)


def test_an_arm_at_bounds_of_its_velocities_passes(best_reach):
    """Next to where a velocity is at its bound control points are, too, while the velocity is still on its way."""
    certificate = certify(best_reach)
    assert certificate.passed
    assert certificate["minimum principle"].value < 2e-4
    middle = certificate.costates[""].lam_qd[certificate.costates[""].t.size // 2]
    assert np.abs(middle).max() < 1e-5  # as long as the bound of the pan holds, neither torques nor their bounds count


def test_an_arm_that_is_slower_than_it_could_be_fails(best_reach):
    """Two per cent slower at the same multipliers: bounds on velocities push though they are met nowhere."""
    x = best_reach.x.copy()
    x[best_reach.nlp.grid.layout.duration] *= 1.02
    certificate = certify(moved(best_reach, x=x))
    assert certificate["complementarity"].passed is False
    assert certificate["minimum principle"].passed is False
    assert certificate.instants[""].idle > 0.015 * certificate.solution.cost


def test_an_arm_on_a_curve_that_is_too_coarse_fails(reach, best_reach):
    with pytest.warns(co.refinement.SolutionWarning):
        coarse = co.solve(reach, co.BSpline(8), guess=best_reach)
    certificate = certify(coarse)
    true = 1 - best_reach.cost / coarse.cost
    assert true > 0.01
    assert certificate["minimum principle"].passed is False
    assert certificate["minimum principle"].value > true


def test_the_hamiltonian_may_be_off_by_the_root_of_what_other_controls_gain(best_reach):
    """A torque on its way between its bounds is seen in it to first order, in the cost to second."""
    steady = certify(best_reach, tol=1e-3)["Hamiltonian, constant"]
    assert steady.passed
    open_ = certify(best_reach, tol=steady.value / 2)
    assert open_["minimum principle"].passed
    assert open_["Hamiltonian, constant"].passed is None
    assert "undecided" in open_["Hamiltonian, constant"].detail
    strict = certify(best_reach, tol=1e-6)
    assert strict["minimum principle"].passed is False
    assert strict["Hamiltonian, constant"].passed is False


def test_a_saddle_fails_by_its_name():
    cost = co.integral(lambda now: now.tau**2 - 200 * now.q**2)
    problem = co.Problem(particle("x"), 1.0, cost, [co.initial(q=0.0), co.final(q=0.0)])
    certificate = certify(co.solve(problem, co.HermiteSimpson(10), raise_on_failure=False))
    line = certificate["local minimum"]
    assert line.passed is False
    assert line.detail.startswith("saddle along 20 rising, 1 falling")
    assert certificate["stationarity"].passed
    assert certificate["minimum principle"].passed


def test_of_a_large_program_a_saddle_fails_and_what_falls_is_named(monkeypatch):
    for module in ("certificate", "second_order"):
        monkeypatch.setattr(f"colloc.optimality.{module}.LARGEST", 0)
    cost = co.integral(lambda now: now.tau**2 - 200 * now.q**2)
    problem = co.Problem(particle("x"), 1.0, cost, [co.initial(q=0.0), co.final(q=0.0)])
    fine = certify(co.solve(problem, co.HermiteSimpson(10), raise_on_failure=False))
    assert fine["local minimum"].passed is False
    assert fine["local minimum"].detail.startswith("saddle: the cost falls along q[x] (100%)")
    calm = replace(problem, minimize=co.integral(lambda now: now.tau**2 - 50 * now.q**2))
    held = certify(co.solve(calm, co.HermiteSimpson(10)))["local minimum"]
    assert held.passed is None
    assert "no direction of descent" in held.detail


def test_a_bead_on_a_wire_is_the_best_also_where_it_rests():
    """No force does work on it: at rest that says nothing of the force, at the first instant alone."""
    slide = brachistochrone((0.0, 10.0), (10.0, 5.0), 9.80665)
    certificate = certify(
        co.solve(slide, co.BSpline(12, degree=8, continuity=1), plan=[co.refinement.Solve(between="nodes")])
    )
    assert certificate.passed
    assert certificate["minimum principle"].value < 1e-8


def test_rows_that_lose_their_grip_for_longer_than_an_instant_do_not_excuse():
    rows, s = np.ones((7, 2, 3)), np.array([0.0, 0.25, 0.5, 0.5, 0.75, 0.9, 1.0])
    rows[[0, 2, 3, 5, 6], 1] = 0.0
    assert _ungoverned(rows, s).tolist() == [True, False, True, True, False, False, False]


def test_a_smooth_optimum_of_a_fixed_duration_passes():
    certificate = certify(co.solve(bryson_denham(1 / 9), co.BSpline(9)))
    assert certificate["local minimum"].passed
    assert certificate["Hamiltonian, free duration"].detail == "not checked: the duration is fixed"


def test_phases_are_judged_each_and_the_worst_is_named():
    def phase(*constraints) -> co.Problem:
        return co.Problem(particle("x"), 0.5, co.integral(lambda now: now.tau**2), list(constraints))

    motion = co.Phases({"go": phase(co.initial(q=0.0, qd=0.0)), "stop": phase(co.final(q=1.0, qd=0.0))})
    certificate = certify(co.solve(motion, co.BSpline(6)))
    assert certificate.passed
    assert set(certificate.costates) == {"go", "stop"}
    assert "in phase" in certificate["transversality"].detail


def test_a_closed_chain_has_its_continuous_problem_left_open(closed_chain):
    certificate = certify(closed_chain)
    assert certificate["minimum principle"].passed is None
    assert certificate.costates == {}
    assert "got a closed chain" in certificate["minimum principle"].detail
    assert certificate["stationarity"].passed
    with pytest.raises(co.InputError, match="no costates to draw"):
        co.plot.certificate(certificate)


def test_the_tolerance_is_that_of_the_continuous_problem(fastest):
    strict = certify(fastest, tol=1e-20)
    assert strict["Hamiltonian, constant"].passed is False
    assert strict["stationarity"].passed
    with pytest.raises(co.InputError, match="tol must be finite and positive, got 0"):
        certify(fastest, tol=0)


def test_what_does_not_limit_the_time_is_open_with_what_decides_it():
    """A way that one of two slides takes in the time that the other needs."""
    ends = [co.initial(q=0.0, qd=0.0), co.final(q=(1.0, 0.1), qd=0.0)]
    fast = co.Problem(particle("xy"), co.Free(0.1, 5.0), co.duration(), [*ends, co.bounds(tau=(-10.0, 10.0))])
    solution = co.solve(fast)
    certificate = certify(solution)
    assert solution.success
    assert certificate.passed
    line = certificate["local minimum"]
    assert line.passed is None
    assert "flat by q[y] (100%)" in line.detail
    assert line.detail.endswith("as in minimize=[co.duration(), effort]")


def test_where_the_error_of_the_cost_is_within_the_tolerance_costates_alone_fail_nothing(best_reach):
    """And where it is not, or where the program's own conditions fail, they do."""
    error = best_reach.error["cost"].total
    between = certify(best_reach, tol=2 * error)
    assert between.passed
    assert certify(best_reach, tol=error / 10)["Hamiltonian, constant"].passed is False
    turned = {name: -value for name, value in best_reach.multipliers.items()}
    wrong = certify(moved(best_reach, multipliers=turned), tol=2 * error)
    assert wrong["minimum principle"].passed is False


def test_residuals_that_solvers_accept_are_open_and_larger_ones_fail(fastest):
    """In the scales of the run: IPOPT calls nothing solved that misses an equation by more than 1e-4."""
    direction = np.zeros(fastest.nlp.n_x)
    direction[np.flatnonzero(fastest.nlp.free)[0]] = 1.0

    def line(off: float):
        return certify(moved(fastest, x=fastest.x + off * direction))["feasibility"]

    rate = line(1e-3).value / 1e-3
    assert [line(value / rate).passed for value in (1e-7, 1e-5, 1e-3)] == [True, None, False]


def test_a_duration_at_its_bound_is_held_by_it():
    """Slower than it need be: the Hamiltonian is off by what the bound pushes with, and by no more."""
    ends = [co.initial(q=0.0, qd=0.0), co.final(q=1.0, qd=0.0)]
    slow = co.Problem(
        particle("x"), co.Free(1.0, 5.0), co.duration() + 1e-3 * co.integral(lambda now: now.tau**2), ends
    )
    with pytest.warns(co.refinement.SolutionWarning, match="lower bound"):
        certificate = certify(co.solve(slow, co.BSpline(4), solver=co.Ipopt(tol=1e-10)))
    assert certificate.solution.duration == pytest.approx(1.0)
    assert certificate["Hamiltonian, free duration"].passed
    assert certificate["Hamiltonian, free duration"].value < 1e-6


def test_the_table_has_a_line_for_every_condition(certificate):
    text = repr(certificate)
    assert text.startswith("Certificate: 10 pass, 0 fail, 0 open")
    assert all(condition in text for condition in CONDITIONS)
    assert certificate._repr_html_().count("<tr>") == len(CONDITIONS) + 1


def test_an_unknown_condition_is_refused_by_name(certificate):
    with pytest.raises(co.InputError, match="known: 'stationarity'"):
        certificate["optimality"]


def test_what_is_not_finite_is_refused(fastest):
    with pytest.raises(co.InputError, match="must be finite, got variables"):
        certify(moved(fastest, x=fastest.x * np.nan))


def test_the_figure_shows_torques_with_their_switching_functions(certificate):
    figure = co.plot.certificate(certificate, width="page")
    assert isinstance(figure, Figure)
    torque, hamiltonian, gain, switching = figure.axes
    now = certificate.instants[""]
    assert np.array_equal(torque.lines[0].get_ydata(), now.controls["tau[x]"])
    assert np.array_equal(switching.lines[0].get_ydata(), now.switching["tau[x]"])
    # Zeros are at one height, so that signs can be compared by eye.
    assert np.sum(torque.get_ylim()) == pytest.approx(0.0)
    assert np.sum(switching.get_ylim()) == pytest.approx(0.0)
    assert hamiltonian.get_ylabel().startswith("Hamiltonian")
    assert gain.get_xlabel() == "time [s]"


def nose() -> co.Problem:
    """Newton's body of least resistance, as long as its radius is: the time is the radius, the drag is half a sum."""
    y, slope = co.State("y", rate=lambda now: now.slope), co.Unknown("slope", lower=0.0)
    drag = co.integral(lambda now: 2 * now.t / (1 + now.slope**2))
    ends = [co.initial(states={"y": 0.0}), co.final(states={"y": 1.0})]
    return co.Problem(None, 1.0, drag, ends, [y, slope])  # pyright: ignore[reportArgumentType]


def test_a_weak_minimum_is_distinguished_from_a_strong_one():
    """Newton's body has a flat tip and then a slope of one (Goldstine 1980): with smaller slopes it is no optimum.

    The motion from a straight line has a local minimum of the program, with slopes below one.
    """
    tip, end = 0.3509425720484, 1.9168012456412  # from the parametric form, solved for a length of one
    best = 0.374815987627634  # its integral by SciPy's quad
    weak = co.solve(nose(), co.HermiteSimpson(20), tol=1e-3)
    line = co.optimality.certify(weak)["minimum principle"]
    assert weak.status is co.solver.Status.SOLVED
    assert weak.cost > 1.001 * best
    assert line.passed is None
    assert line.value > 1e-3
    assert "gain of signals far from those of the motion, such as slope = " in line.detail
    slopes = {"slope": lambda t: [0.0 if t < tip else 1 + (end - 1) * (t - tip) / (1 - tip)]}
    strong = co.solve(nose(), co.BSpline(20), guess=slopes, tol=1e-3)
    assert strong.cost == pytest.approx(best, rel=1e-4)
    assert co.optimality.certify(strong)["minimum principle"].passed


def test_a_stage_of_a_millimetre_is_judged_by_its_travel():
    stage = co.Model([co.Body("stage", co.prismatic((1, 0, 0)), mass=1.0)], gravity=(0, 0, 0))
    travel = 1e-3  # m
    spring = co.problem.JointTorque("stage", lambda q, qd: -30 * travel * (q / travel) ** 3)
    parts = [spring, co.Motors({"stage": 1.0}, unit="N")]
    ends = [co.initial(q=0.0, qd=0.0), co.final(q=travel, qd=0.0)]
    problem = co.Problem(stage, 1.0, co.integral(lambda now: (now.motor / travel) ** 2), ends, parts=parts)
    coarse = co.solve(problem, co.HermiteSimpson(3), plan=[co.refinement.Solve(between="nodes")], progress=False)
    certificate = co.optimality.certify(coarse, tol=1e-3)
    assert certificate.verification is not None
    line, error = certificate["forward simulation"], certificate.verification.local_error
    assert error < 1e-3  # m, which would pass
    assert line.passed is False
    assert line.value == pytest.approx(error / np.ptp(coarse.nodes.q))
