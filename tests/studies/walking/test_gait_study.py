"""The predicted step of the 55-DOF human, solved once: what its equations promise, and that it looks like walking."""

import json
import re
import warnings
from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from matplotlib.figure import Figure

import colloc as co
from colloc.models.human.human55 import human55, walking
from colloc.studies.walking.gait import PACK, loaded
from colloc.studies.walking.picture.animation import write_animation
from colloc.studies.walking.picture.body import NAMES, capsule, film, strides
from colloc.studies.walking.picture.figures import gait_figure
from colloc.studies.walking.posture import swing, wrist_gaps
from colloc.studies.walking.report.comparison import LABELS, comparison
from colloc.studies.walking.report.errors import PROMISED, pressing_outside
from colloc.studies.walking.report.ground import ground_reactions
from colloc.studies.walking.report.norms import bands, fact, facts
from colloc.studies.walking.report.report import Report
from colloc.studies.walking.report.stride import COMPARED, EVENTS
from colloc.studies.walking.speeds import SPEEDS, published, step_length, trend
from colloc.studies.walking.starts import Run, starts_figure, tabulated
from colloc.studies.walking.step import DOUBLE, MID_SWING, Step
from colloc.studies.walking.walk import COARSE, POINTS, posed, walk


@pytest.fixture(scope="module")
def report() -> Report:
    return walk(Step(walking(human55())), compile=False)


def test_the_step_is_found(report):
    assert report.found
    assert report.first.outcome.status is co.solver.Status.SOLVED
    assert report.first.violation < 1e-2
    for kind, limit in PROMISED.items():  # between the nodes as well
        assert report.worst[kind][0] <= limit, report.worst[kind]


def test_nothing_holds_the_pelvis(report):
    assert report.virtual_torque < 1e-12
    assert report.torque_difference < 1e-12
    assert report.wrench_sum_error < 1e-12


def test_six_control_points_walk_too():
    """The paper's setting and tolerance: constraints hold at its eleven times."""
    step, curve = posed(Step(walking(human55())), 6)
    assert (curve.intervals, curve.nodes, step.seamless) == (3, 11, False)
    report = walk(step, 6, compile=False)
    assert report.solution.message == "Solve_Succeeded"
    assert report.solution.cost == pytest.approx(0.0784, rel=0.03)
    assert report.virtual_torque < 1e-12
    assert report.worst["force_percent_of_weight"][0] < 3.0
    assert 0.05 < report.stray.speed < 0.6  # the foot cannot be kept still


def test_an_impossible_step_names_what_it_cannot_meet():
    """Longer than the legs."""
    with pytest.raises(co.SolveError, match=r"left ball") as failure:
        walk(Step(walking(human55()), speed=4.0, length=2.2), COARSE, compile=False)
    assert not failure.value.solution.success


def test_the_ground_only_pushes(report):
    ground = report.ground
    both = ground.s <= DOUBLE
    assert ground.right[:, 1].min() > -0.01
    assert ground.left[both, 1].min() > -0.01
    np.testing.assert_array_equal(ground.left[~both], 0.0)


def test_the_table_says_which_angles_are_bounds_and_where_pressure_ends(report):
    """The ankle by its coordinate and its range; pressure by the moment of the ground's force, about the heel."""
    text = comparison(report).text()
    k = report.solution.problem.model.position_names.index("ankle_dorsiflexion_r")
    ankle = np.degrees(np.asarray(report.solution.at(np.linspace(0, report.solution.duration, 1001)).q)[:, k])
    bound, share = report.at_bounds["ankle_dorsiflexion_r"]
    lower = np.degrees(report.solution.problem.limits("q")[0][k])
    assert bound == pytest.approx(12.0)
    assert 100 * (ankle > 12.0 - 0.01 * (12.0 - lower)).mean() == pytest.approx(share, abs=1.0)
    assert f"ankle_dorsiflexion_r at 12 deg for {share:.0f} %" in text
    ball, toe = report.step.sole
    assert 0.5 * ball < report.pressure_reach < toe
    assert f"{100 * report.pressure_reach:.0f} cm before the heel at most" in text


def test_feet_press_where_they_may(report):
    nodes = report.solution.t / report.solution.duration
    held = pressing_outside(report.step, ground_reactions(report.step, report.solution, nodes))
    assert held.moment < 0.05  # % of body weight times 1 m
    assert report.outside.moment < 1.0  # between the nodes
    moved = report.ground.right + np.array([0, 0, 0, 0, 0, 0.1]) * report.ground.right[:, 1:2]  # 0.1 m to the left
    wrong = pressing_outside(report.step, replace(report.ground, right=moved))
    assert wrong.mm > 60 - report.outside.mm


def test_it_looks_like_walking(report):
    peaks, curves = report.peaks, report.curves
    assert peaks["vertical.peak_1"].value > peaks["vertical.valley"].value < peaks["vertical.peak_2"].value
    assert peaks["vertical.peak_1"].percent < peaks["vertical.valley"].percent < peaks["vertical.peak_2"].percent
    assert peaks["fore_aft.braking"].value < -0.1 < 0.1 < peaks["fore_aft.propulsion"].value
    knee = np.interp(50 * (1 + MID_SWING), report.percent, curves["knee"])
    assert knee == pytest.approx(60, abs=5.1)
    assert curves["vertical"][report.percent > 50 * (1 + DOUBLE)] == pytest.approx(0)
    for name in ("hip", "knee", "ankle"):
        assert curves[name][0] == pytest.approx(curves[name][-1], abs=0.01)  # a stride closes
        assert curves[name][200] == pytest.approx(np.degrees(report.solution.q[-1, _joint(report, name)]))


def _joint(report: Report, name: str) -> int:
    names = {"hip": "hip_flexion_r", "knee": "knee_flexion_r", "ankle": "ankle_dorsiflexion_r"}
    return report.step.stance.model.joint_names.index(names[name])


def test_arms_swing_beside_the_trunk(report):
    """Hands are as near to the hips as (5.7) allows; (5.6) may fall below zero by `Step.apart`, and does."""

    def arms(now: co.problem.Instant) -> tuple[ca.SX, ...]:
        swings = ca.vertcat(*(swing(report.step.stance, now, arm) for arm in "lr"))
        return wrist_gaps(report.step.stance, now), swings

    gaps, swings = report.solution.evaluate(arms, report.sample.t)
    assert gaps.min() == pytest.approx(report.step.wrist_room, abs=1e-3)  # active
    assert report.step.apart == 0.01
    assert swings.min() == pytest.approx(-report.step.apart, rel=0.05)
    assert swings.max() > 0.02
    assert 0.3 < (swings < 0).mean() < 0.45
    assert (report.numbers["arm_leg.least"], report.numbers["arm_leg.negative"]) == pytest.approx(
        (swings.min(), (swings < 0).mean())
    )
    assert report.arm_reach > 0.1  # m; twice as far with (5.6) held at zero
    names = report.step.stance.model.joint_names
    elbows = report.sample.q[:, [names.index(f"elbow_flexion_{side}") for side in "rl"]]
    assert np.degrees(elbows.max()) < 46


def test_the_fore_aft_force_brakes_at_a_fifth_of_the_stride(report):
    """The centre of pressure has left the heel by then."""
    early = (report.percent > 13) & (report.percent < 26)
    assert report.curves["fore_aft"][early].max() < 0.0
    assert report.peaks["knee.loading"].value == pytest.approx(21.7, abs=5.3)  # Winter's mean and standard deviation


def test_curves_leave_winters_bands_though_extremes_do_not(report):
    """Counted again, every per cent of the stride, with a loop in place of the interpolation."""
    winter = bands()["knee"]
    off = []
    for percent in range(100):
        k, part = divmod(percent, 5)
        mean, sd = (column[k] + (column[(k + 1) % 20] - column[k]) * part / 5 for column in (winter.mean, winter.sd))
        off.append((report.curves["knee"][4 * percent] - mean) / sd)
    assert report.distances["knee"].beyond == pytest.approx(100 * np.mean(np.abs(off) > 2), abs=1.5)
    assert report.distances["knee"].worst == pytest.approx(min(off), abs=0.1)
    assert report.distances["knee"].percent == pytest.approx(int(np.argmin(off)), abs=1)
    assert 10 < report.distances["knee"].beyond < 25
    assert "extremes unlike Winter's, in his standard deviations: nothing beyond 2" in comparison(report).text()


def test_mean_force_is_body_weight(report):
    # Over a periodic step the vertical acceleration averages to zero.
    whole = report.ground.whole[:, 1]
    assert ((whole[1:] + whole[:-1]) / 2).mean() == pytest.approx(1.0, abs=2e-3)


def test_numbers_are_flat_and_finite(report):
    numbers = report.numbers
    assert all(isinstance(value, float) and np.isfinite(value) for value in numbers.values())
    assert {f"peaks.{name}" for name in EVENTS} | {f"rms_vs_winter.{name}" for name in COMPARED} <= set(numbers)
    assert {"cost", "virtual_torque_max", "violation", "seconds.solve", "iterations.total"} <= set(numbers)
    paper = numbers["objective.paper"]
    lower, upper = report.step.stance.model.limits("torque")
    largest = np.maximum(np.abs(lower), np.abs(upper))
    fine = report.solution.at(np.linspace(0, report.solution.duration, 2001))
    squares = ((fine.tau / largest) ** 2)[:, np.isfinite(upper)].sum(axis=1)
    assert paper == pytest.approx(squares.mean() * report.solution.duration, rel=1e-2)


def test_internal_forces_agree_with_the_ground(report):
    # In single support the ankle passes on all of the ground's force but the weight of the foot.
    middle = np.searchsorted(report.percent, 25)
    force = np.linalg.norm([report.curves[name][middle] for name in ("vertical", "fore_aft", "lateral")])
    assert report.internal["ankle"][middle] == pytest.approx(force, abs=0.03)


def test_comparison_names_every_event(report):
    text = comparison(report).text()
    assert all(label in text for label in LABELS.values())
    assert set(LABELS) == set(report.peaks)


def test_figure_and_page(report, tmp_path):
    figure = gait_figure({"one": report, "the same": report})
    assert isinstance(figure, Figure)
    figure.canvas.draw()
    assert len(figure.axes) == 11
    write_animation(report, tmp_path / "gait.html")
    page = (tmp_path / "gait.html").read_text(encoding="utf-8")
    assert len(page) < 200_000
    assert not re.search(r"https?:|url\(|<link|@import|src=|fetch\(|\$\w", page)  # $: all filled in
    data = re.search(r'<script id="data" type="application/json">(.*?)</script>', page)
    (shown,) = json.loads(data[1])["recordings"]  # type: ignore[index]
    assert shown["shift"] == pytest.approx([0, 0, 2 * report.step.length], abs=1e-4)  # a stride, and so on
    names = [arrow["name"] for arrow in shown["segments"][0]["arrows"]]
    assert names == ["ground, right foot", "ground, left foot"]


def test_strides_go_on_without_a_jump(report):
    two = strides(report.step, report.solution, 2, 25)
    one = film(report.step, report.solution, np.array([0.0, 1.0]))
    for name in NAMES:
        moved = np.abs(np.diff(two.points[name], axis=0))
        assert moved.max() < 6.0 * report.solution.duration / 25  # slower than 6 m/s
        assert two.points[name][50] == pytest.approx(one.points[name][0] + [0, 0, 2 * report.step.length], abs=1e-9)
    assert two.t == pytest.approx(np.arange(100) * report.solution.duration / 25)


def test_a_pack_is_carried():
    human = walking(human55())
    heavy = loaded(human, 15.0)
    assert heavy.model.n == human.model.n
    assert heavy.mass == human.mass
    assert loaded(human, 0.0) is human
    stand = ca.SX(ca.DM(human.standing))
    pack = heavy.model.bodies[-1]
    x, y, z = np.array(
        ca.DM(co.model.point_motion(heavy.model, "backpack", tuple(ca.DM(pack.com).full()[:, 0]), q=stand)[0])
    )
    assert float(x[0]) == pytest.approx(0, abs=1e-9)
    assert 1.1 < float(y[0]) < 1.5
    assert -0.4 < float(z[0]) < -0.1
    assert np.trace(np.array(ca.DM(pack.inertia))) == pytest.approx(2 * 15 / 12 * np.square(PACK).sum())


def test_published_facts_are_in_order():
    assert set(bands()) == set(COMPARED)
    for band in bands().values():
        np.testing.assert_array_equal(band.percent, np.arange(0, 100, 5))
        assert (band.sd > 0).all()
        assert band.rms(band.percent, band.mean) == 0.0
        assert band.rms(band.percent, band.mean + 2) == pytest.approx(2)
    assert set(facts()) >= set(LABELS)
    winter = fact("vertical.peak_1", "Winter 1991")
    assert winter is not None
    assert winter.value == 1.1
    assert fact("vertical.peak_1", "nobody") is None


def test_starts_are_counted_and_drawn(report):
    found = Run(True, 60, 20, 1.0, 0.07, {}, report.curves | {"percent": report.percent})
    other, failed = found._replace(cost=0.08, first=40), Run(False, 300, 0, 9.0, np.inf, {}, {})
    table, numbers = tabulated({"default": [found, other, failed]})
    assert numbers == {
        "starts.default": 3, "starts.default.converged": 2, "starts.default.best": 1,
        "starts.default.lowest_cost": 0.07,
    }  # fmt: skip
    assert "2 of 3" in table.text()
    assert "80 to 100" in table.text()
    figure = starts_figure({"default": [found, other, failed]})
    assert [len(ax.lines) for ax in figure.axes] == [5, 5, 2]  # two runs, three marks of the stride; what is best
    np.testing.assert_allclose(np.asarray(figure.axes[2].lines[0].get_ydata()), [0, 100 / 7], atol=1e-9)  # per cent


def test_trends_and_step_lengths():
    assert [trend(x) for x in ((1, 2, 3), (3, 2, 1), (1, 1, 1), (1, 2, 1), (-1, -2, -3))] == [
        "rises", "falls", "steady", "turns", "falls",
    ]  # fmt: skip
    assert step_length(1.2) == pytest.approx(0.6)
    assert [round(step_length(v), 3) for v in SPEEDS] == [0.52, 0.6, 0.671]
    assert set(published("knee.swing")) == {"Schwartz 2008", "Fukuchi 2018"}
    assert COARSE < POINTS


@pytest.mark.parametrize(("p", "q", "rp", "rq"), [((0, 0), (1, 0), 0.2, 0.1), ((0, 0), (0, 0.05), 0.3, 0.1)])
def test_outline_of_a_limb_encloses_its_ends(p, q, rp, rq):
    outline = capsule(np.array(p, float), np.array(q, float), rp, rq)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        low, high = outline.min(axis=0), outline.max(axis=0)
    for centre, radius in ((p, rp), (q, rq)):
        assert (low <= np.array(centre) - radius + 0.01).all()
        assert (high >= np.array(centre) + radius - 0.01).all()
