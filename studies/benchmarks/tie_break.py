"""What does a second cost save in joints that a time optimum leaves free, and what does it take?

A time-optimal motion, and the one of least squared torques in the same time on the same curve: of a planar chain whose
first joint is slow, of the same chain within torque limits alone, and of a Panda within its maker's limits.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import casadi as ca
import numpy as np

import colloc as co
from colloc.models.chains.serial import planar_chain
from colloc.studies.benchmarks.random_starts import arm
from colloc.studies.reporting import arguments, finish
from colloc.support.display import Table

EFFORT = co.integral(lambda now: ca.sumsqr(now.tau))
CURVE = co.BSpline(20)


def chain(torques: Sequence[float], speed: float = np.inf) -> co.Problem:
    """Three links that swing upwards, within torque limits, the first joint within a speed as well."""
    ends = [co.initial(q=[-1.5, 0.0, 0.0], qd=0.0), co.final(q=[0.2, 0.1, 0.0], qd=0.0)]
    limits = co.bounds(tau=(-np.array(torques), np.array(torques)), qd={"link1": (-speed, speed)})
    return co.Problem(planar_chain(3), co.Free(0.1, 5.0), co.duration(), [*ends, limits])


def rms(solution: co.Solution) -> np.ndarray:
    """Root mean square torques of all joints."""
    return np.sqrt((solution.at(np.linspace(0, solution.duration, 2001)).tau ** 2).mean(axis=0))


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the benchmark; see --help."""
    args = arguments("benchmarks.tie_break", __doc__, argv, quick="the chains alone", figure=False)
    problems = {"slow_joint": chain((20.0, 20.0, 20.0), 4.0), "weak_joints": chain((20.0, 10.0, 4.0))}
    if not args.quick:
        problems["panda"] = arm()
    rows, numbers = [], {}
    for name, problem in problems.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", co.refinement.SolutionWarning)  # both are optima of one coarse grid
            fastest = co.solve(
                problem, CURVE, plan=[co.refinement.Solve(between="nodes")], compile=False, progress=False
            )
            calm = co.refinement.tie_break(fastest, EFFORT, progress=False)
        first, second = (sum(s.seconds[part] for part in ("build", "solve")) for s in (fastest, calm))
        kept = rms(calm) / rms(fastest)
        numbers |= {
            f"{name}.T": fastest.duration,
            f"{name}.T.change": abs(calm.duration - fastest.duration) / fastest.duration,
            f"{name}.torque.total": float(np.linalg.norm(rms(calm)) / np.linalg.norm(rms(fastest))),
            f"{name}.torque.least": float(kept.min()),
            f"{name}.seconds.first": first,
            f"{name}.seconds.second": second,
        }
        own = [value for key, value in numbers.items() if key.startswith(f"{name}.")]
        rows.append((name, *(f"{value:.4g}" for value in own)))
    header = ("", "T [s]", "change", "RMS torque, all", "of the joint that saves most", "s for T", "s for torques")
    print(Table("A second cost in the same time", header, rows).text())
    return finish(args, numbers)


if __name__ == "__main__":
    main()
