"""What do the formulations of the inverse dynamics cost, and how does the cost grow?

Scalar operations and time per sample of the torque by three recursions and by the regular Lagrangian equations, and
of all first-order sensitivities by four recursions, by automatic differentiation and by the regular equations
differentiated term by term (Xiang et al. 2009, equation 11): for spatial serial chains of 2 to 60 joints and for the
43-DOF human, which is too much for the regular equations. The lines of order n, n^2, n^4 and n^5 on log-log axes; the
last two are reached slowly, since sums of lower order still count at the lengths that can be afforded.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import casadi as ca
import numpy as np

import colloc as co
from colloc.kernels.batch import arithmetic
from colloc.models.chains.serial import spatial_chain
from colloc.models.human43 import human43
from colloc.plot.figure import new_figure
from colloc.plot.style import MUTED, PALETTE, dress, styled
from colloc.studies.reporting import arguments, finish

SIZES = (2, 4, 8, 12, 20, 30, 40, 60)


class Candidate(NamedTuple):
    """A way to compute torques or sensitivities, the longest chain it is asked for, and its order of growth."""

    compute: Callable
    longest: int
    order: int


TORQUE = {
    "newton_euler": Candidate(co.dynamics.newton_euler, 60, 1),
    "lagrange": Candidate(co.dynamics.lagrange, 60, 1),
    "lie": Candidate(co.dynamics.lie, 60, 1),
    "regular": Candidate(co.dynamics.regular_lagrange, 12, 4),
}
SENSITIVITIES = {
    "composite": Candidate(co.dynamics.composite_sensitivities, 60, 2),
    "newton_euler": Candidate(co.dynamics.newton_euler_sensitivities, 60, 2),
    "lie": Candidate(co.dynamics.lie_sensitivities, 60, 2),
    "lagrange": Candidate(co.dynamics.lagrange_sensitivities, 60, 2),
    "ad": Candidate(co.dynamics.by_differentiation(co.dynamics.newton_euler), 60, 2),
    "regular": Candidate(co.dynamics.regular_sensitivities, 8, 5),
}


# Name, colour and marker, the same in both panels; the markers tell curves that coincide.
LOOKS = {
    "newton_euler": ("Newton-Euler", PALETTE[0], "o"),
    "lagrange": ("Lagrange, recursive", PALETTE[1], "s"),
    "lie": ("Lie group", PALETTE[2], "x"),
    "regular": ("Lagrange, regular equations", PALETTE[3], "D"),
    "composite": ("composite bodies", PALETTE[4], "^"),
    "ad": ("automatic differentiation", PALETTE[5], "v"),
}


class Cost(NamedTuple):
    """Cost of one candidate on one model."""

    operations: int
    us_per_sample: float
    build_seconds: float


def cost(model: co.Model, compute: Callable) -> Cost:
    """Operations of a candidate's graph, its time over a batch, and what building it took."""
    begin = time.perf_counter()
    q, qd, qdd = (ca.SX.sym(name, model.n) for name in ("q", "qd", "qdd"))
    result = compute(model, q, qd, qdd, ())
    function = ca.Function("f", [q, qd, qdd], list(result) if isinstance(result, tuple) else [result])
    built = time.perf_counter() - begin
    operations = arithmetic(function)
    samples = int(np.clip(2e6 / operations, 5, 500))
    mapped = function.map(samples)
    inputs = np.random.default_rng(0).standard_normal((3, model.n, samples))
    seconds = []
    for _ in range(5):
        begin = time.perf_counter()
        mapped(*inputs)
        seconds.append(time.perf_counter() - begin)
    return Cost(operations, 1e6 * min(seconds) / samples, built)


def slope(sizes: Sequence[int], values: Sequence[float]) -> float:
    """Growth exponent over the longer half of the sizes."""
    half = len(sizes) // 2
    return float(np.polyfit(np.log(sizes[half:]), np.log(values[half:]), 1)[0])


@styled
def draw(found: dict[str, dict[str, dict[int, Cost]]], file: str) -> None:
    """Operations against the number of joints, torques and sensitivities side by side, with lines of their orders."""
    figure = new_figure(figsize=(11, 5.2))
    axes = figure.subplots(1, 2, sharex=True)
    for ax, (kind, candidates) in zip(axes, (("torque", TORQUE), ("sensitivities", SENSITIVITIES)), strict=True):
        for name, candidate in candidates.items():
            costs = found[kind][name]
            sizes = np.array(list(costs))
            operations = np.array([c.operations for c in costs.values()])
            label, color, marker = LOOKS[name]
            ax.loglog(sizes, operations, color=color, marker=marker, markersize=4.5, label=label)
            if name in ("newton_euler", "regular"):
                guide = operations[-1] * (sizes / sizes[-1]) ** candidate.order
                ax.loglog(sizes, 0.6 * guide, ":", color=MUTED, linewidth=1)
                power = "" if candidate.order == 1 else f"^{candidate.order}"
                ax.annotate(
                    f"$n{power}$", (sizes[-1], 0.6 * guide[-1]), (4, -8), textcoords="offset points", color=MUTED
                )
        dress(ax, ylabel=f"scalar operations a sample, {kind}")
        ax.set_xlabel("joints of a spatial serial chain")
        longest = max(n for costs in found[kind].values() for n in costs)
        ax.set_xticks(SIZES, [str(n) for n in SIZES])
        ax.set_xlim(1.8, 1.2 * longest)
        ax.minorticks_off()
        ax.legend(frameon=False)
    co.plot.save_figure(figure, file)


def in_torques(found: dict[str, dict[str, dict[int, Cost]]], name: str) -> str:
    """Operations of the sensitivities in those of the torque of the same formulation, in words."""
    slopes, torques = (found[kind][name] for kind in ("sensitivities", "torque"))
    return ", ".join(f"{slopes[n].operations / torques[n].operations:.1f} (n = {n})" for n in (2, 4, 8))


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments("sensitivities.formulations", __doc__, argv, animation=())
    sizes = SIZES[:5] if args.quick else SIZES
    numbers: dict[str, float] = {}
    found: dict[str, dict[str, dict[int, Cost]]] = {}
    human = human43()
    print(f"{'':32}{'operations':>12}{'us/sample':>12}{'growth':>9}{'human43':>12}{'us/sample':>12}{'build s':>9}")
    for kind, candidates in (("torque", TORQUE), ("sensitivities", SENSITIVITIES)):
        found[kind] = {}
        for name, candidate in candidates.items():
            costs = {n: cost(spatial_chain(n), candidate.compute) for n in sizes if n <= candidate.longest}
            found[kind][name] = costs
            growth = slope(list(costs), [c.operations for c in costs.values()])
            key = f"{kind}.{name}"
            numbers |= {f"operations.{key}.{n}": c.operations for n, c in costs.items()}
            numbers |= {f"us_per_sample.{key}.{n}": c.us_per_sample for n, c in costs.items()}
            numbers[f"growth.{key}"] = growth
            n, last = list(costs.items())[-1]
            line = f"{kind + ', ' + name + f', n = {n}':32}{last.operations:12d}{last.us_per_sample:12.2f}{growth:9.2f}"
            if name != "regular":  # some 10^7 operations for the human
                own = cost(human, candidate.compute)
                numbers[f"operations.{key}.human43"] = own.operations
                numbers[f"us_per_sample.{key}.human43"] = own.us_per_sample
                numbers[f"build_seconds.{key}.human43"] = own.build_seconds
                line += f"{own.operations:12d}{own.us_per_sample:12.2f}{own.build_seconds:9.2f}"
            print(line)
    print(f"  sensitivities cost as much as so many torques: {in_torques(found, 'regular')} by the regular equations,")
    print(f"  {in_torques(found, 'lagrange')} by their recursion")
    draw(found, args.figure)
    return finish(args, numbers)


if __name__ == "__main__":
    main()
