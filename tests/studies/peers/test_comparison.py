"""colloc beside other tools: the judge against closed forms, the runner with tools that are absent, wrong or slow."""

import json
import sys
import time
from dataclasses import asdict
from math import pi
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import colloc as co
from colloc.models.chains.serial import planar_chain
from colloc.models.muscle_walker import muscle_walker
from colloc.models.panda import panda
from colloc.models.squat_to_stand import squat_to_stand
from colloc.studies.benchmarks.peers import answers, comparison, with_biosym, with_colloc, with_colloc_grid
from colloc.studies.benchmarks.peers.answers import Answers, OutOfTime, asked
from colloc.studies.benchmarks.peers.comparison import Run, chosen, lines, main
from colloc.studies.benchmarks.peers.problems import (
    CART_POLE,
    THREE,
    Hop,
    Reach,
    arm,
    planar,
    problems,
    reach,
    rises,
    stands,
    steps,
    urdf,
    walks,
    written,
)
from colloc.studies.benchmarks.peers.truth import (
    Truth,
    Walker,
    forward_dynamics,
    judged,
    judged_hop,
    judged_rise,
    judged_step,
    judged_walk,
    pieces,
    pulled,
    simulated,
)
from tests.platforms import needs_unix

HOP = {"foot": 1.0, "trunk": 9.0, "leg": (0.5, 1.0), "rest": 0.9, "height": 0.1, "gravity": 10.0, "weight": 100.0}


def answer(edges, torque, inside=(0.0,)):
    """Torques as a tool hands them over."""
    return {"edges": list(edges), "inside": list(inside), "torque": np.array(torque, float).tolist()}


def rod(duration: float | None) -> Reach:
    """A rod of 3 kg and 2 m that turns by a radian about its end, without gravity: 4 kg m2."""
    return reach((planar(3.0, 2.0, 0.0, 1.0),), ((0.0,), (1.0,)), (16.0,), duration, gravity=(0, 0, 0), speed=(2.0,))


def test_the_fastest_turn_of_a_rod_is_judged_as_the_closed_form_says(tmp_path: Path):
    problem = written("rod", rod(None), tmp_path)  # 16 N m / 4 kg m2 = 4 rad/s2 over half a radian, and back
    truth = judged(problem, answer([0.0, 0.5, 1.0], [[[16.0]], [[-16.0]]]))
    assert truth.miss == pytest.approx(0.0, abs=1e-9)
    assert truth.overstep == pytest.approx(0.0, abs=1e-9)
    assert truth.cost == 1.0
    hasty = judged(problem, answer([0.0, 0.5, 1.0], [[[17.6]], [[-17.6]]]))
    assert hasty.miss == pytest.approx(0.1, abs=1e-9)
    assert hasty.overstep == pytest.approx(0.1, abs=1e-9)  # of its torque and of its speed, 2.2 rad/s
    late = judged(problem, answer([0.0, 0.5, 1.0], [[[16.0]], [[-15.0]]]))
    assert late.miss == pytest.approx(0.125, abs=1e-9)  # speed left after half a second at 1/4 rad/s2, in a second


def test_the_cost_is_that_of_the_torques_between_their_nodes(tmp_path: Path):
    """Linear from T to -T: the optimum of a rod from rest to rest, whose effort is T2 duration / 3."""
    problem = written("rod", rod(1.0), tmp_path)
    truth = judged(problem, answer([0.0, 1.0], [[[24.0], [-24.0]]], (-1.0, 1.0)))
    assert truth.miss == pytest.approx(0.0, abs=1e-9)
    assert truth.cost == pytest.approx(24.0**2 / 3)
    assert truth.overstep == pytest.approx(0.5)


def test_what_nothing_drives_has_no_torque(tmp_path: Path):
    still = reach(CART_POLE, ((0.0, 0.0), (0.0, 0.0)), (20.0, 0.0), 1.0)
    truth = judged(written("still", still, tmp_path), answer([0.0, 1.0], [[[0.0, 5.0]]]))
    assert truth == Truth(0.0, 0.0, 0.0)


def test_a_file_is_the_chain_that_was_meant(tmp_path: Path):
    """As colloc reads it, beside the library's own models."""
    (tmp_path / "panda.urdf").write_text(urdf(arm(), (1.0,) * 7, (1.0,) * 7), encoding="utf-8")
    (tmp_path / "chain.urdf").write_text(urdf(THREE, (1.0,) * 3, (1.0,) * 3), encoding="utf-8")
    q, qd, qdd = np.random.default_rng(0).standard_normal((3, 5, 7))
    chain = planar_chain(3)
    for name, model, gravity in (("panda", panda(), (0, 0, -9.81)), ("chain", chain, (0, -9.81, 0))):
        read = co.formats.from_urdf(tmp_path / f"{name}.urdf", gravity=gravity).model
        state = [values[:, : model.n] for values in (q, qd, qdd)]
        torque = co.Evaluator(model, compile=False).torque(*state)
        np.testing.assert_allclose(co.Evaluator(read, compile=False).torque(*state), torque, rtol=0, atol=1e-9)


def hopped(force: float, forces: tuple[float, float] = (0.0, 90.0)):
    """A push of 0.2 s, a flight of 0.2 s and a landing of 0.2 s, each with a constant force."""
    return {"phases": [answer([0.0, 0.2], [[[value]]]) for value in (force, *forces)]}


def test_a_hop_is_judged_as_newton_says():
    """Held for a fifth of a second, thrown with nothing, landed: 2 m/s down, 2 N s of the foot."""
    truth = judged_hop({**HOP, "duration": 0.6}, hopped(90.0))
    assert truth.cost == pytest.approx(0.4 * 90.0**2 + 100.0 * 2.0**2)
    assert truth.miss == pytest.approx(2.0 * 0.6)  # the trunk goes on at 2 m/s, and misses by less
    # 0.2 m below the ground in the flight, whose middle is 0.05 below it; then trunk and foot are 0.3 m apart.
    assert truth.overstep == pytest.approx(2.0)
    early = judged_hop({**HOP, "duration": 1.0, "height": 1e3}, hopped(90.0))
    assert early.miss == pytest.approx(2.0)
    pulled = judged_hop({**HOP, "duration": 0.6, "height": 1e9}, hopped(-210.0))
    assert pulled.overstep > (210.0 - 10.0) / 100.0 - 1e-9  # as the ground would have to pull


def test_the_judge_agrees_with_what_colloc_says_of_its_hop():
    task = asdict(Hop())
    said = with_colloc.hop(SimpleNamespace(**task), 0)
    truth = judged_hop(task, said)
    assert said["solved"]
    assert truth.cost == pytest.approx(said["cost"], rel=1e-6)
    assert max(truth.miss, truth.overstep) < 1e-4


def test_the_human_that_stands_up_is_the_model(tmp_path: Path):
    """Its file, with pelvis and trunk as one body, and its muscles' torques by the judge's formulas."""
    model, muscles = squat_to_stand()
    task = written("rise", rises()["rise_by_muscles"], tmp_path)
    read = co.formats.from_urdf(tmp_path / "rise.urdf", gravity=model.gravity).model
    rng = np.random.default_rng(0)
    q, qd, qdd = -np.abs(rng.standard_normal(3)) / 2, rng.standard_normal(3), rng.standard_normal(3)
    expected = co.Evaluator(model, compile=False).torque(q, qd, qdd)
    np.testing.assert_allclose(co.Evaluator(read, compile=False).torque(q, qd, qdd), expected, rtol=1e-12)
    driven, activation = co.muscles.Muscles(model, muscles, activation="instantaneous"), rng.uniform(0.1, 0.9, 9)
    symbols, values = ca.SX.sym("state", 6), ca.SX(activation)
    now: Any = SimpleNamespace(model=model, q=symbols[:3], qd=symbols[3:], activation=values, reserve=ca.SX(0, 1))
    exerted = driven.torques(now)
    torques = [exerted.get(joint, ca.SX(0)) for joint in model.joint_names]
    torques = ca.Function("torques", [symbols], [ca.vertcat(*torques)])(np.concatenate([q, qd])).full()[:, 0]
    np.testing.assert_allclose(pulled([*task["muscles"]], q, qd, activation), torques, rtol=1e-9)


@pytest.mark.parametrize(("name", "cost"), [("rise_by_motors", 0.20096), ("rise_by_muscles", 0.14858)])
def test_the_judge_agrees_with_what_colloc_says_of_a_rise(name: str, cost: float, tmp_path: Path):
    task = written(name, rises()[name], tmp_path)
    plain = json.loads(json.dumps(task))
    said = with_colloc.rise(SimpleNamespace(**plain), 1)
    truth = judged_rise(plain, said)
    assert said["solved"]
    assert said["cost"] == pytest.approx(cost, rel=1e-3)
    assert truth.cost == pytest.approx(said["cost"], rel=1e-6)
    assert max(truth.miss, truth.overstep) < 1e-4
    wrong = judged_rise(plain, said | {"torque": (0.9 * np.array(said["torque"])).tolist()})
    assert wrong.miss > 0.1
    shifted = np.array(said["state"])
    shifted[0, 0] += 0.05
    assert judged_rise(plain, said | {"state": shifted.tolist()}).miss > 0.05


def test_the_walker_of_five_links_has_the_mass_matrix_of_kelly(tmp_path: Path):
    """In absolute angles, as he has them, where a link is moved by those that carry it."""
    task = written("step", steps()["walk_by_motors"], tmp_path)
    arms = np.zeros((5, 5))  # of the links' centres of mass along the links
    arms[:, 0], arms[:, 1], arms[3:, 2] = 0.4, 0.4, 0.0
    arms[0, :2], arms[1, 1], arms[2, 2] = (0.4 - 0.128, 0.0), 0.4 - 0.163, 0.2
    arms[3, 3], arms[4, 3:] = -0.163, (-0.4, -0.128)
    mass, inertia = np.array([3.2, 6.8, 20.0, 6.8, 3.2]), np.array([0.93, 1.08, 2.22, 1.08, 0.93])
    q = np.random.default_rng(0).standard_normal(5)
    turns = np.cumsum(q)
    absolute = np.cos(turns[:, None] - turns) * (arms.T * mass @ arms) + np.diag(inertia)
    relative = np.tri(5).T @ absolute @ np.tri(5)
    read = co.formats.from_urdf(tmp_path / "step.urdf", gravity=(0, -9.81, 0)).model
    np.testing.assert_allclose(co.Evaluator(read, compile=False).mass_matrix(q), relative, rtol=1e-12)
    loose = co.formats.from_urdf(task["loose"], gravity=(0, -9.81, 0)).model
    whole = co.Evaluator(loose, compile=False).mass_matrix(np.concatenate([[0.0, 0.0], q]))
    np.testing.assert_allclose(whole[2:, 2:], relative, rtol=1e-12)
    np.testing.assert_allclose(whole[:2, :2], mass.sum() * np.eye(2), atol=1e-12)
    swap = np.array(task["swap"])
    np.testing.assert_allclose(np.cumsum(swap @ q), turns[::-1], rtol=1e-12)


def test_the_judge_agrees_with_what_colloc_says_of_a_step(tmp_path: Path):
    task = json.loads(json.dumps(written("step", steps()["walk_by_motors"], tmp_path)))
    said = with_colloc.step(SimpleNamespace(**task), 0)
    truth = judged_step(task, said)
    assert said["solved"]
    assert said["cost"] == pytest.approx(264.8368, rel=1e-5)
    assert truth.cost == pytest.approx(said["cost"], rel=1e-6)
    assert truth.miss < 1e-6
    assert truth.overstep < 1e-6
    wrong = judged_step(task, said | {"torque": (0.9 * np.array(said["torque"])).tolist()})
    assert wrong.miss > 0.1
    hasty = np.array(said["state"])
    hasty[5:] *= 1.1
    assert judged_step(task, said | {"state": hasty.tolist()}).miss > 0.1
    assert judged_step({**task, "length": 0.4}, said).miss == pytest.approx(0.1, abs=1e-6)
    deep = judged_step({**task, "foot": [0.0, -0.41, 0.0]}, said)
    assert deep.overstep > 0.015  # a centimetre below the ground at both ends


def test_the_ground_only_pushes_who_walks_by_motors(tmp_path: Path):
    """Which nothing in the problem asks for: by the loose chain on the walk from the judge's own dynamics."""
    task = json.loads(json.dumps(written("step", steps()["walk_by_motors"], tmp_path)))
    said = with_colloc.step(SimpleNamespace(**task), 0)
    aba, parts, state = forward_dynamics(task), pieces(said, np.ones(5)), np.array(said["state"])
    states, torques, _ = simulated(aba, parts, state[:5], state[5:])
    loose = co.formats.from_urdf(task["loose"], gravity=task["gravity"]).model
    still = np.zeros((len(states), 2))
    qdd = np.array([aba(row[:5], row[5:], tau) for row, tau in zip(states, torques, strict=True)])
    motion = (np.hstack([still, values]) for values in (states[:, :5], states[:, 5:], qdd))
    force = co.Evaluator(loose, compile=False).torque(*motion)
    np.testing.assert_allclose(force[:, 2:], torques, atol=1e-6)
    assert force[:, 1].min() > 200  # N
    assert np.abs(force[:, 0] / force[:, 1]).max() < 0.5  # friction that it takes


def test_the_walker_is_the_model(tmp_path: Path):
    """Its file with feet of one piece, its muscles and the ground below feet that slip, by the judge's formulas."""
    walker, task = muscle_walker(), json.loads(json.dumps(written("walk", walks()["walk_by_muscles"], tmp_path)))
    n, m = walker.model.n, len(walker.muscles)
    rng = np.random.default_rng(0)
    q, qd, qdd = 0.05 * rng.standard_normal(n), 0.3 * rng.standard_normal(n), 5 * rng.standard_normal(n)
    q[1], qd[0] = 0.91, 2.0  # in the ground, and fast, where its friction has no corner
    torque = co.Evaluator(walker.model, loads=walker.contact.loads, compile=False).torque(q, qd, qdd)
    carried = torque - co.Evaluator(walker.model, compile=False).torque(q, qd, qdd)
    assert carried[1] < -500  # N
    np.testing.assert_allclose(Walker(task).accelerations(q, qd, torque), qdd, atol=1e-3)
    driven, activation = co.muscles.Muscles(walker.model, walker.muscles), rng.uniform(0.1, 0.9, m)
    symbols = ca.SX.sym("state", 2 * n)
    now: Any = SimpleNamespace(model=walker.model, q=symbols[:n], qd=symbols[n:], activation=ca.SX(activation))
    exerted = driven.torques(now)
    torques = [exerted.get(joint, ca.SX(0)) for joint in walker.model.joint_names]
    torques = ca.Function("torques", [symbols], [ca.vertcat(*torques)])(np.concatenate([q, qd])).full()[:, 0]
    np.testing.assert_allclose(pulled(task["muscles"], q, qd, activation), torques, rtol=1e-9, atol=1e-9)
    assert [task["links"][k]["mass"] for k in task["mirror"]] == [link["mass"] for link in task["links"]]


def in_the_air(task: dict[str, Any], dt: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """States of a walker from rest at a moment's begin and end, which follow by its rates, and signals in between."""
    n, m = 10, 18
    start, signals = np.array([*task["q"][0], *[0.0] * n, *[0.05] * m]), np.array([*[0.05] * m, *[0.0] * n])
    start[1] += 0.3  # m
    torque = pulled(task["muscles"], start[:n], start[n : 2 * n], start[2 * n :])
    qdd = Walker(task).accelerations(start[:n], start[n : 2 * n], torque)
    end = start + dt * np.concatenate([start[n : 2 * n], qdd, np.zeros(m)])
    end[:n] += dt**2 / 2 * qdd
    return start, end, signals


def test_a_walk_is_judged_interval_by_interval(tmp_path: Path):
    """A tenth of a millisecond in the air."""
    task = json.loads(json.dumps(written("walk", walks()["walk_by_muscles"], tmp_path)))
    n, m, dt, weight = 10, 18, 1e-4, task["weight"]
    start, end, signals = in_the_air(task, dt)
    said = answer([0.0, dt], [[signals]]) | {"state": [start.tolist(), end.tolist()]}
    truth = judged_walk(task, said)
    other = start[[*task["mirror"], *(n + k for k in task["mirror"]), *(2 * n + k for k in task["other"])]]
    apart = np.abs(end - other) * np.concatenate([np.ones(n), np.full(n, dt), np.ones(m)])
    assert truth.miss == pytest.approx(apart[1:].max(), abs=1e-5)
    squares = m * 0.05**2 + 0.3**2 + np.sum(np.square(task["qd"][0]))
    assert truth.cost == pytest.approx(weight * squares * dt, rel=0.05)
    end[0] += 0.05
    shifted = judged_walk(task, said | {"state": [start.tolist(), end.tolist()]})
    assert shifted.miss == pytest.approx(truth.miss + 0.05, abs=1e-4)


def test_a_predicted_walk_is_judged_by_its_effort_over_its_way(tmp_path: Path):
    """A tenth of a millisecond in the air, at the speed, or so the tool says, with a motor that tries."""
    followed, task = (
        json.loads(json.dumps(written("walk", walks()[name], tmp_path)))
        for name in ("walk_by_muscles", "predict_by_muscles")
    )
    dt, torque = 1e-4, 2.0  # s, N m
    start, end, signals = in_the_air(task, dt)
    signals[18 + np.argmax(task["motors"])] = torque / max(task["motors"])
    end[0] = start[0] + task["speed"] * dt
    said = answer([0.0, dt], [[signals]]) | {"state": [start.tolist(), end.tolist()]}
    truth = judged_walk(task, said)
    assert truth.cost == pytest.approx(task["weight"] * (18 * 0.05**3 + torque**3) / task["speed"], rel=1e-6)
    assert truth.miss == pytest.approx(judged_walk(followed, said).miss, abs=1e-9)
    assert truth.overstep == pytest.approx((0.4 - dt) / 0.2)  # too short, over the range
    end[0] += 0.01
    far = judged_walk(task, said | {"state": [start.tolist(), end.tolist()]})
    assert far.miss == pytest.approx(truth.miss + 0.01 + 0.01, abs=1e-4)  # by a jump, and by a way too long


def test_the_judge_agrees_with_what_colloc_says_of_a_predicted_walk(tmp_path: Path):
    task = json.loads(json.dumps(written("walk", walks()["predict_by_muscles"], tmp_path)))
    said = with_colloc.walk(SimpleNamespace(**task), 0, co.HermiteSimpson(90))
    truth = judged_walk(task, said)
    assert said["solved"]
    assert said["cost"] == pytest.approx(0.13436, rel=1e-3)
    assert truth.cost == pytest.approx(said["cost"], rel=1e-6)
    assert truth.miss < 0.1
    assert truth.overstep < 1e-4


TOOLS = {
    "absent": "def reach(problem, effort):\n    import a_package_that_nobody_has\n",
    "wrong": "def reach(problem, effort):\n    raise ValueError('no')\n",
    "slow": "def reach(problem, effort):\n    while True:\n        pass\n",
    "asleep": "import time\n\ndef reach(problem, effort):\n    time.sleep(60)\n",
    "dead": "import os\n\ndef reach(problem, effort):\n    os._exit(3)\n",
    "right": "def reach(problem, effort):\n    return {'cost': problem.x + effort}\n",
}


@pytest.mark.parametrize(
    ("tool", "key", "says"),
    [
        ("absent", "missing", "No module named 'a_package_that_nobody_has'"),
        ("wrong", "failed", "ValueError: no"),
        ("slow", "failed", "no answer within 2 s"),
        ("asleep", "failed", "no answer within 3 s by the clock"),
        ("dead", "failed", "the process ended with 3: no word"),
    ],
)
def test_what_gives_no_answer_is_a_sentence(
    tmp_path: Path, tool: str, key: str, says: str, monkeypatch: pytest.MonkeyPatch
):
    needs_unix("a limit of a process's seconds")
    monkeypatch.setattr(answers, "SHARED", 60.0 if tool == "slow" else 1.5)
    (tmp_path / "tool.py").write_text(TOOLS[tool], encoding="utf-8")
    assert asked(str(tmp_path / "tool.py"), "reach", {"x": 1.0}, 0, 1, 2.0) == {key: says}


def test_an_answer_has_its_seconds(tmp_path: Path):
    needs_unix("a limit of a process's seconds")
    (tmp_path / "tool.py").write_text(TOOLS["right"], encoding="utf-8")
    said = asked(str(tmp_path / "tool.py"), "reach", {"x": 1.0}, 2, 3, 20.0)
    assert said["cost"] == 3.0
    assert 0 < said["cold"] < 20
    assert len(said["warm"]) == 3


def test_a_tool_may_have_an_environment_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    needs_unix("a limit of a process's seconds")
    own = tmp_path / "apart" / "tool" / "bin" / "python"
    own.parent.mkdir(parents=True)
    own.write_text(f'#!/bin/sh\nOWN=1 exec "{sys.executable}" "$@"\n', encoding="utf-8")
    own.chmod(0o755)
    text = "import os\ndef reach(problem, effort):\n    return {'cost': float(os.environ.get('OWN', 0))}\n"
    for name in ("with_tool.py", "with_other.py"):
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    costs = [asked(str(tmp_path / f"with_{tool}.py"), "reach", {}, 0, 0, 20.0)["cost"] for tool in ("tool", "other")]
    assert costs == [1.0, 0.0]


def test_the_coarsest_good_answer_is_chosen():
    def run(grid: int, miss: float, cost: float) -> Run:
        return Run("tool", "problem", grid, {}, Truth(miss, 0.0, cost))

    runs = [run(0, 0.1, 1.0), run(1, 1e-4, 1.01), run(2, 1e-5, 1.0005), run(3, 1e-6, 1.0)]
    assert chosen(runs, 1.0).grid == 2
    assert chosen(runs[:2], 1.0).grid == 1
    assert chosen(runs[:1], 1.0).grid == 0
    assert chosen(runs, 0.9).grid == 2  # another local optimum
    failed = Run("tool", "problem", 0, {"failed": "no"})
    assert chosen([failed, runs[0]], 1.0) is runs[0]
    assert chosen([failed], 1.0) is failed


def test_the_best_of_negative_costs_is_the_largest_gain():
    def run(grid: int, cost: float) -> Run:
        return Run("tool", "goddard", grid, {}, Truth(1e-5, 0.0, cost))

    runs = [run(0, -18500.0), run(1, -18550.0), run(2, -18550.5)]
    assert chosen(runs, -18551.0).grid == 1
    assert comparison.excess(-18500.0, -18550.0) == pytest.approx(50 / 18550)


def test_an_answer_is_asked_for_once_and_kept(tmp_path: Path):
    answers = Answers("abc", "this", tmp_path)
    assert answers.get("squat.opti.0", lambda: {"said": 1.0}) == {"said": 1.0}
    assert answers.get("squat.opti.0", lambda: pytest.fail("asked again")) == {"said": 1.0}
    assert 0 <= answers.seconds() < 1
    for other in (Answers("def", "this", tmp_path), Answers("abc", "that", tmp_path)):
        with pytest.raises(co.InputError, match="must be of one commit on one machine"):
            other.get("squat.opti.0", dict)
    late = Answers("abc", "this", tmp_path, until=0.0)
    assert late.get("squat.opti.0", dict) == {"said": 1.0}
    with pytest.raises(OutOfTime, match=r"squat.opti.1"):
        late.get("squat.opti.1", dict)
    now = time.monotonic()
    assert Answers(begin=now, until=now + 100.0).get("first", dict, longest=1000.0) == {}
    with pytest.raises(OutOfTime, match="later"):
        Answers(begin=now - 300.0, until=now + 100.0).get("later", dict, longest=1000.0)


def test_a_comparison_goes_on_where_it_was_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    said = {"cost": 2.76, "iterations": 5, "solved": True, "status": "SOLVED", "cold": 1.0, "warm": [0.5]}
    monkeypatch.setattr(comparison, "commit", lambda: "abc")
    monkeypatch.setattr(comparison, "asked", lambda *question: said)
    monkeypatch.setitem(comparison.JUDGES, "reach", lambda problem, answer: Truth(1e-4, 0.0, 2.76))
    words = ["--only", "colloc,opti", "--problems", "two_link_effort,cart_pole", "--answers", str(tmp_path / "kept")]
    words += ["--json", str(tmp_path / "numbers.json")]
    main([*words, "--minutes", "1e-9"])
    assert "left, from these on: two_link_effort.colloc.0, cart_pole.colloc.0" in capsys.readouterr().out
    assert not (tmp_path / "numbers.json").exists()
    numbers = main(words)
    monkeypatch.setattr(comparison, "asked", lambda *question: pytest.fail("asked again"))
    again = main([*words, "--minutes", "1e-9"])
    assert again == numbers == json.loads((tmp_path / "numbers.json").read_text(encoding="utf-8"))
    assert numbers["cart_pole.opti.warm"] == 0.5
    monkeypatch.setattr(comparison, "commit", lambda: "abc-dirty")
    with pytest.raises(co.InputError, match="has changed since commit abc; commit it first"):
        main(words)


def test_what_takes_long_is_not_asked_for_again(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(comparison, "asked", lambda *question: pytest.fail("asked again"))
    said = {"cost": 1.0, "cold": 2 * comparison.LONG, "warm": [], "solved": True, "iterations": 3}
    run = Run("colloc", "predict_by_muscles", 0, said, Truth(1e-2, 0.0, 1.0))
    problem = {"name": "predict_by_muscles"}
    numbers = comparison.measured(run, with_colloc, "walk", problem, 3, Answers())
    assert numbers["cold"] == numbers["warm"] == 2 * comparison.LONG
    assert numbers["good"] == 1.0  # by the limit of walks
    assert comparison.patience("walk", problem) > comparison.patience("walk", {"name": "walk_by_muscles"})


def test_lines_are_those_of_the_statement(tmp_path: Path):
    module = ModuleType("tool")
    module.__file__ = str(tmp_path / "tool.py")
    parts = "x = 1", "# [equations", "f = 1", "# equations]", "# [reach", "# why", "", "a = 1", "b = 2", "# reach]"
    (tmp_path / "tool.py").write_text("\n".join([*parts, "c = 3", "# [hop", "d = 1", "# hop]", ""]), encoding="utf-8")
    assert (lines(module, "reach"), lines(module, "hop")) == (3, 1)


def test_the_comparison_has_the_agreed_numbers(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Of colloc alone, as no other tool is in the environment of the tests."""
    words = ["--quick", "--only", "colloc,crocoddyl", "--problems", "two_link_effort,human43"]
    numbers = main([*words, "--json", str(tmp_path / "numbers.json")])
    assert json.loads((tmp_path / "numbers.json").read_text(encoding="utf-8")) == numbers
    assert numbers["two_link_effort.colloc.good"] == numbers["two_link_effort.colloc.solved"] == 1.0
    assert numbers["two_link_effort.best"] == pytest.approx(numbers["two_link_effort.colloc.true_cost"], rel=1e-6)
    assert numbers["two_link_effort.colloc.cost"] == pytest.approx(numbers["two_link_effort.best"], rel=1e-4)
    assert numbers["human43.colloc.difference"] < 1e-12
    assert "not installed here" in capsys.readouterr().out


ROCKETS = {"goddard": 18550.8719, "delta_iii": 7529.7123}


@pytest.mark.parametrize(("name", "published"), ROCKETS.items())
def test_the_judge_of_rockets_finds_published_optima(name: str, published: float, tmp_path: Path):
    """On grids of few intervals, which the judge simulates from the start to the end."""
    work, problem = comparison.stated(name, tmp_path)
    curve = co.HermiteSimpson(60 if name == "goddard" else 5)
    said = getattr(with_colloc, work)(SimpleNamespace(**problem), 0, curve)
    truth = comparison.JUDGES[work](problem, said)
    assert truth.miss < 1e-3
    assert truth.overstep < 1e-3
    assert truth.cost == pytest.approx(-published, rel=1e-3)
    assert truth.cost >= -published * (1 + 1e-4)  # nothing rises higher, or brings more
    strays = said | (
        {"phases": [*said["phases"][:3], shifted(said["phases"][3])]} if "phases" in said else shifted(said)
    )
    assert comparison.JUDGES[work](problem, strays).miss > 10 * truth.miss


def shifted(part: dict[str, Any]) -> dict[str, Any]:
    """Controls that are 5 % smaller, in a time that is 1 % longer."""
    return part | {
        "torque": (0.95 * np.array(part["torque"])).tolist(),
        "edges": (part["edges"][0] + 1.01 * (np.array(part["edges"]) - part["edges"][0])).tolist(),
    }


def test_the_judge_of_the_alp_rider_sums_jumps_and_costs(tmp_path: Path):
    """Against the exact motion without controls, which decays, and grows by a tenth of its slowest mode."""
    _, problem = comparison.stated("alp_rider", tmp_path)
    problem |= {"matrix": np.diag([-1.0, 0, 0, 0]).tolist(), "peaks": [], "floor": 1e-3, "duration": 2.0}
    problem |= {"start": (1.0, 0.0, 0.0, 0.0), "end": (np.exp(-2.0), 0.0, 0.0, 0.0)}
    still = {"edges": [0.0, 1.0, 2.0], "inside": [0.0], "torque": np.zeros((2, 1, 2)).tolist()}
    state = np.zeros((3, 4))
    state[:, 0] = np.exp([0.0, -1.0, -2.0])
    exact = comparison.JUDGES["alp_rider"](problem, still | {"state": state.tolist()})
    assert exact.miss < 1e-9
    assert exact.overstep == 0.0
    assert exact.cost == pytest.approx(50 * (1 - np.exp(-4.0)), rel=1e-9)
    state[1, 0] += 0.01
    jumped = comparison.JUDGES["alp_rider"](problem, still | {"state": state.tolist()})
    assert jumped.miss == pytest.approx(0.01 * (1 + np.exp(-1.0)), rel=1e-6)
    assert comparison.JUDGES["alp_rider"](problem | {"floor": 0.03}, still | {"state": state.tolist()}).overstep > 0.3


def test_the_judge_of_the_slide_sticks_and_slips_as_a_steep_friction_does(tmp_path: Path):
    """A voltage that pushes, lets go and pulls: the slide sticks at first, slips, turns and slips back."""
    _, task = comparison.stated("slide", tmp_path)
    voltages = (0.3, 3.0, 0.0, -4.0)
    edges = np.linspace(0.0, 0.08, 5)
    truth = comparison.JUDGES["slide"](task, answer(edges, np.reshape(voltages, (4, 1, 1))))

    def rate(t: float, x: np.ndarray, u: float) -> list[float]:
        friction = task["friction"] * np.tanh(x[1] / 1e-7)
        force = task["spring"] * (x[2] - x[0]) + task["constant"] * x[4] - friction
        voltage = u - task["constant"] * x[1] - task["resistance"] * x[4]
        pull = task["spring"] * (x[0] - x[2])
        return [x[1], force / task["slide"], x[3], pull / task["load"], voltage / task["inductance"]]

    x, speeds = np.zeros(5), []
    for k, u in enumerate(voltages):
        run = solve_ivp(rate, edges[k : k + 2], x, "Radau", args=(u,), rtol=1e-8, atol=1e-11)
        x, speeds = run.y[:, -1], [*speeds, run.y[1]]
    assert abs(speeds[0]).max() < 1e-6
    assert speeds[1].max() > 0.05
    assert speeds[3].min() < -0.01
    mean = task["way"] / task["duration"]
    sizes = np.array([task["way"], mean, task["way"], mean, task["voltage"] / task["resistance"]])
    wanted = np.array([task["way"], 0.0, task["way"], 0.0, 0.0])
    assert truth.miss == pytest.approx(np.abs((x - wanted) / sizes).max(), rel=1e-4)
    assert truth.cost == pytest.approx(0.02 * sum(u * u for u in voltages), rel=1e-9)
    assert truth.overstep == 0.0


def test_the_judge_of_a_stand_agrees_with_colloc(tmp_path: Path):
    task = json.loads(json.dumps(written("stand", stands()["stand"], tmp_path)))
    said = with_colloc_grid.stand(SimpleNamespace(**task), 0)
    truth = comparison.JUDGES["stand"](task, said)
    assert said["solved"]
    assert truth.miss < 1e-6
    assert truth.overstep == 0.0
    assert truth.cost == pytest.approx(said["cost"], rel=1e-4)
    assert truth.cost < 87.98  # biosym's, whose legs are as one
    torque = np.array(said["torque"])
    torque[2] += 1.0
    model = co.formats.from_urdf(task["urdf"], gravity=task["gravity"]).model
    mass = np.array(co.Evaluator(model, compile=False).mass_matrix([said["posture"]]))[0]
    pushed = np.linalg.solve(mass, np.eye(9)[5]) / 9.81
    truth = comparison.JUDGES["stand"](task, said | {"torque": torque.tolist()})
    assert truth.miss == pytest.approx(np.abs(pushed).max(), rel=1e-4)
    high = comparison.JUDGES["stand"](task, said | {"posture": [*said["posture"][:5], 2.0, *said["posture"][6:]]})
    assert high.overstep == pytest.approx((2.0 - pi / 3 - pi / 12) / (2 * pi / 3))


def test_biosym_has_the_same_body_in_its_files(tmp_path: Path):
    task = json.loads(json.dumps(written("stand", stands()["stand"], tmp_path)))
    with_biosym.written(SimpleNamespace(**task), tmp_path)
    world, contact = (ElementTree.parse(tmp_path / name).getroot() for name in ("stand.xml", "contact.xml"))
    assert [float(each.get("mass", "")) for each in world.iter("inertial")] == [
        link["mass"] for link in task["links"][2:]
    ]
    ranges = [[float(word) for word in each.get("range", "").split()] for each in world.findall(".//body/joint")]
    above = with_biosym.ABOVE * np.eye(9)[1][:, None]
    np.testing.assert_allclose(ranges + above, np.transpose([task["low"], task["high"]]), atol=1e-12)
    weight = 9.81 * sum(link["mass"] for link in task["links"])
    law = contact.find("default/contact_point")
    assert law is not None
    assert float(law.get("k", "")) * weight == pytest.approx(task["stiffness"])
    assert len(contact.findall("contact_point")) == len(task["points"])


def test_names_of_no_tool_or_problem_are_reported():
    with pytest.raises(co.InputError, match=r"there is no gekko, only colloc, colloc_grid"):
        main(["--only", "gekko"])
    with pytest.raises(co.InputError, match=r"there is no chess"):
        main(["--problems", "chess"])


def test_problems_go_from_rest_to_rest_of_chains():
    assert len(problems()) == 9
    for problem in problems().values():
        assert len({len(problem.start), len(problem.end), len(problem.torque), len(problem.links)}) == 1
    assert problems()["cart_pole"].end[1] == pi
