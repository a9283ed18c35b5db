"""A problem in arcs states the same as the problem."""

from dataclasses import replace

import casadi as ca
import pytest

import colloc as co
from colloc.problem.divided import divided
from colloc.studies.classics.points import particle

HALVES = [co.Free(0.1, 1.0, 0.5), co.Free(0.1, 1.0, 0.5)]


def problem(**changes) -> co.Problem:
    ends = [co.initial(q=0.0, qd=0.0), co.final(q=1.0, qd=0.0)]
    return replace(
        co.Problem(particle("x"), 1.0, co.integral(lambda now: ca.sumsqr(now.tau)), ends),
        **changes,
    )


def test_the_optimum_is_that_of_the_whole():
    arcs = divided(problem(), HALVES)
    assert list(arcs.phases) == ["arc 1", "arc 2"]
    solution = co.solve(arcs, co.Radau(2))
    assert solution.duration == pytest.approx(1.0)
    assert solution.cost == pytest.approx(12.0)


def test_what_holds_at_the_ends_holds_there_alone():
    cyclic = co.boundary(lambda start, end: end.qd - start.qd, equals=0.0)
    at_end = co.at(1.0, lambda now: now.q, equals=1.0)
    cost = co.final_cost(lambda now: now.qd[0] ** 2, "speed")
    arcs = divided(problem(minimize=cost, subject_to=[co.initial(q=0.0), at_end, cyclic]), HALVES)
    first, last = arcs.phases.values()
    assert (list(first.rows), list(last.rows)) == (["initial"], ["at 1"])
    assert list(first.costs) == []
    assert list(last.costs) == ["speed"]
    solution = co.solve(arcs, co.Radau(2))
    start, end = solution.at(0.0), solution.at(solution.duration)
    assert end.qd == pytest.approx(start.qd, abs=1e-7)


def test_what_arcs_cannot_state_is_refused_by_name():
    ends = problem().subject_to
    window = co.bounds(tau=(-1.0, 1.0), during=(0.0, 0.5))
    with pytest.raises(co.InputError, match=r"constraint 'tau bounds' holds during s = 0 \.\. 0\.5"):
        divided(problem(subject_to=[*ends, window]), HALVES)
    with pytest.raises(co.InputError, match=r"constraint 'at 0\.5' holds at s = 0\.5"):
        divided(problem(subject_to=[*ends, co.at(0.5, lambda now: now.q, equals=0.5)]), HALVES)
    with pytest.raises(co.InputError, match="the time stands in a function"):
        divided(problem(minimize=co.integral(lambda now: now.t * now.tau[0] ** 2)), HALVES)
    with pytest.raises(co.InputError, match="the duration stands in a function"):
        divided(problem(minimize=co.integral(lambda now: now.duration * now.tau[0] ** 2)), HALVES)
