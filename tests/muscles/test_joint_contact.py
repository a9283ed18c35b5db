"""The force in a joint that muscles cross, against loads put on the bodies by hand, equilibrium and virtual work."""

import warnings
from dataclasses import replace
from itertools import pairwise

import casadi as ca
import numpy as np
import pytest

import colloc as co

V = co.muscles.ViaPoint
POINTS = {  # of straight muscles: bodies and places
    "biceps": [("upper", (0.0, 0.03, 0.01)), ("forearm", (0.04, 0.01, -0.01))],
    "long": [(None, (0.0, 0.05, 0.02)), ("upper", (0.28, 0.04, 0.0)), ("forearm", (0.05, 0.02, 0.01))],
    "deltoid": [(None, (-0.05, 0.04, 0.03)), ("upper", (0.12, 0.02, 0.01))],
    "within": [("forearm", (0.05, 0.02, 0.0)), ("forearm", (0.15, 0.02, 0.0)), ("hand", (0.02, 0.01, 0.0))],
}
SLACK = {"biceps": 0.2, "long": 0.23, "deltoid": 0.07, "within": 0.15}  # m
RESERVES = {"shoulder": 100.0, "turn": 50.0, "wrist": 5.0}


def arm() -> co.Model:
    """Two hinges at the shoulder, a hinge at the elbow, a slide in place of a wrist."""
    upper = co.Body("link", co.revolute(axis=(0, 0, 1), name="shoulder"))
    turned = co.revolute(axis=(1, 0, 0), name="turn")
    elbow = co.revolute(axis=(0, 0.1, 1), name="elbow", placement=co.placement((0.3, 0.0, 0.0)))
    wrist = co.prismatic(axis=(1, 0, 0), name="wrist", placement=co.placement((0.25, 0.0, 0.0)))
    return co.Model(
        [
            upper,
            co.Body("upper", turned, "link", mass=2.0, com=(0.15, 0.01, 0.0), inertia=(0.01, 0.02, 0.02)),
            co.Body("forearm", elbow, "upper", mass=1.5, com=(0.12, 0.0, 0.01), inertia=(0.002, 0.02, 0.02)),
            co.Body("hand", wrist, "forearm", mass=0.5, com=(0.05, 0.0, 0.0), inertia=(0.001, 0.001, 0.001)),
        ]
    )


def muscles(**keywords: object) -> co.muscles.Muscles:
    made = [
        co.muscles.Muscle(name, co.muscles.MusclePath([V(*place) for place in places]), 800.0, 0.12, SLACK[name])
        for name, places in POINTS.items()
    ]
    return co.muscles.Muscles(arm(), made, activation="instantaneous", reserves=RESERVES, **keywords)  # pyright: ignore[reportArgumentType]


def moving(part: co.muscles.Muscles) -> co.Problem:
    effort = co.integral(lambda now: ca.sumsqr(now.activation) + ca.sumsqr(now.reserve))
    ends = [co.initial(q=(-1.2, 0.1, 0.6, 0.0), qd=0), co.final(q=(-1.0, 0.2, 1.4, 0.02), qd=0)]
    return co.Problem(part.model, 0.5, effort, ends, parts=[part])


@pytest.fixture(scope="module")
def solved() -> tuple[co.muscles.Muscles, co.Solution]:
    part = muscles()
    return part, co.solve(moving(part), co.Radau(12), progress=False, tol=None)


T = np.array([0.05, 0.21, 0.5])  # s


def contact(solution: co.Solution, body: str) -> np.ndarray:
    return np.hstack(solution.evaluate(lambda now: tuple(now.joint_contact(body)), T))


@pytest.mark.parametrize("body", ["link", "upper", "forearm", "hand"])
def test_it_is_the_reaction_with_the_muscles_as_loads_by_hand(solved, body: str):
    """Tensions along the segments of a path, on the bodies of their points."""
    part, solution = solved
    found, tensions, motion = contact(solution, body), solution.evaluate(part.tendon_forces, T), solution.at(T)
    for k in range(T.size):
        state, loads = (motion.q[k], motion.qd[k], motion.qdd[k]), []
        evaluator = co.Evaluator(part.model)
        for tension, path in zip(tensions[k], POINTS.values(), strict=True):
            places = [p if b is None else evaluator.point(b, p, q=state[0]).position for b, p in path]
            for one, two in pairwise(zip(path, map(np.ravel, places), strict=True)):
                along = tension * (two[1] - one[1]) / np.linalg.norm(two[1] - one[1])
                ends = (one[0], along), (two[0], -along)
                loads += [co.Load(b, force=force, point=p) for (b, p), force in ends if b is not None]
        by_hand = co.Evaluator(part.model, loads=loads).reactions(*state)
        column = part.model.index(body)
        expected = np.append(by_hand.force[column], by_hand.moment[column])
        np.testing.assert_allclose(found[k], expected, atol=1e-8 * np.abs(expected).max())
        assert np.abs(tensions[k]).max() > 10.0


@pytest.mark.parametrize("joint", ["shoulder", "turn", "elbow"])
def test_about_the_axis_it_is_the_torque_that_muscles_do_not_give(solved, joint: str):
    """By the derivatives of the lengths with respect to the coordinates."""
    part, solution = solved
    k = part.model.joint_names.index(joint)
    body = part.model.bodies[k]
    left = solution.evaluate(lambda now: now.tau[k] + (part.moment_arms(now).T @ -part.tendon_forces(now))[k], T)
    moment = solution.evaluate(lambda now: now.joint_contact(body.name).moment, T)
    axis = body.joint.after[:3, :3].T @ ca.SX(body.joint.axis)
    np.testing.assert_allclose(moment @ ca.evalf(axis).full().ravel(), left, atol=1e-10)
    assert np.abs(solution.evaluate(lambda now: now.tau[k], T)).max() > 0.1


def test_a_level_forearm_presses_on_its_elbow():
    """Two kilograms at 20 cm, a tendon 4 cm before the elbow at 30 degrees, all by hand."""
    elbow = co.Body("forearm", co.revolute(name="elbow"), mass=2.0, com=(0.2, 0.0, 0.0), inertia=(0.01, 0.01, 0.01))
    model = co.Model([elbow], gravity=(0.0, -9.81, 0.0))
    pull = np.array([-np.cos(np.pi / 6), np.sin(np.pi / 6), 0.0])
    origin = np.array([0.04, 0.0, 0.0]) + 0.3 * pull
    path = co.muscles.MusclePath([V(None, origin), V("forearm", (0.04, 0.0, 0.0))])
    biceps = co.muscles.Muscle("biceps", path, 2000.0, 0.12, 0.18)
    part = co.muscles.Muscles(model, [biceps], activation="instantaneous")
    still = [co.initial(q=0.0, qd=0.0), co.path(lambda now: now.q, equals=0.0)]
    effort = co.integral(lambda now: ca.sumsqr(now.activation))
    solution = co.solve(co.Problem(model, 0.2, effort, still, parts=[part]), co.Radau(2), progress=False, tol=None)
    tension = 2.0 * 9.81 * 0.2 / (0.04 * np.sin(np.pi / 6))
    assert solution.evaluate(part.tendon_forces, 0.1) == pytest.approx(tension, rel=1e-6)
    force = solution.evaluate(lambda now: now.joint_contact("forearm").force, 0.1)
    np.testing.assert_allclose(force, [0.0, 2.0 * 9.81, 0.0] - tension * pull, rtol=1e-6, atol=1e-6)


def test_a_limit_on_it_binds_and_a_reaction_warns(solved):
    part, solution = solved
    free = solution.evaluate(lambda now: ca.norm_2(now.joint_contact("forearm").force), solution.t).max()
    limit = co.path(lambda now: ca.sumsqr(now.joint_contact("forearm").force), upper=(0.9 * free) ** 2, name="elbow")
    problem = moving(part)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.refinement.SolutionWarning)  # six intervals are too few
        limited = co.solve(
            replace(problem, subject_to=[*problem.subject_to, limit]), co.Radau(6), progress=False, tol=None
        )
    assert limited.outcome.status is co.solver.Status.SOLVED
    assert limited.cost > solution.cost
    pressed = limited.evaluate(lambda now: ca.norm_2(now.joint_contact("forearm").force), limited.t)
    assert pressed.max() == pytest.approx(0.9 * free, rel=1e-5)
    of_limit = co.optimality.sensitivity(limited, "elbow")["elbow upper"]
    rows = [limited.nlp.row_name(k, limited.x).startswith("elbow") for k in range(limited.nlp.n_g)]
    assert of_limit.cost == pytest.approx(-limited.multipliers["g"][rows].sum(), rel=1e-3)
    assert of_limit.cost < 0.0
    with pytest.warns(
        co.support.InputWarning, match=r"reaction of 'forearm' is the net force.*joint_contact\('forearm'"
    ):
        solution.evaluate(lambda now: now.reaction("forearm").force, T)


def test_a_problem_with_its_parts_statements_as_its_own_keeps_their_pull(solved):
    """As do programs for sensitivities, relaxed limits and arcs."""
    part, _ = solved
    problem = moving(part)
    restated = problem.restated(problem.statements)
    assert [part.name for part in restated.parts] == ["stated parts"]
    assert [signal.name for signal in restated.part_signals] == [signal.name for signal in problem.part_signals]
    forces = []
    for same in (problem, restated):
        now = same.instant
        slots = [now.q, now.qd, now.qdd, now.activation]
        function = ca.Function("contact", slots, [now.joint_contact("forearm").force])
        forces.append(function([-1.1, 0.1, 1.0, 0.0], 0.5, 1.0, 0.3).full())
    np.testing.assert_array_equal(*forces)


def test_without_muscles_across_it_is_the_reaction():
    """A muscle within a body and one that ends above it pull nothing across a joint."""
    part = muscles()
    deltoid = [muscle for muscle in part.muscles if muscle.name == "deltoid"]
    alone = replace(part, muscles=deltoid, reserves={**RESERVES, "elbow": 20.0})
    solution = co.solve(moving(alone), co.Radau(20), progress=False, tol=None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        net, without = solution.evaluate(lambda now: (now.reaction("hand").force, now.joint_contact("hand").force), T)
    np.testing.assert_array_equal(net, without)


def test_fitted_lengths_pull_along_the_path_that_they_were_fitted_to(solved):
    part, _ = solved
    ranges = {"shoulder": (-1.3, -0.9), "turn": (0.0, 0.3), "elbow": (0.5, 1.5), "wrist": (-0.05, 0.05)}
    chosen = [muscle for muscle in part.muscles if muscle.name in ("biceps", "within")]
    fitted = co.muscles.fit_lengths(part.model, chosen, ranges)
    tension = 100.0
    pulls = []
    for group in (chosen, fitted):
        crossing = co.muscles.Muscles(part.model, group, tendons="compliant", reserves=RESERVES)
        q = ca.SX.sym("q", 4)
        now = replace(moving(crossing).instant, q=q)
        pulled = crossing.pull_across(now, "forearm")
        assert pulled is not None
        known = ca.substitute(ca.vertcat(*pulled), now.tension, ca.DM([tension / 800.0] * 2))
        pulls.append(ca.Function("pull", [q], [known])([-1.1, 0.1, 1.0, 0.0]).full())
    np.testing.assert_array_equal(*pulls)
    assert np.linalg.norm(pulls[0][:3]) == pytest.approx(tension, rel=1e-9)  # of the biceps alone


def test_a_length_without_a_path_is_named(solved):
    part, _ = solved
    samples = np.random.default_rng(0).uniform(0.5, 1.5, (200, 1))
    line = co.muscles.fit_samples(["elbow"], samples, 0.3 - 0.03 * samples[:, 0], 0.03 + 0.0 * samples)
    bare = [replace(part.muscles[0], path=line), replace(part.muscles[1], path=lambda now: 0.3 - 0.02 * now.q[2])]
    problem = moving(replace(part, muscles=bare))
    with pytest.raises(co.InputError, match=r"muscles biceps, long cross the joint of 'forearm'.*fit_lengths"):
        problem.instant.joint_contact("forearm")
    assert problem.instant.pull_across is not None
    assert problem.instant.pull_across(problem.instant, "hand") is None
    mended = replace(bare[0], path=replace(line, line=part.muscles[0].path))
    assert (
        replace(part, muscles=[mended]).pull_across(moving(replace(part, muscles=[mended])).instant, "forearm")
        is not None
    )


def test_joints_on_quaternions_and_couplings_are_crossed_as_others():
    """A floating base, a ball joint and a knee that slides as it bends, in random states, with loads by hand."""
    base = co.floating("base", mass=5.0, inertia=(0.1, 0.2, 0.15))
    hip = co.placement((0.1, -0.2, 0.05), (0.3, 0.1, 0.0))
    thigh = co.spherical("thigh", hip, parent="base", mass=3.0, com=(0.0, -0.2, 0.0), inertia=(0.05, 0.01, 0.05))
    slide = co.Body("slide", co.prismatic((1, 0, 0), co.placement((0.0, -0.4, 0.0)), name="slides"), "thigh")
    shank = co.Body("shank", co.revolute((0, 0, 1), name="knee"), "slide", 2.0, (0.0, -0.2, 0.0), (0.03, 0.01, 0.03))
    follows = {"slides": co.model.Coupling("knee", curve=co.model.Polynomial((0.0, 0.01, 0.005)))}
    model = co.Model([*base, *thigh, slide, shank], couplings=follows)
    places = [("base", (0.1, 0.05, 0.1)), ("thigh", (0.03, -0.38, 0.0)), ("shank", (0.04, -0.05, 0.02))]
    path = co.muscles.MusclePath([V(*place) for place in places])
    part = co.muscles.Muscles(model, [co.muscles.Muscle("rectus", path, 1000.0, 0.4, 0.3)], activation="instantaneous")
    now = co.Problem(model, 1.0, co.integral(lambda now: ca.sumsqr(now.activation)), parts=[part]).instant
    bodies = ("thigh", "slide", "shank")
    slots = [now.q, now.qd, now.qdd, now.activation]
    function = ca.Function("contact", slots, [ca.vertcat(*now.joint_contact(body)) for body in bodies])
    tension = ca.Function("tension", slots, [part.tendon_forces(now)])
    rng, evaluator = np.random.default_rng(4), co.Evaluator(model)
    for _ in range(3):
        q = model.of_unit_length(rng.normal(size=model.n_q))
        state = [q, 0.3 * rng.normal(size=model.n), rng.normal(size=model.n)]
        force = float(tension(*state, 0.5))
        points = [np.ravel(evaluator.point(*place, q=q).position) for place in places]
        loads = []
        for (one, start), (two, end) in pairwise(zip(places, points, strict=True)):
            along = force * (end - start) / np.linalg.norm(end - start)
            loads += [co.Load(one[0], along, point=one[1]), co.Load(two[0], -along, point=two[1])]
        by_hand = co.Evaluator(model, loads=loads).reactions(*state)
        for body, found in zip(bodies, function(*state, 0.5), strict=True):
            column = model.index(body)
            expected = np.append(by_hand.force[column], by_hand.moment[column])
            np.testing.assert_allclose(found.full().ravel(), expected, atol=1e-9 * max(force, 1.0))
    lengths = replace(part, muscles=[replace(part.muscles[0], path=lambda now: 0.5 + 0.03 * now.q[-1])])
    now = co.Problem(model, 1.0, co.integral(lambda now: ca.sumsqr(now.activation)), parts=[lengths]).instant
    assert now.pull_on("thigh") is None
    for body in ("slide", "shank"):
        with pytest.raises(co.InputError, match=f"muscles rectus cross the joint of '{body}'"):
            now.joint_contact(body)


class Strap(co.problem.Part):
    """A user-defined strap that pulls the forearm towards the upper arm across the elbow with 100 N."""

    name = "strap"

    def pull_across(self, now: co.problem.Instant, body: str) -> co.problem.Reaction | None:
        if body != "forearm":
            return None
        to_upper = now.rotation("forearm").T @ now.rotation("upper") @ ca.vertcat(-100.0, 0.0, 0.0)
        return co.problem.Reaction(to_upper, ca.SX(3, 1))


def test_user_defined_parts_pull_as_well(solved):
    part, _ = solved
    problem = moving(part)
    with_strap = replace(problem, parts=[*problem.parts, Strap()])
    contacts = []
    for same in (problem, with_strap):
        now = same.instant
        slots = [now.q, now.qd, now.qdd, now.activation]
        function = ca.Function("contact", slots, [now.joint_contact("forearm").force, now.joint_contact("hand").force])
        contacts.append(function([-1.1, 0.1, 0.0, 0.0], 0.5, 1.0, 0.3))
    np.testing.assert_allclose((contacts[1][0] - contacts[0][0]).full().ravel(), [100.0, 0.0, 0.0], atol=1e-9)
    np.testing.assert_array_equal(contacts[0][1], contacts[1][1])
