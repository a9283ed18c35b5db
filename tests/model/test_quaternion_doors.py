"""Motions of bodies on quaternions through everything that takes a motion."""

from pathlib import Path
from typing import Any

import casadi as ca
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
