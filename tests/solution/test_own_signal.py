"""A signal of a part written outside of the library is listed, drawn, saved, exported and viewed; so are muscles'."""

import copy
import pickle
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.models.two_link import two_link
from tests.plot.test_viewer import scene_of


class Battery(co.problem.Part):
    """Motors at both joints, and a battery that feeds them: its charge is a state, its power a signal of its own."""

    name = "battery"

    def __init__(self) -> None:
        self.drive = co.Unknown("drive", names=("shoulder", "elbow"), unit="N m", lower=-8.0, upper=8.0)
        self.charge = co.State("charge", rate=lambda now: -ca.dot(now.drive, now.qd), unit="J")

    def contribution(self) -> co.problem.Contribution:
        power = co.problem.Signal("power", lambda now: now.drive * now.qd, names=("shoulder", "elbow"), unit="W")
        return co.problem.Contribution(unknowns=[self.drive, self.charge], signals=[power])

    def torques(self, now: co.problem.Instant) -> dict[str, ca.SX]:
        return {"shoulder": now.drive[0], "elbow": now.drive[1]}


@pytest.fixture(scope="module")
def solution() -> co.solution.Solution:
    effort = co.integral(lambda now: ca.sumsqr(now.drive))
    ends = [co.initial(q=0.0, qd=0.0, states={"charge": 100.0}), co.final(q=1.0, qd=0.0)]
    problem = co.Problem(two_link(), 1.0, effort, ends, parts=[Battery()])
    return co.solve(problem, co.Radau(8), plan=[co.refinement.Solve(tol=1.0)], guess={"drive": {"elbow": 0.5}})


def test_it_is_listed_and_read_by_component(solution):
    assert list(solution.signals)[4:] == ["drive", "charge", "power"]
    np.testing.assert_allclose(solution.power["elbow"], solution.drive["elbow"] * solution.qd["elbow"])
    spent = np.trapezoid(solution.signals.at(np.linspace(0, 1, 2001), "power")["power"].sum(axis=1), dx=1 / 2000)
    assert 100.0 - solution.charge[-1, 0] == pytest.approx(spent, abs=1e-3)


def test_it_is_drawn_and_viewed(solution):
    drawn = [ax.get_ylabel() for ax in co.plot.signals(solution, names=["drive", "charge", "power"]).axes]
    assert drawn == ["drive [N m]", "charge [J]", "power [W]"]
    assert set(drawn) <= {ax.get_ylabel() for ax in co.plot.summary(solution).axes}
    (segment,) = scene_of(co.plot.view(solution))["recordings"][0]["segments"]
    assert ("power", "W", ["shoulder", "elbow"]) in [(g["label"], g["unit"], g["names"]) for g in segment["groups"]]


def test_it_is_exported_and_survives_a_file(solution, tmp_path: Path):
    co.storage.to_csv(solution, tmp_path / "arm.csv")
    table = co.formats.read_table(tmp_path / "arm.csv")
    np.testing.assert_allclose(table["power[elbow]"], solution.power["elbow"])
    assert table.units["charge"] == "J"
    co.save(solution, tmp_path / "arm.npz")
    back = co.load(tmp_path / "arm.npz", solution.problem)
    np.testing.assert_array_equal(back.power, solution.power)
    np.testing.assert_array_equal(back.drive["elbow"], solution.drive["elbow"])


def test_a_copy_for_another_process_has_it_too(solution):
    _ = solution.power
    back = pickle.loads(pickle.dumps(solution))
    np.testing.assert_array_equal(back.power["elbow"], solution.power["elbow"])
    np.testing.assert_array_equal(copy.deepcopy(solution).drive, solution.drive)


def test_fibers_and_tendons_are_signals_and_idle_joints_are_zero():
    flexor = co.muscles.Muscle("flexor", lambda now: 0.4 - 0.03 * now.q[1], 900.0, 0.15, 0.22)
    arm = co.muscles.Muscles(two_link(), [flexor], activation="instantaneous", reserves={"elbow": 50.0})
    effort = co.integral(lambda now: ca.sumsqr(now.activation) + ca.sumsqr(now.reserve))
    problem = co.Problem(arm.model, 0.5, effort, [co.initial(q=(0.0, 0.2), qd=0.0)], parts=[arm])
    signals = co.problem.signals_of(problem)
    assert signals["tau"].zero.tolist() == [True, False]
    assert (signals["fiber_length"].names, signals["tendon_force"].units) == (("flexor",), ("N",))
    moved = co.solve(problem, co.BSpline(4), plan=[co.refinement.Solve(tol=1.0)])
    forces = moved.evaluate(lambda now: (arm.fibers(now).length, arm.tendon_forces(now)))
    np.testing.assert_array_equal(moved.fiber_length["flexor"], forces[0])
    np.testing.assert_array_equal(moved.tendon_force["flexor"], forces[1])
    torques = co.plot.torques(moved)
    assert [text.get_text() for text in torques.legends[0].get_texts()][:1] == ["elbow"]
