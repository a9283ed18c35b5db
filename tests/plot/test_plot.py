"""Figures and animations show what the solution says."""

import os
import warnings
from dataclasses import replace
from itertools import pairwise
from math import pi
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from mpl_toolkits.mplot3d.axes3d import Axes3D
from PIL import Image

import colloc as co
from colloc.models.two_link import LENGTH, two_link
from colloc.plot.animation import remark, slowdown
from colloc.plot.posture import skeleton_of
from colloc.plot.sampling import fine_times
from colloc.plot.style import END, MUTED, START, body_joint_styles

EFFORT = co.integral(lambda now: now.tau.T @ now.tau)
FIGURES = (
    co.plot.joints,
    co.plot.torques,
    co.plot.signals,
    co.plot.reactions,
    co.plot.motion,
    co.plot.convergence,
    co.plot.summary,
)
ROD = {"mass": 0.5, "com": (-0.2, 0, 0), "inertia": (0, 0.1, 0.1)}


def swing(model, start, end, *, T=1.5, tau=(-1e3, 1e3), **more):
    """A rest-to-rest motion of little effort."""
    ends = [co.initial(q=start, qd=0.0), co.final(q=end, qd=0.0), co.bounds(tau=tau)]
    return co.solve(
        co.Problem(model, T, EFFORT, ends, **more), co.BSpline(intervals=12), plan=[co.refinement.Solve(tol=0.5)]
    )


@pytest.fixture(scope="module")
def arm():
    """The time-optimal arm of the README: planar, 0.4 s, torques at their shared bounds."""
    problem = co.Problem(
        model=two_link(),
        duration=co.Free(0.1, 5.0, 1.0),
        minimize=co.duration(),
        subject_to=[
            co.initial(q=(0.0, -2.0), qd=0.0),
            co.final(q=(1.0, -1.0), qd=0.0),
            co.bounds(tau=(-10.0, 10.0)),
        ],
    )
    return co.solve(problem, co.BSpline(intervals=20))


@pytest.fixture(scope="module")
def slide():
    """A slide along z that carries an arm in the y-z plane, with bounds of their own."""
    bodies = [
        co.Body(
            "slide", co.dh_prismatic(theta=pi / 2, alpha=pi / 2), mass=0.5, com=(0, -0.2, 0), inertia=(0.1, 0, 0.1)
        ),
        co.Body("arm", co.dh_revolute(a=0.4), parent="slide", **ROD),
    ]
    model = co.Model(bodies, gravity=(0, 0, 0), name="slide and arm")
    return swing(model, (0.1, 0.0), (0.6, 2.0), tau={"slide": (-3.0, 3.0), "arm": (-np.inf, 0.6)})


@pytest.fixture(scope="module")
def spatial():
    """An anthropomorphic arm of three joints, z up."""
    bodies = [
        co.Body("waist", co.dh_revolute(d=0.3, alpha=pi / 2), mass=2.0, inertia=(0.02, 0.02, 0.02)),
        co.Body("shoulder", co.dh_revolute(a=0.4), parent="waist", **ROD),
        co.Body("elbow", co.dh_revolute(a=0.3), parent="shoulder", **ROD),
    ]
    model = co.Model(bodies, gravity=(0, 0, -9.81), name="spatial arm")
    return swing(model, (-0.8, -0.4, 0.3), (1.4, 0.9, -1.2))


@pytest.fixture(autouse=True)
def _clean():
    settings = dict(mpl.rcParams)
    yield
    plt.close("all")
    assert dict(mpl.rcParams) == settings


def labels(figure: Figure) -> list[str]:
    return [ax.get_ylabel() for ax in figure.axes]


def legend_texts(figure: Figure) -> list[str]:
    return [text.get_text() for legend in figure.findobj(Legend) for text in legend.get_texts()]  # type: ignore[attr-defined]


def data(line: Line2D) -> tuple[np.ndarray, np.ndarray]:
    return np.asarray(line.get_xdata()), np.asarray(line.get_ydata())


def dashed(ax: Axes) -> list[tuple[float, str]]:
    return [(data(line)[1][0], str(line.get_color())) for line in ax.get_lines() if line.get_linestyle() == "--"]


def assert_equal_scales(ax: Axes3D) -> np.ndarray:
    """The projection of the world's axes onto the page; its rows are orthogonal and equally long for equal scales."""
    ax.set_proj_type("ortho")
    projection = ax.get_proj()[:2, :3]
    gram = projection @ projection.T
    np.testing.assert_allclose(gram, gram[0, 0] * np.eye(2), atol=1e-9 * gram[0, 0])
    return projection


def test_fine_times_cover_every_interval_to_its_end(arm):
    t = fine_times(arm)
    edges = arm.nlp.grid.breakpoints * arm.duration
    assert t[0] == 0
    assert t[-1] == arm.duration
    assert (np.diff(t) >= 0).all()
    for edge in edges[1:-1]:
        assert edge in t
        assert ((t < edge) & (t > edge - 1e-8 * arm.duration)).any()


def test_joints_draws_the_curve_itself(arm):
    figure = co.plot.joints(arm)
    assert labels(figure) == ["joint position [rad]", "joint velocity [rad/s]"]
    assert figure.axes[1].get_xlabel() == "time [s]"
    assert legend_texts(figure) == ["shoulder", "elbow"]
    for ax, quantity in zip(figure.axes, ("q", "qd"), strict=True):
        for j, line in enumerate(ax.get_lines()):
            t = data(line)[0]
            assert t.size >= 400
            np.testing.assert_array_equal(data(line)[1], getattr(arm.at(t), quantity)[:, j])


def test_joints_of_different_units_have_their_own_panels(slide):
    figure = co.plot.joints(slide)
    assert labels(figure) == [
        "joint position [m]", "joint position [rad]", "joint velocity [m/s]", "joint velocity [rad/s]",
    ]  # fmt: skip
    t = fine_times(slide)
    np.testing.assert_array_equal(data(figure.axes[3].get_lines()[0])[1], slide.at(t).qd[:, 1])


def test_torques_marks_nodes_and_shared_bounds_once_in_grey(arm):
    figure = co.plot.torques(arm)
    (ax,) = figure.axes
    assert ax.get_ylabel() == "joint torque [N m]"
    assert sorted(dashed(ax)) == [(-10.0, MUTED), (10.0, MUTED)]
    assert legend_texts(figure) == ["shoulder", "elbow", "nodes", "bounds"]
    nodes = [line for line in ax.get_lines() if line.get_marker() == "."]
    for j, line in enumerate(nodes):
        np.testing.assert_array_equal(data(line)[0], arm.t)
        np.testing.assert_array_equal(data(line)[1], arm.tau[:, j])
    curve = ax.get_lines()[0]
    np.testing.assert_array_equal(data(curve)[1], arm.at(data(curve)[0]).tau[:, 0])


def test_torque_bounds_of_single_joints_are_in_their_colour_and_unit(slide):
    figure = co.plot.torques(slide)
    colors = [look.color for look in body_joint_styles(slide.problem.model)]
    assert labels(figure) == ["joint force [N]", "joint torque [N m]"]
    assert sorted(dashed(figure.axes[0])) == [(-3.0, colors[0]), (3.0, colors[0])]
    assert dashed(figure.axes[1]) == [(0.6, colors[1])]


def test_far_torque_bounds_do_not_flatten_the_curves(spatial):
    figure = co.plot.torques(spatial)
    assert {bound for bound, _ in dashed(figure.axes[0])} == {-1e3, 1e3}
    assert max(np.abs(figure.axes[0].get_ylim())) < 5 * np.abs(spatial.tau).max()
    assert "bounds" not in legend_texts(figure)


def test_reactions_draws_what_bearings_carry(arm):
    figure = co.plot.reactions(arm)
    assert labels(figure) == ["bearing force [N]", "bearing moment [N m]"]
    assert legend_texts(figure) == ["shoulder", "elbow"]
    t = data(figure.axes[0].get_lines()[0])[0]
    found = arm.reactions(t)
    for body in (0, 1):
        force, moment = (data(ax.get_lines()[body])[1] for ax in figure.axes)
        np.testing.assert_allclose(force, np.sqrt((found.force[:, body] ** 2).sum(axis=1)))
        # In a plane all of a hinge's moment is its torque.
        np.testing.assert_allclose(np.abs(found.moment[:, body, 2]), np.abs(arm.at(t).tau[:, body]), atol=1e-9)
        np.testing.assert_allclose(moment, 0.0, atol=1e-9)


def test_bearings_of_slides_and_in_space_carry_what_actuators_do_not(slide, spatial):
    for solution, across in ((slide, ["force", "moment"]), (spatial, ["moment", "moment"])):
        figure = co.plot.reactions(solution)
        t = data(figure.axes[0].get_lines()[0])[0]
        found, tau = solution.reactions(t), solution.at(t).tau
        for body, quantity in enumerate(across):
            ax = figure.axes[quantity == "moment"]
            whole = (getattr(found, quantity)[:, body] ** 2).sum(axis=1)
            squared = data(ax.get_lines()[body])[1] ** 2 + tau[:, body] ** 2  # Pythagoras
            np.testing.assert_allclose(squared, whole, atol=1e-9 * whole.max())


def test_motion_in_the_plane(arm):
    figure = co.plot.motion(arm, frames=5)
    (ax,) = figure.axes
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_aspect()) == ("x [m]", "y [m]", 1.0)
    assert legend_texts(figure) == [
        "start, t = 0",
        f"every {arm.duration / 4:.3g} s",
        "end, t = 0.393 s",
        "path of the tip of elbow",
    ]
    path = next(line for line in ax.get_lines() if line.get_label() == "path of the tip of elbow")
    q = arm.at(fine_times(arm)).q
    both = q.sum(axis=1)
    np.testing.assert_allclose(data(path)[0], LENGTH * (np.cos(q[:, 0]) + np.cos(both)), atol=1e-12)
    np.testing.assert_allclose(data(path)[1], LENGTH * (np.sin(q[:, 0]) + np.sin(both)), atol=1e-12)
    links = [line for line in ax.get_lines() if line.get_linestyle() == "-" and line is not path]
    assert len(links) == 5
    for color, q1 in ((START, 0.0), (END, 1.0)):
        link = next(line for line in links if line.get_color() == color)
        x = data(link)[0]
        assert np.isclose(x, LENGTH * np.cos(q1)).any()  # the elbow


def test_motion_draws_slides_in_the_plane_they_move_in(slide):
    (ax,) = co.plot.motion(slide, frames=2).axes
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("y [m]", "z [m]")
    rails = [line for line in ax.get_lines() if line.get_linestyle() == ":"]
    assert len(rails) == 2
    np.testing.assert_allclose(data(rails[0])[1][:2], [0.0, slide.q[0, 0]], atol=1e-12)
    np.testing.assert_allclose(data(rails[1])[1][:2], [0.0, slide.q[-1, 0]], atol=1e-12)


def test_motion_in_space_has_equal_scales(spatial):
    (ax,) = co.plot.motion(spatial).axes
    assert isinstance(ax, Axes3D)
    assert [ax.get_xlabel(), ax.get_ylabel(), ax.get_zlabel()] == ["x [m]", "y [m]", "z [m]"]
    assert_equal_scales(ax)
    path = next(line for line in ax.get_lines() if line.get_label() == "path of the tip of elbow")
    tip = np.array([c[-1] for c in path.get_data_3d()])  # type: ignore[attr-defined]
    waist, shoulder, elbow = spatial.q[-1]
    reach = 0.4 * np.cos(shoulder) + 0.3 * np.cos(shoulder + elbow)
    height = 0.3 + 0.4 * np.sin(shoulder) + 0.3 * np.sin(shoulder + elbow)
    np.testing.assert_allclose(tip, [reach * np.cos(waist), reach * np.sin(waist), height], atol=1e-9)


def test_motion_turns_the_vertical_up():
    tilted = [co.Body("a", co.dh_revolute(a=0.4, alpha=0.5), **ROD), co.Body("b", co.dh_revolute(a=0.2), "a", **ROD)]
    (ax,) = co.plot.motion(swing(co.Model(tilted), (0.0, 0.5), (1.0, 1.0))).axes
    assert isinstance(ax, Axes3D)
    projection = assert_equal_scales(ax)
    assert projection[1].argmax() == 1  # +y points up the page, gravity being along -y
    assert projection[0].argmax() == 0  # and +x to the right


def test_stick_figure_of_a_tree_has_a_path_for_every_tip():
    bodies = [
        co.Body("trunk", co.dh_revolute(theta=-pi / 2, a=0.3), **ROD),
        co.Body("left thigh", co.dh_revolute(theta=0.3, a=0.4), "trunk", **ROD),
        co.Body("left shank", co.dh_revolute(a=0.4), "left thigh", **ROD),
        co.Body("right thigh", co.dh_revolute(theta=-0.3, a=0.4), "trunk", **ROD),
        co.Body("right shank", co.dh_revolute(a=0.4), "right thigh", **ROD),
    ]
    solution = swing(co.Model(bodies), np.zeros(5), (0.1, 0.2, -0.2, -0.3, -0.4))
    assert legend_texts(co.plot.motion(solution))[-2:] == [
        "path of the tip of left shank",
        "path of the tip of right shank",
    ]
    found = skeleton_of(solution, solution.t)
    np.testing.assert_array_equal(found.start[:, 3], found.origin[:, 0])
    np.testing.assert_allclose(np.linalg.norm(found.origin - found.root, axis=2), [[0.3, *[0.4] * 4]] * found.t.size)
    assert found.plane == (0, 1)


def test_stick_figure_with_frames_at_the_joints_ends_at_the_centre_of_mass():
    bodies = [
        co.Body("upper", co.revolute(), mass=1.0, com=(0.1, 0, 0), inertia=(0, 0.1, 0.1)),
        co.Body("lower", co.revolute(placement=co.placement((0.3, 0, 0))), "upper", **ROD),
    ]
    found = skeleton_of(swing(co.Model(bodies), (0.0, 0.0), (1.0, 0.5)), np.array([0.0]))
    np.testing.assert_allclose(found.end[0], [[0, 0, 0], [0.1, 0, 0]], atol=1e-12)
    np.testing.assert_allclose(found.root[0], [[0, 0, 0], [0.3, 0, 0]], atol=1e-12)


def test_stick_figure_of_a_floating_base_is_not_tied_to_the_world():
    floating = [co.Body("x", co.prismatic((1, 0, 0))), co.Body("y", co.prismatic((0, 1, 0)), "x")]
    bodies = [
        *floating,
        co.Body("hip", co.revolute(), "y", **ROD),
        co.Body("knee", co.dh_revolute(a=0.4), "hip", **ROD),
    ]
    found = skeleton_of(swing(co.Model(bodies), (1, 5, 0, 0), (2, 5, 1, 1)), np.array([0.0, 1.5]))
    assert found.bases.size == 0
    assert found.slides == []
    assert found.hinges == [2, 3]
    assert found.extent[0][1] > 4.0


def test_stick_figure_has_the_lengths_that_were_solved_for():
    length, reach = co.Unknown("length", lower=0.2, upper=0.6, guess=0.4, constant=True), co.Parameter("reach", 0.5)
    bodies = [
        co.Body("upper", co.dh_revolute(a=length.symbol), **ROD),
        co.Body("lower", co.dh_revolute(a=reach.symbol), "upper", **ROD),
    ]
    force = co.Unknown("force", 3, lower=-1.0, upper=1.0)
    solution = swing(
        co.Model(bodies), (0.0, 0.5), (1.0, 1.0), unknowns=[force, length], parameters=[reach],
        loads=[co.Load("lower", force=force.symbol)],
    )  # fmt: skip
    found = skeleton_of(solution, solution.t)
    lengths = np.linalg.norm(found.origin - found.root, axis=2)
    np.testing.assert_allclose(lengths[:, 0], solution.constants["length"][0])
    np.testing.assert_allclose(lengths[:, 1], 0.5)


def test_convergence_draws_the_history(arm):
    figure = co.plot.convergence(arm)
    cost, residuals = figure.axes
    assert residuals.get_yscale() == "log"
    assert residuals.get_xlabel() == "iteration"
    np.testing.assert_array_equal(cost.get_lines()[0].get_ydata(), arm.history["cost"])
    for line, key in zip(residuals.get_lines(), ("infeasibility", "stationarity", "barrier"), strict=True):
        np.testing.assert_array_equal(data(line)[1], arm.history[key])
        np.testing.assert_array_equal(data(line)[0], range(arm.iterations + 1))


def test_convergence_needs_a_history(arm):
    with pytest.raises(co.InputError, match="must have recorded iterations"):
        co.plot.convergence(replace(arm, outcome=replace(arm.outcome, history={})))


def test_summary_is_titled_with_name_duration_and_status(arm, slide):
    figure = co.plot.summary(arm)
    assert figure.get_suptitle() == f"two-link arm: {arm.duration:.4g} s, solved"
    assert len(figure.axes) == 5
    assert len(co.plot.summary(slide).axes) == 9
    assert {"shoulder", "bounds", "start, t = 0", "path of the tip of elbow"} <= set(legend_texts(figure))


def test_fixed_joints_transmit_reactions_too():
    bodies = [co.Body("stand", co.fixed()), co.Body("rod", co.dh_revolute(a=0.4), "stand", **ROD)]
    solution = swing(co.Model(bodies), 0.0, 1.0)
    assert legend_texts(co.plot.reactions(solution)) == ["stand", "rod"]
    assert legend_texts(co.plot.joints(solution)) == ["rod"]
    assert {"stand", "rod"} <= set(legend_texts(co.plot.summary(solution)))


def test_figures_of_a_failed_solve(arm):
    failed = co.solve(arm.problem, arm.curve, solver=co.Ipopt(max_iter=0), raise_on_failure=False)
    for draw in FIGURES:
        draw(failed).draw_without_rendering()
    assert "iteration limit" in co.plot.summary(failed).get_suptitle()


@pytest.mark.parametrize("draw", FIGURES, ids=lambda draw: draw.__name__)
def test_figures_render_without_warnings(draw, slide, spatial):
    for solution in (slide, spatial):
        figure = draw(solution)
        assert isinstance(figure, Figure)
        figure.canvas.draw()


@pytest.mark.parametrize("draw", [*FIGURES, lambda x: co.plot.animate(x, "x.gif")])
def test_figures_need_a_solution(draw, arm):
    for wrong in (None, arm.problem, arm.q):
        with pytest.raises(co.InputError, match="solution must be a Solution"):
            draw(wrong)


@pytest.mark.parametrize("frames", [1, 2.5, True, "many"])
def test_motion_needs_two_frames(arm, frames):
    with pytest.raises(co.InputError, match="frames must be an integer >= 2"):
        co.plot.motion(arm, frames=frames)


def test_short_motions_are_slowed_down_and_say_so():
    assert slowdown(2.0) == 1.0
    assert slowdown(0.393) == 8.0
    assert [remark(factor) for factor in (1.0, 8.0, 0.5)] == ["", ", 8× slower", ", 2× faster"]


def test_gif_has_its_frames_at_their_pace(arm, tmp_path):
    file = co.plot.animate(arm, tmp_path / "arm.gif", fps=15)
    assert file == tmp_path / "arm.gif"
    assert not plt.get_fignums()
    with Image.open(file) as gif:
        expected = round(arm.duration * 8 * 15) + 1
        assert gif.n_frames == expected  # type: ignore[attr-defined]
        delays, frames = [], []
        for k in range(expected):
            gif.seek(k)
            delays.append(gif.info["duration"])
            frames.append(np.asarray(gif.convert("RGB")))
    assert sum(delays[:-1]) == pytest.approx(8e3 * arm.duration, abs=10)
    assert max(delays[:-1]) - min(delays[:-1]) <= 10
    assert tuple(frames[0][0, 0]) == (255, 255, 255)
    assert all((a != b).any() for a, b in pairwise(frames))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("arm.mp4", r"must end in \.gif"),
        ("arm.html", r"must end in \.gif"),
        ("arm", r"must end in \.gif"),
        ("missing/arm.gif", "does not exist"),
        ("folder.gif", "is a directory"),
    ],
)
def test_animate_checks_the_path_before_it_draws(arm, tmp_path, monkeypatch, name, message):
    (tmp_path / "folder.gif").mkdir()
    monkeypatch.setattr("colloc.plot.animation._images", None)  # calling it would be a TypeError
    with pytest.raises(co.InputError, match=message):
        co.plot.animate(arm, tmp_path / name)


@pytest.mark.parametrize(
    "wrong",
    [{"fps": 0}, {"fps": 60}, {"fps": "fast"}, {"slow": -1.0}, {"slow": np.nan}, {"slow": 1e300}, {"path": 3}],
    ids=str,
)
def test_animate_checks_its_arguments(arm, tmp_path, wrong: dict[str, Any]):
    with pytest.raises(co.InputError, match=next(iter(wrong))):
        co.plot.animate(arm, **({"path": tmp_path / "arm.gif"} | wrong))
    assert not list(tmp_path.iterdir())


def test_names_are_drawn_as_they_are(tmp_path: Path):
    names = ["$x_{$", "_hidden", "a$b", "x^2 \\frac{", "\n\t\0", "名 🙂 \u202e"]
    inertia = {"mass": 1.0, "com": (-0.1, 0, 0), "inertia": (0.01, 0.1, 0.1)}
    bodies = [co.Body(names[0], co.dh_revolute(a=0.5), **inertia), co.Body(names[1], co.fixed(), names[0])]
    bodies += [co.Body(name, co.fixed(co.placement((0.1, 0, 0))), names[0]) for name in names[2:-1]]
    bodies.append(co.Body(names[-1], co.dh_revolute(a=0.5), names[0], **inertia))
    solution = swing(co.Model(bodies, (0, 0, 0), names[0]), 0.0, 1.0)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")  # what the font lacks
        for draw in (co.plot.joints, co.plot.torques, co.plot.summary):
            co.plot.save_figure(draw(solution), tmp_path / "figure.png", dpi=40)
        co.plot.animate(solution, tmp_path / "film.gif", fps=1)
    assert len(legend_texts(co.plot.reactions(solution))) == len(names)


def test_a_full_disk_leaves_the_old_picture(arm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def fail(*args: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", fail)
    figure = co.plot.joints(arm)
    for name, write in (
        ("film.gif", lambda path: co.plot.animate(arm, path, fps=3)),
        ("view.html", lambda path: co.plot.view(arm).save(path)),
        ("figure.png", lambda path: co.plot.save_figure(figure, path)),
    ):
        (tmp_path / name).write_bytes(b"old")
        with pytest.raises(OSError, match="disk full"):
            write(tmp_path / name)
        assert (tmp_path / name).read_bytes() == b"old"
    assert sorted(os.listdir(tmp_path)) == ["figure.png", "film.gif", "view.html"]


@pytest.mark.parametrize("suffix", ["png", "PDF", "svg"])
def test_figures_are_written_by_their_suffix(arm, tmp_path: Path, suffix: str):
    path = co.plot.save_figure(co.plot.joints(arm), tmp_path / f"figure.{suffix}")
    start = {"png": b"\x89PNG", "PDF": b"%PDF", "svg": b"<?xml"}[suffix]
    assert path.read_bytes().startswith(start)


def test_saving_a_figure_checks_its_arguments(arm, tmp_path: Path):
    with pytest.raises(co.InputError, match="figure must be a Figure"):
        co.plot.save_figure(arm, tmp_path / "figure.png")
    with pytest.raises(co.InputError, match="must end in"):
        co.plot.save_figure(co.plot.joints(arm), tmp_path / "figure.npz")
    with pytest.raises(co.InputError, match="dpi must be finite and positive"):
        co.plot.save_figure(co.plot.joints(arm), tmp_path / "figure.png", dpi=-1)
