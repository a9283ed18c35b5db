"""Ways between attitudes on quaternions: the shorter one, whole turns, guesses, and curves that stay away from zero."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.spatial.transform import Rotation, Slerp

import colloc as co
from colloc.curves.spline_basis import SplineBasis
from colloc.solution.warm_start import start_from
from colloc.transcription.guess import by_way_of, trajectory_from
from tests.campaigns import attitudes

INERTIA = (0.3, 0.2, 0.4)
TOP = co.Model(co.spherical("top", sequence="quaternion", mass=1.0, inertia=INERTIA), (0, 0, 0))


def quaternion(angle: float, axis: np.ndarray | tuple[float, float, float]) -> np.ndarray:
    unit = np.array(axis) / np.linalg.norm(axis)
    return np.append(np.cos(angle / 2), np.sin(angle / 2) * unit)


def scipys(q: np.ndarray) -> Rotation:
    return Rotation.from_quat(np.roll(q, -1, axis=-1))


def turn(start: np.ndarray, end: np.ndarray, **changes: object) -> co.Problem:
    """From rest to rest in the shortest time, with torques of 1 N m about each axis."""
    ends = [co.initial(q=start, qd=0.0), co.final(q=end, qd=0.0), co.bounds(tau=(-1.0, 1.0))]
    return replace(co.Problem(TOP, co.Free(0.05, 20.0), co.duration(), ends), **changes)


def wound(solution: co.Solution) -> float:
    """The angle through which a body turns along its motion [rad]."""
    t = np.linspace(0, solution.duration, 20_001)
    motion = solution.at(t)
    assert np.linalg.norm(motion.q, axis=1) == pytest.approx(1.0, abs=1e-12)
    return float(np.trapezoid(np.linalg.norm(motion.qd, axis=1), t))


def test_lines_between_attitudes_are_scipys_whatever_the_signs():
    rng = np.random.default_rng(3)
    frames = rng.normal(size=(4, 4))
    frames /= np.linalg.norm(frames, axis=1, keepdims=True)
    s, when = np.linspace(0, 1, 31), np.array([0.0, 0.2, 0.7, 1.0])
    postures = dict(zip(when.tolist(), frames, strict=True))
    q = trajectory_from(turn(frames[0], frames[-1]), co.keyframes(postures)).q(s)
    expected = Slerp(when, scipys(frames))(s)
    assert (scipys(q) * expected.inv()).magnitude() == pytest.approx(0.0, abs=1e-7)
    assert (np.diff(q, axis=0) ** 2).sum(axis=1).max() < 0.1  # no jump to the negative


def test_a_guess_sampled_with_any_signs_is_made_continuous():
    def sampled(t: float) -> np.ndarray:
        return quaternion(2.0 * t, (1, 2, 3)) * (-1) ** int(10 * t)

    problem = turn(sampled(0.0), quaternion(2.0, (1, 2, 3)), duration=1.0, minimize=co.integral(lambda now: 0.0))
    q = trajectory_from(problem, sampled).q(np.linspace(0, 1, 41))
    assert np.diff(q, axis=0) == pytest.approx(0.0, abs=0.06)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_shorter_way_is_taken_whatever_the_sign_of_the_end(sign: float):
    problem = turn(TOP.neutral, sign * quaternion(1.9, (1, -1, 2)))
    solution = co.solve(problem, co.BSpline(24, degree=4, continuity=1), progress=False)
    assert wound(solution) == pytest.approx(2.2, abs=0.3)
    assert (by_way_of(problem) is problem) == (sign > 0)
    assert co.transcribe(problem, co.BSpline(8)).problem.end_values["final"][0].value > 0


def test_a_guess_chooses_the_longer_way():
    end, curve = quaternion(1.9, (1, -1, 2)), co.BSpline(20, degree=4, continuity=1)
    longer = co.keyframes({0.0: TOP.neutral, 0.5: quaternion(-2.2, (1, -1, 2)), 1.0: end})
    with pytest.warns(co.refinement.SolutionWarning, match="'top' turns by 251 degrees .* 109 degrees away"):
        solution = co.solve(turn(TOP.neutral, end), curve, guess=longer, progress=False)
    assert 2 * np.pi - 1.9 < wound(solution) < 2 * np.pi - 1.3
    with pytest.warns(co.refinement.SolutionWarning, match="without a guess it goes the shorter way"):
        again = co.solve(turn(TOP.neutral, end), curve, guess=solution, progress=False)
    assert again.duration == pytest.approx(solution.duration, rel=1e-6)


@pytest.mark.parametrize("axis", np.eye(3))
def test_a_whole_turn_does_not_jump_to_the_negative(axis: np.ndarray):
    """A body turned about one fixed axis needs 2 sqrt(2 pi J / torque); from q to -q by any axes it needs less."""
    curve = co.BSpline(20, degree=4, continuity=1)
    half = co.keyframes({0.0: TOP.neutral, 0.5: quaternion(np.pi, axis), 1.0: -TOP.neutral})
    solution = co.solve(turn(TOP.neutral, -TOP.neutral), curve, guess=half, progress=False)
    assert wound(solution) > 2 * np.pi - 1e-3
    best = 2 * np.sqrt(2 * np.pi * 0.2)
    assert 0.9 * best < solution.duration < best + 1e-3
    check = co.verify(solution)
    assert check.forward_error < 1e-9
    spun = co.solve(
        turn(TOP.neutral, -TOP.neutral, subject_to=[
            *turn(TOP.neutral, -TOP.neutral).subject_to,
            co.bounds(tau=np.array([-axis, axis])),
        ]), curve, guess=half, progress=False,
    )  # fmt: skip
    assert spun.duration == pytest.approx(2 * np.sqrt(2 * np.pi * axis @ INERTIA), rel=1e-3)


@pytest.mark.parametrize(
    "curve",
    [co.BSpline(3, degree=3, continuity=1), co.BSpline(3, degree=4, continuity=1), co.HermiteSimpson(3), co.Radau(3)],
)
def test_no_curve_can_pass_through_zero_between_the_points_of_its_length(curve: co.curves.Transcription):
    """Of all splines along one line that are 1 or -1 where the length is, and change sign, none keeps the bound."""
    nodes = curve.node_points()
    at_nodes, at_points = (at(curve.basis, *points) for points in (nodes, curve.basis.sites()))
    s, count = curve.basis.sites()[0], curve.basis.size
    passes = []
    for cut in np.linspace(0.02, 0.98, 97):  # the time of the only change of sign
        bounded = -np.where(nodes.s < cut, 1.0, -1.0)[:, None] * at_nodes
        lengths = {"A_eq": at_points, "b_eq": np.where(s < cut, 1.0, -1.0), "bounds": (None, None)}
        found = linprog(np.zeros(count), A_ub=bounded, b_ub=np.full(nodes.s.size, -0.7), **lengths)
        assert found.status == 2, f"a jump at s = {cut}"
        passes.append(linprog(np.zeros(count), **lengths).status == 0)
    assert all(passes)  # the lengths alone allow it


def at(basis: SplineBasis, s: np.ndarray, interval: np.ndarray) -> np.ndarray:
    """Values of a spline by its control points, shape (N, points)."""
    matrix = np.zeros((s.size, basis.size))
    seen = basis.first[interval][:, None] + np.arange(basis.degree + 1)
    np.put_along_axis(matrix, seen, basis.values(s, interval=interval), axis=1)
    return matrix


def test_phases_go_the_shorter_way_and_hand_on_attitudes_of_either_sign():
    first, last = quaternion(2.4, (0, 0, 1)), -quaternion(4.0, (0, 0, 1))
    effort = co.integral(lambda now: ca.sumsqr(now.tau))
    there = co.Problem(TOP, 1.0, effort, [co.initial(q=TOP.neutral, qd=0.0), co.final(q=first)])
    on = co.Problem(TOP, 1.0, effort, [co.final(q=last, qd=0.0)])
    solution = co.solve(co.Phases({"there": there, "on": on}), co.BSpline(8, degree=5), progress=False)
    angles = [wound(solution[name]) for name in ("there", "on")]
    assert angles == pytest.approx([2.4, 1.6], abs=1e-3)


def test_a_start_is_on_the_side_of_fixed_ends():
    problem = co.Problem(TOP, 1.0, co.integral(lambda now: 0.0), [co.final(q=-quaternion(1.0, (0, 1, 0)))])
    nlp = co.transcribe(problem, co.BSpline(8))
    start = start_from(nlp, co.line(TOP.neutral, quaternion(1.0, (0, 1, 0))), nlp.problem.parameter_values())
    q = nlp.grid.layout["q"]
    assert start.x[q[0]] == pytest.approx(-TOP.neutral, abs=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_random_pairs_of_attitudes_are_solved_by_the_shorter_way(seed: int):
    assert attitudes.check(seed).success
