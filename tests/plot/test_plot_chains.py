"""Closed chains drawn: links reach the places where the loops are cut, slides and hinges are distinguished."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

import colloc as co
from colloc import loops
from colloc.descent import ChainMovement
from colloc.models.closed.four_bar import COUPLER, CRANK, GROUND, ROCKER, four_bar
from colloc.models.closed.rower import OAR_PIVOT, SEAT_HEIGHT, rower
from colloc.plot.animation import write_gif
from colloc.plot.motion import draw_poses
from colloc.plot.posture import chain_pose, skeleton_of
from colloc.studies.films import film_of
from tests.descent.test_chain_movement import rest


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def standing(chain: loops.ClosedChain):
    return lambda t: np.tile(chain.posture, (t.size, 1))


def lengths(lines: np.ndarray) -> np.ndarray:
    """Of all segments of a line with gaps that have a length, sorted."""
    found = np.linalg.norm(np.diff(lines, axis=0), axis=1)
    return np.sort(found[found > 1e-9])


def test_all_links_of_the_four_bar_are_drawn_in_full():
    figure_of = chain_pose(four_bar(), standing(four_bar()))(np.zeros(1))
    np.testing.assert_allclose(lengths(figure_of.links(0)), sorted([CRANK, COUPLER, ROCKER]))
    pins = figure_of.pins(0)
    assert len(pins) == 4  # crank, coupler and rocker, and the cut
    np.testing.assert_allclose(np.linalg.norm(pins[3] - [GROUND, 0, 0]), ROCKER)
    assert figure_of.carriages(0).shape == (0, 3)
    assert lengths(figure_of.rails(0)).size == 0
    assert figure_of.tips == []
    np.testing.assert_allclose(figure_of.bases, [[0, 0, 0], [GROUND, 0, 0]], atol=1e-15)


def test_slides_of_the_rower_are_dotted_and_what_is_named_leaves_a_path():
    chain = rower()
    figure_of = chain_pose(chain, standing(chain), {"handle": ("oar", (1.1, 0, 0))})(np.zeros(1))
    assert [figure_of.model.bodies[k].name for k in figure_of.tips] == ["handle"]
    hip, hand = figure_of.carriages(0)
    assert hip[1] == pytest.approx(SEAT_HEIGHT)
    arm = hand - [*OAR_PIVOT, 0]
    oar = chain.posture[chain.model.joint_names.index("oar")]
    assert np.arctan2(arm[1], arm[0]) == pytest.approx(oar)
    np.testing.assert_allclose(lengths(figure_of.rails(0)), sorted([abs(hip[0]), np.linalg.norm(arm)]))
    handle = np.array([*OAR_PIVOT, 0]) + 1.1 * np.array([np.cos(oar), np.sin(oar), 0])
    np.testing.assert_allclose(figure_of.end[0, figure_of.tips[0]], handle)


def test_the_solution_of_a_closed_chain_is_drawn_closed():
    chain = four_bar()
    turn = co.Problem(
        chain.model,
        1.0,
        co.integral(lambda now: now.tau.T @ now.tau),
        [co.initial(q={"crank": 1.0}, qd={"crank": 0.0}), co.final(q={"crank": 2.5}, qd={"crank": 0.0})],
        parts=[loops.IndependentJoints(chain)],
    )
    figure_of = skeleton_of(co.solve(turn, co.BSpline(6), plan=[co.refinement.Solve(tol=0.5)]), np.array([0.0, 1.0]))
    for frame in (0, 1):
        np.testing.assert_allclose(lengths(figure_of.links(frame)), sorted([CRANK, COUPLER, ROCKER]))
        assert len(figure_of.pins(frame)) == 4
    assert figure_of.paths == {}
    assert co.plot.guess(turn).axes


def test_a_movement_is_drawn_and_filmed(tmp_path):
    movement = ChainMovement(four_bar(), rest((0.5,), (2.5,)))
    times = np.linspace(0, 1, 50)
    pose = chain_pose(
        movement.chain, lambda t: movement.sample(movement.start(), t).q, {"eye": ("coupler", (0.2, 0.1, 0))}
    )
    handles = draw_poses(plt.figure(), 111, pose, times, 5)
    assert [handle.get_label() for handle in handles] == ["start, t = 0", "every 0.25 s", "end, t = 1 s", "path of eye"]
    assert write_gif(pose, times, "four-bar", tmp_path / "film.gif", fps=5).stat().st_size > 10_000
    for name in ("film.gif", "film.html"):
        film_of(pose, 1.0, "four-bar")(str(tmp_path / name), 5.0)
        assert (tmp_path / name).stat().st_size > 10_000
    with pytest.raises(co.InputError, match=r"\.mp4"):
        film_of(pose, 1.0, "four-bar")(str(tmp_path / "film.mp4"), 5.0)
