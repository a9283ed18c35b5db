"""The benchmarks in their quick form: what they time agrees, and their numbers have the agreed names.

Nothing is asked of the times themselves.
"""

import json
import math
from pathlib import Path

import numpy as np
import pytest

import colloc.studies.benchmarks.barrier
import colloc.studies.benchmarks.batches
import colloc.studies.benchmarks.cold_starts
import colloc.studies.benchmarks.error_control
import colloc.studies.benchmarks.evaluate
import colloc.studies.benchmarks.first_call
import colloc.studies.benchmarks.gap
import colloc.studies.benchmarks.hessian
import colloc.studies.benchmarks.iterations
import colloc.studies.benchmarks.many
import colloc.studies.benchmarks.memory
import colloc.studies.benchmarks.motions
import colloc.studies.benchmarks.nlp_callbacks
import colloc.studies.benchmarks.phases
import colloc.studies.benchmarks.random_starts
import colloc.studies.benchmarks.resolve
import colloc.studies.benchmarks.robots
import colloc.studies.benchmarks.scaling
import colloc.studies.benchmarks.skeletons
import colloc.studies.benchmarks.ticks
import colloc.studies.benchmarks.waiting
from colloc.studies.benchmarks.gap import Look, look
from colloc.studies.benchmarks.hessian import PROGRAMS, WAYS, Run, measured
from colloc.studies.benchmarks.timing import alternately
from colloc.studies.classics.optima import CLASSICS
from tests.studies.quick import numbers_of


def run(benchmark, tmp_path: Path) -> dict[str, float]:
    """Numbers of a quick run, all of them finite."""
    numbers = numbers_of(benchmark.main, tmp_path, size=None)
    assert all(math.isfinite(value) for value in numbers.values())
    return numbers


def test_evaluations_agree_and_ratios_are_those_of_the_microseconds(tmp_path):
    numbers = run(colloc.studies.benchmarks.evaluate, tmp_path)
    assert numbers["evaluate.difference"] < 1e-11
    for key in ("torque.pinocchio", "sensitivities.pinocchio", "sensitivities.ad_vm", "hessian.ad_vm", "hessian.vm"):
        assert numbers[f"evaluate.difference.{key}"] < 1e-11
    us = {who: numbers[f"evaluate.sensitivities.us.{who}.301"] for who in ("ad_vm", "compiled", "pinocchio")}
    assert numbers["evaluate.speedup_vs_pinocchio"] == pytest.approx(us["pinocchio"] / us["compiled"])
    assert numbers["evaluate.speedup_vs_ad_vm"] == pytest.approx(us["ad_vm"] / us["compiled"])
    assert numbers["evaluate.speedup_vs_pinocchio.301"] == numbers["evaluate.speedup_vs_pinocchio"]
    assert {"evaluate.torque_speedup_vs_pinocchio", "evaluate.dense.speedup_vs_pinocchio"} <= numbers.keys()


def test_evaluate_does_without_pinocchio(monkeypatch):
    monkeypatch.setattr(colloc.studies.benchmarks.evaluate, "pinocchio", None)
    model = colloc.studies.benchmarks.evaluate.human43()
    given = colloc.studies.benchmarks.evaluate.samples(model.n, 3)
    calls = colloc.studies.benchmarks.evaluate.work({}, {}, given)
    assert all("pinocchio" not in callers for callers in calls.values())


def test_robots_of_files_are_those_of_their_programs(tmp_path, capsys):
    """A hand that mimics, a block that nothing carries, files of MuJoCo with a coupling and with a ball in a loop."""
    tensor = '<inertia ixx="1" iyy="1" izz="{}" ixy="0" ixz="0" iyz="0"/>'
    inertial = f'<inertial><origin xyz="0.1 0.2 0.3"/><mass value="2"/>{tensor}</inertial>'
    (tmp_path / "block.urdf").write_text(
        f'<robot name="b"><link name="block">{inertial.format(1)}</link></robot>', encoding="utf-8"
    )
    links = "".join(f'<link name="{name}">{inertial.format(9)}</link>' for name in "abc")
    joints = "".join(
        f'<joint name="{name}" type="continuous"><parent link="a"/><child link="{name}"/><axis xyz="1 2 3"/>'
        f'<dynamics damping="2" friction="3"/>{rest}</joint>'
        for name, rest in (("b", ""), ("c", '<mimic joint="b" multiplier="2"/>'))
    )
    (tmp_path / "hand.urdf").write_text(f'<robot name="h">{links}{joints}</robot>', encoding="utf-8")
    body = '<body name="{0}"><joint name="{0}"/><geom size="0.1" pos="1 0 0"/></body>'
    equality = '<equality><joint joint1="x" joint2="y" polycoef="0 2 0 0 0"/></equality>'
    text = f"<mujoco><worldbody>{body.format('x')}{body.format('y')}</worldbody>{equality}</mujoco>"
    (tmp_path / "pair.xml").write_text(text, encoding="utf-8")
    own = 'damping="0.3" armature="0.2" frictionloss="0.4"'
    ball = f'<body name="b" pos="1 0 0"><joint type="ball" name="j" {own}/><geom size="0.1" pos="0.3 0.2 0.1"/>'
    hinge = f'<body name="h"><joint name="h" stiffness="2" {own}/><geom size="0.1" pos="0.1 0.2 0"/></body>'
    free = f'<body name="a"><joint type="free" name="f" {own}/><geom size="0.1"/>{ball}{hinge}</body></body>'
    weld = '<equality><weld body1="h"/></equality>'
    (tmp_path / "flying.xml").write_text(f"<mujoco><worldbody>{free}</worldbody>{weld}</mujoco>", encoding="utf-8")
    (tmp_path / "none.urdf").write_text("<robot>", encoding="utf-8")
    file = tmp_path / "numbers.json"
    numbers = colloc.studies.benchmarks.robots.main(["--folder", str(tmp_path), "--json", str(file)])
    assert json.loads(file.read_text(encoding="utf-8")) == numbers
    counts = [numbers[f"robots.{key}"] for key in ("files", "read", "refused", "compared")]
    assert counts == [5, 4, 1, 4]
    for quantity in colloc.studies.benchmarks.robots.QUANTITIES:
        assert numbers[f"robots.error.{quantity}"] < (1e-10 if quantity == "forward" else 1e-12)
        assert numbers[f"robots.over_1e-9.{quantity}"] == 0
    assert numbers[f"robots.{tmp_path.name}.compared"] == 4
    table = capsys.readouterr().out
    assert "nearest, 1 follow" in table
    assert "1 loop " in table
    assert "refused" in table
    assert "free" in table


def test_what_is_otherwise_in_a_robots_own_program_is_seen(tmp_path):
    """Friction, a loop and derivatives that are not those of the file."""
    robots, path = colloc.studies.benchmarks.robots, tmp_path / "arm.xml"
    body = '<body name="a"><joint name="a" frictionloss="{}" stiffness="{}"/><geom size="0.1" pos="1 0 0"/></body>'
    weld = '<equality><weld name="w" body1="a" relpose="{} 0 0 1 0 0 0"/></equality>'
    path.write_text(f"<mujoco><worldbody>{body.format(1, 2)}</worldbody>{weld.format(1)}</mujoco>", encoding="utf-8")
    reading = colloc.formats.from_mjcf(path)
    path.write_text(f"<mujoco><worldbody>{body.format(3, 4)}</worldbody>{weld.format(2)}</mujoco>", encoding="utf-8")
    other = robots.MujocoRobot(str(path), reading.model)
    assert robots.resistance_error(reading.model, other) == pytest.approx(2 / 3)
    assert robots.equality_error(reading, other) > 0.7  # of one metre, along a turned axis
    differ = robots.errors(robots.rigid(path, reading.model), other)
    assert differ["dq"] > 0.1
    assert differ["mass"] < 1e-12


def test_a_folder_of_robots_that_is_none_is_refused_and_a_missing_collection_is_said(tmp_path, monkeypatch, capsys):
    robots = colloc.studies.benchmarks.robots
    for option in ("--folder", "--menagerie"):
        with pytest.raises(colloc.InputError, match="there is no folder 'nowhere'"):
            robots.main([option, "nowhere"])
    monkeypatch.setattr(robots, "PACKAGES", {"dm_control": "is_not_installed"})
    robots.main([])
    assert capsys.readouterr().out.split("\n")[:2] == [
        "dm_control: not installed", "mujoco_menagerie: no folder is given"
    ]  # fmt: skip


def test_skeletons_of_files_are_those_of_opensim(tmp_path, capsys):
    """Two files of this project's own, and what is none; compared where OpenSim is installed."""
    for name in ("leg", "old"):
        text = (Path(__file__).parents[1] / "formats" / "osim" / f"{name}.osim").read_text(encoding="utf-8")
        (tmp_path / f"{name}.osim").write_text(text, encoding="utf-8")
    (tmp_path / "none.osim").write_text("<OpenSimDocument>", encoding="utf-8")
    file = tmp_path / "numbers.json"
    numbers = colloc.studies.benchmarks.skeletons.main(["--folder", str(tmp_path), "--json", str(file)])
    assert json.loads(file.read_text(encoding="utf-8")) == numbers
    counts = [numbers[f"skeletons.{key}"] for key in ("files", "read", "refused")]
    assert counts == [3, 2, 1]
    assert numbers["skeletons.compared"] in (0, 2)
    for quantity in colloc.studies.benchmarks.skeletons.QUANTITIES:
        assert numbers[f"skeletons.error.{quantity.replace(' ', '_')}"] < 1e-12
    assert "refused" in capsys.readouterr().out


def test_callbacks_are_those_of_plain_casadi(tmp_path):
    numbers = run(colloc.studies.benchmarks.nlp_callbacks, tmp_path)
    assert numbers["nlp_callbacks.difference"] < 1e-11
    for name in ("f", "g", "gradient", "jacobian", "hessian"):
        for way in ("vm", "compiled"):
            assert numbers[f"nlp_callbacks.difference.{name}.{way}"] < 1e-11
            assert {f"nlp_callbacks.{name}.speedup_{way}", f"nlp_callbacks.{name}.ms_{way}"} <= numbers.keys()
    assert numbers["nlp_callbacks.solved_vm"] == numbers["nlp_callbacks.solved_compiled"] == 1
    assert numbers["nlp_callbacks.cost_compiled"] == pytest.approx(numbers["nlp_callbacks.cost_vm"])
    assert all(0 < numbers[f"nlp_callbacks.share_{way}"] < 1 for way in ("vm", "compiled"))


def test_growth_is_measured_where_all_is_solved(tmp_path):
    numbers = run(colloc.studies.benchmarks.scaling, tmp_path)
    for kind in ("radau", "bspline", "hermite_simpson"):
        assert numbers[f"scaling.{kind}.unsolved"] == 0
        assert numbers[f"scaling.{kind}.200.T"] == pytest.approx(0.391855, abs=1e-3)
        assert {f"scaling.{kind}.slope", f"scaling.{kind}.slope_per_iteration"} <= numbers.keys()
    assert numbers["scaling.phases.unsolved"] == 0
    assert numbers["scaling.phases.20.T"] == pytest.approx(20 * 0.6)
    assert {"scaling.dof.2.build", "scaling.dof.12.hessian_ms", "scaling.dof.slope_hessian_ms"} <= numbers.keys()
    assert {"scaling.radau.slope_memory", "scaling.cases.1000.per_case_ms"} <= numbers.keys()


def test_slopes_are_exponents():
    points = {size: {"time": 3.0 * size**1.5} for size in (10, 100, 300, 1000)} | {50: {"time": 7.0}}
    assert colloc.studies.benchmarks.scaling.slope(points, "time", 100) == pytest.approx(1.5)
    assert np.isnan(colloc.studies.benchmarks.scaling.slope(points, "time", 1000))


def test_the_first_call_is_no_costlier_than_a_curve_of_equal_intervals(tmp_path):
    numbers = run(colloc.studies.benchmarks.first_call, tmp_path)
    assert numbers["solved"] == numbers["problems"]
    assert numbers["twice_as_costly"] == 0


def test_a_worker_keeps_nothing_of_its_cases(tmp_path):
    numbers = run(colloc.studies.benchmarks.memory, tmp_path)
    assert numbers["failed"] == 0
    assert numbers["growth"] < 0.05


def test_a_case_of_a_sweep_is_the_solve_by_hand(tmp_path):
    numbers = run(colloc.studies.benchmarks.batches, tmp_path)
    assert numbers["batches.difference"] < 1e-6
    assert {"batches.ratio", "batches.over_solver", "batches.sweep.ms"} <= numbers.keys()


def test_motions_are_set_beside_those_of_another_version(tmp_path, monkeypatch):
    root, asked = colloc.studies.benchmarks.motions.ROOT, []

    def measured(motion, directory, *, quick):
        asked.append((motion, directory, quick))
        return (60.0, 3.0) if directory == root else (100.0, 4.0)

    monkeypatch.setattr(colloc.studies.benchmarks.motions, "measured", measured)
    words = ["--quick", "--other", str(tmp_path), "--motions", "walking.by_muscles,walking.gait"]
    numbers = colloc.studies.benchmarks.motions.main(words)
    assert asked == [(m, d, True) for m in ("walking.by_muscles", "walking.gait") for d in (tmp_path, root)]
    assert numbers["iterations.ratio"] == numbers["walking.gait.iterations.ratio"] == pytest.approx(0.6)
    assert numbers["seconds.ratio"] == pytest.approx(0.75)


def test_error_control_is_timed_where_it_adds_nothing(tmp_path):
    numbers = run(colloc.studies.benchmarks.error_control, tmp_path)
    assert numbers["error_control.time_optimal.bspline.nodes_added"] == 0
    assert numbers["error_control.ratio.nothing_added"] > 0


def test_no_barrier_strategy_leaves_a_random_problem_unsolved(tmp_path):
    numbers = run(colloc.studies.benchmarks.barrier, tmp_path)
    assert numbers["barrier.problems.default.unsolved"] == numbers["barrier.guesses.default.unsolved"] == 0
    assert numbers["barrier.guesses.default.iterations.max"] < 10 * numbers["barrier.guesses.default.iterations.median"]
    assert {"barrier.problems.adaptive.iterations.p95", "barrier.guesses.corrected.seconds.total"} <= numbers.keys()


def test_lifted_torques_save_iterations_where_joints_are_passive(tmp_path):
    numbers = run(colloc.studies.benchmarks.iterations, tmp_path)
    assert numbers["cart_pole.auto"] <= 15 < numbers["cart_pole.compact"] / 4
    assert numbers["passive_joint.auto.share"] < 0.7
    assert not any(value for name, value in numbers.items() if name.endswith(("unsolved", "auto.costlier")))


def test_no_random_start_of_a_time_optimum_takes_ten_times_the_usual(tmp_path):
    numbers = run(colloc.studies.benchmarks.random_starts, tmp_path)
    for name in ("two_link", "panda", "cart_pole"):
        assert numbers[f"{name}.solved"] == numbers[f"{name}.best"] == 4
        assert numbers[f"{name}.iterations.ratio"] < 10


def test_one_phase_is_its_problem(tmp_path):
    numbers = run(colloc.studies.benchmarks.phases, tmp_path)
    assert numbers["phases.bspline.one.difference.iterations"] == 0
    assert numbers["phases.bspline.one.difference.cost"] < 1e-9
    assert all(numbers[f"phases.bspline.{count}.solved"] == 1 for count in (1, 2, 4))
    assert {f"phases.bspline.one.{key}" for key in ("build", "iteration", "total", "hessian")} <= numbers.keys()
    assert {f"phases.bspline.growth.{key}" for key in ("build", "iteration", "jacobian")} <= numbers.keys()


def test_calls_take_turns():
    order: list[str] = []

    def call(name: str):
        return lambda: order.append(name)

    timings = alternately({"a": call("a"), "b": call("b")}, rounds=4, visit=0.0)
    assert order == ["a", "b"] + ["a", "a", "b", "b"] * 4  # once to see how long it takes, then twice in a turn
    assert all(0 <= timing.minimum <= timing.median for timing in timings.values())


def test_gaps_are_measured_against_the_best_motion_of_the_local_optimum():
    """A double integrator with a limit on its speed, whose least time is known in closed form."""
    classic = CLASSICS["double_integrator_speed"]
    looks = look("speed", classic.problem())
    assert len(looks) == len(colloc.studies.benchmarks.gap.CURVES)
    for seen, curve in zip(looks, colloc.studies.benchmarks.gap.CURVES, strict=True):
        cost = colloc.solve(
            classic.problem(), curve, compile=False, plan=[colloc.refinement.Solve(judge_cost=False)]
        ).cost
        assert seen.true == pytest.approx(1 - classic.optimum / cost, rel=2e-3, abs=1e-5)
        assert seen.counts
        assert 0.5 < seen.ratio < 1.5


def test_gaps_that_are_not_known_or_are_of_another_local_optimum_do_not_count():
    seen = Look("a problem", "a curve", 1e-3, 1e-3, 1e-5, 0.01, True, 0.1, 1.0)
    assert seen.counts
    for changes in ({"true": 9e-5}, {"sure": 3e-4}, {"away": 0.2}):
        assert not seen._replace(**changes).counts


def test_a_run_that_was_broken_off_goes_on_where_it_was(tmp_path, monkeypatch):
    benchmark = colloc.studies.benchmarks.gap
    tried: list[str] = []

    def looked(name: str, problem: object) -> list[Look]:
        tried.append(name)
        return [Look(name, repr(benchmark.CURVES[0]), 2e-3, 1e-3, 1e-5, 0.01, True, 0.1, 1.0)]

    monkeypatch.setattr(benchmark, "look", looked)
    words = ["--quick", "--keep", str(tmp_path / "looks.jsonl")]
    numbers = benchmark.main(words)
    lines = (tmp_path / "looks.jsonl").read_text(encoding="utf-8").splitlines()
    (tmp_path / "looks.jsonl").write_text("\n".join(lines[:2]) + "\n", encoding="utf-8")
    del tried[:2]
    assert benchmark.main(words) == numbers
    assert len(tried) == 4
    assert (numbers["gap.counted"], numbers["gap.within"], numbers["gap.median"]) == (4, 1, 2)


def test_waiting_finds_the_same_motions_either_way(tmp_path):
    numbers = run(colloc.studies.benchmarks.waiting, tmp_path)
    assert numbers["arms.solved"] == numbers["arms.motions"] == 2
    assert numbers["arms.difference"] < 1e-8
    assert {"arms.median", "arms.worst", "arms.first", "arms.median.vm", "arms.speedup.callbacks"} <= numbers.keys()
    assert numbers["scaling.slope"] < 1.5


def test_first_answers_are_the_same_with_and_without_compilers_and_caches(tmp_path):
    numbers = run(colloc.studies.benchmarks.cold_starts, tmp_path)
    assert numbers["script.difference"] < 1e-9
    assert numbers["script.wheel.compilers"] == numbers["script.neither.compilers"] == 0
    for way in colloc.studies.benchmarks.cold_starts.WAYS:
        assert numbers[f"import.{way}.total"] < numbers[f"script.{way}.total"] < 10


def test_exact_hessians_and_l_bfgs_lead_to_the_same_optimum_and_seconds_add_up(tmp_path):
    numbers = run(colloc.studies.benchmarks.hessian, tmp_path)
    ways: dict[str, dict[str, float]] = {way: {} for way in WAYS}
    for key, value in numbers.items():
        name, way, what = key.rsplit(".", 2)
        assert name == "hessian.squat_stiff_tendons"
        ways[way][what] = value
    for result in ways.values():
        assert result["solved"] == 1.0
        assert result["cost"] == pytest.approx(0.148579263, rel=1e-7)
        assert 0 < result["near"] <= result["iterations"]
        assert result["hessian"] <= result["callbacks"]
        assert result["callbacks"] + result["linear_algebra"] <= result["seconds"]
    assert ways["limited_memory"]["hessian"] == 0.0
    assert ways["virtual"]["hessian"] > 0.0
    assert ways["virtual"]["iterations"] == ways["exact"]["iterations"] < ways["limited_memory"]["iterations"] / 2


def test_a_run_that_is_given_up_has_no_optimum():
    """By motors L-BFGS comes to rest where the equations do not hold."""
    run = measured(PROGRAMS["squat, motors"](), "limited_memory")
    assert not run.solved
    assert run.near(0.19843649) is None


def test_near_are_the_iterations_after_which_all_holds():
    def near(cost, infeasibility):
        return Run(True, 1.0, 3, {}, {"cost": cost, "infeasibility": infeasibility}).near(1.0)

    assert near([2.0, 1.0, 1.1, 1.0], [0.0] * 4) == 3
    assert near([2.0, 1.0, 1.0, 1.0], [0.0] * 4) == 1
    assert near([1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1e-3, 0.0]) == 3
    assert near([1.0, 1.0], [0.0, 0.0]) == 0
    assert near([1.0, 2.0], [0.0, 0.0]) is None
    assert near([1.0, 1.0], [0.0, 1e-3]) is None


def test_many_problems_have_the_optima_of_single_runs(tmp_path):
    numbers = run(colloc.studies.benchmarks.many, tmp_path)
    for name in ("two_links", "panda"):
        assert numbers[f"many.{name}.solved"] == 20
        assert numbers[f"many.{name}.same"] == 1.0
        assert numbers[f"many.{name}.same_as_adaptive"] >= 0.6


def test_a_controller_in_a_loop_of_mujoco_holds_limits_and_its_target(tmp_path):
    pytest.importorskip("mujoco")
    numbers = run(colloc.studies.benchmarks.ticks, tmp_path)
    for way in ("one_step", "converged"):
        assert numbers[f"colloc.{way}.miss"] < 0.06
        for name in ("position", "speed", "torque"):
            assert numbers[f"colloc.{way}.{name}"] < 1.02
        assert numbers[f"colloc.{way}.median"] <= numbers[f"colloc.{way}.worst"]


def test_a_program_solved_again_has_the_answers_of_ipopt_and_of_a_sweep(tmp_path):
    numbers = run(colloc.studies.benchmarks.resolve, tmp_path)
    assert numbers["resolve.difference"] < 1e-6
    assert numbers["resolve.iterations"] <= 5
    for way in ("call", "unjudged", "ipopt", "sweep"):
        ratio = numbers[f"resolve.{way}.ms"] / numbers["resolve.ipopt.ms"]
        assert numbers[f"resolve.{way}.ratio"] == pytest.approx(ratio)
