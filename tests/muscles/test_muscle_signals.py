"""Signals of muscles and of contact forces: their values, and where they are drawn and listed."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import casadi as ca
import numpy as np
import pytest

import colloc as co
from tests.muscles.test_joint_contact import moving, muscles
from tests.muscles.test_muscles import ARM, MODEL, RESERVES, reach

MEDIAL, LATERAL = (-0.3, 0.01, -0.02), (-0.31, 0.0, 0.025)


@pytest.fixture(scope="module")
def solved() -> tuple[co.muscles.Muscles, co.Solution]:
    part = muscles()
    knee = co.muscles.JointContact("forearm", MEDIAL, LATERAL, direction=(-1.0, 0.2, 0.0))
    problem = moving(part)
    problem = replace(problem, parts=[*problem.parts, knee])
    return part, co.solve(problem, co.Radau(12), progress=False, tol=None)


def test_all_that_muscles_do_is_a_signal(solved):
    part, solution = solved
    t = np.array([0.1, 0.3])
    signals = solution.signals.at(t)
    names = ["fiber_length", "tendon_force", "fiber_velocity", "metabolic_rate"]
    arms = ["moment_arm_shoulder", "moment_arm_turn", "moment_arm_elbow", "moment_arm_wrist"]
    assert [*signals][6:] == [*names, *arms, "contact_forearm", "condyles_forearm"]
    fibers = solution.evaluate(lambda now: (part.fibers(now).velocity, part.metabolic_rate(now).total), t)
    np.testing.assert_array_equal(signals["fiber_velocity"], fibers[0])
    np.testing.assert_array_equal(signals["metabolic_rate"], fibers[1])
    moment_arms = solution.evaluate(part.moment_arms, t)
    np.testing.assert_array_equal(signals["moment_arm_elbow"]["biceps"], moment_arms[:, 0, 2])
    definitions = solution.signals.definitions
    assert definitions["moment_arm_wrist"].names == ("within",)
    assert definitions["moment_arm_wrist"].units == ("",)  # of a slide
    assert definitions["moment_arm_turn"].names == ("long", "deltoid")
    contact = solution.evaluate(lambda now: now.joint_contact("forearm").force, t)
    np.testing.assert_array_equal(signals["contact_forearm"], contact)


def test_secondary_signals_are_drawn_by_name_only(solved):
    _, solution = solved
    drawn = [ax.get_ylabel() for ax in co.plot.signals(solution).axes]
    assert "contact force of forearm [N]" in drawn
    assert "compression of forearm [N]" in drawn
    assert not [label for label in drawn if "moment arm" in label or "metabolic" in label or "acceleration" in label]
    named = co.plot.signals(solution, names=["moment_arm_elbow", "qdd"]).axes
    assert [ax.get_ylabel() for ax in named] == [
        "moment arm at elbow [m]", "joint acceleration [rad/s2]", "joint acceleration [m/s2]"
    ]  # fmt: skip
    table = co.storage.signal_table(solution, "moment_arm_elbow")
    assert table.names == ("biceps", "long")


def test_reactions_are_drawn_without_the_pull_of_muscles(solved):
    part, solution = solved
    figure = co.plot.reactions(solution)
    assert [ax.get_ylabel() for ax in figure.axes] == ["contact force [N]", "contact moment [N m]"]
    t = np.linspace(0.0, solution.duration, 101)
    largest = np.linalg.norm(solution.evaluate(lambda now: now.joint_contact("forearm").force, t), axis=1).max()
    lines = [np.nanmax(line.get_ydata()) for line in figure.axes[0].get_lines()]
    assert any(high == pytest.approx(largest, rel=0.01) for high in lines)
    net = np.linalg.norm(solution.reactions(t).force[:, part.model.index("forearm")], axis=1).max()
    assert not any(high == pytest.approx(net, rel=0.01) for high in lines)


def test_without_a_direction_the_figure_says_that_forces_are_net():
    paths: list[Any] = [muscle.path for muscle in ARM]
    bare = [replace(muscle, path=replace(path, line=None)) for muscle, path in zip(ARM, paths, strict=True)]
    part = co.muscles.Muscles(MODEL, bare, activation="instantaneous", reserves=RESERVES)
    solution = co.solve(reach(part), co.Radau(10), progress=False, tol=None)
    assert [ax.get_ylabel() for ax in co.plot.reactions(solution).axes] == [
        "net joint force [N]",
        "net joint moment [N m]",
    ]


def turned(force: np.ndarray, now: co.problem.Instant) -> ca.SX:
    """A force in the axes of the plate, in the world."""
    return now.rotation("plate") @ ca.SX(force)


def plates(share: float) -> Iterator[tuple[co.muscles.JointContact, float, float]]:
    """A body on a fixed joint, pressed against its parent at two points with known forces along a direction."""
    rng = np.random.default_rng(int(100 * share))
    for _ in range(3):
        medial, lateral, direction = rng.normal(size=(3, 3))
        contact = co.muscles.JointContact("plate", medial, lateral, direction)
        yield contact, share * 1000.0, (1 - share) * 1000.0


@pytest.mark.parametrize("share", [0.2, 0.5, 1.3])
def test_two_forces_at_the_condyles_are_their_shares(share: float):
    """Pressed on by the parent with these forces at these points, which loads on the body balance."""
    for contact, medial, lateral in plates(share):
        across = np.subtract(contact.lateral, contact.medial)
        along = np.array(contact.direction) - across * (across @ contact.direction) / (across @ across)
        along /= np.linalg.norm(along)
        placement = co.placement((0.3, -0.2, 0.1), (0.5, -0.3, 1.0))
        swing = co.Body("swing", co.revolute(axis=(1, 2, 3)), mass=1.0, inertia=(1.0, 1.0, 1.0))
        plate = co.Body("plate", co.fixed(placement), "swing")
        model = co.Model([swing, plate], gravity=(0, 0, 0))
        pressing = (medial, contact.medial), (lateral, contact.lateral)
        loads = [co.Load("plate", partial(turned, f * along), point=point) for f, point in pressing]
        still = [co.initial(q=0.4, qd=0.0), co.path(lambda now: now.q, equals=0.4)]
        problem = co.Problem(
            model, 1.0, co.integral(lambda now: ca.sumsqr(now.tau)), still, loads=loads, parts=[contact]
        )
        now = problem.instant
        state = [now.q, now.qd, now.qdd]
        value = ca.Function("shares", state, list(contact.shares(now)))(0.4, 0.0, 0.0)
        np.testing.assert_allclose([float(part) for part in value], [medial, lateral], rtol=1e-9)


def test_wrong_condyles_are_refused():
    for arguments, message in (
        ({"medial": (0, 0, 1)}, "needs both points"),
        ({"medial": (0, 0, 1), "lateral": (0, 0, 1)}, "needs two different points"),
        ({"medial": (0, 0, 1), "lateral": (0, 1, 1)}, "a direction across the line"),
    ):
        with pytest.raises(co.InputError, match=message):
            co.muscles.JointContact("tibia", **arguments)
    part = muscles()
    problem = moving(part)
    with pytest.raises(co.InputError, match="no body named 'forarm'"):
        _ = replace(problem, parts=[*problem.parts, co.muscles.JointContact("forarm")]).statements
    with pytest.raises(co.InputError, match="need the points medial= and lateral="):
        co.muscles.JointContact("forearm").shares(moving(part).instant)
