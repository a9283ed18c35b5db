"""The control studies: what they claim holds, and their numbers have the agreed names."""

from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest

import colloc as co
import colloc.studies.benchmarks.ilqr
import colloc.studies.control.loop
import colloc.studies.control.reaching
import colloc.studies.control.tracking
import colloc.studies.control.trot
from tests.studies.quick import numbers_of


def check_reaches(numbers: dict[str, float], links: tuple[int, ...]) -> None:
    assert numbers["cost.difference"] < 1e-6
    for plane in ("vertical", "horizontal"):
        assert numbers[f"cost.batch.{plane}.2"] == pytest.approx(numbers[f"cost.ilqr.{plane}.2"], rel=1e-8)
        assert numbers[f"iterations.batch.{plane}.2"] > 1
    for n in links:
        for plane in ("vertical", "horizontal"):
            assert numbers[f"solved.{plane}.{n}"] == 1
            ours, other = (numbers[f"cost.{solver}.{plane}.{n}"] for solver in ("ilqr", "ipopt"))
            assert ours == pytest.approx(other, abs=1e-6)
            for solver in ("ilqr", "ipopt"):
                assert numbers[f"iterations.{solver}.{plane}.{n}"] > 1
                assert numbers[f"seconds.{solver}.{plane}.{n}"] > 0
        assert numbers[f"cost.ilqr.vertical.{n}"] > numbers[f"cost.ilqr.horizontal.{n}"]


def test_ilqr_and_ipopt_reach_the_same_cost(tmp_path: Path):
    check_reaches(numbers_of(colloc.studies.control.reaching.main, tmp_path, size=20_000), (2, 3))


def test_ilqr_and_ipopt_reach_the_same_cost_with_ten_links(tmp_path: Path):
    check_reaches(numbers_of(colloc.studies.control.reaching.main, tmp_path, quick=False, size=20_000), (2, 3, 5, 10))


@pytest.mark.parametrize("quick", [True, False], ids=["quick", "full"])
def test_feedback_ends_ten_times_closer(tmp_path: Path, quick: bool):
    numbers = numbers_of(colloc.studies.control.tracking.main, tmp_path, quick=quick, size=20_000)
    assert numbers["cost.time_optimal"] == pytest.approx(0.391855, abs=2e-3)
    assert numbers["tip_error.tvlqr"] < 0.1 * numbers["tip_error.open_loop"]
    assert 0.02 < numbers["tip_error.open_loop"] < 0.1
    for motion in ("time_optimal", "lifting"):
        assert {f"iterations.{motion}", f"seconds.solve.{motion}", f"seconds.track.{motion}"} <= numbers.keys()
        for masses in ("light", "heavy"):
            assert numbers[f"tip_error.ratio.{motion}.{masses}.reserve"] > 10
            lost = numbers[f"tip_error.open_loop.{motion}.{masses}"]
            assert numbers[f"tip_error.tvlqr.{motion}.{masses}.planned"] < lost / 5


def test_a_heavier_panda_follows_a_target_round_a_ball(tmp_path: Path):
    numbers = numbers_of(colloc.studies.control.loop.main, tmp_path, size=20_000)
    assert numbers["miss"] < 0.01
    assert numbers["clearance"] > 0.99 * 0.12
    assert numbers["speed"] < 1.01
    assert numbers["torque"] <= 1.0
    assert numbers["untrusted"] < 0.1
    assert 0 < numbers["seconds.median"] <= numbers["seconds.longest"]


def test_a_heavier_quadruped_trots(tmp_path: Path):
    numbers = numbers_of(colloc.studies.control.trot.main, tmp_path, size=20_000)
    assert numbers["ticks"] == 60
    assert numbers["height.least"] > 0.25
    assert numbers["pitch.largest"] < 0.1
    assert numbers["torque"] <= 1.0
    for name in ("", "spatial.one.", "spatial.converged."):
        median, longest = (
            numbers[f"{name}{key}"]
            for key in (("seconds.median", "seconds.longest") if not name else ("median", "longest"))
        )
        assert 0 < median <= longest


def test_a_quadruped_trots_in_mujoco_for_a_thousand_ticks():
    mujoco = pytest.importorskip("mujoco")
    study = colloc.studies.control.trot
    robot = mujoco.MjModel.from_xml_string(robot_of_mujoco(study.quadruped(), study.HEAVIER))
    data = mujoco.MjData(robot)

    def plant(q, qd, tau, dt):
        robot.opt.timestep = dt
        data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q, qd, tau
        mujoco.mj_step(robot, data)
        return data.qpos, data.qvel

    loop = study.trot(1000, plant)
    assert np.isfinite(loop.q).all()
    assert loop.q[:, 1].min() > 0.25  # m
    assert np.abs(loop.q[:, 2]).max() < 0.1  # rad
    assert loop.q[-1, 0] > 2.0  # m
    assert np.abs(loop.tau).max() <= study.TORQUE


def numbers_in(matrix: Any) -> np.ndarray:
    return np.array(ca.DM(matrix))


def robot_of_mujoco(model: co.Model, factor: float) -> str:
    """The planar quadruped, written out, with heavier links, on a floor."""
    children: dict[str | None, list[co.Body]] = {}
    for body in model.bodies:
        children.setdefault(body.parent, []).append(body)

    def written(body: co.Body) -> str:
        place = numbers_in(body.joint.before)[:3, 3]
        kind = {"forward": 'type="slide" axis="1 0 0"', "up": 'type="slide" axis="0 0 1"'}
        joint = kind.get(body.name, 'type="hinge" axis="0 1 0"')
        mass, com = factor * max(float(body.mass), 1e-9), " ".join(map(str, numbers_in(body.com).ravel()))
        inertia = factor * np.maximum(np.diag(numbers_in(body.inertia)), 1e-9)
        turns = " ".join(map(str, inertia))
        foot = [at for name, at in model.markers.values() if name == body.name and name.endswith("knee")]
        ball = [f'<geom type="sphere" size="0.02" pos="0 0 {at[2] + 0.02}" conaffinity="2" mass="0"/>' for at in foot]
        inside = "".join(map(written, children.get(body.name, [])))
        return (
            f'<body pos="{" ".join(map(str, place))}"><joint {joint}/>'
            f'<inertial pos="{com}" mass="{mass}" diaginertia="{turns}"/>{"".join(ball)}{inside}</body>'
        )

    floor = '<geom type="plane" size="100 100 1" contype="2" conaffinity="1" friction="0.8 0.005 0.0001"/>'
    option = '<option integrator="implicitfast" cone="elliptic"/><default><geom solref="0.005 1"/></default>'
    return f"<mujoco>{option}<worldbody>{floor}{''.join(map(written, children[None]))}</worldbody></mujoco>"


def test_what_an_iteration_takes_is_measured_where_it_converges(tmp_path: Path):
    numbers = numbers_of(colloc.studies.benchmarks.ilqr.main, tmp_path, size=None)
    for plane in ("vertical", "horizontal"):
        closed, tree = (f"ilqr.{plane}.{name}" for name in ("closed_form", "articulated"))
        assert numbers[f"{closed}.converged"] == numbers[f"{tree}.converged"] == 1
        assert numbers[f"{closed}.cost"] == pytest.approx(numbers[f"{tree}.cost"], rel=1e-9)
        assert numbers[f"{closed}.solve"] > 0
    assert {"ilqr.slope.all", "ilqr.slope.backward", "ilqr.1000.ms.all"} <= numbers.keys()
