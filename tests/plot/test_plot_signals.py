"""Figures of all that varies: signals and states like joints, with or without a mechanism."""

# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportOperatorIssue=false, reportIndexIssue=false, reportGeneralTypeIssues=false

import casadi as ca
import numpy as np
import pytest
from matplotlib.figure import Figure

import colloc as co
from colloc.models.two_link import two_link
from colloc.plot.style import MUTED

EMPTY = co.Model.empty()


@pytest.fixture(scope="module")
def oscillator() -> co.solution.Solution:
    """Van der Pol's, pushed back to rest: a problem without joints."""
    push = co.Unknown("push", lower=-0.3, upper=1.0, unit="m/s2")
    state = co.State(
        "place",
        names=("x", "v"),
        unit=("m", "m/s"),
        rate=lambda now: ca.vertcat(now.place[1], (1 - now.place[0] ** 2) * now.place[1] - now.place[0] + now.push),
    )
    cost = co.integral(lambda now: ca.sumsqr(now.place) + now.push**2)
    start = co.initial(states={"place": (0.0, 1.0)})
    return co.solve(
        co.Problem(EMPTY, 10.0, cost, [start], unknowns=[push, state]),
        co.Radau(12),
        plan=[co.refinement.Solve(tol=1.0)],
    )


@pytest.fixture(scope="module")
def quadrotor() -> co.solution.Solution:
    """Four thrusts carry a body whose joints nothing drives."""
    thrust = co.Unknown("thrust", names=("front", "left", "back", "right"), unit="N", lower=0.0, upper=5.0, guess=2.5)

    def moment(now: co.problem.Instant) -> ca.SX:
        front, left, back, right = ca.vertsplit(now.thrust)
        turning = ca.vertcat(0.2 * (left - right), 0.2 * (back - front), 0.02 * (front - left + back - right))
        return now.rotation("hull") @ turning

    load = co.Load("hull", force=lambda now: now.rotation("hull")[:, 2] * ca.sum1(now.thrust), moment=moment)
    body = co.floating("hull", sequence="quaternion", mass=1.0, inertia=(0.01, 0.01, 0.02))
    model = co.Model(body, gravity=(0, 0, -9.81), name="quadrotor")
    there = model.neutral + np.eye(7)[0]
    rules = [co.initial(q=model.neutral, qd=0.0), co.final(q=there, qd=0.0), co.bounds(tau=(0.0, 0.0))]
    effort = co.integral(lambda now: ca.sumsqr(now.thrust - 2.4525))
    problem = co.Problem(model, 1.5, effort, rules, unknowns=[thrust], loads=[load])
    return co.solve(problem, co.Radau(5), plan=[co.refinement.Solve(tol=1.0)])


def labels(figure: Figure) -> list[str]:
    return [ax.get_ylabel() for ax in figure.axes if ax.get_visible()]


def names(figure: Figure, panel: int) -> list[str]:
    legend = figure.axes[panel].get_legend()
    return [] if legend is None else [text.get_text() for text in legend.get_texts()]


def test_a_problem_without_joints_is_drawn(oscillator):
    figure = co.plot.signals(oscillator)
    assert labels(figure) == ["push [m/s2]", "place [m]", "place [m/s]"]
    assert [names(figure, k) for k in range(3)] == [[], ["x"], ["v"]]
    t, speed = figure.axes[2].get_lines()[0].get_data()
    np.testing.assert_array_equal(speed, oscillator.at(t).place["v"])
    bounds = {line.get_ydata()[0] for line in figure.axes[0].get_lines() if line.get_linestyle() == "--"}
    assert bounds == {-0.3, 1.0}
    assert labels(co.plot.summary(oscillator)) == labels(figure)
    assert co.plot.summary(oscillator).get_suptitle() == "no mechanism: 10 s, solved"
    for width in ("column", "page"):
        co.plot.summary(oscillator, width=width).draw_without_rendering()
        co.plot.signals(oscillator, width=width).draw_without_rendering()


def test_a_state_without_controls_or_bounds_is_drawn_without_a_legend():
    decay = co.State("x", rate=lambda now: -2 * now.x)
    problem = co.Problem(None, 1.0, co.integral(lambda now: now.x**2), [co.initial(states={"x": 1.5})], [decay])
    solution = co.solve(problem, co.BSpline(250))  # whose nodes are too many to be drawn
    assert solution.cost == pytest.approx(1.5**2 / 4 * (1 - np.exp(-4)), rel=1e-5)
    for figure in (co.plot.summary(solution), co.plot.signals(solution)):
        assert labels(figure) == ["x"]
    assert not co.plot.summary(solution).legends


@pytest.mark.parametrize("draw", [co.plot.joints, co.plot.torques])
def test_figures_of_joints_send_on_who_has_none(oscillator, draw):
    line = r"'no mechanism' has no joints: co\.plot\.signals\(solution\) draws push, place$"
    with pytest.raises(co.InputError, match=line):
        draw(oscillator)


def test_figures_of_bodies_send_on_who_has_none(oscillator, tmp_path):
    with pytest.raises(co.InputError, match=r"no bearing of 'no mechanism' carries a load: co\.plot\.signals"):
        co.plot.reactions(oscillator)
    for draw in (co.plot.motion, lambda x: co.plot.guess(x.problem), lambda x: co.plot.animate(x, tmp_path / "x.gif")):
        with pytest.raises(co.InputError, match=r"no stick figure: co\.plot\.signals"):
            draw(oscillator)


def test_figures_that_need_no_joints_are_drawn(oscillator):
    for draw in (co.plot.error, co.plot.convergence):
        draw(oscillator).draw_without_rendering()
    co.plot.certificate(co.optimality.certify(oscillator)).draw_without_rendering()


def test_thrusts_are_drawn_and_torques_that_nothing_gives_are_not(quadrotor):
    figure = co.plot.signals(quadrotor)
    assert labels(figure) == [  # row by row
        "joint position [m]", "joint velocity [rad/s]", "unit quaternion", "thrust [N]", "joint velocity [m/s]",
        "force on hull [N]",
    ]  # fmt: skip
    thrust = next(ax for ax in figure.axes if ax.get_ylabel() == "thrust [N]")
    t, left = thrust.get_lines()[2].get_data()
    np.testing.assert_array_equal(left, quadrotor.at(t).thrust["left"])
    grey = [line.get_ydata()[0] for line in thrust.get_lines() if line.get_linestyle() == "--"]
    assert sorted(grey) == [0.0, 5.0]
    assert {line.get_color() for line in thrust.get_lines() if line.get_linestyle() == "--"} == {MUTED}
    drawn = labels(co.plot.summary(quadrotor))
    assert "thrust [N]" in drawn
    assert not any("torque" in label or "bearing" in label or "joint force" in label for label in drawn)
    with pytest.raises(co.InputError, match=r"no joint of 'quadrotor' is driven: .* draws q, qd, qdd, thrust"):
        co.plot.torques(quadrotor)
    with pytest.raises(co.InputError, match=r"no bearing of 'quadrotor' carries a load"):
        co.plot.reactions(quadrotor)


def test_some_signals_can_be_chosen(quadrotor):
    figure = co.plot.signals(quadrotor, names=["thrust", "qdd"])
    assert labels(figure) == ["thrust [N]", "joint acceleration [m/s2]", "joint acceleration [rad/s2]"]
    assert names(figure, 0) == ["front", "left", "back", "right"]
    assert labels(co.plot.signals(quadrotor, names="thrust")) == ["thrust [N]"]
    own = Figure().subplots(1)
    assert co.plot.signals(quadrotor, names=["thrust"], ax=own) is own.figure
    with pytest.raises(co.InputError, match=r"no signal of the motion named 'lift' \(known: q, qd"):
        co.plot.signals(quadrotor, names=["lift"])
    with pytest.raises(co.InputError, match="are all zero"):
        co.plot.signals(quadrotor, names=["tau"])
    with pytest.raises(co.InputError, match="pass one or more solutions"):
        co.plot.signals()
    with pytest.raises(co.InputError, match="solution must be a Solution"):
        co.plot.signals(quadrotor.problem)


def test_solutions_in_one_figure_have_the_same_signals(quadrotor, oscillator):
    figure = co.plot.signals(oscillator, oscillator, labels=["one", "two"])
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["one", "two"]
    assert [line.get_linestyle() for line in figure.axes[0].get_lines()] == ["-", "--"]
    with pytest.raises(co.InputError, match="no signal of the motion named 'thrust'"):
        co.plot.signals(quadrotor, oscillator, names=["thrust"])
    other = co.State("place", names=("x", "y"), rate=lambda now: -now.place)
    moved = co.Problem(EMPTY, 1.0, subject_to=[co.initial(states={"place": 1.0})], unknowns=[other])
    with pytest.raises(co.InputError, match="must have the same components of place, got x, v and x, y"):
        co.plot.signals(oscillator, co.solve(moved, co.Radau(2)), names=["place"])


def test_bounds_and_gaps_are_those_of_the_phases():
    def phase(upper: float, **more) -> co.Problem:
        force = co.Unknown("force", lower=0.0, upper=upper, unit="N")
        return co.Problem(EMPTY, 1.0, co.integral(lambda now: (now.force - 1.0) ** 2), unknowns=[force], **more)

    still = co.Problem(EMPTY, 1.0, unknowns=[co.State("x", rate=lambda now: -now.x)])
    solution = co.solve(co.Phases({"push": phase(0.5), "rest": still, "pull": phase(0.7)}), co.Radau(2))
    (ax,) = co.plot.signals(solution, names=["force"]).axes
    spans = [
        (*np.asarray(line.get_xdata()), line.get_ydata()[0]) for line in ax.get_lines() if line.get_linestyle() == "--"
    ]
    assert spans == [(0, 1, 0.0), (0, 1, 0.5), (2, 3, 0.0), (2, 3, 0.7)]
    t, force = ax.get_lines()[0].get_data()
    np.testing.assert_array_equal(np.isnan(force), (t >= 1.0) & (t < 2.0))
    assert [text.get_text() for text in ax.texts] == ["push", "rest", "pull"]


def test_many_components_are_named_as_far_as_there_is_room():
    activation = co.Unknown("activation", names=[f"muscle {k}" for k in range(40)], lower=0.0, upper=1.0)
    cost = co.integral(lambda now: ca.sumsqr(now.activation - 0.5))
    solution = co.solve(co.Problem(EMPTY, 1.0, cost, unknowns=[activation]), co.Radau(2))
    assert names(co.plot.signals(solution), 0)[-2:] == ["muscle 15", "and 24 more"]
    co.plot.summary(solution).draw_without_rendering()


def test_an_arm_with_an_unknown_force_has_panels_of_both():
    force = co.Unknown("force", names=("x", "y"), unit="N", lower=-1.0, upper=1.0)
    load = co.Load("elbow", force=ca.vertcat(force.symbol, 0))
    effort = co.integral(lambda now: ca.sumsqr(now.tau) + ca.sumsqr(now.force))
    ends = [co.initial(q=0.0, qd=0.0), co.final(q=1.0, qd=0.0)]
    problem = co.Problem(two_link(), 1.0, effort, ends, unknowns=[force], loads=[load])
    figure = co.plot.summary(co.solve(problem, co.BSpline(6), plan=[co.refinement.Solve(tol=1.0)]))
    assert labels(figure)[:5] == [
        "joint position [rad]", "joint velocity [rad/s]", "joint torque [N m]", "force [N]", "force on elbow [N]",
    ]  # fmt: skip
    co.plot.joints(co.solve(problem, co.BSpline(6), plan=[co.refinement.Solve(tol=1.0)])).draw_without_rendering()


def test_the_layout_of_a_figure_has_settled_where_it_is_saved_for_the_first_time(quadrotor, tmp_path):
    figure = co.plot.signals(quadrotor, names=["q", "qd", "qdd", "thrust"])
    left = []
    for _ in range(2):
        figure.savefig(tmp_path / "signals.png")
        boxes = [ax.get_tightbbox() for ax in figure.axes if ax.get_visible()]
        left.append([box.x0 for box in boxes if box is not None])
    np.testing.assert_allclose(*left, atol=0.5)  # dots


def test_forces_that_cancel_are_not_drawn_beside_those_that_act():
    """Two jets on opposite sides of a body turn it, and together push by rounding."""
    jets = [
        co.problem.Thruster(name, "hull", (0, sign, 0), (sign * 0.3, 0, 0), lower=-1.0, upper=1.0)
        for name, sign in (("right", 1.0), ("left", -1.0))
    ]
    model = co.Model([co.Body("hull", co.revolute(), mass=1.0, inertia=(0.1, 0.1, 0.1))], gravity=(0, 0, 0))
    ends = [co.initial(q=0.0, qd=0.0), co.final(q=1.0, qd=0.0)]
    turn = co.Problem(model, co.Free(0.1, 9.0), co.duration(), ends, parts=[co.problem.Thrusters(jets)])
    solution = co.solve(turn, co.Radau(6), progress=False)
    assert labels(co.plot.signals(solution))[-1] == "thrust [N]"
    assert labels(co.plot.signals(solution, names=["force on hull"])) == ["force on hull [N]"]
