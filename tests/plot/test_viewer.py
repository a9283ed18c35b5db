"""The viewer's page holds the motion, asks nobody for anything, and shows names as they are."""

import base64
import hashlib
import json
import re
import shutil
import subprocess
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from math import pi
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.models.closed.five_bar import five_bar
from colloc.models.human.human55 import human55
from colloc.models.puma560 import puma560
from colloc.models.two_link import LENGTH, two_link
from colloc.plot import viewer as pages
from colloc.plot.bars import bars_of
from colloc.plot.recording import solution_recording
from colloc.plot.skeleton import Skeleton, places, skeleton_from
from colloc.plot.viewer import SHARED, Viewer, packed
from tests.support.random_trees import random_tree

SCRIPT = Path(co.__file__).parent / "plot" / "viewer.js"
NODE = shutil.which("node")
HOSTILE = "</script><script>alert(1)</script>"


class Page(HTMLParser):
    """The elements of a page, and the texts of its scripts and styles."""

    def __init__(self, viewer: Viewer):
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {"script": [], "style": [], "title": []}
        self.last = ""
        self.feed(viewer.page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self.last = tag
        if tag in self.texts:
            self.texts[tag].append("")

    def handle_endtag(self, tag: str) -> None:
        self.last = ""

    def handle_data(self, data: str) -> None:
        if self.last in self.texts:
            self.texts[self.last][-1] += data

    @property
    def scene(self) -> dict[str, Any]:
        return json.loads(self.texts["script"][0])


def scene_of(viewer: Viewer) -> dict[str, Any]:
    return Page(viewer).scene


def unpacked(table: dict[str, Any]) -> np.ndarray:
    """Rows of what Python has packed, read without the page's own script."""
    whole = np.frombuffer(base64.b64decode(table["data"]), dtype="<u2").astype(float)
    low, step = np.array(table["low"]), np.array(table["step"])
    values = np.tile(low, (table["n"], 1))
    columns = whole.reshape(-1, table["n"]).T
    values[:, step > 0] = np.where(columns == 65535, np.nan, low[step > 0] + step[step > 0] * columns)
    return values


def in_node(expression: str, **values: Any) -> Any:
    """An expression in the page's own functions, `page`, and some values, as node sees it; NaN is null."""
    if NODE is None:
        pytest.skip("there is no node")
    code = f"const page = require({json.dumps(str(SCRIPT))}), v = JSON.parse(require('fs').readFileSync(0, 'utf8'));"
    code += f"process.stdout.write(JSON.stringify({expression}));"
    done = subprocess.run([NODE, "-e", code], input=json.dumps(values), capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def problem() -> co.Problem:
    return co.Problem(
        two_link(),
        co.Free(0.1, 5.0),
        co.duration(),
        [co.initial(q=(0.0, -2.0), qd=0.0), co.final(q=(1.0, -1.0), qd=0.0), co.bounds(tau=(-10.0, 10.0))],
    )


@pytest.fixture(scope="module")
def swing(problem: co.Problem) -> co.Solution:
    return co.solve(problem, co.BSpline(20))


# The numbers in the page ---------------------------------------------------------------------------------------------


@pytest.fixture
def table() -> np.ndarray:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(50, 6)) * np.array([1e-3, 1.0, 1e4, 0.0, 1.0, 1.0])
    values[:, 3] = 0.1234567
    values[10:20, 4] = np.nan
    values[:, 5] = np.nan
    return values


def test_packed_numbers_are_off_by_half_a_step_at_most(table: np.ndarray):
    read = unpacked(packed(table))
    np.testing.assert_array_equal(np.isnan(read), np.isnan(table))
    ranges = np.ptp(np.nan_to_num(table), axis=0)
    assert (np.abs(np.nan_to_num(read - table)) <= 0.51 * ranges / 65534 + 1e-7 * np.abs(np.nan_to_num(table))).all()
    assert len(base64.b64decode(packed(table)["data"])) == 2 * 50 * 5  # what does not vary is not repeated


def test_the_page_reads_them_alike(table: np.ndarray):
    read = in_node("Array.from(page.unpack(v.table).values)", table=packed(table))
    values = np.array([np.nan if number is None else number for number in read]).reshape(table.shape)
    np.testing.assert_array_equal(values, unpacked(packed(table)))


def test_the_page_is_at_any_time_between_two_rows():
    t, rows = [0.0, 0.1, 0.4, 1.0], [[0.0, 1.0], [1.0, 3.0], [2.0, 3.0], [8.0, -3.0]]
    asked = [-1.0, 0.05, 0.1, 0.25, 0.7, 1.0, 2.0]
    expression = "v.asked.map(t => page.between(v.table, ...page.locate(v.t, t), [0, 0]))"
    table = {"n": 4, "k": 2, "values": [value for row in rows for value in row]}
    read = in_node(expression, asked=asked, t=t, table=table)
    expected = [[np.interp(time, t, column) for column in np.transpose(rows)] for time in asked]
    np.testing.assert_allclose(read, expected, atol=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_the_page_moves_a_model_as_colloc_does(seed: int):
    """Every joint by its slider, to another posture than the page was made of: against the library's recursions."""
    rng = np.random.default_rng(seed)
    model = random_tree(rng)
    model = replace(model, markers={"mark": (model.bodies[-1].name, (0.1, -0.2, 0.3))})
    first, second = rng.uniform(-1, 1, (2, model.n))
    moved = scene_of(co.plot.view(model, first))["model"]
    coordinates = iter(second.tolist())
    for body in moved["bodies"]:
        body["q"] = next(coordinates) if body["slider"] else 0.0
    read = np.array(in_node("page.placed(v.model, [])", model=moved)).reshape(-1, 3)
    points = bars_of(figure_of(model, first))
    for place, k, (index, *local) in zip(read, points.bodies, moved["points"], strict=True):
        assert index == k
        known = local if k < 0 else co.model.point_motion(model, model.bodies[k].name, tuple(local), q=ca.SX(second))[0]
        np.testing.assert_allclose(place, np.array(ca.DM(ca.SX(known))).ravel(), atol=2e-5)


def test_sliders_turn_a_ball_joint_from_where_it_is():
    """A turn about the link's second axis: the attitude before, times that turn."""
    ball = co.spherical("stick", sequence="quaternion", mass=1.0, inertia=(0.01, 0.01, 0.01), tip=(0.1, 0.2, 0.3))
    half, angle = 0.35, 0.8
    scene = scene_of(co.plot.view(co.Model(ball), (np.cos(half), 0.0, 0.0, np.sin(half))))
    bodies = scene["model"]["bodies"]
    assert [(body["slider"], body["q"], body["low"], body["high"]) for body in bodies] == 3 * [(True, 0.0, -pi, pi)]
    bodies[1]["q"] = angle
    read = np.array(in_node("page.placed(v.model, [])", model=scene["model"])).reshape(-1, 3)
    c, s, cos, sin = np.cos(2 * half), np.sin(2 * half), np.cos(angle), np.sin(angle)
    before, turn = [[c, -s, 0], [s, c, 0], [0, 0, 1]], [[cos, 0, sin], [0, 1, 0], [-sin, 0, cos]]
    tip = np.array(before) @ np.array(turn) @ [0.1, 0.2, 0.3]
    assert np.abs(read - tip).max(axis=1).min() < 2e-5


def test_the_page_moves_joints_that_follow_others():
    wheel = {"mass": 1.0, "inertia": (0.01, 0.01, 0.02)}
    pinion = co.Body("pinion", co.revolute(), tip=(0.1, 0, 0), **wheel)
    gear = co.Body("gear", co.revolute(placement=co.placement((0.3, 0, 0))), tip=(0.2, 0, 0), **wheel)
    meshed = co.Model([pinion, gear], couplings={"gear": co.model.Coupling("pinion", ratio=-0.5, offset=0.1)})
    scene = scene_of(co.plot.view(meshed))
    assert [body["slider"] for body in scene["model"]["bodies"]] == [True, False]
    scene["model"]["bodies"][0]["q"] = 0.8
    read = np.array(in_node("page.placed(v.model, [])", model=scene["model"])).reshape(-1, 3)
    tips = [bar[0] for bar in scene["recordings"][0]["segments"][0]["bars"] if bar[4] == "tip"]
    angle = -0.5 * 0.8 + 0.1
    expected = [(0.1 * np.cos(0.8), 0.1 * np.sin(0.8), 0), (0.3 + 0.2 * np.cos(angle), 0.2 * np.sin(angle), 0)]
    np.testing.assert_allclose(read[tips], expected, atol=1e-6)


def test_the_page_moves_joints_that_follow_by_curves():
    limits = co.Limits(position=(-1.0, 1.0))
    cam = co.Body("cam", co.revolute(limits=limits), mass=1.0, com=(0.1, 0, 0))
    valve = co.Body("valve", co.prismatic((0, 1, 0)), mass=1.0, tip=(0.1, 0, 0))
    lift = co.model.CubicSpline((-1.0, 0.0, 1.0), (1.0, 0.0, 1.0))  # a parabola
    model = co.Model([cam, valve], couplings={"valve": co.model.Coupling("cam", 0.5, 0.1, lift)})
    scene = scene_of(co.plot.view(model))
    scene["model"]["bodies"][0]["q"] = 0.6
    read = np.array(in_node("page.placed(v.model, [])", model=scene["model"])).reshape(-1, 3)
    (tip,) = [bar[1] for bar in scene["recordings"][0]["segments"][0]["bars"] if bar[4] == "tip"]
    assert np.abs(read[:, 1] - (0.5 * 0.6**2 + 0.1)).min() < 1e-4
    assert read[tip, 1] == pytest.approx(0.5 * 0.6**2 + 0.1, abs=1e-4)


def figure_of(model: co.Model, *postures: np.ndarray) -> Skeleton:
    q = ca.SX.sym("q", model.n)
    function = ca.Function("places", [q], [places(model, q)])
    rows = np.hstack([np.array(function(posture)) for posture in postures])
    return skeleton_from(model, np.arange(len(postures), dtype=float), rows)


def test_points_of_a_model_are_fixed_to_their_bodies():
    """In two postures a point has the same place in the frame of the body that it is said to be fixed to."""
    rng = np.random.default_rng(3)
    for model in (puma560(), human55().model, random_tree(rng, 8, threads=False)):
        first, second = rng.uniform(-1, 1, (2, model.n))
        both = bars_of(figure_of(model, first, second))
        for k, place in zip(both.bodies, both.places, strict=True):
            if k >= 0:
                frames = [frame_at(model, k, posture) for posture in (first, second)]
                local = [f[:3, :3].T @ (p - f[:3, 3]) for f, p in zip(frames, place, strict=True)]
                np.testing.assert_allclose(local[0], local[1], atol=1e-9)
            else:
                np.testing.assert_allclose(place[0], place[1], atol=1e-9)


def frame_at(model: co.Model, k: int, q: np.ndarray) -> np.ndarray:
    """The frame of a body, by the places of four of its points."""
    points = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    name = model.bodies[k].name
    origin, *ends = (np.array(ca.DM(co.model.point_motion(model, name, p, q=ca.SX(q))[0])).ravel() for p in points)
    frame = np.eye(4)
    frame[:3, :3], frame[:3, 3] = np.column_stack([end - origin for end in ends]), origin
    return frame


@pytest.mark.parametrize("up", [0, 1, 2])
def test_the_eye_has_axes_of_unit_length_at_right_angles(up: int):
    for turn, tilt in ((0.0, 0.0), (1.0, 0.3), (-2.0, 1.5)):
        axes = in_node("page.axesOf(v.up, v.turn, v.tilt)", up=up, turn=turn, tilt=tilt)
        R = np.array([axes["right"], axes["above"], axes["eye"]])
        np.testing.assert_allclose(R @ R.T, np.eye(3), atol=1e-12)
        assert np.linalg.det(R) == pytest.approx(1.0)
        assert R[0, up] == pytest.approx(0.0)  # the horizon is level
        assert R[2, up] == pytest.approx(np.sin(tilt))


def test_ticks_are_round_and_within():
    for low, high in ((0.0, 0.393), (-2.3, 1.1), (120.0, 977.0), (-1e-4, 2e-4)):
        at, digits = in_node("page.ticks(v.low, v.high, 5)", low=low, high=high)
        assert 3 <= len(at) <= 11
        assert low - 1e-9 <= min(at) <= max(at) <= high + 1e-9
        steps = np.diff(at)
        np.testing.assert_allclose(steps, steps[0], rtol=1e-9)
        assert round(steps[0] / 10.0 ** np.floor(np.log10(steps[0] * (1 + 1e-12))), 6) in (1, 2, 5)
        assert len(set(map(lambda y, digits=digits: f"{y:.{digits}f}", at))) == len(at)


# Its content ----------------------------------------------------------------------------------------------------------


def test_a_solution_is_played_with_its_curves(swing: co.Solution):
    scene = scene_of(co.plot.view(swing))
    (recording,) = scene["recordings"]
    (segment,) = recording["segments"]
    t = unpacked(segment["t"])[:, 0]
    assert t[0] == 0.0
    assert t[-1] == pytest.approx(swing.duration)
    groups = {group["label"]: group for group in segment["groups"]}
    now = swing.at(t.clip(0, swing.duration))
    for name, unit, values, size in (("position", "rad", now.q, 4.0), ("torque", "N m", now.tau, 20.0)):
        assert groups[name]["names"] == ["shoulder", "elbow"]
        assert groups[name]["unit"] == unit
        np.testing.assert_allclose(unpacked(groups[name]["values"]), values, atol=2e-4 * size)
    q = now.q
    tip = LENGTH * np.column_stack([np.cos(q[:, 0]) + np.cos(q.sum(axis=1)), np.sin(q[:, 0]) + np.sin(q.sum(axis=1))])
    (path,) = recording["paths"]
    np.testing.assert_allclose(unpacked(path["points"])[:, :2], tip, atol=1e-4)
    assert scene["plane"] == [0, 1]
    assert scene["slow"] is None
    assert recording["track"] is None
    assert recording["shift"] is None


def test_links_are_as_thick_as_water_of_their_mass():
    rod = co.Body("rod", co.revolute(), mass=1.0, com=(0.25, 0, 0), inertia=(0, 0.02, 0.02), tip=(0.5, 0, 0))
    bars = bars_of(figure_of(co.Model([rod]), np.zeros(1))).bars
    link = next(bar for bar in bars if bar.style == "link")
    assert pi * link.thick**2 * 0.5 * 1000.0 == pytest.approx(1.0)
    assert [bar.style for bar in bars] == ["link", "joint", "tip"]


def test_forces_are_where_and_what_the_problem_says():
    bodies = [co.Body("rod", co.revolute(), mass=1.0, com=(0.5, 0, 0), inertia=(0, 0.1, 0.1), tip=(1, 0, 0))]
    push = co.Load("rod", force=lambda now: ca.vertcat(0, 3 * now.t, 0), moment=(0, 0, 2.0), point=(1.0, 0, 0))
    ends = [co.initial(q=0.0, qd=0.0), co.final(q=1.0, qd=0.0)]
    effort = co.integral(lambda now: ca.sumsqr(now.tau))
    solution = co.solve(co.Problem(co.Model(bodies), 1.0, effort, ends, loads=[push]), co.BSpline(10))
    (segment,) = scene_of(co.plot.view(solution))["recordings"][0]["segments"]
    force, moment = segment["arrows"]
    assert (force["unit"], moment["unit"]) == ("N", "N m")
    t = unpacked(segment["t"])[:, 0]
    q = solution.at(t.clip(0, 1)).q[:, 0]
    rows = unpacked(force["rows"])
    np.testing.assert_allclose(rows[:, :2], np.column_stack([np.cos(q), np.sin(q)]), atol=1e-4)
    np.testing.assert_allclose(rows[:, 4], 3 * t, atol=1e-4)
    np.testing.assert_allclose(unpacked(moment["rows"])[:, 5], 2.0)


def test_muscles_are_lines_through_their_points_by_their_activation(problem: co.Problem):
    model = problem.model
    points = [co.muscles.ViaPoint("shoulder", (-0.3, 0.03, 0)), co.muscles.ViaPoint("elbow", (-0.35, 0.02, 0))]
    flexor = co.muscles.Muscle("flexor", co.muscles.MusclePath(points), 900.0, 0.15, 0.2)
    reserves = {"shoulder": 50.0, "elbow": 50.0}
    muscles = co.muscles.Muscles(model, [flexor], activation="instantaneous", reserves=reserves)
    effort = co.integral(lambda now: ca.sumsqr(now.activation) + ca.sumsqr(now.reserve))
    ends = [co.initial(q=(0.0, 0.2), qd=0.0), co.final(q=(0.0, 1.0), qd=0.0)]
    bend = co.Problem(model, 0.5, effort, ends, parts=[muscles])
    solution = co.solve(bend, co.BSpline(20))
    (segment,) = scene_of(co.plot.view(solution, muscles=muscles))["recordings"][0]["segments"]
    (cord,) = segment["polylines"]
    assert cord["name"] == "flexor"
    t = unpacked(segment["t"])[:, 0].clip(0, 0.5)
    rows, now = unpacked(cord["rows"]), solution.at(t)
    np.testing.assert_allclose(rows[:, 0], now.activation[:, 0], atol=1e-4)
    a, b = now.q[:, 0], now.q.sum(axis=1)
    upper = np.column_stack([0.1 * np.cos(a) - 0.03 * np.sin(a), 0.1 * np.sin(a) + 0.03 * np.cos(a)])
    elbow = LENGTH * np.column_stack([np.cos(a), np.sin(a)])
    fore = elbow + np.column_stack([0.05 * np.cos(b) - 0.02 * np.sin(b), 0.05 * np.sin(b) + 0.02 * np.cos(b)])
    np.testing.assert_allclose(rows[:, [1, 2, 4, 5]], np.hstack([upper, fore]), atol=1e-4)
    hung = replace(flexor, path=co.muscles.MusclePath([co.muscles.ViaPoint(None, (0.0, 0.6, 0.0)), points[1]]))
    (recording,) = scene_of(co.plot.view(solution, muscles=co.muscles.Muscles(model, [hung])))["recordings"]
    assert recording["high"][1] == pytest.approx(0.6)  # seen, though no link is there
    fitted = co.muscles.fit_lengths(model, [flexor], {"elbow": (0.0, 2.0)})
    with pytest.raises(co.InputError, match="paths of these muscles have no points to be drawn"):
        co.plot.view(solution, muscles=co.muscles.Muscles(model, fitted))
    with pytest.raises(co.InputError, match="muscles is for solutions"):
        co.plot.view(model, muscles=muscles)


def test_obstacles_capsules_and_markers_are_drawn():
    rod = {"mass": 1.0, "com": (0.2, 0.0, 0.0), "inertia": (0.0, 0.02, 0.02)}
    elbow = co.revolute(placement=co.placement((0.4, 0.0, 0.0)))
    bodies = [co.Body("upper", co.revolute(), **rod), co.Body("fore", elbow, "upper", tip=(0.4, 0.0, 0.0), **rod)]
    arm = co.Model(bodies, gravity=(0.0, 0.0, 0.0), markers={"nail": ("fore", (0.2, 0.05, 0.0))})
    ball = co.Capsule(None, (0.5, 0.45, 0.0), (0.5, 0.45, 0.0), radius=0.1)
    forearm = co.Capsule("fore", (0.0, 0.0, 0.0), (0.4, 0.0, 0.0), radius=0.03)
    ends = [co.initial(q=(-0.5, 0.5), qd=0.0), co.final(q=(1.5, 0.5), qd=0.0), co.clearance(forearm, ball)]
    effort = co.integral(lambda now: ca.sumsqr(now.tau))
    solution = co.solve(co.Problem(arm, 1.0, effort, ends), co.BSpline(10), plan=[co.refinement.Solve(tol=1.0)])
    (recording,) = scene_of(co.plot.view(solution))["recordings"]
    (segment,) = recording["segments"]
    bars = {bar[4]: bar for bar in segment["bars"]}
    assert {"obstacle", "shape", "marker"} <= set(bars)
    points = unpacked(segment["points"]).reshape(segment["points"]["n"], -1, 3)
    start, end, thick, thin = bars["obstacle"][:4]
    assert start == end
    assert thick == thin == 0.1
    np.testing.assert_allclose(points[:, start], np.tile((0.5, 0.45, 0.0), (len(points), 1)), atol=1e-6)
    assert recording["high"][1] >= 0.55


def test_phases_have_their_names_and_their_own_bodies(problem: co.Problem):
    effort = co.integral(lambda now: ca.sumsqr(now.tau))
    phases = {
        "first": co.Problem(problem.model, 0.5, effort, problem.subject_to[:1]),
        "second": co.Problem(problem.model, 0.5, effort, problem.subject_to[1:2]),
    }
    solution = co.solve(co.Phases(phases), co.BSpline(10))
    first, second = scene_of(co.plot.view(solution))["recordings"][0]["segments"]
    assert (first["name"], second["name"]) == ("first", "second")
    assert unpacked(second["t"])[0, 0] == pytest.approx(0.5)


def test_phases_may_have_other_bodies_and_lengths_be_unknown():
    effort = co.integral(lambda now: ca.sumsqr(now.tau))
    rod = {"mass": 1.0, "com": (0.2, 0, 0), "inertia": (0, 0.02, 0.02)}
    length = co.Unknown("length", constant=True, guess=0.45, lower=0.3, upper=0.5)
    upper = co.Body("upper", co.revolute(), tip=(length.symbol, 0, 0), **rod)
    slide = co.Body("slide", co.prismatic((1, 0, 0), co.placement((0.4, 0, 0))), "upper", tip=(0.2, 0, 0), **rod)
    ends = [co.final(q=(1.0, 0.1), qd=0.0), co.initial(q={"slide": 0.0}, qd={"slide": 0.0})]
    phases = {
        "one": co.Problem(co.Model([upper]), 0.5, effort, [co.initial(q=0.0, qd=0.0)], unknowns=[length]),
        "two": co.Problem(co.Model([replace(upper, tip=(0.4, 0, 0)), slide]), 0.5, effort, ends),
    }
    both = co.Phases(phases, [co.connect("one", "two", joints={"upper": "upper"})])
    solution = co.solve(both, co.BSpline(8), plan=[co.refinement.Solve(tol=1.0)])
    one, two = scene_of(co.plot.view(solution, guess=True))["recordings"][0]["segments"]
    assert (one["joints"], two["joints"]) == (["upper"], ["upper", "slide"])
    assert {"rail", "joint"} <= {bar[4] for bar in two["bars"]}
    lengths = unpacked(one["points"]).reshape(one["points"]["n"], -1, 3)
    tip = next(bar[0] for bar in one["bars"] if bar[4] == "tip")
    known = float(solution["one"].constants["length"][0])
    np.testing.assert_allclose(np.linalg.norm(lengths[:, tip], axis=1), known, atol=1e-4)


def test_several_solutions_a_sweep_and_a_guess(problem: co.Problem, swing: co.Solution):
    slower = co.solve(
        replace(problem, subject_to=[*problem.subject_to[:2], co.bounds(tau=(-5.0, 5.0))]), co.BSpline(10)
    )
    scene = scene_of(co.plot.view([swing, slower], labels=["strong", "weak"], guess=True))
    assert [r["name"] for r in scene["recordings"]] == ["strong", "weak", "guess"]
    assert [r["ghost"] for r in scene["recordings"]] == [False, False, True]
    assert not any(segment["groups"] for segment in scene["recordings"][2]["segments"])
    weighed = replace(problem, parameters=[co.Parameter("nothing", 0.0)])
    table = co.sweep(weighed, {"nothing": [0.0, 1.0]}, co.BSpline(10))
    names = [recording["name"] for recording in scene_of(co.plot.view(table))["recordings"]]
    assert names == ["nothing = 0", "nothing = 1"]
    ends = scene_of(co.plot.view(problem, guess=co.line((0.0, -2.0), (1.0, -1.0))))["recordings"]
    assert [recording["name"] for recording in ends] == ["guess"]
    best = co.multistart(problem, co.BSpline(10), starts=2)
    assert scene_of(co.plot.view(best))["recordings"][0]["name"] == "optimum 0"


def test_a_chain_is_drawn_closed():
    chain = five_bar()
    scene = scene_of(co.plot.view(chain))
    assert scene["model"] is None  # loops are not closed by the page
    motion = scene_of(co.plot.view(chain, np.tile(chain.posture, (3, 1)), [0.0, 0.5, 1.0]))
    (segment,) = motion["recordings"][0]["segments"]
    assert segment["groups"][0]["names"] == list(chain.model.joint_names)


def test_a_walker_is_followed_and_goes_on():
    base = co.floating("pelvis", mass=10.0, inertia=(1, 1, 1))
    model = co.Model(
        [*base, co.Body("leg", co.revolute((1, 0, 0)), "pelvis", mass=2.0, com=(0, -0.4, 0), tip=(0, -0.8, 0))]
    )
    t = np.linspace(2.0, 4.0, 41)
    q = np.tile(model.neutral, (41, 1))
    forward = model.position_names.index("pelvis_tz")
    q[:, forward], q[:, -1] = 1.5 * (t - 2), 0.5 * np.sin(2 * pi * (t - 2))
    (recording,) = scene_of(co.plot.view(model, q, t))["recordings"]
    assert recording["shift"] == pytest.approx([0, 0, 3.0], abs=1e-6)
    track = unpacked(recording["track"])
    assert track[-1, 2] - track[0, 2] == pytest.approx(3.0, abs=1e-3)
    assert recording["high"][2] - recording["low"][2] < 1.5  # it is seen as large as it is, not as far as it goes
    assert unpacked(recording["segments"][0]["t"])[0, 0] == 0.0


# Safety --------------------------------------------------------------------------------------------------------------


def test_a_page_asks_nobody_for_anything(swing: co.Solution):
    viewer = co.plot.view(swing, guess=True)
    page = Page(viewer)
    assert not re.search(r"https?:|url\(|<link|@import|\bsrc=|fetch\(|XMLHttpRequest|WebSocket|import\(", viewer.page)
    policy = next(attrs["content"] for tag, attrs in page.elements if attrs.get("http-equiv"))
    assert policy is not None
    assert policy.startswith("default-src 'none';")
    for kind in ("style", "script"):
        digest = base64.b64encode(hashlib.sha256(page.texts[kind][-1].encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert not any(name.startswith("on") or name == "style" for _, attrs in page.elements for name in attrs)


def test_pages_that_share_their_script_have_nothing_else_from_elsewhere(swing: co.Solution):
    whole = Page(co.plot.view(swing))
    shared = pages.page(whole.texts["script"][0], "a <title>", alone=False)
    assert re.findall(r'(?:src|href)="([^"]*)"', shared) == list(SHARED)
    assert Page(Viewer(shared, "")).scene == whole.scene
    assert len(shared) < len(whole.texts["script"][0]) + 4000
    assert "a &lt;title&gt;" in shared


def test_names_with_markup_stay_text():
    bodies = [
        co.Body("<b>upper</b>", co.revolute(name=HOSTILE), mass=1.0, com=(0.5, 0, 0), inertia=(0, 0.1, 0.1)),
        co.Body("<!--", co.revolute(name="<img src=x onerror=alert(1)>"), "<b>upper</b>", mass=1.0, com=(0.5, 0, 0),
                inertia=(0, 0.1, 0.1)),
    ]  # fmt: skip
    model = co.Model(bodies, name=HOSTILE + "\u2028$x & 'y'")
    ends = [co.initial(q=(0.0, 0.1), qd=0.0), co.final(q=(1.0, 0.2), qd=0.0)]
    solution = co.solve(co.Problem(model, 1.0, co.integral(lambda now: ca.sumsqr(now.tau)), ends), co.BSpline(6))
    for viewer in (co.plot.view(model), co.plot.view(solution), co.plot.view([solution] * 2, labels=[HOSTILE, "<i>"])):
        page = Page(viewer)
        assert [tag for tag, _ in page.elements].count("script") == 2
        assert not {"img", "b", "i"} & {tag for tag, _ in page.elements}
        assert page.texts["title"] == [model.name]
        assert page.scene["title"] == model.name
        assert "innerHTML" not in page.texts["script"][1]
    assert scene_of(co.plot.view(solution))["recordings"][0]["segments"][0]["joints"][0] == HOSTILE


def test_a_notebook_shows_it_in_a_frame(swing: co.Solution, tmp_path: Path):
    viewer = co.plot.view(swing)
    shown = viewer._repr_html_()
    assert unescape(re.search(r'srcdoc="([^"]*)"', shown)[1]) == viewer.page  # type: ignore[index]
    assert 'sandbox="allow-scripts"' in shown
    assert viewer.save(tmp_path / "view.html").read_text(encoding="utf-8") == viewer.page
    assert repr(viewer).startswith("Viewer of two-link arm, ")
    with pytest.raises(co.InputError, match=r"must end in \.html"):
        viewer.save(tmp_path / "view.gif")


def test_a_page_is_small():
    """The humanoid for two seconds, with all its curves."""
    model = human55().model
    t = np.linspace(0, 2, 160)
    q = 0.3 * np.sin(t[:, None] + np.arange(model.n))
    assert len(co.plot.view(model, q, t).page) < 180_000
    assert len(co.plot.view(puma560()).page) < 80_000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("arm",), "x must be a Model"),
        (([],), "x must be a Model"),
        ((two_link(), (0.0,)), r"q must"),
        ((two_link(), np.zeros((2, 2)), [1.0, 0.0]), "t must be two or more rising times"),
    ],
)
def test_what_cannot_be_viewed_is_refused(arguments: tuple[Any, ...], message: str):
    with pytest.raises(co.InputError, match=message):
        co.plot.view(*arguments)


def test_arguments_that_do_not_go_together_are_refused(problem: co.Problem, swing: co.Solution):
    view: Any = co.plot.view
    with pytest.raises(co.InputError, match="q and t are for a Model"):
        view(swing, (0.0, 0.0))
    with pytest.raises(co.InputError, match="guess is for solutions"):
        view(problem.model, guess=True)
    with pytest.raises(co.InputError, match="labels must be one for each of 1 solutions"):
        view(swing, labels=["a", "b"])
    with pytest.raises(co.InputError, match="slow"):
        view(swing, slow=-1.0)
    mass = ca.SX.sym("mass")
    with pytest.raises(co.InputError, match="a model must have no symbols to be drawn"):
        view(co.Model([co.Body("rod", co.revolute(), mass=mass, com=(0.5, 0, 0))]))
    with pytest.raises(co.InputError, match="no stick figure"):
        view(co.Problem(co.Model.empty(), 1.0))
    u = co.Unknown("u")
    x = co.State("x", rate=lambda now: now.u)
    ends = [co.initial(states={"x": 0.0}), co.final(states={"x": 1.0})]
    run = co.solve(
        co.Problem(co.Model.empty(), 1.0, co.integral(lambda now: now.u**2), ends, unknowns=[u, x]), co.BSpline(5)
    )
    with pytest.raises(co.InputError, match="a problem of states alone has no stick figure"):
        co.plot.motion(run)


def test_problems_without_joints_are_viewed_by_their_signals():
    """Before a solve, during it, and beside its answer."""
    u = co.Unknown("u")
    x = co.State("x", rate=lambda now: now.u)
    ends = [co.initial(states={"x": 0.0}), co.final(states={"x": 1.0})]
    run = co.Problem(co.Model.empty(), 1.0, co.integral(lambda now: now.u**2), ends, unknowns=[u, x])
    shown = co.plot.view(run, guess={"u": 3.0})
    (guess,) = scene_of(shown)["recordings"]
    (segment,) = guess["segments"]
    values = {group["label"]: unpacked(group["values"]).ravel() for group in segment["groups"]}
    assert set(values) == {"u", "x"}
    np.testing.assert_allclose(values["u"], 3.0, atol=1e-6)
    assert np.ptp(values["x"]) == pytest.approx(1.0, rel=1e-3)
    shown.save("run.html")
    answer = co.solve(run, co.BSpline(5), progress=shown)
    names = [recording["name"] for recording in scene_of(co.plot.view(answer, guess=True))["recordings"]]
    assert names == ["no mechanism", "guess"]


def test_recordings_of_many_motions_have_fewer_times(swing: co.Solution):
    assert solution_recording(swing, share=0.25).segments[0].t.size < solution_recording(swing).segments[0].t.size


def test_an_arm_that_reaches_far_is_not_followed():
    """Its shoulder stays, and so do the obstacles around it."""
    t = np.linspace(0, 1, 41)
    q = np.column_stack([3.0 * t, 0 * t])
    (recording,) = scene_of(co.plot.view(two_link(), q, t))["recordings"]
    assert recording["track"] is None
    assert recording["high"][0] - recording["low"][0] == pytest.approx(2 * LENGTH + 2 * LENGTH * np.cos(pi - 3.0), 0.05)


def test_curves_of_all_signals_are_played_without_bodies():
    """A tank that two pumps fill: no picture, a curve for each signal and unit, and none of what is held at zero."""
    pump = co.Unknown("pump", names=("left", "right"), unit=("l/s", "m3/s"), lower=0.0, upper=(2.0, 0.0))
    level = co.State("level", rate=lambda now: now.pump[0], unit="l")
    ends = [co.initial(states={"level": 0.5}), co.final(states={"level": 1.0})]
    cost = co.integral(lambda now: ca.sumsqr(now.pump))
    filled = co.solve(co.Problem(co.Model.empty(), 2.0, cost, ends, unknowns=[pump, level]), co.Radau(2))
    scene = scene_of(co.plot.view(filled))
    assert scene["curves_alone"]
    (segment,) = scene["recordings"][0]["segments"]
    assert [(g["label"], g["unit"], g["names"]) for g in segment["groups"]] == [
        ("pump", "l/s", ["left"]),
        ("level", "l", ["level"]),
    ]
    t = unpacked(segment["t"])[:, 0]
    np.testing.assert_allclose(unpacked(segment["groups"][1]["values"])[:, 0], 0.5 + t / 4, atol=1e-4)


def test_a_body_of_which_nothing_but_its_mass_is_known_is_a_ball():
    hull = co.Model(co.floating("hull", sequence="quaternion", mass=1.0, inertia=(0.01, 0.01, 0.02)))
    (ball,) = scene_of(co.plot.view(hull))["recordings"][0]["segments"][0]["bars"]
    assert ball[2] == pytest.approx((3 / (4 * np.pi * 1000)) ** (1 / 3), abs=1e-5)
