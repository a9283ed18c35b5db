"""A two-link problem in its paper's setting and on fine grids of two transcriptions, beside what is known of it."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass

import colloc as co
from colloc.studies.reporting import Row

PAPER = co.BSpline(intervals=19, nodes=21)  # 22 control points a joint, 21 times: Xiang et al. (2009), section 6.1
TIGHT = co.Ipopt(tol=1e-9)  # a cost that mixes time and effort is flat in the duration


@dataclass(frozen=True)
class Runs:
    """One problem solved in the paper's setting and on fine grids of two transcriptions.

    Parameters
    ----------
    paper : Solution
        Answer on the spline `PAPER`.
    bspline, radau : Solution
        Answers on fine grids.
    forward_error : float [rad, m]
        Largest deviation of both when their torques are integrated forward.
    """

    paper: co.Solution
    bspline: co.Solution
    radau: co.Solution
    forward_error: float

    @property
    def numbers(self) -> dict[str, float]:
        """Figures that a study reports; "converged" is the fine spline, whose bounds hold between the nodes too."""
        return {
            "paper_setting.T": self.paper.duration,
            "converged.T": self.bspline.duration,
            "converged.cost": self.bspline.cost,
            "bspline.T": self.bspline.duration,
            "bspline.cost": self.bspline.cost,
            "radau.T": self.radau.duration,
            "radau.cost": self.radau.cost,
            "radau.violation": self.radau.violation,
            "forward_error": self.forward_error,
            "violation": self.bspline.violation,
            "solve_seconds": self.bspline.seconds["build"] + self.bspline.seconds["solve"],
        }

    def rows(self, published: Mapping[str, float], converged: Mapping[str, float]) -> list[Row]:
        """Rows of a study's table.

        Parameters
        ----------
        published : mapping of str to float
            Duration [s] by publication.
        converged : mapping of str to float
            Duration "T" [s] and, where it says more, "cost", found independently of this library.
        """
        source = "maximum principle, solved indirectly"
        rows = [Row("T, paper's setting [s]", self.paper.duration, T, by) for by, T in published.items()]
        for quantity, value in converged.items():
            for kind in ("bspline", "radau"):
                rows.append(Row(f"{quantity}, converged, {kind}", self.numbers[f"{kind}.{quantity}"], value, source))
        return [
            *rows,
            Row("forward simulation error [rad, m]", self.forward_error),
            Row("violation between nodes, bspline [of the limit]", self.bspline.violation),
            Row("violation between nodes, radau [of the limit]", self.radau.violation),
        ]

    @property
    def notes(self) -> list[str]:
        """Ends of all runs, in words."""
        named = {"paper's setting": self.paper, "B-spline": self.bspline, "Radau": self.radau}
        return [f"  {name}: {s.curve}: {s.status}, {s.iterations} iterations" for name, s in named.items()]


def run(problem: co.Problem, spline: co.BSpline, mesh: co.Radau) -> Runs:
    """Solve a problem in the paper's setting, then on two fine grids."""
    with warnings.catch_warnings():
        # Bang-bang torques overshoot between the nodes of a collocation mesh; the status and table say so.
        warnings.simplefilter("ignore", co.refinement.SolutionWarning)
        paper = co.solve(problem, PAPER)
        fine, meshed = (co.solve(problem, curve, solver=TIGHT) for curve in (spline, mesh))
    return Runs(paper, fine, meshed, max(co.verify(solution).forward_error for solution in (fine, meshed)))
