"""Fast turns of free bodies on quaternions: a satellite beside the published optimum, flips of a drone in place."""

import casadi as ca
import numpy as np
import pytest

import colloc as co


def lengths(solution: co.Solution | co.solution.PhasesSolution) -> np.ndarray:
    """Lengths of the last quaternion along the motion."""
    q = np.asarray(solution.at(np.linspace(0, solution.duration, 20_001)).q)
    return np.linalg.norm(q[:, -4:], axis=1)


def test_a_satellite_turns_in_bettss_time():
    """By 150 degrees with torques of 50 N m: 28.63041 s (Fleming; Betts 2010, 6.8; baselines of PSOPT)."""
    inertia = (5621.0, 4547.0, 2364.0)
    model = co.Model(co.spherical("satellite", sequence="quaternion", mass=1000.0, inertia=inertia), (0, 0, 0))
    half = np.radians(150) / 2
    ends = [
        co.initial(q=model.neutral, qd=0.0),
        co.final(q=-np.array([np.cos(half), np.sin(half), 0, 0]), qd=0.0),
    ]
    limited = [*ends, co.bounds(tau=(-50.0, 50.0))]
    solution = co.solve(co.Problem(model, co.Free(1.0, 100.0), co.duration(), limited), progress=False)
    assert solution.status is co.solver.Status.SOLVED
    assert solution.duration == pytest.approx(28.63041, abs=1e-4)
    assert lengths(solution) == pytest.approx(1.0, abs=1e-6)
    assert co.verify(solution).forward_error < 1e-8


def drone() -> tuple[co.Problem, np.ndarray]:
    """A whole turn from hover to hover on four rotors that only push, and the posture of hovering."""
    model = co.Model(co.floating("drone", mass=1.0, inertia=(0.01, 0.01, 0.02)), (0, 0, -9.81))
    places = {"front": (0.2, 0, 0), "left": (0, 0.2, 0), "rear": (-0.2, 0, 0), "right": (0, -0.2, 0)}
    rotors = [
        co.problem.Thruster(name, "drone", (0, 0, 1), place, upper=5.0, moment_per_force=0.05 * (-1) ** k)
        for k, (name, place) in enumerate(places.items())
    ]
    hover, flipped = np.array(model.neutral), np.array(model.neutral)
    flipped[3:] *= -1
    ends = [co.initial(q=hover, qd=0.0), co.final(q=flipped, qd=0.0)]
    parts = [co.problem.Thrusters(rotors)]
    return co.Problem(model, co.Free(0.1, 10.0), co.duration(), ends, parts=parts), hover


@pytest.mark.filterwarnings("ignore::colloc.refinement.SolutionWarning")
@pytest.mark.parametrize("guessed", [False, True], ids=["without a guess", "guessed about its mast"])
def test_a_flip_is_the_fastest_of_whole_turns_about_three_axes(guessed: bool):
    """A turn about the mast, by the drag of the rotors, takes 1.003 s, and is a minimum of its own."""
    problem, hover = drone()
    about_mast = np.append(hover[:3], (0, 0, 0, 1))
    guess = co.keyframes({0.0: hover, 0.5: about_mast, 1.0: -hover}) if guessed else None
    steps = [co.refinement.Solve(), *([co.refinement.SeekStarts(8, quick=True)] if guessed else [])]
    solution = co.solve(problem, co.BSpline(24, degree=4, continuity=1), guess=guess, plan=steps, progress=False)
    assert solution.duration == pytest.approx(0.681, abs=4e-3)
    said = "that from the guess costs 1.003" if guessed else "the best of 3 turns, the next costs"
    assert said in solution.outcome.message


@pytest.mark.parametrize("axis", np.eye(3)[:2])
def test_a_drone_flips_from_hover_to_hover(axis: np.ndarray):
    """A whole turn on four rotors that only push, whether the guess rolls or pitches: the same motion."""
    model = co.Model(co.floating("drone", sequence="quaternion", mass=1.0, inertia=(0.01, 0.01, 0.02)), (0, 0, -9.81))
    rotors = co.Unknown("rotors", 4, lower=0.0, upper=5.0, guess=2.45, unit="N")
    arm, drag = 0.2, 0.05  # m, N m per N

    def force(now: co.problem.Instant) -> ca.SX:
        return now.rotation("drone") @ ca.vertcat(0, 0, ca.sum1(now.rotors))

    def moment(now: co.problem.Instant) -> ca.SX:
        front, left, back, right = ca.vertsplit(now.rotors)
        turning = ca.vertcat(arm * (left - right), arm * (back - front), drag * (front - left + back - right))
        return now.rotation("drone") @ turning

    hover, flipped, upside_down = (np.array(model.neutral) for _ in range(3))
    flipped[3:] *= -1
    upside_down[3:] = 0.0, *axis
    problem = co.Problem(
        model,
        co.Free(0.1, 10.0),
        co.duration(),
        [co.initial(q=hover, qd=0.0), co.final(q=flipped, qd=0.0), co.bounds(tau=(0.0, 0.0))],
        unknowns=[rotors],
        loads=[co.Load("drone", force=force, moment=moment)],
    )
    guess = co.keyframes({0.0: hover, 0.5: upside_down, 1.0: flipped})
    solution = co.solve(problem, co.BSpline(24, degree=4, continuity=1), guess=guess, progress=False)
    assert solution.duration == pytest.approx(0.681, abs=4e-3)
    assert lengths(solution) == pytest.approx(1.0, abs=1e-6)
    t = np.linspace(0, solution.duration, 2001)
    turned = np.trapezoid(np.linalg.norm(np.asarray(solution.at(t).qd)[:, 3:], axis=1), t)
    assert 2 * np.pi - 1e-3 < turned < 2 * np.pi + 1.5
    up = 1 - 2 * (np.asarray(solution.at(t).q)[:, 4:6] ** 2).sum(axis=1)
    assert up.min() < -0.9
    assert co.verify(solution).forward_error < 1e-4
