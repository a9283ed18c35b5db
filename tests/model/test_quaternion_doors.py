"""Motions of bodies on quaternions through everything that takes a motion."""

from pathlib import Path
from typing import Any

import casadi as ca
import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import colloc as co

SPEC = {"mass": 1.0, "inertia": (0.02, 0.03, 0.01), "com": (0, 0, -0.2)}
EFFORT = co.integral(lambda now: ca.sumsqr(now.tau))


def legs() -> co.Model:
    """Two legs on ball joints."""
    left, right = (
        co.spherical(name, co.placement((0, y, 0)), sequence="quaternion", **SPEC)
        for name, y in (("left", 0.1), ("right", -0.1))
    )
    return co.Model([*left, *right], (0, 0, 0))


def rotation(model: co.Model, q: np.ndarray, ball: str) -> np.ndarray:
    """Rotation matrix of a ball joint, by SciPy."""
    return Rotation.from_quat(np.roll(q[model.balls[ball][0]], -1)).as_matrix()


def test_a_step_goes_on_as_its_mirror_image():
    """Across y = 0, left and right exchanged: rotation matrices continue as S R S, rates as vectors of turns."""
    model, rng = legs(), np.random.default_rng(0)
    across = {"rx": -1.0, "ry": 1.0, "rz": -1.0}
    pairs = (("left", "right"), ("right", "left"))
    joints = {f"{leg}_{turn}": (f"{other}_{turn}", f) for leg, other in pairs for turn, f in across.items()}
    q, qd = model.displaced(model.neutral, 0.4 * rng.normal(size=model.n)), 0.3 * rng.normal(size=model.n)
    step = co.Problem(model, 0.5, EFFORT, [co.initial(q=q, qd=qd)])
    cycle = co.Phases({"step": step}, [co.connect("step", "step", joints=joints)])
    solution = co.solve(cycle, co.BSpline(3, degree=5), progress=False)
    assert solution.success
    first, last, mirror = solution["step"].at(0.0), solution["step"].at(0.5), np.diag([1.0, -1.0, 1.0])
    for leg, other in pairs:
        image = mirror @ rotation(model, np.asarray(last.q), other) @ mirror
        assert rotation(model, np.asarray(first.q), leg) == pytest.approx(image, abs=1e-9)
        assert first.qd[f"{leg}_rx"] == pytest.approx(-last.qd[f"{other}_rx"], abs=1e-9)
        assert first.qd[f"{leg}_ry"] == pytest.approx(last.qd[f"{other}_ry"], abs=1e-9)


def test_an_attitude_may_jump_and_may_be_left_out():
    model = co.Model(co.spherical("top", sequence="quaternion", mass=1.0, inertia=(0.3, 0.2, 0.4)), (0, 0, 0))
    turns = ("top_rx", "top_ry", "top_rz")
    first = co.Problem(model, 0.5, EFFORT, [co.final(q=(0.6, 0.8, 0.0, 0.0))])
    second = co.Problem(model, 0.5, EFFORT, [co.initial(q=(1.0, 0.0, 0.0, 0.0))])
    jump = co.connect("first", "second", jumps=turns)
    solution = co.solve(co.Phases({"first": first, "second": second}, [jump]), co.BSpline(6), progress=False)
    assert (solution.status, solution.cost) == (co.solver.Status.SOLVED, pytest.approx(0.0, abs=1e-9))
    wrong: list[dict[str, Any]] = [
        {"joints": {"top_rx": ("top_rx", -1.0)}},
        {"joints": {turn: (turn, -1.0) for turn in turns}},
        {"jumps": turns[:1]},
    ]
    for stated in wrong:
        with pytest.raises(co.InputError, match="factors 1 or -1 whose product is 1"):
            co.Phases({"first": first, "second": second}, [co.connect("first", "second", **stated)])


def test_a_file_is_read_for_the_problem_as_it_was_stated(tmp_path: Path):
    """Although the motion goes the shorter way, to the negative of the final quaternion."""
    model = co.Model(co.spherical("top", sequence="quaternion", mass=1.0, inertia=(0.3, 0.2, 0.4)), (0, 0, 0))
    ends = [co.initial(q=model.neutral, qd=0.0), co.final(q=(-0.8, 0.0, 0.0, 0.6), qd=0.0)]
    problem = co.Problem(model, 1.0, EFFORT, ends)
    solution = co.solve(problem, co.BSpline(6), progress=False)
    assert np.asarray(solution.q)[-1] == pytest.approx([0.8, 0, 0, -0.6])
    co.save(solution, tmp_path / "turn.npz")
    for stated in (problem, solution.problem):
        assert np.array_equal(co.load(tmp_path / "turn.npz", stated).x, solution.x)


def random_problem(seed: int) -> co.Problem:
    """A body on a ball joint, free, with an arm, or two on each other, from rest to rest in another attitude."""
    rng = np.random.default_rng(seed)

    def solid() -> dict[str, Any]:
        a, b, c = rng.uniform(0.05, 0.15, 3)
        return {"mass": rng.uniform(0.5, 2), "inertia": (b + c, a + c, a + b), "com": 0.1 * rng.normal(size=3)}

    kind = ("hung", "free", "armed", "double")[seed % 4]
    bodies = co.spherical("one", **solid()) if kind in ("hung", "double") else co.floating("one", **solid())
    if kind == "armed":
        bodies += [co.Body("two", co.revolute((0, 0, 1), co.placement((0.2, 0, 0))), "one", **solid())]
    if kind == "double":
        bodies += co.spherical("two", co.placement((0.3, 0, 0)), parent="one", **solid())
    model = co.Model(bodies, (0, 0, 0), markers={"tip": (bodies[-1].name, (0.1, 0.2, 0.0))})
    first, last = (model.displaced(model.neutral, 0.8 * rng.normal(size=model.n)) for _ in range(2))
    last *= rng.choice([-1.0, 1.0]) if kind == "hung" else 1.0
    ends = [co.initial(q=first, qd=0.0), co.final(q=last, qd=0.0)]
    return co.Problem(model, 1.0, EFFORT, ends)


CURVE = co.BSpline(4, degree=5)
SEEDS = range(4)


def quickly(problem: Any, curve: Any = CURVE, **options: Any) -> Any:
    """A solution on a coarse grid, whatever its status."""
    return co.solve(problem, curve, progress=False, raise_on_failure=False, **options)


@pytest.mark.filterwarnings("ignore::colloc.refinement.SolutionWarning")
@pytest.mark.parametrize("seed", SEEDS)
def test_a_random_motion_is_judged_drawn_and_kept(seed: int, tmp_path: Path):
    problem = random_problem(seed)
    solution = quickly(problem)
    q = np.asarray(solution.at(np.linspace(0, 1, 2001)).q)
    for places, _ in problem.model.balls.values():
        assert np.linalg.norm(q[:, places], axis=1) == pytest.approx(1.0, abs=1e-12)
    assert co.verify(solution).kkt.feasibility < 1e-6
    for judged in (co.optimality.certify, co.optimality.explain, co.optimality.sensitivity, co.optimality.costates):
        assert str(judged(solution))
    co.save(solution, tmp_path / "motion.npz")
    assert np.array_equal(co.load(tmp_path / "motion.npz", problem).x, solution.x)
    co.storage.to_csv(solution, tmp_path / "motion.csv")
    assert co.plot.joints(solution).axes
    plt.close("all")


@pytest.mark.filterwarnings("ignore::colloc.refinement.SolutionWarning")
@pytest.mark.parametrize("seed", SEEDS)
def test_a_random_motion_is_a_start_of_others(seed: int):
    problem = random_problem(seed)
    solution, model = quickly(problem), problem.model
    turned = model.displaced(np.asarray(solution.q)[0], 0.3 * np.ones(model.n))
    assert quickly(problem, co.BSpline(6, degree=5), guess=solution).cost <= solution.cost * (1 + 1e-6)
    frames = co.keyframes({0.0: np.asarray(solution.q)[0], 0.4: turned, 1.0: np.asarray(solution.q)[-1]})
    for curve, guess in ((co.HermiteSimpson(5), solution), (co.Radau(3), frames)):
        assert quickly(problem, curve, guess=guess).outcome.status is co.solver.Status.SOLVED
    assert co.multistart(problem, CURVE, starts=2, progress=False)
    start, _ = problem.subject_to

    def there(share: float) -> co.Problem:
        end = model.displaced(np.asarray(solution.q)[0], share * np.ones(model.n))
        return co.Problem(model, 1.0, EFFORT, [start, co.final(q=end, qd=0.0)])

    assert str(co.sweep(there, [{"share": 0.5}, {"share": 4.0}], CURVE, progress=False))


@pytest.mark.filterwarnings("ignore::colloc.refinement.SolutionWarning")
@pytest.mark.parametrize("seed", SEEDS)
def test_a_random_motion_goes_on_in_phases_and_cycles(seed: int, tmp_path: Path):
    problem = random_problem(seed)
    (start, end), model = problem.subject_to, problem.model
    there = co.Problem(model, 0.5, EFFORT, [start])
    phases = co.Phases({"there": there, "on": co.Problem(model, 0.5, EFFORT, [end])})
    solution = quickly(phases)
    before, after = (solution[name].at(t) for name, t in (("there", solution["there"].duration), ("on", 0.0)))
    for ball in model.balls:
        same = rotation(model, np.asarray(before.q), ball)
        assert rotation(model, np.asarray(after.q), ball) == pytest.approx(same, abs=1e-7)
    assert str(co.verify(solution))
    assert str(co.optimality.certify(solution))
    co.save(solution, tmp_path / "phases.npz")
    assert np.array_equal(co.load(tmp_path / "phases.npz", phases).x, solution.x)
    assert quickly(phases, guess=solution).cost == pytest.approx(solution.cost, rel=1e-4)
    whole = co.Problem(model, 0.5, EFFORT, [start, co.final(q=np.asarray(after.q))])
    cycle = co.Phases({"there": whole, "back": co.Problem(model, 0.5, EFFORT)}, [co.connect("back", "there")])
    assert quickly(cycle).outcome.status is co.solver.Status.SOLVED


def test_a_whole_turn_in_shortest_time_is_found_with_its_switch():
    """About one axis it takes 2 sqrt(angle inertia / torque), half of it each way."""
    model = co.Model(co.spherical("top", mass=1.0, inertia=(0.3, 0.25, 0.4)), (0, 0, 0))
    ends = [co.initial(q=model.neutral, qd=0.0), co.final(q=-model.neutral, qd=0.0)]
    torques = co.bounds(tau={"top_rx": (0.0, 0.0), "top_ry": (0.0, 0.0), "top_rz": (-1.0, 1.0)})
    problem = co.Problem(model, co.Free(0.1, 20.0), co.duration(), [*ends, torques])
    guess = co.keyframes({0.0: (1, 0, 0, 0), 0.5: (0, 0, 0, 1), 1.0: (-1, 0, 0, 0)})
    solution = co.solve(problem, guess=guess, progress=False)
    assert solution.status is co.solver.Status.SOLVED
    assert solution.duration == pytest.approx(2 * np.sqrt(2 * np.pi * 0.4), rel=1e-4)
