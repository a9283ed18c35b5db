"""Targets up to a symmetry: independent rows, as many as freedoms taken, zero at the target alone."""

from typing import Any

import casadi as ca
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import colloc as co
from colloc.models.panda import panda

PLACE, AXIS, DIRECTION = np.array([0.4, 0.2, 0.5]), np.array([0.6, 0.0, 0.8]), np.array([0.0, 0.8, -0.6])
TURNED = Rotation.from_rotvec([2.0, -1.0, 0.4]).as_matrix()
HAND = "joint7"


def sphere(place: ca.SX) -> ca.SX:
    return ca.norm_2(place - PLACE) - 0.1


def misses(rotation: np.ndarray, place: np.ndarray) -> dict[str, float]:
    """Angle or distance from every target of `TARGETS`, by SciPy and by hand [rad, m]."""
    off = place - PLACE
    along, normal = np.array([1.0, 2.0, 2.0]) / 3, np.array([2.0, -1.0, 2.0]) / 3
    return {
        "position": float(np.linalg.norm(off)),
        "line": float(np.linalg.norm(off - along * (along @ off))),
        "plane": float(abs(normal @ off)),
        "sphere": float(abs(np.linalg.norm(off) - 0.1)),
        "direction": float(np.arccos(np.clip((rotation @ AXIS) @ DIRECTION, -1, 1))),
        "rotation": float(Rotation.from_matrix(TURNED.T @ rotation).magnitude()),
    }


POINT = (0.1, 0.0, 0.2)
TARGETS = {
    "position": (3, co.model.Target(HAND, PLACE, point=POINT)),
    "line": (2, co.model.Target(HAND, PLACE, point=POINT, along=(1, 2, 2))),
    "plane": (1, co.model.Target(HAND, PLACE, point=POINT, normal=(2, -1, 2))),
    "sphere": (1, co.model.Target(HAND, point=POINT, surface=sphere)),
    "direction": (2, co.model.Target(HAND, axis=AXIS, direction=DIRECTION)),
    "rotation": (3, co.model.Target(HAND, rotation=TURNED)),
}


def rows_of(target: Any) -> ca.Function:
    """Rows of a target and their Jacobian, functions of the posture of a Panda."""
    instant = co.Problem(panda(), 1.0).instant
    rows = target(instant)
    return ca.Function("rows", [instant.q], [rows, ca.jacobian(rows, instant.q), instant.frame(HAND)])


@pytest.mark.parametrize("kind", TARGETS)
def test_rows_are_independent_and_as_large_as_the_miss(kind):
    count, target = TARGETS[kind]
    function, rng = rows_of(target), np.random.default_rng(0)
    assert len(target.units) == len(target.labels) == function.size1_out(0) == count
    for _ in range(20):
        rows, _, frame = (np.array(part) for part in function(rng.uniform(-1.5, 1.5, 7)))
        miss = misses(frame[:3, :3], (frame @ [*POINT, 1.0])[:3])[kind]
        expected = 2 * np.tan(miss / 2) if target.units[0] == "rad" else miss
        assert np.linalg.norm(rows) == pytest.approx(expected, rel=1e-9)
    reached = co.model.reach(panda(), [target])
    rows, jacobian, _ = (np.array(part) for part in function(reached))
    np.testing.assert_allclose(rows, 0.0, atol=1e-5)
    assert np.linalg.svd(jacobian, compute_uv=False)[-1] > 1e-2


def test_a_drill_may_spin_and_holds_the_opposite_direction_for_no_answer():
    """From the opposite direction but for a milliradian, the fastest way to drill is the same as with two sines."""
    drill = co.model.Target(HAND, PLACE, axis=(0, 0, 1), direction=(0, 0, -1))
    start = co.model.reach(panda(), [co.model.Target(HAND, PLACE, axis=(0, 0, 1), direction=(1e-3, 0, 1))])
    ends = [co.initial(q=start, qd=0), co.final(qd=0)]

    def sines(now: Any) -> Any:
        return ca.vertcat(now.point(HAND).position - PLACE, now.rotation(HAND)[:2, 2])

    effort, guess = (
        co.integral(lambda now: ca.sumsqr(now.qdd)),
        co.line(start, co.model.reach(panda(), [drill], start=start)),
    )
    found = {}
    for name, goal in (("target", co.at(1.0, drill)), ("sines", co.at(1.0, sines, equals=0.0))):
        problem = co.Problem(panda(), 1.0, effort, [*ends, goal])
        found[name] = co.solve(problem, co.BSpline(8), guess=guess if name == "target" else None, progress=False)
        assert found[name].status is co.solver.Status.SOLVED
    down = found["target"].evaluate(lambda now: now.rotation(HAND)[2, 2], 1.0)
    assert float(down) == pytest.approx(-1.0, abs=1e-9)
    assert found["target"].cost > 10 * found["sines"].cost  # whose false zero is the start


def test_a_line_is_followed_with_two_rows():
    line = co.model.Target(HAND, PLACE, along=(0, 1, 0))
    start = co.model.reach(panda(), HAND, PLACE - np.array([0, 0.1, 0]))
    end = co.model.reach(panda(), HAND, PLACE + np.array([0, 0.1, 0]), start=start)
    ends = [co.initial(q=start, qd=0), co.final(q=end, qd=0)]
    problem = co.Problem(panda(), 1.0, co.integral(lambda now: ca.sumsqr(now.qdd)), [*ends, co.path(line)])
    assert problem.rows["target of joint7"].rows.labels == ("target of joint7, place 1", "target of joint7, place 2")
    found = co.solve(problem, co.BSpline(10), progress=False)
    assert found.status is co.solver.Status.SOLVED
    places = found.evaluate(lambda now: now.point(HAND).position[[0, 2]], np.linspace(0, 1, 101))
    np.testing.assert_allclose(places, np.tile(PLACE[[0, 2]], (101, 1)), atol=1e-4)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"axis": (0, 0, 1)}, "needs both axis and direction, or neither"),
        ({"along": (1, 0, 0)}, "needs a position, a rotation, or both"),
        ({"position": PLACE, "along": (1, 0, 0), "normal": (1, 0, 0)}, "has along or normal, not both"),
        ({"position": PLACE, "surface": sphere}, "has position or surface, not both"),
        ({"rotation": TURNED, "axis": AXIS, "direction": AXIS}, "has rotation or axis, not both"),
        ({"axis": AXIS, "direction": AXIS, "normal": AXIS}, "needs a position through which"),
        ({"axis": AXIS, "direction": (0, 0, 0)}, "direction must be a non-zero vector"),
        ({"surface": 3.0}, "surface needs a function of the place"),
    ],
)
def test_wrong_targets_are_refused(given, message):
    with pytest.raises(co.InputError, match=message):
        co.model.Target(HAND, **given)


def test_targets_that_are_missed_are_named():
    far = [co.model.Target(HAND, (3, 0, 0), normal=(1, 0, 0)), co.model.Target(HAND, axis=AXIS, direction=DIRECTION)]
    with pytest.raises(co.InputError, match=r"'joint7' does not reach the plane through \(3.0, 0.0, 0.0\), missed by"):
        co.model.reach(panda(), far, tries=3)
