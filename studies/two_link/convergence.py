"""The three two-link problems, and what the studies do with each."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import pi

import casadi as ca

import colloc as co
from models.prismatic_revolute import prismatic_revolute
from models.two_link import two_link
from studies.reporting import Row, arguments, table, write_json

EFFORT_SHARE = 0.01  # u of Xiang et al. (2009), equation 67
TIGHT = {"tol": 1e-9}  # the mixed cost is flat in T


def time_optimal() -> co.Problem:
    """Xiang et al. (2009), equation 66: rest to rest in the shortest time, |tau| <= 10 N m, no gravity."""
    return co.Problem(
        model=two_link(),
        duration=co.Free(lower=0.1, upper=5.0, guess=1.0),
        minimize=co.duration(),
        subject_to=[
            co.initial(q=(0.0, -2.0), qd=0.0),
            co.final(q=(1.0, -1.0), qd=0.0),
            co.bounds(tau=(-10.0, 10.0)),
        ],
    )


def lifting() -> co.Problem:
    """Xiang et al. (2009), equation 68: lift 10 N under gravity, mixing time and squared torque."""
    return co.Problem(
        model=two_link(gravity=9.8062),
        duration=co.Free(lower=0.1, upper=5.0, guess=1.0),
        minimize=mixed(),
        subject_to=[
            co.initial(q=(1.32, -2.37), qd=0.0),
            co.final(q=(2.80, -2.37), qd=0.0),
            co.bounds(tau=(-10.0, 10.0)),
        ],
        loads=[co.Load("elbow", force=(0.0, -10.0, 0.0))],
    )


def slide_and_arm() -> co.Problem:
    """Barman (2020), equations 4.18 and 4.19: slide and hinge, mixing time and squared actuation."""
    return co.Problem(
        model=prismatic_revolute(),
        duration=co.Free(lower=0.1, upper=5.0, guess=1.0),
        minimize=mixed(),
        subject_to=[
            co.initial(q=(0.1, 0.6), qd=0.0),
            co.final(q=(pi / 4, -pi / 4), qd=0.0),
            co.bounds(tau=(-10.0, 10.0)),
        ],
    )


def mixed() -> co.Cost:
    """(1 - u) T + u integral of the squared actuation (Xiang et al. 2009, equation 67)."""
    effort = co.integral(lambda now: ca.sumsqr(now.tau), name="squared actuation")
    return (1 - EFFORT_SHARE) * co.duration() + EFFORT_SHARE * effort


@dataclass(frozen=True)
class Runs:
    """One problem solved in the paper's setting and on fine grids of two transcriptions.

    Parameters
    ----------
    paper : Solution
        Cubic spline with 22 control points a joint, torques bounded at 21 points (Xiang et al. 2009, section 6.1).
    bspline, radau : Solution
        Fine grids.
    checks : Verification
        Of the fine spline.
    """

    paper: co.Solution
    bspline: co.Solution
    radau: co.Solution
    checks: co.Verification

    @property
    def numbers(self) -> dict[str, float]:
        """The figures a study reports; "converged" is the fine spline, whose bounds hold between the nodes too."""
        return {
            "paper_setting.T": self.paper.duration,
            "converged.T": self.bspline.duration,
            "converged.cost": self.bspline.cost,
            "bspline.T": self.bspline.duration,
            "bspline.cost": self.bspline.cost,
            "radau.T": self.radau.duration,
            "radau.cost": self.radau.cost,
            "radau.violation": self.radau.violation,
            "forward_error": max(self.checks.forward_error, co.verify(self.radau).forward_error),
            "violation": self.bspline.violation,
            "solve_seconds": self.bspline.seconds["build"] + self.bspline.seconds["solve"],
        }

    @property
    def notes(self) -> list[str]:
        """How each run ended, in words."""
        named = {"paper's setting": self.paper, "B-spline": self.bspline, "Radau": self.radau}
        return [f"  {name}: {s.curve}: {s.status}, {s.iterations} iterations" for name, s in named.items()]


def run(statement: Callable[[], co.Problem], intervals: int, quick: bool) -> Runs:
    """Solve a problem in the paper's setting, then on fine grids (a quarter of `intervals` when quick)."""
    problem = statement()
    with warnings.catch_warnings():
        # Bang-bang torques overshoot between the nodes of a collocation mesh; the status and table say so.
        warnings.simplefilter("ignore", co.SolutionWarning)
        paper = co.solve(problem, co.BSpline(intervals=19, nodes=21))
        bspline = co.solve(problem, co.BSpline(intervals=intervals // 4 if quick else intervals), ipopt=TIGHT)
        radau = co.solve(problem, co.Radau(intervals=50 if quick else 200), ipopt=TIGHT)
    return Runs(paper, bspline, radau, co.verify(bspline))


def answer(
    argv: Sequence[str] | None,
    doc: str | None,
    name: str,
    statement: Callable[[], co.Problem],
    published: Mapping[str, float],
    converged: Mapping[str, float],
    intervals: int,
) -> dict[str, float]:
    """A whole study: solve, print ours beside the references, draw, write JSON.

    Parameters
    ----------
    argv : sequence of str, optional
        The command line.
    doc : str
        The study's docstring; its first line is the title.
    name : str
        Of the study, and of its figure.
    statement : callable
        Makes the problem.
    published : mapping of str to float
        Duration [s] by publication.
    converged : mapping of str to float
        "T" [s] and, where it says more, "cost", found independently of this library.
    intervals : int
        Of the fine spline.
    """
    args = arguments(doc, f"{name}.png", argv)
    runs = run(statement, intervals, args.quick)
    rows = [Row("T, paper's setting [s]", runs.paper.duration, T, source) for source, T in published.items()]
    for quantity, value in converged.items():
        for kind in ("bspline", "radau"):
            ours = runs.numbers[f"{kind}.{quantity}"]
            rows.append(Row(f"{quantity}, converged, {kind}", ours, value, "maximum principle, solved indirectly"))
    rows += [
        Row("forward simulation error [rad, m]", runs.numbers["forward_error"]),
        Row("violation between nodes, bspline [of the limit]", runs.bspline.violation),
        Row("violation between nodes, radau [of the limit]", runs.radau.violation),
    ]
    print(table((doc or name).splitlines()[0], rows, runs.notes))
    figure = co.plot.summary(runs.bspline)
    figure.savefig(args.figure, dpi=150)
    print(f"  figure: {args.figure}")
    write_json(args.json, runs.numbers)
    return runs.numbers
