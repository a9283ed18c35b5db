"""Statements of user-defined classes work like the library's: nothing depends on their kind."""

import pickle
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.dynamics import kinetic_energy
from colloc.models.two_link import two_link
from colloc.problem import Ends, EndValue, NamedNumber, Statement, TimePoint, Window, bounded
from colloc.problem.rows import no_rows
from colloc.storage.fingerprint import differences, fingerprint

CURVE = co.BSpline(8)
CENTRE, RADIUS = (0.45, -0.15), 0.12  # m; without a statement the hand passes at 0.08 m
START, END = co.initial(q=(0.0, -2.0), qd=0.0), co.final(q=(1.0, -1.0), qd=0.0)
HALFWAY, AT_START, ALL_ALONG, AT_BOTH = TimePoint(0.5), TimePoint(0.0), Window(), Ends()
TORQUES = co.bounds(tau=(-10.0, 10.0))


@dataclass(frozen=True)
class EnergyAt(Statement):
    """Kinetic energy at one time, a number that is the bound of a row."""

    energy: float  # J
    name: str = "kinetic energy"
    where: TimePoint = HALFWAY

    def rows(self, now: co.problem.Instant) -> co.problem.Rows:
        energy = kinetic_energy(now.model, now.q, now.qd)
        return bounded(self.name, energy, self.energy, self.energy, unit="J")


@dataclass(frozen=True)
class KeepsOff(Statement):
    """The hand stays out of a ball all along: a radius, in the function of a row."""

    radius: Any  # m
    centre: tuple[float, float] = CENTRE
    name: str = "keeps off"
    where: Window = ALL_ALONG

    @property
    def numbers(self) -> tuple[NamedNumber, ...]:
        return (NamedNumber("radius", "m", self.radius),)

    def rows(self, now: co.problem.Instant) -> co.problem.Rows:
        return bounded(self.name, distance(now, self.centre) - self.radius, 0.0, np.inf, scale=0.1, unit="m")


def distance(now: co.problem.Instant, centre: tuple[float, float]) -> ca.SX:
    return ca.norm_2(now.point("elbow").position[:2] - ca.DM(centre))


def effort(now: co.problem.Instant) -> ca.SX:
    return ca.sumsqr(now.tau)


def swing(*statements: Statement, duration: float = 0.6) -> co.Problem:
    return co.Problem(two_link(), duration, co.integral(effort), [START, END, TORQUES, *statements])


def solved(problem: co.Problem | co.Phases, **keywords: Any) -> Any:
    return co.solve(problem, CURVE, progress=False, **keywords)


@pytest.fixture(scope="module")
def clear() -> co.Solution:
    return solved(swing(KeepsOff(RADIUS)))


@pytest.fixture(scope="module")
def energetic() -> co.Solution:
    return solved(swing(EnergyAt(1.5)))


def test_they_are_met(clear: co.Solution, energetic: co.Solution):
    assert clear.evaluate(lambda now: distance(now, CENTRE)).min() == pytest.approx(RADIUS, abs=1e-4)
    energy = energetic.evaluate(lambda now: kinetic_energy(now.model, now.q, now.qd), 0.3)
    assert energy == pytest.approx(1.5, abs=1e-6)
    free = solved(swing())
    assert clear.cost > 1.001 * free.cost
    assert energetic.cost > 1.001 * free.cost
    assert "kinetic energy: 1 row in 1.5 at s = 0.5" in repr(energetic.problem)


@pytest.mark.parametrize(
    ("make", "value", "name"), [(KeepsOff, RADIUS, "radius of keeps off"), (EnergyAt, 1.5, "kinetic energy")]
)
def test_optima_are_differentiated_by_their_numbers(make: Callable[[float], Statement], value: float, name: str):
    """Inside a function or as a bound: the derivative is that between two solves, and of cost and motion alike."""
    table = co.optimality.sensitivity(solved(swing(make(value))), name)
    step = 1e-4
    below, above = (solved(swing(make(value + sign * step))) for sign in (-1, 1))
    assert table[name].value == value
    assert table[name].cost == pytest.approx((above.cost - below.cost) / (2 * step), rel=1e-3)
    moved = (above.at([0.2]).q - below.at([0.2]).q) / (2 * step)
    np.testing.assert_allclose(table.evaluate(lambda now: now.q, name, [0.2]), moved, rtol=1e-2, atol=1e-4)


def test_a_number_inside_is_worth_what_it_is_as_a_bound(clear: co.Solution):
    lower = co.path(lambda now: distance(now, CENTRE), lower=RADIUS, scale=0.1, unit="m", name="bound")
    bound = co.optimality.sensitivity(solved(swing(lower)), "bound")["bound lower"]
    inside = co.optimality.sensitivity(clear, "radius")["radius of keeps off"]
    assert (inside.cost, inside.unit) == (pytest.approx(bound.cost, rel=1e-6), bound.unit)


def test_what_limits_an_answer_is_explained(clear: co.Solution, energetic: co.Solution):
    limits = {limit.row: limit for limit in co.optimality.explain(clear).limits}
    assert (limits["keeps off"].side, limits["keeps off"].unit) == ("lower", "m")
    by_radius = co.optimality.sensitivity(clear, "radius")["radius of keeps off"].cost
    assert limits["keeps off"].gain == pytest.approx(by_radius, rel=1e-3)
    assert any(limit.row == "kinetic energy" for limit in co.optimality.explain(energetic).limits)


@pytest.mark.parametrize(("statement", "name"), [(EnergyAt(500.0), "kinetic energy"), (KeepsOff(0.5), "keeps off")])
def test_failures_name_them_and_what_has_to_give_way(statement: Statement, name: str):
    with pytest.raises(co.SolveError, match=name) as caught:
        solved(swing(statement))
    explanation = co.optimality.explain(caught.value, relax=name)
    assert {relaxation.constraint for relaxation in explanation.relaxations} == {name}
    relaxed = explanation.relaxed()
    assert not isinstance(relaxed, co.Phases)
    before, after = (problem.rows[name].rows for problem in (swing(statement), relaxed))
    assert (before.lower > after.lower).any() or (before.upper < after.upper).any()
    assert solved(relaxed, guess=explanation.motion).outcome.status is co.solver.Status.SOLVED


def test_they_are_saved_and_loaded_by_what_they_say(clear: co.Solution, tmp_path: Path):
    co.save(clear, tmp_path / "clear.npz")
    back = co.load(tmp_path / "clear.npz", swing(KeepsOff(RADIUS)))
    np.testing.assert_array_equal(back.q, clear.q)
    assert back.terms == clear.terms
    with pytest.raises(co.InputError, match="keeps off"):
        co.load(tmp_path / "clear.npz", swing(KeepsOff(0.5)))
    assert differences(fingerprint(clear.problem), fingerprint(swing(KeepsOff(RADIUS)))) == []
    assert differences(fingerprint(swing(EnergyAt(1.0))), fingerprint(swing(EnergyAt(2.0)))) == [
        "constraint 'kinetic energy'"
    ]


@dataclass(frozen=True)
class Slow(Statement):
    """Limits of the joints' velocities, and nothing else."""

    speed: float  # rad/s
    name: str = "slow"
    where: Window = ALL_ALONG

    def rows(self, now: co.problem.Instant) -> co.problem.Rows:
        return no_rows()

    def limits_of(self, quantity: str, model: co.Model) -> tuple[np.ndarray, np.ndarray]:
        lower, upper = super().limits_of(quantity, model)
        return (lower, np.full(upper.size, self.speed)) if quantity == "qd" else (lower, upper)


@dataclass(frozen=True)
class StartsAt(Statement):
    """Positions and velocities at the start, in a row each."""

    q: tuple[float, ...]
    name: str = "initial"
    where: TimePoint = AT_START

    def end_values(self, now: co.problem.Instant) -> list[EndValue]:
        values = [("q", j, value) for j, value in enumerate(self.q)] + [("qd", j, 0.0) for j in range(len(self.q))]
        return [EndValue(row, 0.0, *value) for row, value in enumerate(values)]

    def rows(self, now: co.problem.Instant) -> co.problem.Rows:
        bounds = np.array([*self.q, *np.zeros(len(self.q))])
        return bounded(self.name, ca.vertcat(now.q, now.qd), bounds, bounds)


def test_limits_and_values_at_the_ends_bound_and_fix_variables():
    ours = swing(co.bounds(qd=(-np.inf, 2.6)))
    own = replace(ours, subject_to=[StartsAt((0.0, -2.0)), END, TORQUES, Slow(2.6)])
    programs = [co.transcribe(problem, CURVE) for problem in (ours, own)]
    first, second = ([nlp.lower, nlp.upper, *nlp.bounds_g, nlp.scale_g] for nlp in programs)
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, other)
    a, b = (solved(problem) for problem in (ours, own))
    np.testing.assert_array_equal(a.x, b.x)
    costs = [{d.name: d.cost for d in co.optimality.sensitivity(k, ["qd", "initial"]).derivatives} for k in (a, b)]
    assert costs[1]["qd[elbow] upper"] == pytest.approx(costs[0]["qd[elbow] upper"])
    assert costs[1]["initial, q[elbow]"] == pytest.approx(costs[0]["initial q[elbow]"])
    gains = [[(k.row, k.side, k.bound) for k in co.optimality.explain(k).limits if not k.prescribed] for k in (a, b)]
    assert gains[0] == gains[1]


@dataclass(frozen=True)
class Apart(Statement):
    """Postures at the ends of a motion differ by an amount; in phases those of the first and the last."""

    q: float  # rad
    name: str = "apart"
    where: Ends = AT_BOTH

    def rows(self, *ends: Any) -> co.problem.Rows:
        first, last = ends if len(ends) == 2 else (next(iter(ends[0].values())).start, [*ends[0].values()][-1].end)
        return bounded(self.name, last.q - first.q, self.q, self.q, unit="rad")


def test_between_the_ends_of_a_motion_or_of_phases():
    alone = co.Problem(
        two_link(), 0.6, co.integral(effort), [START, co.at(1.0, lambda now: now.qd, equals=0.0), Apart(0.7)]
    )
    half = co.Problem(two_link(), 0.3, co.integral(effort), [START])
    rest = co.Problem(two_link(), 0.3, co.integral(effort), [co.final(qd=0.0)])
    motions = [solved(alone), solved(co.Phases({"out": half, "on": rest}, [Apart(0.7)]))]
    for motion in motions:
        np.testing.assert_allclose(motion.at([0.6]).q - motion.at([0.0]).q, 0.7, atol=1e-6)
        table = co.optimality.sensitivity(motion, "apart")
        assert set(table.names) == {"apart, q[shoulder]", "apart, q[elbow]"}
    with pytest.raises(co.InputError, match="belong to its Problem"):
        co.Phases({"out": half, "on": rest}, [EnergyAt(1.0)])


SLACK = co.Unknown("slack", lower=0.0, upper=5.0)  # N m


@dataclass(frozen=True)
class SoftTorques(Statement):
    """Torques below a limit that an unknown signal widens, which the statement brings with it."""

    limit: float  # N m
    name: str = "soft torques"
    where: Window = ALL_ALONG

    def unknowns_of(self, phase: str) -> tuple[co.Unknown, ...]:
        return (SLACK,)

    def rows(self, now: co.problem.Instant) -> co.problem.Rows:
        return bounded(self.name, now.tau - now.slack, -np.inf, self.limit, unit="N m")


def test_they_bring_unknowns():
    cost = co.integral(effort) + co.integral(lambda now: 100 * now.slack**2)
    soft = co.Problem(two_link(), 0.6, cost, [START, END, SoftTorques(3.0)])
    stated = co.path(lambda now: now.tau - now.slack, upper=3.0, unit="N m", name="soft torques")
    listed = co.Problem(two_link(), 0.6, cost, [START, END, stated], unknowns=[SLACK])
    a, b = solved(soft), solved(listed)
    np.testing.assert_array_equal(a.x, b.x)
    assert a.signals["slack"].max() > 0.1
    assert soft.rows["soft torques"].rows.labels == ("soft torques, tau[shoulder]", "soft torques, tau[elbow]")
    assert [u.name for u in soft.restated(soft.statements).all_unknowns] == ["slack"]
    names = co.optimality.sensitivity(a, "soft").names
    assert set(names) == {"soft torques, tau[shoulder] upper", "soft torques, tau[elbow] upper"}
    assert co.Phases({"one": soft, "two": soft}).phases["two"].all_unknowns == (SLACK,)


@dataclass(frozen=True)
class Nameless(Statement):
    where: Any = (0.0, 1.0)

    def rows(self, now: co.problem.Instant) -> co.problem.Rows:
        return bounded("sum", ca.sum1(now.q), 0.0, 1.0)


def test_they_go_to_other_processes():
    problem = swing(KeepsOff(RADIUS), EnergyAt(1.5))
    assert differences(fingerprint(problem), fingerprint(pickle.loads(pickle.dumps(problem)))) == []


def test_what_a_class_lacks_is_said():
    with pytest.raises(co.InputError, match="name of a Nameless"):
        swing(Nameless())
    with pytest.raises(co.InputError, match="where of 'given' must be a Window, TimePoint or Ends"):
        swing(type("Given", (Nameless,), {"name": "given"})())
    with pytest.raises(TypeError, match="abstract"):
        Statement()  # pyright: ignore[reportAbstractUsage]


def test_what_a_class_says_is_checked():
    late = replace(StartsAt((0.0, -2.0)), where=TimePoint(1.0))
    ends = [EndValue(0, 0.5, "q", 0, 0.0)]
    with pytest.raises(co.InputError, match="end values of 'initial' must be of joints or states at s = 0 or 1"):
        swing(type("Middle", (StartsAt,), {"end_values": lambda self, now: ends})((0.0, -2.0)))
    assert swing(late).rows["initial 2"].rows.labels[0] == "initial 2, q[shoulder]"
    with pytest.raises(co.InputError, match="no fields of EnergyAt: speed; its class must define with_numbers"):
        EnergyAt(1.0).with_numbers({"speed": 1.0})
    with pytest.raises(co.InputError, match="constraint 'two' needs 2 labels"):
        swing(co.path(lambda now: now.q, lower=-5.0, name="two", labels=["one"]))
