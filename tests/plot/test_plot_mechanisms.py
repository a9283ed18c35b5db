"""Pictures of any mechanism: bodies with ends, capsules, phases of other bodies; guesses, maps, windows."""

# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportIndexIssue=false, reportOperatorIssue=false, reportCallIssue=false

import pickle
from dataclasses import replace
from itertools import pairwise

import casadi as ca
import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.patches import Polygon
from mpl_toolkits.mplot3d.art3d import Poly3DCollection

import colloc as co
from colloc.models.two_link import two_link
from colloc.plot.over_time import torque_groups
from colloc.plot.posture import skeleton_of

UPPER, FORE, LOAD = 0.4, 0.35, 1.2  # m, m, kg
EFFORT = co.integral(lambda now: ca.sumsqr(now.tau))


def rod(length: float, mass: float) -> dict:
    inertia = mass * length**2 / 12
    return {"mass": mass, "com": (length / 2, 0, 0), "inertia": (0, inertia, inertia)}


def arm(*more: co.Body, markers: dict | None = None, **fore) -> co.Model:
    """Two rods whose frames are at their joints."""
    hinge = co.revolute(placement=co.placement((UPPER, 0, 0)))
    bodies = [co.Body("upper", co.revolute(), **rod(UPPER, 2.0))]
    return co.Model([*bodies, co.Body("fore", hinge, "upper", **rod(FORE, 1.0), **fore), *more], markers=markers or {})


def swing(model: co.Model, *more, **options) -> co.Solution:
    ends = [co.initial(q=0.0, qd=0.0), co.final(q=1.0, qd=0.0)]
    return co.solve(
        co.Problem(model, 1.0, EFFORT, [*ends, *more], **options), co.BSpline(6), plan=[co.refinement.Solve(tol=0.5)]
    )


@pytest.fixture(scope="module")
def picked():
    """Pick and place: the arm reaches for a load, grips it and carries it past a ball."""
    load = co.Body("load", co.fixed(co.placement((FORE, 0, 0))), "fore", mass=LOAD)
    ball = co.Capsule(None, (0.5, 0.5, 0), (0.5, 0.5, 0), 0.05)
    fore = co.Capsule("fore", (0, 0, 0), (FORE, 0, 0), 0.02)
    reach = co.Problem(arm(tip=(FORE, 0, 0)), 0.5, EFFORT, [co.initial(q=(-1.0, 0.5), qd=0.0), co.final(q=(-0.5, 1.0))])
    carry = co.Problem(
        arm(load, tip=(FORE, 0, 0)), 0.6, EFFORT, [co.final(q=(0.5, 1.5), qd=0.0), co.clearance(fore, ball)]
    )
    return co.solve(co.Phases({"reach": reach, "carry": carry}), co.BSpline(8), plan=[co.refinement.Solve(tol=1.0)])


def texts(figure) -> list[str]:
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


# -- phases of other bodies --------------------------------------------------------------------------------------------


def test_reactions_of_a_sequence_are_those_of_the_bodies_of_all_phases(picked):
    """The grip carries what the load weighs and how it is accelerated; before there is none."""
    for found in (picked.reactions(np.linspace(0, picked.duration, 40)), picked.reactions()):
        assert found.bodies == ("upper", "fore", "load")
        gripped = np.arange(found.t.size) >= np.searchsorted(found.t, 0.5) + (found.t == 0.5).sum() // 2
        assert np.isnan(found.force[~gripped, 2]).all()
        assert np.isfinite(found.force[:, :2]).all()
        carry = picked["carry"]
        motion = carry.evaluate(lambda now: now.point("load").acceleration, (found.t[gripped] - 0.5).clip(0))
        weight = LOAD * (motion + np.array([0, 9.81, 0]))
        np.testing.assert_allclose(
            np.linalg.norm(found.force[gripped, 2], axis=1), np.linalg.norm(weight, axis=1), rtol=1e-9
        )


def test_figures_of_phases_with_other_bodies_draw_them_all(picked, tmp_path):
    figure = co.plot.reactions(picked)
    assert texts(figure) == ["upper", "fore", "load"]
    t, force = figure.axes[0].get_lines()[2].get_data()
    assert np.isnan(force[t < 0.5 - 1e-6]).all()
    assert np.isfinite(force[t > 0.5]).all()
    for draw in (co.plot.joints, co.plot.torques, co.plot.error, co.plot.summary, co.plot.motion):
        draw(picked, width="column").draw_without_rendering()
    assert co.plot.animate(picked, tmp_path / "film.gif", fps=5).stat().st_size > 5_000


def test_the_path_goes_on_with_what_is_gripped(picked):
    figure = co.plot.motion(picked)
    assert texts(figure)[3:] == ["path of the tip of fore", "path of load", "obstacle"]
    ways = [line for line in figure.axes[0].get_lines() if str(line.get_label()).startswith("path")]
    (x, y), (later, _) = (way.get_data() for way in ways)
    assert np.isnan(later[np.isfinite(x)]).all()
    assert np.hypot(x[0] - UPPER * np.cos(-1), y[0] - UPPER * np.sin(-1)) == pytest.approx(FORE)


def test_phases_of_other_joints_share_figures_of_places_and_bearings(tmp_path):
    finger = co.Body(
        "finger", co.revolute(placement=co.placement((FORE, 0, 0))), "fore", tip=(0.1, 0, 0), **rod(0.1, 0.2)
    )
    first = co.Problem(arm(), 0.5, EFFORT, [co.initial(q=0.0, qd=0.0), co.final(q=0.5)])
    second = co.Problem(arm(finger), 0.5, EFFORT, [co.initial(q={"finger": 0.0}, qd={"finger": 0.0}), co.final(qd=0.0)])
    same = co.connect("first", "second", joints={"upper": "upper", "fore": "fore"})
    sequence = co.Phases({"first": first, "second": second}, [same])
    solution = co.solve(sequence, co.BSpline(6), plan=[co.refinement.Solve(tol=1.0)])
    assert texts(co.plot.motion(solution))[3:] == ["path of the centre of mass of fore", "path of the tip of finger"]
    assert texts(co.plot.reactions(solution)) == ["upper", "fore", "finger"]
    assert co.plot.animate(solution, tmp_path / "film.gif", fps=3).exists()
    with pytest.raises(co.InputError, match="different joints: take one, as in"):
        co.plot.joints(solution)
    positions = co.plot.signals(solution, names=["q"]).axes[0]
    lines = [line for line in positions.lines if line.get_linestyle() == "-" and len(line.get_xdata()) > 20]
    assert len(lines) == 3
    for line, name in zip(lines, ("upper", "fore", "finger"), strict=True):
        t, q = np.transpose(line.get_xydata())
        assert np.isnan(q).all(where=t < 0.5) == (name == "finger")
        np.testing.assert_allclose(q[t > 0.5], solution["second"].at(t[t > 0.5] - 0.5).q[name])
    assert co.plot.signals(solution, names=["tau"]).axes


def test_a_function_of_other_shapes_in_other_phases_is_refused_by_name(picked):
    with pytest.raises(
        co.InputError, match=r"shape \(2,\) in phase 'reach' and \(3,\) in 'carry': use one phase, as in"
    ):
        picked.evaluate(lambda now: ca.vertcat(*(body.mass for body in now.model.bodies)))


def test_times_are_labelled_by_phase(picked):
    (first, before), (second, after) = picked.by_phase([0.1, 0.5, 1.1])
    assert (first, second) == ("reach", "carry")
    np.testing.assert_allclose(before, [0.1])
    np.testing.assert_allclose(after, [0.0, 0.6])


# -- ends of bodies ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "name", "reach"),
    [
        (arm(), "the centre of mass of fore", FORE / 2),
        (arm(tip=(FORE, 0, 0)), "the tip of fore", FORE),
        (arm(markers={"hand": ("fore", (FORE, 0, 0)), "strap": ("fore", (0.1, 0, 0))}), "hand", FORE),
        (arm(tip=(FORE, 0, 0), markers={"finger": ("fore", (0.5, 0, 0))}), "the tip of fore", FORE),
        (arm(markers={"shoulder": ("upper", (0, 0, 0))}), "the centre of mass of fore", FORE / 2),
        (arm(co.Body("tool", co.fixed(co.placement((0.2, 0, 0))), "fore")), "tool", 0.2),
        (two_link(), "the tip of elbow", 0.4),
        (replace(two_link(), markers={"wrist": ("elbow", (0, 0, 0))}), "wrist", 0.4),
        (replace(two_link(), markers={"strap": ("elbow", (-0.1, 0, 0))}), "the tip of elbow", 0.4),
        (arm(tip=(FORE, 0, 0), markers={"hand": ("fore", (FORE, 0, 0))}), "hand", FORE),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_path_is_that_of_the_end_of_the_chain_and_says_so(model, name, reach):
    solution = swing(model)
    figure = co.plot.motion(solution)
    assert texts(figure)[-1] == f"path of {name}"
    (way,) = (line for line in figure.axes[0].get_lines() if line.get_label() == f"path of {name}")
    q, x = solution.at(np.linspace(0, 1, 5)).q, way.get_xdata()
    assert x[0] == pytest.approx(0.4 + reach)
    assert x[-1] == pytest.approx(0.4 * np.cos(q[-1, 0]) + reach * np.cos(q[-1].sum()))


def test_links_reach_to_tips_and_markers():
    solution = swing(arm(tip=(FORE, 0, 0), markers={"thumb": ("fore", (0.3, 0.05, 0)), "pad": ("upper", (0, 0.1, 0))}))
    figure_of = skeleton_of(solution, np.array([0.0]))
    lines = figure_of.links(0).round(12).tolist()
    for place in ([UPPER + FORE, 0, 0], [UPPER + 0.3, 0.05, 0], [0, 0.1, 0], [UPPER, 0, 0]):
        assert place in lines
    np.testing.assert_allclose(figure_of.dots(0), [[UPPER + 0.3, 0.05, 0], [0, 0.1, 0]], atol=1e-12)
    np.testing.assert_allclose(figure_of.snapshot(0).tips, [[UPPER + FORE, 0, 0]], atol=1e-12)


def test_a_tip_is_known_to_tables_pickles_and_parameters():
    model = arm(tip=(FORE, 0, 0))
    assert repr(model.bodies[1]).endswith("1 kg, tip at (0.35, 0, 0) m)")
    assert "tip of fore: at (0.35, 0, 0) m" in repr(model)
    assert pickle.loads(pickle.dumps(model)).bodies[1].tip.elements() == model.bodies[1].tip.elements()
    assert model.frozen({"fore": 0.5}).bodies[1].tip.elements() == model.bodies[1].tip.elements()
    person = co.problem.parametrised(model)
    longer = arm(tip=(0.5, 0, 0))
    np.testing.assert_array_equal(
        person.values(model)["numbers"] != person.values(longer)["numbers"], [False] * 9 + [True]
    )
    with pytest.raises(co.InputError, match="tips must be fore, got none"):
        person.values(arm())
    with pytest.raises(co.InputError, match=r"tip of body 'fore' must be of shape \(3,\)"):
        arm(tip=(FORE, 0))
    for body in (co.floating("trunk", tip=(0, 0.5, 0))[-1], co.spherical("shank", tip=(0, -0.4, 0))[-1]):
        assert body.tip is not None


def test_a_tip_may_be_an_unknown_of_the_problem():
    reach = co.Unknown("reach", lower=0.1, upper=0.3, guess=0.2, constant=True)
    solution = swing(arm(tip=(reach.symbol, 0, 0)), unknowns=[reach])
    figure_of = skeleton_of(solution, np.array([0.0]))
    np.testing.assert_allclose(figure_of.end[0, 1], [UPPER + solution.constants["reach"][0], 0, 0], atol=1e-9)
    with pytest.raises(co.InputError, match="reach"):
        swing(arm(tip=(reach.symbol, 0, 0)))


def test_a_motion_along_a_line_is_drawn_over_time():
    sledge = co.Body("sledge", co.prismatic((1, 0, 0)), mass=1.0)
    solution = swing(co.Model([sledge], gravity=(0, 0, 0), markers={"flag": ("sledge", (0, 0, 0))}))
    figure = co.plot.motion(solution, frames=3)
    (ax,) = figure.axes
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x [m]", "time [s]")
    (way,) = (line for line in ax.get_lines() if line.get_label() == "path of flag")
    t = np.interp(way.get_ydata(), ax.get_yticks(), [float(tick.get_text()) for tick in ax.get_yticklabels()])
    np.testing.assert_allclose(way.get_xdata(), solution.at(t.clip(0, 1)).q[:, 0], atol=1e-9)
    page = co.plot.summary(solution)  # where nothing acts across a slide, no panel says so
    assert [ax.get_ylabel() for ax in page.axes][-2:] == ["joint force [N]", "time [s]"]


# -- capsules ----------------------------------------------------------------------------------------------------------


def test_obstacles_and_capsules_on_bodies_are_drawn_where_they_are():
    ball = co.Capsule(None, (0.2, -0.5, 0), (0.2, -0.5, 0), 0.06)
    fore = co.Capsule("fore", (0, 0, 0), (FORE, 0, 0), 0.02)
    solution = swing(arm(), co.clearance(fore, ball), co.clearance(fore, ball, by=0.01))
    assert solution.problem.shapes == [fore, ball]
    figure = co.plot.motion(solution, frames=3)
    shapes = [shape for shape in figure.axes[0].get_children() if isinstance(shape, Polygon)]
    assert len(shapes) == 1 + 3
    np.testing.assert_allclose(np.hypot(*(shapes[0].get_xy() - [0.2, -0.5]).T), 0.06)
    first = shapes[2].get_xy()  # along x at the start, after the snapshots between
    np.testing.assert_allclose([first.min(axis=0), first.max(axis=0)], [[0.38, -0.02], [0.77, 0.02]], atol=1e-9)
    assert texts(figure)[-1] == "obstacle"
    assert figure.axes[0].get_ylim()[0] < -0.56


def test_a_far_obstacle_does_not_push_the_mechanism_out_of_view():
    floor = co.Capsule(None, (-100, -1, 0), (100, -1, 0), 0.1)
    fore = co.Capsule("fore", (0, 0, 0), (FORE, 0, 0), 0.02)
    figure = co.plot.motion(swing(arm(), co.clearance(fore, floor)))
    low, high = figure.axes[0].dataLim.get_points()
    assert (high - low < 2.0).all()


def test_capsules_are_solid_in_space_and_in_films(tmp_path, monkeypatch):
    bodies = [co.Body("waist", co.dh_revolute(d=0.3, alpha=np.pi / 2), mass=2.0, inertia=(0.02, 0.02, 0.02))]
    bodies += [co.Body("shoulder", co.dh_revolute(a=0.4), "waist", **rod(-0.4, 1.0))]
    upper = co.Capsule("shoulder", (-0.4, 0, 0), (0, 0, 0), 0.03)
    pillar = co.Capsule(None, (0.1, -0.2, -9), (0.1, -0.2, 9), 0.05)
    solution = swing(co.Model(bodies, gravity=(0, 0, -9.81)), co.clearance(upper, pillar))
    drawn = {}

    def remembered(solid, faces, *more):
        drawn[solid] = faces
        set_verts(solid, faces, *more)

    set_verts = Poly3DCollection.set_verts
    monkeypatch.setattr(Poly3DCollection, "set_verts", remembered)
    figure = co.plot.motion(solution, frames=2)
    (ax,) = figure.axes
    first, *others = (own for own in ax.collections if isinstance(own, Poly3DCollection))
    assert len(others) == 2
    faces = np.array(drawn[first])
    np.testing.assert_allclose(np.hypot(faces[..., 0] - 0.1, faces[..., 1] + 0.2).max(), 0.05)
    assert (faces[..., 2].min(), faces[..., 2].max()) == pytest.approx(ax.get_zlim())  # cut off at the walls
    figure.draw_without_rendering()
    assert co.plot.animate(solution, tmp_path / "film.gif", fps=4).stat().st_size > 5_000


# -- torques, guesses, maps --------------------------------------------------------------------------------------------


def test_prescribed_torques_have_no_panel_beside_others():
    """Of a cart that nothing drives and a pole with a small motor: the page leaves out the cart's force."""
    bodies = [
        co.Body("cart", co.prismatic((1, 0, 0)), mass=1.0),
        co.Body("pole", co.revolute(), "cart", **rod(0.5, 0.1)),
    ]
    ends = [co.initial(q=0.0, qd=0.0), co.final(q={"pole": 0.5}), co.bounds(tau={"cart": (0, 0)})]
    solution = co.solve(
        co.Problem(co.Model(bodies), 1.0, EFFORT, ends), co.Radau(6), plan=[co.refinement.Solve(tol=1.0)]
    )
    torques = co.plot.torques(solution)
    assert [ax.get_ylabel() for ax in torques.axes] == ["joint torque [N m]"]
    assert texts(torques) == ["pole", "nodes"]
    drawn = [ax.get_ylabel() for ax in co.plot.summary(solution).axes if ax.get_visible()]
    assert "joint torque [N m]" in drawn
    assert "joint force [N]" not in drawn
    free = replace(solution.problem, subject_to=ends[:2])
    both = co.solve(replace(free, model=arm()), co.BSpline(6), guess=None) if free.model.n == 0 else swing(arm())
    assert torque_groups(both) == [[0, 1]]


def test_the_guess_of_a_sequence_is_drawn(picked):
    sequence = picked.problem
    figure = co.plot.guess(sequence, {"carry": co.line((-0.5, 1.0), (0.4, 1.0))}, width="column")
    assert texts(figure)[2] == "end, t = 1.1 s"
    ways = {str(line.get_label()): line.get_data() for line in figure.axes[0].get_lines()}
    x, y = ways["path of load"]
    assert np.hypot(x[-1] - UPPER * np.cos(0.4), y[-1] - UPPER * np.sin(0.4)) == pytest.approx(FORE)
    assert co.plot.guess(sequence, picked).axes
    assert co.plot.guess(sequence, {"reach": picked["reach"]}).axes
    with pytest.raises(co.InputError, match="phase"):
        co.plot.guess(sequence, {"flight": None})
    with pytest.raises(co.InputError, match="the problem has no phases"):
        co.plot.guess(sequence.phases["reach"], picked)


@pytest.fixture(scope="module")
def table():
    gain, load = co.Parameter("gain", 1.0), co.Parameter("load", 0.0)
    cost = co.integral(lambda now: now.gain * ca.sumsqr(now.tau))
    ends = [co.initial(q=0.0, qd=0.0), co.final(q=1.0, qd=0.0)]
    problem = co.Problem(two_link(), 1.0, cost, ends, parameters=[gain, load])
    return co.sweep(problem, {"load": np.linspace(0, 1, 12), "gain": [0.1, 0.3, 1.0, 3.0]}, co.BSpline(4))


def test_cells_of_a_map_are_even_and_ticks_at_the_values(table):
    figure = co.plot.map(table, "load", "gain", log=True, units={"load": "kg", "cost": "N²m²s"})
    ax, bar = figure.axes
    figure.canvas.draw()
    assert (ax.get_xlabel(), ax.get_ylabel(), bar.get_ylabel()) == ("load [kg]", "gain", "cost [N²m²s]")
    assert ax.get_yticks().tolist() == [0.5, 1.5, 2.5, 3.5]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["0.1", "0.3", "1", "3"]
    assert len(ax.get_xticks()) == 6
    assert (ax.get_xlim(), ax.get_ylim()) == ((0, 12), (0, 4))
    assert bar.get_yscale() == "log"
    values = np.asarray(ax.collections[0].get_array())
    np.testing.assert_allclose(values[:, 0] / values[0, 0], [1, 3, 10, 30], rtol=1e-3)


@pytest.mark.parametrize("columns", [1, 3, 8])
def test_labels_below_a_map_do_not_touch(table, columns):
    figure = Figure(figsize=(12.0, 3.9), layout="constrained")
    axes = np.atleast_1d(figure.subplots(1, columns))
    for ax in axes:
        co.plot.map(table, "load", "gain", ax=ax)
    figure.canvas.draw()
    boxes = [label.get_window_extent() for label in axes[0].get_xticklabels()]
    assert all(one.x1 < other.x0 for one, other in pairwise(boxes))
    assert len(boxes) == {1: 6, 3: 3, 8: 1}[columns]


def test_maps_check_units_and_logarithms(table):
    with pytest.raises(co.InputError, match="mass"):
        co.plot.map(table, "load", "gain", units={"mass": "kg"})
    with pytest.raises(co.InputError, match="log needs values above zero, got 'load' down to 0"):
        co.plot.map(table, "load", "gain", "load", log=True)


def test_starts_that_end_in_one_optimum_are_drawn_apart():
    ends = [co.initial(q=0.0, qd=0.0), co.final(q=1.0, qd=0.0)]
    found = co.multistart(co.Problem(two_link(), 1.0, EFFORT, ends), co.BSpline(6), starts=4)
    figure = co.plot.optima(found)
    (ax,) = figure.axes
    assert ax.get_title("left") == "4 starts, one optimum"
    assert ax.get_yscale() == "log"
    assert texts(figure)[-1] == "equal costs"
    best = min(start.cost for start in found.starts)
    above = [100 * (start.cost - best) / found.best.cost_scale for start in found.starts]
    heights = sorted(float(line.get_ydata()[0]) for line in ax.get_lines() if line.get_marker() == "o")
    np.testing.assert_allclose(heights, np.maximum(sorted(above), heights[0]))
    assert 0 < heights[0] < 100 * 1e-3


# -- windows -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def windows(monkeypatch):
    """A backend whose windows are a list of what is shown, and close at once."""
    from tests.support import windows as module

    monkeypatch.setenv("MPLBACKEND", "module://tests.support.windows")
    import matplotlib.pyplot as plt

    before = mpl.get_backend()
    plt.switch_backend("module://tests.support.windows")
    module.shown.clear()
    yield module.shown
    plt.close("all")
    plt.switch_backend(before)


def test_show_opens_a_window_for_every_figure_and_keeps_none(windows, picked):
    import matplotlib.pyplot as plt

    figures = [co.plot.joints(picked), co.plot.motion(picked, width="column")]
    for _ in range(2):  # what was closed can be shown again
        co.plot.show(*figures)
        assert windows == figures
        assert not plt.get_fignums()
        windows.clear()
    figures[0].show()
    assert windows == figures[:1]
    with pytest.raises(co.InputError, match="pass one or more figures"):
        co.plot.show()
    with pytest.raises(co.InputError, match="figure must be a Figure"):
        co.plot.show(picked)


def test_no_window_is_said_unless_it_was_chosen(picked, monkeypatch):
    figure = co.plot.joints(picked)
    monkeypatch.setenv("MPLBACKEND", "agg")
    co.plot.show(figure)
    monkeypatch.delenv("MPLBACKEND")
    with (
        mpl.rc_context({"backend_fallback": True}),
        pytest.warns(co.support.InputWarning, match="no window can be opened"),
    ):
        co.plot.show(figure)
    assert figure.canvas.manager is None
