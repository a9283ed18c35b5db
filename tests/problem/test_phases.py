"""Motions in phases: the same optimum as in one piece, links, impacts, contents of an answer, wrong calls."""

from itertools import pairwise
from typing import Any

import casadi as ca
import numpy as np
import pinocchio
import pytest

import colloc as co
from colloc.models.chains.serial import planar_chain
from colloc.models.two_link import two_link
from tests.support.problems import effort, everything, time_optimal
from tests.support.random_trees import numbers, pinocchio_tree, random_state, random_tree
from tests.transcription.test_nlp import compare_with_automatic_differentiation

pin: Any = pinocchio  # has no type stubs
CURVES = [co.Radau(12, degree=5), co.HermiteSimpson(60), co.BSpline(20, degree=6)]


def solve(problem: Any, curve: Any = None, **given: Any) -> Any:
    return co.solve(problem, curve, compile=False, progress=False, **given)


def reach(*more: Any, **given: Any) -> co.Problem:
    ends = [co.initial(q=(0, 0), qd=0), co.final(q=(1, 0.5), qd=0)]
    return co.Problem(two_link(), 1.0, co.integral(effort), [*ends, *more], **given)


def pieces(*times: float, **given: Any) -> co.Phases:
    """`reach` cut at some times."""
    edges, phases = [0.0, *times, 1.0], {}
    for k, (a, b) in enumerate(pairwise(edges)):
        ends = [co.initial(q=(0, 0), qd=0)] if k == 0 else []
        ends += [co.final(q=(1, 0.5), qd=0)] if b == 1.0 else []
        phases[f"part {k}"] = co.Problem(two_link(), b - a, co.integral(effort), ends)
    return co.Phases(phases, **given)


# -- the same optimum as in one piece --------------------------------------------------------------------------------


@pytest.mark.parametrize("curve", CURVES, ids=str)
@pytest.mark.parametrize("times", [(0.37,), (0.2, 0.31, 0.9)], ids=str)
def test_a_motion_in_pieces_is_the_same_motion(curve, times):
    whole, cut = solve(reach(), curve), solve(pieces(*times), curve)
    assert cut.status is co.solver.Status.SOLVED
    assert cut.cost == pytest.approx(whole.cost, rel=1e-9)
    t = np.linspace(0, 1, 40)
    np.testing.assert_allclose(cut.at(t).q, whole.at(t).q, atol=1e-6)
    np.testing.assert_allclose(cut.at(t).tau, whole.at(t).tau, atol=1e-3)


def test_free_durations_of_phases_add_up_to_the_given_one():
    phases = {
        "first": co.Problem(two_link(), co.Free(0.1, 0.8), co.integral(effort), [co.initial(q=(0, 0), qd=0)]),
        "second": co.Problem(two_link(), co.Free(0.1, 0.8), co.integral(effort), [co.final(q=(1, 0.5), qd=0)]),
    }
    cut = solve(co.Phases(phases, duration=1.0), co.Radau(12, degree=5))
    assert cut.duration == pytest.approx(1.0, abs=1e-12)
    assert cut.cost == pytest.approx(solve(reach(), CURVES[0]).cost, rel=1e-9)


def test_joints_held_in_two_phases_are_not_linked():
    """Nothing moves them, whatever the durations: what is left of such a row is rounding."""
    held = co.bounds(q={"elbow": (0.3, 0.3)})
    spans = [co.Free(0.1, 0.8), co.Free(0.1, 0.8)]
    ends = [co.initial(q={"shoulder": 0.0}, qd=0.0), co.final(q={"shoulder": 1.0}, qd=0.0)]
    phases = {f"part {k}": co.Problem(two_link(), spans[k], co.integral(effort), [held, ends[k]]) for k in range(2)}
    sequence = co.Phases(phases, [co.connect("part 0", "part 1", qdd=True)], duration=1.0)
    nlp = co.transcribe(sequence, co.BSpline(3, degree=4), compile=False)
    (link,) = (block for block in nlp.constraints if block.name == "part 0 to part 1")
    assert link.rows.labels == tuple(f"part 0 to part 1, {quantity}[shoulder]" for quantity in ("q", "qd", "qdd"))
    cut = solve(sequence, co.Radau(12, degree=5))
    assert cut.status is co.solver.Status.SOLVED
    assert cut.duration == pytest.approx(1.0, abs=1e-12)


def test_time_is_minimised_over_all_phases():
    problem = time_optimal()
    limits = co.bounds(tau=(-10.0, 10.0))
    first = co.Problem(two_link(), co.Free(0.02, 2.0), subject_to=[co.initial(q=(0.0, -2.0), qd=0.0), limits])
    second = co.Problem(two_link(), co.Free(0.02, 2.0), subject_to=[co.final(q=(1.0, -1.0), qd=0.0), limits])
    # Where the arm is cut no duration says: half of the time each.
    half = co.boundary(lambda phases: phases["first"].duration - phases["second"].duration, equals=0.0)
    cut = solve(co.Phases({"first": first, "second": second}, [half], co.duration()), tol=1e-4)
    assert cut.status is co.solver.Status.SOLVED
    assert cut.duration == pytest.approx(0.391854539516, rel=1e-4)
    assert cut.cost == pytest.approx(solve(problem, tol=1e-4).cost, rel=1e-4)
    assert len(cut.rounds) > 1
    assert cut.rounds[-1].cost == cut.cost
    below = co.plot.rounds(cut).axes[1]
    assert [label.get_text() for label in below.get_yticklabels()] == ["first", "second"]
    assert "fraction of each phase" in below.get_ylabel()


@pytest.mark.parametrize(
    ("curve", "abs"), [(co.Radau(4, degree=7), 1e-11), (co.Radau(6, degree=5), 1e-9), (co.BSpline(4, degree=9), 1e-9)]
)
def test_arcs_between_switches_end_in_the_time_optimum(curve, abs):
    """Torques at their limits on four arcs of free duration: the exact time by the maximum principle."""
    times = [0.0, 0.0474, 0.196, 0.2367, 0.393]
    signs = [(1, -1), (1, 1), (-1, 1), (-1, -1)]
    ends = {0: co.initial(q=(0.0, -2.0), qd=0.0), 3: co.final(q=(1.0, -1.0), qd=0.0)}
    arcs, postures = {}, [(0.0, -2.0), (0.0, -2.0), (0.6, -2.0), (0.8, -1.7), (1.0, -1.0)]
    for k, (s, e) in enumerate(signs):
        held = co.bounds(tau={"shoulder": (10 * s, 10 * s), "elbow": (10 * e, 10 * e)})
        span = co.Free(0.01, 0.5, times[k + 1] - times[k])
        arcs[f"arc {k}"] = co.Problem(two_link(), span, subject_to=[held, *([ends[k]] if k in ends else [])])
    guess = {f"arc {k}": co.line(a, b) for k, (a, b) in enumerate(pairwise(postures))}
    found = solve(co.Phases(arcs, minimize=co.duration()), curve, guess=guess, solver=co.Ipopt(tol=1e-13))
    assert found.status is co.solver.Status.SOLVED
    assert found.duration == pytest.approx(0.391854539516, abs=abs)
    assert found.violation < 1e-4


# -- the program ------------------------------------------------------------------------------------------------------


def full() -> co.Phases:
    """One of everything, twice, with unlike curves and all kinds of links."""
    problem = everything()
    slack = co.State("level", rate=lambda now: now.tau[0] - now.level, lower=-50.0, upper=50.0)
    first = co.Problem(
        problem.model, co.Free(0.2, 3.0, 0.8), problem.minimize, [*problem.subject_to[:1], *problem.subject_to[2:5]],
        [*problem.unknowns, slack], problem.parameters, problem.loads,
    )  # fmt: skip
    second = co.Problem(
        problem.model, 0.7, problem.minimize, problem.subject_to[1:5], [*problem.unknowns, slack],
        problem.parameters, problem.loads,
    )  # fmt: skip
    across = co.boundary(
        lambda phases: phases["go"].end.tau[0] * phases["on"].duration + phases["on"].start.level * phases["go"].end.t,
        lower=-90.0, upper=90.0, name="across",
    )  # fmt: skip
    end = co.final_cost(lambda phases: ca.sumsqr(phases["on"].end.q - phases["go"].start.q) * phases["go"].duration)
    back = co.connect("on", "go", q=False, joints={"base": "base", "slide": ("slide", -1.0)})
    return co.Phases({"go": first, "on": second}, [across, back], co.duration() + 0.3 * end, co.Free(0.9, 2.0))


@pytest.mark.parametrize("curve", [co.Radau(3), {"go": co.BSpline(4), "on": co.HermiteSimpson(3)}], ids=str)
def test_derivatives_equal_automatic_differentiation_of_the_whole_graph(curve):
    compare_with_automatic_differentiation(full(), curve, [1.5])


def test_rows_and_variables_are_named_with_their_phase():
    nlp = co.transcribe(full(), co.BSpline(4))
    x = np.ones(nlp.n_x)
    names = [nlp.row_name(row, x) for row in range(nlp.n_g)]
    assert "go: tau[slide] at t = 1 s" in names
    assert "go to on, q[arm]" in names
    assert "go to on, level" in names
    assert "on to go, qd[slide]" in names
    assert "payload of go and on" in names
    assert "across" in names
    assert "duration" in names
    assert nlp.variable_name(nlp.n_x - 1, x) == "on: payload"
    assert set(nlp.terms(x, np.array([1.5]))) >= {"go: duration", "on: effort", "duration", "final cost"}
    assert "go: q" in repr(nlp)


# -- links ------------------------------------------------------------------------------------------------------------


def test_states_signals_and_constants_go_on_as_stated():
    mass = co.Unknown("payload", lower=0.1, upper=2.0, guess=1.0, constant=True)
    arm = two_link()
    tip = co.Body("tip", co.fixed(), arm.bodies[-1].name, mass=mass.symbol)
    loaded = co.Model([*arm.bodies, tip], gravity=arm.gravity)
    motor = co.State("force", 2, rate=lambda now: (now.command - now.force) / 0.05)
    drive = co.path(lambda now: now.tau - now.force, equals=[0.0, 0.0], name="drive")

    def phase(*ends: Any) -> co.Problem:
        cost = co.integral(effort) + 1e-3 * co.integral(lambda now: ca.sumsqr(now.command))
        cost += co.integral(lambda now: (now.payload - 0.7) ** 2)
        return co.Problem(loaded, 0.5, cost, [*ends, drive], [co.Unknown("command", 2), motor, mass])

    first, second = phase(co.initial(q=(0, 0), qd=0)), phase(co.final(q=(1, 0.5), qd=0))
    found = solve(co.Phases({"first": first, "second": second}), co.Radau(8, degree=4))
    assert found.status is co.solver.Status.SOLVED
    one, two = found["first"], found["second"]
    np.testing.assert_allclose(one.at(0.5).force, two.at(0.0).force, atol=1e-8)
    np.testing.assert_allclose(one.constants["payload"], two.constants["payload"], atol=1e-9)
    np.testing.assert_allclose(found.at([0.49, 0.51]).signals["force"][0], one.at(0.49).force, atol=1e-12)
    whole = co.Problem(
        loaded, 1.0, first.minimize,
        [co.initial(q=(0, 0), qd=0), co.final(q=(1, 0.5), qd=0), drive], [co.Unknown("command", 2), motor, mass],
    )  # fmt: skip
    assert found.cost == pytest.approx(solve(whole, co.Radau(16, degree=4)).cost, rel=1e-6)
    assert co.verify(found).forward_error < 1e-4


def test_common_states_are_linked_in_the_order_of_the_later_phase():
    """Multipliers of saved motions depend on the order of rows, which must not depend on hashes of names."""
    names = ["fuel", "heat", "wear", "charge", "dust", "noise"]
    states = [co.State(name, rate=lambda now: now.q[0]) for name in names]
    phases = co.Phases({"a": reach(unknowns=states), "b": reach(unknowns=states[::-1])})
    labels = phases.rows["a to b"].rows.labels
    assert labels[4:] == tuple(f"a to b, {name}" for name in names[::-1])


def test_a_cycle_may_be_its_own_mirror_image():
    """A pendulum with a cart that swings from side to side: the solve finds half a period."""
    chain = planar_chain(2)
    one, two = chain.joint_names
    mirrored = co.connect("half", "half", joints={one: (one, -1.0), two: (two, -1.0)})
    half = co.Problem(chain, 0.6, co.integral(effort), [co.at(0.0, lambda now: now.q[0] + 2.0, equals=0.0)])
    found = solve(co.Phases({"half": half}, [mirrored]), co.Radau(20, degree=5))
    assert found.status is co.solver.Status.SOLVED
    np.testing.assert_allclose(found.at(0.0).q, -found.at(0.6).q, atol=1e-8)
    np.testing.assert_allclose(found.at(0.0).qd, -found.at(0.6).qd, atol=1e-7)


def test_joints_apart_may_jump_while_their_velocities_go_on():
    chain = planar_chain(2)
    one, two = chain.joint_names
    jumping = co.connect("turn", "turn", joints={one: one, two: two}, jumps=[one])
    turn = co.Problem(chain, 0.6, co.integral(effort), [co.boundary(lambda a, b: b.q[0] - a.q[0] - 1.0, equals=0.0)])
    found = solve(co.Phases({"turn": turn}, [jumping]), co.Radau(20, degree=5))
    start, end = found.at(0.0), found.at(0.6)
    assert end.q[0] - start.q[0] == pytest.approx(1.0, abs=1e-8)
    assert end.q[1] == pytest.approx(start.q[1], abs=1e-8)
    np.testing.assert_allclose(start.qd, end.qd, atol=1e-7)


def test_phases_of_unlike_mechanisms_are_joined_by_name():
    """An arm that takes up a load: one joint more after than before."""
    arm, longer = planar_chain(2), planar_chain(3)
    names, all_names = arm.joint_names, longer.joint_names
    joints = dict(zip(all_names, names, strict=False))
    first = co.Problem(arm, 0.5, co.integral(effort), [co.initial(q=(-1.5, 0.2), qd=0)])
    second = co.Problem(
        longer, 0.5, co.integral(effort), [co.final(q=(-1.0, 0.2, 0.1), qd=0), co.initial(q={all_names[2]: 0.3})]
    )
    found = solve(
        co.Phases({"first": first, "second": second}, [co.connect("first", "second", joints=joints)]),
        co.Radau(20, degree=5),
    )
    np.testing.assert_allclose(found["first"].at(0.5).q, found["second"].at(0.0).q[:2], atol=1e-9)
    assert found.evaluate(lambda now: now.q[0], [0.2, 0.7]).shape == (2,)
    assert found.error.joints == all_names
    with pytest.raises(co.InputError, match="different joints"):
        found.at([0.2, 0.7])
    with pytest.raises(co.InputError, match="different joints"):
        co.plot.joints(found)


# -- impacts ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(200))
def test_impacts_conserve_what_they_should(seed):
    """Velocities and impulses of random trees against Pinocchio's mass matrices and Jacobians."""
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, virtual=False)
    hit = tree.bodies[int(rng.integers(len(tree.bodies)))].name
    where, e = rng.normal(size=3), float(rng.choice([0.0, rng.uniform(0, 1), 1.0]))
    state, other = random_state(rng, tree), pinocchio_tree(tree)
    data = other.model.createData()
    q = other.into(state.q)
    M = pin.crba(other.model, data, q).reshape(tree.n, tree.n)
    M = np.triu(M) + np.triu(M, 1).T
    frame = pin.Frame(
        "hit",
        other.joints[tree.index(hit)],
        other.offsets[tree.index(hit)] * pin.SE3(np.eye(3), where),
        pin.FrameType.OP_FRAME,
    )
    other.model.addFrame(frame)
    data = other.model.createData()
    jacobian = pin.computeFrameJacobian(other.model, data, q, other.model.nframes - 1, pin.LOCAL_WORLD_ALIGNED)
    J = jacobian.reshape(6, -1)[:3]
    axes = [k for k in range(3) if np.linalg.norm(J[k]) > 1e-3]
    while axes and (len(axes) > tree.n or np.linalg.cond(J[axes]) > 1e3):
        axes.pop()
    if not axes:
        pytest.skip("nothing can be hit there")
    J, before = J[axes], other.into(state.qd)
    inverse = np.linalg.inv(M)
    p = np.linalg.solve(J @ inverse @ J.T, -(1 + e) * J @ before)
    after = before + inverse @ J.T @ p
    letters = "".join("xyz"[k] for k in axes)
    marked = co.Model(tree.bodies, gravity=tree.gravity, name=tree.name, markers={"toe": (hit, tuple(where))})
    still = co.Problem(marked, 1.0)
    sequence = co.Phases({"a": still, "b": still}, [co.impact("a", "b", {"toe": letters}, restitution=e)])
    across = sequence.rows["impact from a to b"]
    assert [tuple(point) for point in across.points] == [("a", "end"), ("b", "start")]
    slots = [np.zeros(across.function.size1_in(k)) for k in range(across.function.n_in())]
    fields = co.problem.Slots._fields
    for offset, velocity in ((0, state.qd), (len(fields), other.back(after))):
        slots[offset + fields.index("q")], slots[offset + fields.index("qd")] = state.q, velocity
    slots[len(fields) + fields.index("constants")] = p
    rows = numbers(across.function(*slots))
    np.testing.assert_allclose(rows, 0.0, atol=1e-9 * max(1.0, np.abs(M).max() * np.abs(after).max()))
    # After an impact nothing sinks in, and no energy is made.
    np.testing.assert_allclose(J @ after, -e * (J @ before), atol=1e-9 * max(1.0, np.abs(before).max()))
    assert after @ M @ after <= before @ M @ before * (1 + 1e-9)


def ball() -> co.Model:
    """A rigid rod that flies in the plane, with a marker at one end."""
    bodies = [
        co.Body("x", co.prismatic((1, 0, 0))),
        co.Body("y", co.prismatic((0, 1, 0)), "x"),
        co.Body("rod", co.revolute((0, 0, 1)), "y", mass=2.0, inertia=(0.0, 0.1, 0.1)),
    ]
    return co.Model(bodies, markers={"end": ("rod", (0.5, 0.0, 0.0))}, name="rod")


@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_a_rod_that_hits_the_ground_keeps_its_momentum_about_the_contact(e):
    free = co.bounds(tau=(0.0, 0.0))
    touch = co.at(1.0, lambda now: now.marker("end").position[1], equals=0.0)
    fall = co.Problem(ball(), co.Free(0.1, 2.0, 0.4), subject_to=[co.initial(q=(0, 1, 0.3), qd=(1, 0, 2)), free, touch])
    after = co.Problem(ball(), 0.1, subject_to=[free])
    sequence = co.Phases({"fall": fall, "after": after}, [co.impact("fall", "after", {"end": "xy"}, restitution=e)])
    found = solve(sequence, co.Radau(6, degree=4), guess={"fall": co.line((0, 1, 0.3), (0.4, 0.2, 1.1))})
    assert found.status is co.solver.Status.SOLVED
    one, two = found["fall"].at(found["fall"].duration), found["after"].at(0.0)
    np.testing.assert_allclose(one.q, two.q, atol=1e-7)
    arm = 0.5 * np.array([np.cos(one.q[2]), np.sin(one.q[2])])

    def about_contact(qd: np.ndarray) -> float:
        return 0.1 * qd[2] + 2.0 * (-arm[0] * qd[1] + arm[1] * qd[0])

    assert about_contact(two.qd) == pytest.approx(about_contact(one.qd), abs=1e-6)
    speed = [qd[:2] + qd[2] * np.array([-arm[1], arm[0]]) for qd in (one.qd, two.qd)]
    np.testing.assert_allclose(speed[1], -e * speed[0], atol=1e-6)
    jump = two.qd - one.qd
    np.testing.assert_allclose(found["after"].constants["impulse"], 2.0 * jump[:2], atol=1e-6)


# -- contents of an answer ---------------------------------------------------------------------------------------------


def test_a_solution_reads_as_one_motion_and_by_phase():
    found = solve(pieces(0.4), co.Radau(6, degree=4))
    assert list(found.phases) == ["part 0", "part 1"]
    assert found.start_times == {"part 0": 0.0, "part 1": pytest.approx(0.4)}
    assert found.duration == pytest.approx(1.0)
    np.testing.assert_allclose(found.at([0.9, 0.1]).q, [found["part 1"].at(0.5).q, found["part 0"].at(0.1).q])
    np.testing.assert_allclose(found.at(0.4).qdd, found["part 1"].at(0.0).qdd)
    assert (np.diff(found.t) >= 0).all()
    assert np.count_nonzero(np.diff(found.t) == 0) == 1
    assert found.q.shape == (found.t.size, 2)
    assert found.evaluate(lambda now: now.q.T, 0.9).shape == (1, 2)
    assert found.mesh_times[0] == 0
    assert found.mesh_times[-1] == pytest.approx(1.0)
    assert found.reactions([0.1, 0.9]).force.shape == (2, 2, 3)
    assert "part 1: 0.6 s" in repr(found).replace("  ", "")
    assert {v.row.split(":")[0] for v in found.violations_at([0.9])} == {"part 1"}
    of_part = {f"part 1: {v.row}": v.amount for v in found["part 1"].violations_at(found["part 1"].t)}
    assert {v.row: v.amount for v in found.violations_at() if v.row in of_part} == of_part
    assert {"part 0 to part 1, q[elbow]", "part 0 to part 1, qd[elbow]"} <= {v.row for v in found.violations}


def test_errors_and_limits_are_reported_by_phase():
    phases = {
        "first": co.Problem(
            two_link(), co.Free(0.1, 0.8), co.integral(effort),
            [co.initial(q=(0, 0), qd=0), co.bounds(qd=(-0.01, 0.01))],
        ),
        "second": co.Problem(
            two_link(), co.Free(0.1, 0.8), co.integral(effort),
            [co.final(q=(1, 0.5), qd=0), co.bounds(qd=(-0.01, 0.01))],
        ),
    }  # fmt: skip
    with pytest.raises(co.SolveError, match=r"first: |second: |first to second") as caught:
        solve(co.Phases(phases, duration=0.2), co.Radau(4), solver=co.Ipopt(max_iter=200))
    assert isinstance(caught.value.solution, co.solution.PhasesSolution)


def test_phases_that_cost_nothing_are_not_called_coarse():
    first = co.Problem(two_link(), 0.4, subject_to=[co.initial(q=(0, 0), qd=0)])
    second = co.Problem(two_link(), 0.6, co.integral(effort), [co.final(q=(1, 0.5), qd=0)])
    found = solve(co.Phases({"first": first, "second": second}), co.Radau(10, degree=5))
    assert found["first"].cost == 0.0
    assert found["first"].status is not co.solver.Status.FAILED


def test_a_solution_is_a_guess_for_the_same_phases_and_others():
    sequence = pieces(0.4)
    found = solve(sequence, co.Radau(6, degree=4))
    again = solve(sequence, co.Radau(6, degree=4), guess=found)
    assert again.iterations <= 1
    finer = solve(sequence, co.BSpline(30), guess=found)
    assert finer.cost == pytest.approx(found.cost, rel=1e-4)
    whole = solve(reach(), co.Radau(12, degree=5))
    assert solve(sequence, co.Radau(6, degree=4), guess=whole).cost == pytest.approx(found.cost, rel=1e-9)
    for guess in (co.line((0, 0), (1, 0.5)), lambda t: (t, 0.5 * t), {"part 1": co.line((0.3, 0.3), (1, 0.5))}):
        assert solve(sequence, co.Radau(6, degree=4), guess=guess).cost == pytest.approx(found.cost, rel=1e-9)


def test_parameters_are_those_of_all_phases():
    goal = co.Parameter("goal", 1.0)
    first = co.Problem(two_link(), 0.5, co.integral(effort), [co.initial(q=(0, 0), qd=0)])
    second = co.Problem(
        two_link(), 0.5, co.integral(effort),
        [co.final(q={"elbow": 0.5}, qd=0), co.at(1.0, lambda now: now.q[0] - now.goal, equals=0.0)], parameters=[goal],
    )  # fmt: skip
    nlp = co.transcribe(co.Phases({"first": first, "second": second}), co.Radau(6))
    for value in (1.0, 0.3):
        found = co.solve(nlp, parameters={"goal": value}, progress=False)
        assert found.at(1.0).q[0] == pytest.approx(value, abs=1e-8)


def test_default_curves_are_refined_phase_by_phase():
    found = solve(pieces(0.4))
    assert found.status is co.solver.Status.SOLVED
    assert float(found.error) < 1e-3
    assert co.refine(found, 1e-6).cost == pytest.approx(solve(reach(), tol=1e-6).cost, rel=1e-6)


# -- wrong calls ------------------------------------------------------------------------------------------------------

LEVEL = co.State("level", rate=lambda now: now.q[0])


def pull(*names: str) -> co.State:
    return co.State("pull", names=names, rate=lambda now: -now.pull)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: co.Phases({}), "phases must name one Problem or more"),
        (lambda: co.Phases(None), "phases"),  # pyright: ignore[reportArgumentType]
        (lambda: co.Phases({"a": 3}), "phase 'a' must be a Problem"),  # pyright: ignore[reportArgumentType]
        (lambda: co.Phases({"": reach()}), "name of a phase must be a non-empty string"),
        (lambda: co.Phases({"a": reach()}, [co.connect("a", "flight")]), "no phase named 'flight'"),
        (lambda: co.Phases({"a": reach()}, [co.bounds(q=(0, 1))]),  # pyright: ignore[reportArgumentType]
         "can contain co.connect, co.impact and co.boundary"),
        (lambda: co.Phases({"a": reach(), "b": co.Problem(co.Model.empty(), 1.0)}), "have different joints"),
        (lambda: co.Phases({"a": reach(unknowns=[pull("l", "r")]), "b": reach(unknowns=[pull("r", "l")])}),
         r"state 'pull' of phases 'a' and 'b' has different components, pull\[l\], pull\[r\] and pull\[r\], pull\[l\]"),
        (lambda: co.Phases({"a": reach(unknowns=[pull("l")]), "b": reach(unknowns=[pull("r", "l")])}),
         "has different components"),
        (lambda: co.Phases({"a": reach()}, [co.connect("a", "a", joints={"hip": "elbow"})]), "phase 'a' named 'hip'"),
        (lambda: co.Phases({"a": reach()}, [co.connect("a", "a", joints={"elbow": "hip"})]), "phase 'a' named 'hip'"),
        (lambda: co.Phases({"a": reach()}, minimize=co.integral(effort)), "is an integral, which belongs"),
        (lambda: co.Phases({"a": reach()}, minimize=3), "minimize must be a Cost"),  # pyright: ignore[reportArgumentType]
        (lambda: co.Phases({"a": reach()}, duration=-1), "duration must be"),
        (lambda: co.Phases({"a": reach()}, [co.boundary(lambda e: e["b"].end.q, equals=0.0)]), "no phase named 'b'"),
        (lambda: co.Phases({"a": reach()}, [co.impact("a", "a", {"toe": "xy"})]), "no marker"),
        (lambda: co.impact("a", "b", {"toe": "xw"}), "must be some of the letters xyz"),
        (lambda: co.impact("a", "b", {}), "an impact needs a marker"),
        (lambda: co.impact("a", "b", {"toe": "x"}, restitution=2.0), r"restitution must lie in \[0, 1\]"),
        (lambda: co.connect("a", "b", joints={"x": 3}), "joint of a connection"),
        (lambda: co.connect("a", "b", jumps="x", q=1), "must be"),  # pyright: ignore[reportArgumentType]
        (lambda: co.transcribe(pieces(0.4), {"part 0": co.Radau(4)}), "an entry for every phase, missing: part 1"),
        (lambda: co.transcribe(pieces(0.4), {"part 2": co.Radau(4)}), "no phase named 'part 2'"),
        (lambda: co.transcribe(pieces(0.4), co.BSpline(5, knots="free")), "phase 'part 0' must have fixed knots"),
        (lambda: solve(pieces(0.4), co.Radau(4), guess={"part 2": None}), "no phase named 'part 2'"),
        (lambda: solve(reach(), co.Radau(4), guess={"part 2": None}), "guess must be a single motion"),
        (lambda: solve(pieces(0.4), co.Radau(4), guess=3), "guess must be"),
        (lambda: solve(pieces(0.4), co.Radau(4))["flight"], "no phase named 'flight'"),
    ],
)  # fmt: skip
def test_wrong_calls_say_what_is_wrong(call, message):
    with pytest.raises(co.InputError, match=message):
        call()


def test_slips_in_functions_across_phases_are_explained():
    for fn, message in (
        (lambda phases: phases["a"].finish.q, "no quantity of a phase's ends named 'finish'"),
        (lambda phases: phases.q, r"take one by name, as in phases\['a'\].end.q"),
    ):
        with pytest.raises(AttributeError, match=message):
            co.Phases({"a": reach()}, [co.boundary(fn, equals=0.0)])


# -- equations that hold in one phase and the next ---------------------------------------------------------------------


def test_an_equation_of_two_phases_is_imposed_once_where_they_meet():
    """A hand on a straight line: the same rows as in one piece but for those at the cut, and the same optimum."""
    chain = planar_chain(3)
    hand = chain.bodies[-1].name

    def line() -> co.problem.Condition:
        return co.path(lambda now: now.point(hand).position[1], equals=0.3, name="line")

    def phases(first: Any, second: Any) -> co.Phases:
        cost = co.integral(effort) + co.integral(lambda now: ca.sumsqr(now.qdd))
        begin = co.Problem(chain, 0.4, cost, [co.at(0.0, lambda now: now.point(hand).position[0], equals=0.4), first])
        end = co.Problem(chain, 0.6, cost, [co.at(1.0, lambda now: now.point(hand).position[0], equals=0.9), second])
        return co.Phases({"first": begin, "second": end})

    one = line()
    curve, guess = co.Radau(8, degree=5), co.line((1.0, -1.0, -1.0), (0.6, -0.6, -0.5))
    once, twice = (co.transcribe(phases(*pair), curve) for pair in ((one, one), (one, line())))
    assert twice.n_g == once.n_g + 2  # position and velocity
    found = co.solve(once, guess=guess, progress=False)
    assert found.status is co.solver.Status.SOLVED
    assert np.linalg.matrix_rank(np.array(once.jac_g(found.x, [])[1])) == once.n_g
    height = found.evaluate(lambda now: now.point(hand).position[1], np.linspace(0, 1, 101))
    np.testing.assert_allclose(height, 0.3, atol=1e-5)


def test_an_impact_may_go_on_as_its_mirror_image():
    """A rod thrown from side to side, which strikes with one end and then with the other."""
    flying = ball()
    marks = {"left": ("rod", (-0.5, 0.0, 0.0)), "right": ("rod", (0.5, 0.0, 0.0))}
    rod = co.Model(flying.bodies, flying.gravity, "rod", marks)
    joints = {"x": ("x", -1.0), "y": ("y", 1.0), "rod": ("rod", -1.0)}
    hop = co.Problem(
        rod, co.Free(0.2, 2.0, 0.6), co.integral(effort),
        [co.bounds(q={"y": (0.0, 2.0)}), co.at(0.5, lambda now: now.q[1], lower=0.5),
         co.at(1.0, lambda now: now.marker("right").position[1], equals=0.0)],
    )  # fmt: skip
    strike = co.impact("hop", "hop", {"left": "y"}, joints=joints, restitution=0.6)
    found = solve(
        co.Phases({"hop": hop}, [strike]), co.Radau(10, degree=4), guess=co.line((0.2, 0.1, 0.2), (-0.2, 0.1, -0.2))
    )
    assert found.status is co.solver.Status.SOLVED
    end, start = found.at(found.duration), found.at(0.0)
    signs = np.array([-1.0, 1.0, -1.0])
    np.testing.assert_allclose(start.q, signs * end.q, atol=1e-7)
    jump, arm = start.qd - signs * end.qd, -0.5 * np.cos(start.q[2])
    impulse = found["hop"].constants["impulse"][0]
    np.testing.assert_allclose(jump, [0.0, impulse / 2.0, arm * impulse / 0.1], atol=1e-6)
    before, after = (qd[1] + arm * qd[2] for qd in (signs * end.qd, start.qd))
    assert after == pytest.approx(-0.6 * before, abs=1e-6)
