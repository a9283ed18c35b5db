"""Guesses of signals, states and constants by name, beside those of the joints or without them."""

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.models.two_link import two_link
from colloc.transcription import phase_guesses, trajectory_from

S = np.array([0.0, 0.25, 1.0])


@pytest.fixture(scope="module")
def problem() -> co.Problem:
    """An arm of two links that two forces push, with a state and a constant beside."""
    force = co.Unknown("force", names=("x", "y"), lower=-20.0, upper=20.0, guess=1.0)
    heat = co.State("heat", rate=lambda now: ca.sumsqr(now.force))
    mass = co.Unknown("mass", lower=0.0, upper=3.0, guess=1.0, constant=True)
    load = co.Load("elbow", force=ca.vertcat(force.symbol, 0))
    effort = co.integral(lambda now: ca.sumsqr(now.tau) + ca.sumsqr(now.force) + (now.mass - 1) ** 2)
    ends = [co.initial(q=0.0, qd=0.0, states={"heat": 0.5}), co.final(q=1.0, qd=0.0)]
    return co.Problem(two_link(), 2.0, effort, ends, unknowns=[force, heat, mass], loads=[load])


@pytest.mark.parametrize(
    ("guess", "wanted"),
    [
        (co.line((0.0, 2.0), (4.0, 0.0)), [[0.0, 2.0], [1.0, 1.5], [4.0, 0.0]]),
        (co.keyframes({0.0: (0, 0), 0.5: (1, 1), 1.0: (0, 0)}), [[0, 0], [0.5, 0.5], [0, 0]]),
        (lambda t: (t, t**2), [[0, 0], [0.5, 0.25], [2, 4]]),
        (7.0, [[7, 7]] * 3),
        ((7.0, 8.0), [[7, 8]] * 3),
        ({"y": 3.0}, [[1, 3]] * 3),
    ],
    ids=["line", "keyframes", "function", "number", "numbers", "component"],
)
def test_a_signal_is_guessed_in_every_way(problem, guess, wanted):
    trajectory = trajectory_from(problem, {"force": guess})
    np.testing.assert_allclose(trajectory.signal("force", S), wanted)
    np.testing.assert_allclose(trajectory.q(S), trajectory_from(problem, None).q(S))
    np.testing.assert_allclose(trajectory.signal("heat", S), 0.5)


def test_joints_states_and_constants_go_by_name_too(problem):
    guess = {"q": co.line((0.0, -1.0), (1.0, 1.0)), "heat": co.line(0.5, 9.0), "mass": 2.0}
    trajectory = trajectory_from(problem, guess)
    np.testing.assert_allclose(trajectory.q(S)[:, 1], [-1.0, -0.5, 1.0])
    np.testing.assert_allclose(trajectory.signal("heat", S)[:, 0], [0.5, 2.625, 9.0])
    np.testing.assert_allclose(trajectory.constant("mass"), [2.0])
    np.testing.assert_allclose(trajectory.signal("force", S), 1.0)


@pytest.mark.parametrize(
    ("guess", "message"),
    [
        ({"force": 1.0, "forces": 2.0}, r"no signal to be guessed named 'forces'; did you mean 'force'\?"),
        ({"force": (1.0, 2.0, 3.0)}, r"guess of 'force' must have shape \(2,\)"),
        ({"force": co.line((1.0,), (2.0,))}, r"guess of 'force' must have shape \(2,\), got shape \(1,\)"),
        ({"force": lambda t: (t, t, t)}, "guess of 'force' at t = .* must have shape"),
        ({"force": {"z": 1.0}}, r"no component of force named 'z' \(known: x, y\)"),
        ({"force": {"x": "much"}}, r"guess of 'force'\[x\] must be"),
        ({"mass": co.line(1.0, 2.0)}, "guess of 'mass' must be numbers, since it is constant"),
        ({"q": 3.0}, "guess must be co.line"),
        ({"flight": None}, "guess must be a single motion, as the problem has no phases"),
        ({"z": 1.0}, "got {'z': 1.0}: its signals are q, force, heat, mass$"),
        ({"elbow": 1.0}, "its signals are q, force, heat, mass; q has the positions of all joints$"),
    ],
)
def test_what_is_no_guess_is_refused(problem, guess, message):
    with pytest.raises(co.InputError, match=message):
        co.solve(problem, co.Radau(2), guess=guess)


def test_a_solve_begins_there(problem):
    """From its own answer as a guess by name a solve has nothing left to do."""
    answer = co.solve(problem, co.BSpline(6), plan=[co.refinement.Solve(tol=1.0)])
    guess = {
        "q": lambda t: answer.at(t).q,
        "force": lambda t: answer.at(t).force,
        "heat": lambda t: answer.at(t).heat,
        "mass": answer.constants["mass"],
    }
    again = co.solve(problem, co.BSpline(6), plan=[co.refinement.Solve(tol=1.0)], guess=guess)
    assert again.cost == pytest.approx(answer.cost, rel=1e-6)
    first = [solution.history["infeasibility"][0] for solution in (again, answer)]
    assert first[0] < 1e-2 * first[1]


def test_the_whole_of_a_motion_in_phases_is_guessed_by_signal(problem):
    still = co.Problem(two_link(), 2.0, problem.minimize, problem.subject_to[1:], unknowns=problem.unknowns)
    phases = co.Phases({"there": problem, "on": still}, [])
    whole = phase_guesses(phases, {"force": co.line((0.0, 0.0), (4.0, 8.0)), "mass": 2.0})
    first, second = (trajectory_from(phases.phases[name], whole[name]) for name in phases.phases)
    np.testing.assert_allclose(first.signal("force", S)[-1], [2.0, 4.0])
    np.testing.assert_allclose(second.signal("force", S)[0], [2.0, 4.0])
    np.testing.assert_allclose(second.constant("mass"), [2.0])
    default = phase_guesses(phases, None)
    np.testing.assert_allclose(second.q(S), trajectory_from(still, default["on"]).q(S))
    each = phase_guesses(phases, {"on": {"force": 3.0}})
    np.testing.assert_allclose(trajectory_from(still, each["on"]).signal("force", S), 3.0)
    later = phase_guesses(phases, {"heat": lambda t: t})
    np.testing.assert_allclose(trajectory_from(still, later["on"]).signal("heat", S)[:, 0], [2.0, 2.5, 4.0])
    with pytest.raises(co.InputError, match="no phase named 'thrust'"):
        phase_guesses(phases, {"thrust": 1.0})


def test_signals_without_joints_are_guessed():
    state = co.State("x", rate=lambda now: -now.x)
    problem = co.Problem(co.Model.empty(), 1.0, subject_to=[co.initial(states={"x": 1.0})], unknowns=[state])
    trajectory = trajectory_from(problem, {"x": lambda t: np.exp(-t)})
    np.testing.assert_allclose(trajectory.signal("x", S)[:, 0], np.exp(-S))
    assert co.solve(problem, co.Radau(4), guess={"x": lambda t: np.exp(-t)}).success


def cart() -> co.Problem:
    """A cart of 1 kg as two states, 1 m in the shortest time with 1 N: 2 s."""
    states = [co.State("x", rate=lambda now: now.v), co.State("v", rate=lambda now: now.u)]
    ends = [co.initial(states={"x": 0.0, "v": 0.0}), co.final(states={"x": 1.0, "v": 0.0})]
    push = co.Unknown("u", lower=-1.0, upper=1.0)
    return co.Problem(co.Model.empty(), co.Free(0.1, 10.0, 2.0), co.duration(), ends, unknowns=[*states, push])


def test_without_joints_a_guess_is_that_of_all_states():
    frames = co.keyframes({0.0: (0.0, 0.0), 0.25: (0.1, 1.0), 1.0: (1.0, 0.0)})
    for guess in (frames, lambda t: (np.interp(t / 2, S, (0, 0.1, 1)), np.interp(t / 2, S, (0, 1, 0)))):
        trajectory = trajectory_from(cart(), guess)
        np.testing.assert_allclose(trajectory.signal("x", S), [[0.0], [0.1], [1.0]])
        np.testing.assert_allclose(trajectory.signal("v", S), [[0.0], [1.0], [0.0]])
        solution = co.solve(cart(), co.Radau(4), guess=guess, progress=False)
        assert (solution.status, solution.duration) == (co.solver.Status.SOLVED, pytest.approx(2.0, abs=1e-6))
    both = {"q": frames, "v": 3.0}
    np.testing.assert_allclose(trajectory_from(cart(), both).signal("v", S), [[3.0]] * 3)
    with pytest.raises(co.InputError, match=r"guess of the states x, v must have shape \(2,\), got shape \(1,\)"):
        trajectory_from(cart(), co.line(0.0, 1.0))


def test_without_joints_a_guess_of_the_whole_motion_is_divided_into_phases():
    phases = co.Phases({"first": cart(), "second": cart()})
    shares = phase_guesses(phases, co.line((0.0, 0.0), (2.0, 4.0)))
    values = [trajectory_from(cart(), share).signal("v", S)[:, 0] for share in shares.values()]
    np.testing.assert_allclose(values, [[0.0, 0.5, 2.0], [2.0, 2.5, 4.0]])
