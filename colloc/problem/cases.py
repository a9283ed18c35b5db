"""Cases: problems solved together as one program, independent in time, that share constants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import InitVar, dataclass, replace
from typing import ClassVar

import numpy as np

from colloc.problem.cost import Cost, weighed
from colloc.problem.phases import WEIGHTS, Phases, checked_problems
from colloc.problem.problem import Problem
from colloc.problem.unknowns import Parameter
from colloc.support.checks import InputError, as_tuple, finite_number, mapping, quoted, spelt, unknown_name


@spelt
@dataclass(frozen=True, eq=False, repr=False)
class Cases(Phases):
    """Problems solved together as one program, independent in time, such as one design for several loads.

    Each case has its own model, duration, cost, constraints and parts, and its time starts at zero. An `Unknown`
    constant that several cases have, such as a length, a gain or a stiffness, is the same in all; so is a `Parameter`.
    Nothing else is shared, unless a `boundary` says so. ``solution["5 kg"]`` is the solution of one case. Figures and
    the viewer draw the cases on top of each other, and files of tables have a column with their names.

    Parameters
    ----------
    phases : mapping of str to Problem
        The cases.
    subject_to : sequence of boundary
        Conditions across cases, whose functions take the ends of the cases by name:
        ``lambda cases: cases["5 kg"].duration - cases["empty"].duration``.
    minimize : Cost, or sequence of Cost, optional
        In addition to the costs of the cases: `duration`, the sum of all durations, and `final_cost`, such as the price
        of a constant, ``co.final_cost(lambda cases: cases["empty"].start.length)``.
    duration : Free or float, optional [s]
        Sum of the durations of all cases; by default the cases have only their own.
    weights : mapping of str to float, optional
        Positive factors of the costs of some cases; 1 for the others.
    worst : float
        0 to 1: the cost is (1 - worst) times the sum of the weighted costs plus `worst` times the largest of them. At 1
        only the costs of the worst cases matter: the others are any motions that cost less, and a value such as 0.99
        determines them. A solve begins at the optimum of the sum. Its answer is the optimum of a sum, with weights that
        are the parameter "weights_of_cases": costs of cases, sensitivities and certificates are those with these
        weights. ``print(solution)`` has the costs without them.

    Raises
    ------
    InputError
        Naming the case: for an unknown case, for different constants or parameters of one name, for a connection or an
        impact, and with `worst` for a case without a cost or with costs in order of importance.

    See Also
    --------
    Phases : Problems one after another.
    sweep : Problems solved separately.

    Examples
    --------
    >>> stiffness = co.Unknown("stiffness", lower=0.0, upper=100.0, constant=True, unit="N m/rad")
    >>> spring = co.Load("elbow", moment=lambda now: ca.vertcat(0, 0, -now.stiffness * now.q[1]))
    >>> effort = co.integral(lambda now: ca.sumsqr(now.tau))
    >>> def swing(angle):
    ...     ends = [co.initial(q=0.0, qd=0.0), co.final(q=angle, qd=0.0)]
    ...     return co.Problem(two_link(), 0.5, effort, ends, unknowns=[stiffness], loads=[spring])
    >>> solution = co.solve(co.Cases({"near": swing(0.3), "far": swing(1.0)}), co.BSpline(20), progress=False)
    >>> solution["far"].constants["stiffness"].round(1), solution["far"].duration
    (array([14.6]), 0.5)
    """

    weights: InitVar[Mapping[str, float] | None] = None
    worst: float = 0.0

    noun: ClassVar[str] = "case"
    in_sequence: ClassVar[bool] = False

    def __post_init__(self, weights: Mapping[str, float] | None):
        cases = checked_problems(self.noun, self.phases)
        for item in as_tuple("subject_to", self.subject_to):
            if getattr(item, "joins", None):
                raise InputError(
                    f"cases are independent in time, and {item.name!r} joins them: use co.Phases for problems one "
                    "after another, or co.boundary for a condition across cases"
                )
        for name, weight in mapping("weights", weights).items():
            if name not in cases:
                raise unknown_name("case", name, cases)
            factor = finite_number(f"weight of case {name!r}", weight, positive=True)
            cases[name] = replace(cases[name], minimize=factor * cases[name].minimize)
        if not 0 <= finite_number("worst", self.worst) <= 1:
            raise InputError(f"worst must lie in [0, 1], got {quoted(self.worst)}")
        if self.worst and not any(p.name == WEIGHTS for case in cases.values() for p in case.all_parameters):
            cases = _weighed(cases)
        object.__setattr__(self, "phases", cases)
        super().__post_init__()


def _weighed(cases: Mapping[str, Problem]) -> dict[str, Problem]:
    """Cases whose costs have weights that are entries of a parameter, 1 by default."""
    weights, made = Parameter(WEIGHTS, np.ones(len(cases))), {}
    for k, (name, case) in enumerate(cases.items()):
        if not case.minimize.terms or case.minimize.later:
            raise InputError(f"worst needs one cost in every case, got {quoted(case.minimize)} in case {name!r}")
        cost = Cost(tuple(weighed(term, WEIGHTS, k) for term in case.minimize.terms))
        made[name] = replace(case, minimize=cost, parameters=[*case.parameters, weights])
    return made
