"""Figures that fit: a notebook, a column, a user's axes; several solutions, and torques of all sizes."""

# pyright: reportArgumentType=false, reportAttributeAccessIssue=false

import gc
import inspect
import io
import re
import subprocess
import sys
import weakref

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from mpl_toolkits.mplot3d.axes3d import Axes3D

import colloc as co
from colloc.models.two_link import two_link
from colloc.plot.over_time import torque_groups

SINGLE = {
    "joints": co.plot.joints,
    "torques": co.plot.torques,
    "reactions": co.plot.reactions,
    "motion": co.plot.motion,
    "signals": co.plot.signals,
    "summary": co.plot.summary,
    "convergence": co.plot.convergence,
    "rounds": co.plot.rounds,
    "error": co.plot.error,
}
ROD = {"mass": 0.5, "com": (-0.2, 0, 0), "inertia": (0, 0.1, 0.1)}


def swing(model: co.Model, end: float = 1.0, *more: co.refinement.Refine) -> co.Solution:
    ends = [co.initial(q=0.0, qd=0.0), co.final(q=end, qd=0.0)]
    effort = co.integral(lambda now: now.tau.T @ now.tau)
    plan = [co.refinement.Solve(tol=0.5), *more]
    return co.solve(co.Problem(model, 1.0, effort, ends), co.BSpline(6), plan=plan)


@pytest.fixture(scope="module")
def arm():
    return swing(two_link(), 1.0, co.refinement.Refine(0.1))


@pytest.fixture(scope="module")
def other():
    return swing(two_link(), 1.5)


@pytest.fixture(scope="module")
def uneven():
    """A heavy arm with a light hand, and a finger lighter still; a slide beside."""
    bodies = [co.Body("arm", co.dh_revolute(a=0.4), mass=50.0, com=(-0.2, 0, 0), inertia=(0, 10.0, 10.0))]
    for name, parent, size in (("hand", "arm", 0.3), ("finger", "hand", 0.01)):
        bodies.append(co.Body(name, co.dh_revolute(a=0.1), parent, size, inertia=(0, 0.01 * size, 0.01 * size)))
    bodies.append(co.Body("slide", co.prismatic(), mass=1.0))
    return swing(co.Model(bodies))


def dashes(figure: Figure) -> list:
    return [line.get_linestyle() for line in figure.axes[0].get_lines()]


def test_figures_are_none_of_pyplots():
    """In a process of its own: importing and drawing leaves pyplot alone."""
    code = (
        "import sys, colloc as co; from colloc.models.two_link import two_link\n"
        "p = co.Problem(two_link(), 1.0, co.integral(lambda now: now.tau[0]**2), [co.initial(q=0), co.final(q=1)])\n"
        "co.plot.summary(co.solve(p, co.BSpline(4))); co.plot.guess(p); print('matplotlib.pyplot' in sys.modules)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "False"


@pytest.mark.parametrize("draw", SINGLE)
def test_figures_are_freed_with_their_last_name(arm, draw):
    figure = weakref.ref(SINGLE[draw](arm))
    gc.collect()
    assert figure() is None


def test_a_notebook_shows_a_figure_once(arm):
    """With pyplot imported, by its printer, and without, by the figure's own."""
    shell = pytest.importorskip("IPython.core.interactiveshell").InteractiveShell.instance()
    found, _ = shell.display_formatter.format(co.plot.joints(arm))
    assert set(found) == {"text/plain", "image/png"}
    assert found["image/png"].startswith(b"\x89PNG")


@pytest.mark.parametrize("draw", [*SINGLE, "guess"])
@pytest.mark.parametrize("width", ["column", "page", 5.5])
def test_what_is_written_lies_within_the_figure_and_apart(arm, draw, width):
    figure = co.plot.guess(arm.problem, width=width) if draw == "guess" else SINGLE[draw](arm, width=width)
    assert figure.get_figwidth() == {"column": 3.5, "page": 7.16}.get(width, width)
    assert figure.axes[0].xaxis.label.get_size() == (8.0 if width == "column" or draw == "summary" else 10.0)
    figure.canvas.draw()
    frame = figure.bbox.padded(1.0)
    labels = []
    for ax in figure.axes:
        labels += [ax.yaxis.label, ax.xaxis.label]
    boxes = [own.get_window_extent() for own in labels if own.get_text()]
    boxes += [legend.get_window_extent() for legend in figure.findobj(Legend)]  # type: ignore[attr-defined]
    if not isinstance(figure.axes[0], Axes3D):
        for k, box in enumerate(boxes):
            assert frame.fully_contains(*box.min)
            assert frame.fully_contains(*box.max)
            assert not any(box.overlaps(other) for other in boxes[:k])


@pytest.mark.parametrize("draw", [*SINGLE.values(), co.plot.guess, co.plot.descents, co.plot.map, co.plot.optima])
def test_size_and_axes_are_arguments_that_users_see_and_read_of(draw):
    parameters, text = inspect.signature(draw).parameters, inspect.getdoc(draw) or ""
    assert "**" not in str(inspect.signature(draw))
    for name in ("ax", "width", "figsize"):
        assert (name in parameters) == bool(re.search(rf"^(\w+, )?{name} :", text, re.MULTILINE))
    assert {"width", "figsize"} <= set(parameters)
    assert (
        text.index("Parameters\n---") < text.index("figsize :") < text.index("Returns\n---") < text.index("Raises\n---")
    )


def test_sizes_are_checked(arm):
    assert co.plot.joints(arm, figsize=(4, 3)).get_size_inches().tolist() == [4, 3]
    for wrong, words in (
        ({"width": "row"}, 'width must be "column" or "page", got \'row\''),
        ({"width": -1.0}, "width must be finite and positive"),
        ({"figsize": 3}, r"figsize must be \(width, height\), got 3"),
        ({"figsize": (3, 0)}, "figsize must be finite and positive"),
        ({"figsize": (3, 3), "width": "column"}, "pass width or figsize, not both"),
    ):
        with pytest.raises(co.InputError, match=words):
            co.plot.torques(arm, **wrong)


def test_what_the_user_has_set_stays(arm):
    mine = {"font.size": 14.0, "figure.figsize": (5.0, 4.0), "lines.linewidth": 3.0, "text.color": "red"}
    mine["axes.prop_cycle"] = mpl.cycler(color=["green", "purple"])
    with mpl.rc_context(mine):
        before = dict(mpl.rcParams)
        figure = co.plot.torques(arm)
        assert dict(mpl.rcParams) == before
    (ax,) = figure.axes
    assert figure.get_size_inches().tolist() == [5.0, 4.0]
    assert ax.yaxis.label.get_size() == 14.0
    assert ax.get_lines()[0].get_linewidth() == 3.0
    assert [ax.get_lines()[k].get_color() for k in (0, 2)] == ["green", "purple"]
    assert {text.get_color() for legend in figure.findobj(Legend) for text in legend.get_texts()} == {"red"}  # type: ignore[attr-defined]


def test_letters_of_pdfs_are_truetype(arm):
    """Type 42, which journals take; matplotlib's own default is Type 3."""
    for setting, kind in ((None, b"/CIDFontType2"), (42, b"/CIDFontType2")):
        file = io.BytesIO()
        with mpl.rc_context({} if setting is None else {"pdf.fonttype": setting, "pdf.compression": 0}):
            co.plot.joints(arm).savefig(file, format="pdf")
        assert kind in file.getvalue()
        assert b"/Type3" not in file.getvalue()


def test_axes_of_the_user_are_drawn_in(arm):
    figure = Figure(figsize=(8, 4), layout="constrained")
    left, right, last = figure.subplots(1, 3)
    assert co.plot.torques(arm, ax=left) is figure
    assert co.plot.joints(arm, ax=[right, last]) is figure
    assert [ax.get_ylabel() for ax in figure.axes] == [
        "joint torque [N m]",
        "joint position [rad]",
        "joint velocity [rad/s]",
    ]
    assert [text.get_text() for text in left.get_legend().get_texts()] == ["shoulder", "elbow", "nodes"]
    assert not figure.legends
    figure.canvas.draw()


def test_a_stick_figure_takes_the_place_of_axes(arm):
    figure = Figure(figsize=(8, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    place = right.get_subplotspec()
    co.plot.motion(arm, ax=right)
    assert figure.axes[0] is left
    assert figure.axes[1].get_subplotspec() == place
    assert figure.axes[1].get_xlabel() == "x [m]"


def test_axes_are_checked(arm):
    figure = Figure()
    one, two = figure.subplots(2)
    for wrong, words in (
        ({"ax": one}, r"ax must be a list of 2 Axes \(2 rows, 1 columns\), got <Axes"),
        ({"ax": [one, "two"]}, "ax must be a list of 2 Axes"),
        ({"ax": [one, two], "width": "column"}, "pass either ax, or width or figsize"),
    ):
        with pytest.raises(co.InputError, match=words):
            co.plot.joints(arm, **wrong)


def test_several_solutions_have_different_lines(arm, other):
    for draw in (co.plot.joints, co.plot.torques, co.plot.reactions):
        figure = draw(arm, other, labels=["near", "far"])
        (legend,) = figure.findobj(Legend)  # type: ignore[attr-defined]
        assert [text.get_text() for text in legend.get_texts()] == ["shoulder", "elbow", "near", "far"]
        assert dashes(figure) == ["-", "-", "--", "--"]
        first, second = (figure.axes[0].get_lines()[k] for k in (0, 2))
        assert first.get_color() == second.get_color()
    figure = co.plot.torques(arm, other)
    t = np.asarray(figure.axes[0].get_lines()[2].get_xdata())
    np.testing.assert_array_equal(figure.axes[0].get_lines()[2].get_ydata(), other.at(t).tau[:, 0])
    low, high = figure.axes[0].get_ylim()
    assert low < min(arm.tau.min(), other.tau.min()) < max(arm.tau.max(), other.tau.max()) < high


def test_solutions_in_one_figure_have_the_same_joints(arm, uneven):
    with pytest.raises(
        co.InputError, match=r"must have the same joints, got shoulder, elbow and arm, hand, finger, slide"
    ):
        co.plot.joints(arm, uneven)
    with pytest.raises(co.InputError, match="labels must be one for each of 1 solutions"):
        co.plot.joints(arm, labels=["a", "b"])
    with pytest.raises(co.InputError, match="pass one or more solutions"):
        co.plot.torques()


def test_torques_that_differ_fivefold_have_panels_of_their_own(arm, uneven):
    assert torque_groups(arm) == [[0, 1]]
    largest = np.abs(uneven.tau).max(axis=0)
    assert largest[0] > 10 * largest[1] > 100 * largest[2] > 0
    assert torque_groups(uneven) == [[0], [1], [2], [3]]
    figure = co.plot.torques(uneven)
    assert [ax.get_ylabel() for ax in figure.axes] == [*["joint torque [N m]"] * 3, "joint force [N]"]
    for ax, joint in zip(figure.axes, (0, 1, 2), strict=False):
        low, high = ax.get_ylim()
        assert high - low < 4 * largest[joint]
    summary = co.plot.summary(uneven)
    drawn = [ax.get_ylabel() for ax in summary.axes if ax.get_visible()]
    assert drawn.count("joint torque [N m]") == 3
    assert drawn.count("joint force [N]") == 1


def test_a_guess_is_drawn_where_a_solve_starts():
    problem = co.Problem(two_link(), 1.0, co.duration(), [co.initial(q=(0.0, 0.5)), co.final(q=(1.0, 0.2))])
    straight, bent = co.plot.guess(problem), co.plot.guess(problem, co.keyframes({0: (0, 1), 0.5: (1, 2), 1: (0, 3)}))
    for figure, first, last in ((straight, (0.0, 0.5), (1.0, 0.2)), (bent, (0, 1), (0, 3))):
        path = np.array(next(line for line in figure.axes[0].get_lines() if "path" in str(line.get_label())).get_data())
        for end, (shoulder, elbow) in ((path[:, 0], first), (path[:, -1], last)):
            place = 0.4 * np.array(
                [np.cos(shoulder) + np.cos(shoulder + elbow), np.sin(shoulder) + np.sin(shoulder + elbow)]
            )
            np.testing.assert_allclose(end, place, atol=1e-12)
    solution = co.solve(co.Problem(two_link(), 1.0, co.integral(lambda now: now.tau.T @ now.tau), problem.subject_to))
    assert co.plot.guess(problem, solution).axes
    with pytest.raises(co.InputError, match="guess must be"):
        co.plot.guess(problem, "straight")
    with pytest.raises(co.InputError, match="no stick figure"):
        co.plot.guess(co.Problem(co.Model.empty(), 1.0))
