"""The straight line timed within the limits: closed forms, linear programs, another library, and guesses made of it."""

from __future__ import annotations

import re

import numpy as np
import pytest
import scipy.optimize

import colloc as co
from colloc.model import Model
from colloc.models.puma560 import puma560
from colloc.models.two_link import two_link
from colloc.transcription import TimeOptimalLine, Untimed, time_optimal_line, trajectory_from
from colloc.transcription.topp import PathLimits, path_speeds
from tests.support.problems import effort


def slide(gravity=(0.0, 0.0, 0.0), **passive) -> Model:
    """A mass of 2 kg on a slide along x."""
    joint = co.prismatic((1, 0, 0), passive=co.Passive(**passive))
    return co.Model([co.Body("slide", joint, None, 2.0)], gravity=gravity)


def problem(model: Model, *limits, **more) -> co.Problem:
    return co.Problem(model, co.Free(0.1, 10.0), co.duration(), limits, **more)


def timed(stated: co.Problem, start, end) -> TimeOptimalLine:
    found = time_optimal_line(stated, np.asarray(start, float), np.asarray(end, float))
    assert isinstance(found, TimeOptimalLine), found
    return found


def reason(stated: co.Problem, start, end) -> str:
    found = time_optimal_line(stated, np.asarray(start, float), np.asarray(end, float))
    assert isinstance(found, Untimed), found
    return found.reason


# -- one mass, where the answer is known -----------------------------------------------------------------------------

FORCE = co.bounds(tau=(-50.0, 50.0))


@pytest.mark.parametrize(
    ("model", "limits", "exact"),
    [
        pytest.param(slide(), [FORCE], 0.4, id="force"),
        pytest.param(slide(), [FORCE, co.bounds(qd=(-9.0, 3.0))], 1 / 3 + 3 / 25, id="speed"),
        pytest.param(slide(), [co.bounds(qdd=(-5.0, 20.0))], (2 / 5 + 2 / 20) ** 0.5, id="acceleration"),
        pytest.param(slide((-5.0, 0.0, 0.0)), [FORCE], (2 / 20 + 2 / 30) ** 0.5, id="uphill"),
        pytest.param(slide(friction=co.model.Friction(10.0, 1e-4)), [FORCE], (2 / 20 + 2 / 30) ** 0.5, id="friction"),
        pytest.param(slide(armature=2.0), [FORCE], 2 / 12.5**0.5, id="armature"),
    ],
)
def test_a_mass_on_a_slide_takes_the_time_of_the_textbook(model, limits, exact):
    assert timed(problem(model, *limits), [0.0], [1.0]).duration == pytest.approx(exact, rel=3e-4)


def test_a_damped_mass_takes_the_time_of_its_two_exponentials():
    """Full force to the speed w F / d, full brake to rest: 1 m = -(F m / d^2) ln(1 - w^2)."""
    force, mass, damping = 50.0, 2.0, 20.0
    w = (1 - np.exp(-(damping**2) / (force * mass))) ** 0.5
    exact = mass / damping * np.log((1 + w) / (1 - w))
    found = timed(problem(slide(damping=damping), FORCE), [0.0], [1.0])
    assert 0 <= found.duration / exact - 1 < 5e-4


# -- the passes ------------------------------------------------------------------------------------------------------


def test_two_passes_find_what_a_linear_program_finds():
    """The largest sum of x under all limits at once; every x is then the largest it can be."""
    rng, n, rows = np.random.default_rng(3), 30, 4
    for _ in range(8):
        s = np.sort(np.append([0.0, 1.0], rng.uniform(0, 1, n - 1)))
        a, b = 0.3 * np.sin(3 * s[:, None] + rng.uniform(0, 6, (2, 1, rows)))
        # Where a row loses its a, a step may take a higher x to a lower one, and the passes are not quite optimal.
        a, b = a + rng.choice([-1.0, 1.0], rows), b + rng.standard_normal(rows)
        bounds = 1 + rng.uniform(0, 1, (2, n + 1, rows))
        limits = PathLimits(s, rng.uniform(2.0, 3.0, n + 1), a, b, -bounds[0], bounds[1])
        x = path_speeds(limits)
        assert x is not None
        np.testing.assert_allclose(x, by_linear_program(limits), atol=1e-7)


def by_linear_program(limits: PathLimits) -> np.ndarray:
    n = limits.s.size - 1
    change = np.diff(np.eye(n + 1), axis=0) / (2 * np.diff(limits.s))[:, None]  # u of every step
    here, there = np.eye(n + 1)[:-1], np.eye(n + 1)[1:]
    sides, values = [], []
    for k in range(limits.a.shape[1]):
        for x, at in ((here, slice(None, -1)), (there, slice(1, None))):
            row = limits.a[at, k, None] * change + limits.b[at, k, None] * x
            sides += [row, -row]
            values += [limits.upper[at, k], -limits.lower[at, k]]
    most = limits.fastest.copy()
    most[[0, -1]] = 0.0
    found = scipy.optimize.linprog(
        -np.ones(n + 1), np.vstack(sides), np.concatenate(values), bounds=list(zip(np.zeros(n + 1), most, strict=True))
    )
    assert found.success
    return found.x


# -- arms ------------------------------------------------------------------------------------------------------------

PUMA, STRENGTH = puma560(), np.array([90.0, 180.0, 90.0, 24.0, 20.0, 21.0])
SWIFT = co.bounds(qd=(-4.0, 4.0), tau=(-STRENGTH, STRENGTH))
# By toppra 0.6.10 (JointTorqueConstraint, interpolation scheme) on 2,000 steps, graded as here.
BY_TOPPRA = {0: 0.4961891854, 1: 0.5082293088, 2: 0.3193108549, 3: 0.3347013408}


@pytest.mark.parametrize("seed", range(4))
def test_an_arm_is_as_fast_as_another_library_says_within_its_limits(seed):
    arm, (start, end) = problem(PUMA, SWIFT), np.random.default_rng(seed).uniform(-1, 1, (2, 6))
    found = timed(arm, start, end)
    assert -1e-5 < found.duration / BY_TOPPRA[seed] - 1 < 3e-4
    q, qd, qdd = found.at(np.linspace(0, found.duration, 1001))
    share = np.abs(co.Evaluator(PUMA).torque(q, qd, qdd)) / STRENGTH
    assert share.max() < 1 + 1e-3
    assert np.abs(qd).max() < 4 + 1e-9
    # Something is at its limit nearly always: nothing could be faster.
    busy = np.maximum(share.max(axis=1), np.abs(qd).max(axis=1) / 4)
    assert np.quantile(busy, 0.05) > 0.98
    np.testing.assert_allclose(q[[0, -1]], [start, end], atol=1e-12)
    np.testing.assert_allclose(qd[[0, -1]], 0, atol=1e-9)


def test_velocities_and_accelerations_are_those_of_the_motion():
    found = timed(problem(two_link(), co.bounds(tau=(-10.0, 10.0))), (0.0, -2.0), (1.0, -1.0))
    t = np.random.default_rng(0).uniform(0.01, 0.99, 50) * found.duration
    step = 1e-7
    (before, *_), (_, qd, _), (after, *_) = (found.at(t + d) for d in (-step, 0, step))
    np.testing.assert_allclose((after - before) / (2 * step), qd, atol=1e-5)
    np.testing.assert_allclose(found.at(found.t)[0][:, 0], found.s, atol=1e-12)


# -- lines without a timing ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stated", "end", "message"),
    [
        (problem(slide(), FORCE), 0.0, "the postures are equal"),
        (problem(slide()), 1.0, "nothing limits the speed"),
        (problem(slide(), FORCE, co.bounds(qd=(-1.0, 0.0))), 1.0, "a velocity limit of zero"),
        (problem(slide((-30.0, 0, 0)), FORCE), 1.0, r"slide needs 60 N to be held at 0% .* its limits are \[-50, 50\]"),
        (problem(slide((-25.0, 0, 0)), FORCE), 1.0, "just hold the mechanism and cannot move it"),
        (problem(slide(), FORCE, loads=[co.Load("slide", lambda now: (now.t, 0, 0))]), 1.0, "depend on the time"),
        (problem(slide(), FORCE, co.bounds(qdd=(1.0, 2.0))), 1.0, "contradict each other"),
    ],
)
def test_what_keeps_a_line_from_being_timed_is_said(stated, end, message):
    assert re.search(message, reason(stated, [0.0], [end]))


def test_a_posture_that_cannot_be_held_may_be_passed_with_momentum():
    """A pendulum past the horizontal: 9 N m hold its 9.81 N m nowhere there, its speed carries it through."""
    pendulum = co.Model([co.Body("rod", co.dh_revolute(a=1.0), None, 1.0)])
    arm = problem(pendulum, co.bounds(tau=(-9.0, 9.0)))
    start, end = [-np.pi / 2], [np.pi / 2]
    found = timed(arm, start, end)
    q, _, qdd = found.at(np.linspace(0, found.duration, 501))
    assert np.abs(qdd + 9.81 * np.cos(q)).max() < 9.0 * (1 + 1e-2)
    assert "rod needs" in reason(problem(pendulum, co.bounds(tau=(-5.0, 5.0))), start, end)


def test_loads_and_parameters_count_as_stated():
    wind, mass = co.Parameter("wind", 20.0), co.Unknown("payload", lower=0.5, upper=4.0, guess=2.0, constant=True)
    model = co.Model([co.Body("slide", co.prismatic((1, 0, 0)), None, mass.symbol)])
    headwind = co.Load("slide", lambda now: (-now.wind, 0, 0))
    found = timed(problem(model, FORCE, unknowns=[mass], parameters=[wind], loads=[headwind]), [0.0], [1.0])
    assert found.duration == pytest.approx((2 / 15 + 2 / 35) ** 0.5, rel=3e-4)


# -- guesses ---------------------------------------------------------------------------------------------------------

ENDS = [co.initial(q=(0.0, -2.0), qd=0.0), co.final(q=(1.0, -1.0), qd=0.0)]
TORQUE = co.bounds(tau=(-10.0, 10.0))
LINE_TIME = 0.4233936664  # of ENDS within TORQUE, by toppra on 8,000 steps


@pytest.mark.parametrize(
    ("free", "expected"),
    [
        (co.Free(0.1, 5.0), LINE_TIME),
        (co.Free(0.1, 5.0, guess=1.0), 1.0),
        (co.Free(1.0, 5.0), 1.0),
        (co.Free(0.1, 0.3), 0.3),
    ],
    ids=["line", "stated", "at least", "at most"],
)
def test_the_duration_is_guessed_by_the_line(free, expected):
    arm = co.Problem(two_link(), free, co.duration(), [*ENDS, TORQUE])
    guess = trajectory_from(arm, None)
    assert guess.duration == pytest.approx(expected, rel=3e-4)
    s = np.linspace(0, 1, 7)
    np.testing.assert_allclose(guess.q(s)[[0, -1]], [(0.0, -2.0), (1.0, -1.0)], atol=1e-12)


def test_a_guess_of_the_line_obeys_the_torque_bounds():
    arm = co.Problem(two_link(), co.Free(0.1, 5.0), co.duration(), [*ENDS, TORQUE])
    guess, s = trajectory_from(arm, None), np.linspace(0, 1, 301)
    timed = time_optimal_line(arm, *guess.q(np.array([0.0, 1.0])))
    assert isinstance(timed, TimeOptimalLine)
    q, qd, qdd = timed.at(s * timed.duration)
    np.testing.assert_allclose(guess.q(s), q, atol=1e-12)
    assert np.abs(co.Evaluator(arm.model).torque(q, qd, qdd)).max() < 10 * (1 + 1e-3)


def test_where_the_line_has_no_timing_the_middle_of_the_bounds_is_guessed():
    arm = co.Problem(two_link(), co.Free(0.1, 10.0), co.duration() + co.integral(effort), ENDS)
    assert trajectory_from(arm, None).duration == pytest.approx(1.0)


def test_without_a_guess_a_solve_ends_where_it_does_with_one():
    for free in (co.Free(0.05, 50.0), co.Free(0.3, 0.42)):
        arm = co.Problem(two_link(), free, co.duration(), [*ENDS, TORQUE])
        assert co.solve(arm, co.BSpline(20), plan=[co.refinement.Solve(tol=1.0)]).duration == pytest.approx(
            0.39185, rel=5e-3
        )


def test_postures_and_times_are_looked_at():
    with pytest.raises(co.InputError, match=r"end must have shape \(1,\), got shape \(2,\)"):
        time_optimal_line(problem(slide(), FORCE), [0.0], [1.0, 2.0])
    with pytest.raises(co.InputError, match="problem must be a Problem"):
        time_optimal_line(slide(), [0.0], [1.0])  # pyright: ignore[reportArgumentType]
    with pytest.raises(co.InputError, match=r"t must lie within 0 \.\. 0\.4"):
        time_optimal_line(problem(slide(), FORCE), [0.0], [1.0]).at([0.0, 1.0])  # pyright: ignore[reportAttributeAccessIssue]


# -- meshes ----------------------------------------------------------------------------------------------------------


def test_a_mesh_of_the_line_has_its_switches_and_is_graded():
    """0.12 s to full speed and 0.12 s to rest, of 1/3 + 0.12 s."""
    found = timed(problem(slide(), FORCE, co.bounds(qd=(-3.0, 3.0))), [0.0], [1.0])
    mesh, total = found.breakpoints(), 1 / 3 + 0.12
    for switch in (0.12 / total, 1 - 0.12 / total):
        assert np.abs(mesh - switch).min() < 1e-5
    widths = np.diff(mesh)
    assert mesh[0] == 0
    assert mesh[-1] == 1
    assert widths.min() > 0
    assert widths[[0, -1]].max() < 2e-3 < widths.max() < 0.2
    assert found.breakpoints(14).size < mesh.size
