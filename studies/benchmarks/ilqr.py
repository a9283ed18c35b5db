"""What does iLQR take, and how does an iteration grow with the horizon?

The reach of ten links in 200 steps of `colloc.studies.control.reaching`, from building the system to convergence, with
the dynamics in closed form and with articulated bodies; and one iteration of the reach of five links (linearisation,
expansion of the cost, backward recursion, one simulation) in 50 to 5,000 steps. The slope is the exponent of a straight
line through the logarithms, from 500 steps on.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import colloc as co
from colloc.models.chains.point_masses import PointMassChain, discretised
from colloc.studies.benchmarks.scaling import slope
from colloc.studies.benchmarks.timing import alternately
from colloc.studies.control.reaching import PLANES, Reach
from colloc.studies.reporting import arguments, finish
from colloc.support.display import Table

STEPS, FIRST_STEPS = (50, 100, 200, 500, 1000, 2000, 5000), 500
QUICK_STEPS = (50, 500, 1000)
PARTS = ("linearise", "expand", "backward", "simulate")


def articulated(chain: PointMassChain, dt: float) -> co.control.System:
    """Euler steps of the same robot by the articulated-body algorithm."""
    return co.control.discretise(chain.tree(), dt, scheme=co.control.Scheme.EULER)


SYSTEMS = {"closed_form": discretised, "articulated": articulated}


def convergence(reach: Reach) -> dict[str, dict[str, float]]:
    """Seconds to build and to solve a reach, by form of the dynamics."""
    found = {}
    for name, build in SYSTEMS.items():
        begin = time.perf_counter()
        system, objective = build(reach.chain, reach.dt), reach.objective()
        built = time.perf_counter()
        trajectory = co.control.ilqr(system, objective, reach.start, reach.hold)
        found[name] = {
            "build": built - begin,
            "solve": trajectory.seconds,
            "iterations": trajectory.iterations,
            "cost": trajectory.cost,
            "converged": float(trajectory.success),
        }
    return found


def iteration(reach: Reach) -> dict[str, float]:
    """Milliseconds of the parts of an iteration, and of all."""
    system, n = articulated(reach.chain, reach.dt), reach.n
    residuals = co.control.fitted(reach.objective(), reach.steps, 2 * n, n)
    x, u = co.control.rollout(system, reach.start, reach.hold)
    A, B = system.linearise(x[:-1], u)
    expansion = residuals.expand(x, u)
    calls = {
        "linearise": lambda: system.linearise(x[:-1], u),
        "expand": lambda: residuals.expand(x, u),
        "backward": lambda: co.control.backward(A, B, expansion),
        "simulate": lambda: co.control.rollout(system, reach.start, u),
    }
    timings = alternately(calls, rounds=5)
    parts = {name: 1e3 * timings[name].minimum for name in PARTS}
    return parts | {"all": sum(parts.values())}


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the benchmark; see --help."""
    args = arguments("benchmarks.ilqr", __doc__, argv, quick="three links, and up to 1,000 steps", figure=False)
    numbers: dict[str, float] = {}
    rows = []
    for plane, gravity in PLANES.items():
        for name, found in convergence(Reach(3 if args.quick else 10, gravity)).items():
            numbers |= {f"ilqr.{plane}.{name}.{key}": value for key, value in found.items()}
            cells = (f"{found['build']:.2f}", f"{found['solve']:.2f}", f"{found['iterations']:.0f}")
            rows.append((f"{plane} plane, {name.replace('_', ' ')}", *cells, f"{found['cost']:.8f}"))
    print(Table("Reach in 200 steps", ("", "build s", "solve s", "iterations", "cost"), rows).text())
    points = {steps: iteration(Reach(5, PLANES["vertical"], steps)) for steps in (QUICK_STEPS if args.quick else STEPS)}
    numbers |= {f"ilqr.{steps}.ms.{key}": value for steps, point in points.items() for key, value in point.items()}
    slopes = {key: slope(points, key, FIRST_STEPS) for key in (*PARTS, "all")}
    numbers |= {f"ilqr.slope.{key}": value for key, value in slopes.items()}
    rows = [(f"{steps} steps", *(f"{point[key]:.2f}" for key in slopes)) for steps, point in points.items()]
    rows.append(("slope", *(f"{value:.2f}" for value in slopes.values())))
    print(Table("One iteration, five links [ms]", ("", *slopes), rows).text())
    return finish(args, numbers)


if __name__ == "__main__":
    main()
