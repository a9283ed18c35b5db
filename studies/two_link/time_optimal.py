"""How fast can a two-link arm swing from rest to rest?

Example 1 of Xiang, Arora and Abdel-Malek (2009, equation 66) and section 4.1 of Barman (2020): the time-optimal motion
under torque limits, without gravity, in the paper's setting and converged by two transcriptions, with the torques
integrated forward.
"""

from __future__ import annotations

from collections.abc import Sequence

import colloc as co
from colloc.models.two_link import two_link
from colloc.studies.reporting import arguments, finish, table
from colloc.studies.two_link.convergence import run

problem = co.Problem(
    model=two_link(),
    duration=co.Free(lower=0.1, upper=5.0, guess=1.0),  # s
    minimize=co.duration(),
    subject_to=[
        co.initial(q=(0.0, -2.0), qd=0.0),  # rad, rad/s
        co.final(q=(1.0, -1.0), qd=0.0),
        co.bounds(tau=(-10.0, 10.0)),  # N m
    ],
)
# Durations [s]. The exact one: maximum principle with exact switching times (tau1: one switch, tau2: two), integrated
# at 8th order.
PUBLISHED = {"Xiang et al. 2009": 0.3934, "Barman 2020": 0.392, "Wang et al. 2005": 0.394, "Furukawa 2002": 0.3945}
EXACT = {"T": 0.391854539516}


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments("two_link.time_optimal", __doc__, argv)
    runs = run(problem, co.BSpline(80 if args.quick else 320), co.Radau(50 if args.quick else 200))
    print(table(args.question, runs.rows(PUBLISHED, EXACT), runs.notes))
    co.plot.save_figure(co.plot.summary(runs.bspline), args.figure)
    return finish(args, runs.numbers, runs.bspline)


if __name__ == "__main__":
    main()
