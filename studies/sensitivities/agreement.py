"""Do the recursive sensitivities agree with the closed form at the optimum?

Figure 14 of Xiang, Arora and Abdel-Malek (2009): the derivatives of both torques along the optimal lifting motion, by
the recursions and by the printed closed form (equations 71 to 82, whose left-hand sides 75 and 76 are misprinted).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

import colloc as co
from colloc.models.two_link import INERTIA, LENGTH, MASS
from colloc.plot.figure import new_figure
from colloc.plot.style import PALETTE, dress, legend_below, styled
from colloc.studies.reporting import Row, arguments, finish, table
from colloc.studies.two_link.lifting import GRAVITY, LOAD, problem

RECURSIONS: dict[str, Callable] = {
    "lagrange": co.dynamics.lagrange_sensitivities,
    "newton_euler": co.dynamics.newton_euler_sensitivities,
    "lie": co.dynamics.lie_sensitivities,
    "composite": co.dynamics.composite_sensitivities,
}


def closed_form(q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> dict[str, np.ndarray]:
    """Xiang et al. (2009), equations 71 to 82, each block of shape (N, 2, 2)."""
    coupling, weight = MASS * LENGTH * LENGTH / 2, (MASS * LENGTH / 2 * GRAVITY + LOAD * LENGTH)
    upper = MASS * GRAVITY * LENGTH * 1.5 + LOAD * LENGTH
    s1, s2, s12, c2 = np.sin(q[:, 0]), np.sin(q[:, 1]), np.sin(q.sum(axis=1)), np.cos(q[:, 1])
    inner = INERTIA + MASS * LENGTH**2 / 4
    v1, v2 = qd.T
    zero = np.zeros_like(s1)
    tip = -weight * s12
    dq = [
        [tip - upper * s1, -coupling * (s2 * (2 * qdd[:, 0] + qdd[:, 1]) + c2 * (2 * v1 * v2 + v2**2)) + tip],
        [tip, coupling * (v1**2 * c2 - s2 * qdd[:, 0]) + tip],
    ]
    dqd = [[-2 * coupling * v2 * s2, -2 * coupling * (v1 + v2) * s2], [2 * coupling * v1 * s2, zero]]
    dqdd = [
        [2 * inner + MASS * LENGTH**2 + 2 * coupling * c2, inner + coupling * c2],
        [inner + coupling * c2, inner + zero],
    ]
    return {name: np.moveaxis(np.array(block), 2, 0) for name, block in (("dq", dq), ("dqd", dqd), ("dqdd", dqdd))}


@styled
def draw(
    t: np.ndarray, exact: dict[str, np.ndarray], found: dict[str, co.dynamics.TorqueSensitivities], file: str
) -> None:
    """Closed form as lines, the Lagrangian recursion as dots; below, how far every recursion is off."""
    figure = new_figure(figsize=(11, 8.4))
    axes = figure.subplots(3, 3, sharex=True)
    symbols = {"dq": ("q", "N m/rad"), "dqd": (r"\dot q", "N m s/rad"), "dqdd": (r"\ddot q", "N m s²/rad")}
    for column, (block, (symbol, unit)) in zip(axes.T, symbols.items(), strict=True):
        for i, ax in enumerate(column[:2]):
            for m in range(2):
                ax.plot(t, exact[block][:, i, m], color=PALETTE[m], label=rf"by ${symbol}_{m + 1}$")
                ax.plot(t, getattr(found["lagrange"], block)[:, i, m], ".", color=PALETTE[m], markersize=6)
            dress(ax, ylabel=rf"$\partial\tau_{i + 1}/\partial {symbol}$ [{unit}]")
            ax.legend(frameon=False)
        for k, (name, own) in enumerate(found.items()):
            off = np.abs(getattr(own, block) - exact[block]).max(axis=(1, 2))
            look = {"color": PALETTE[k + 2], "marker": "osD^"[k], "linestyle": "", "markersize": 3.5}
            column[2].semilogy(t, np.where(off > 0, off, np.nan), **look, label=name.replace("_", "-").title())
        dress(column[2], "time [s]", f"largest error [{unit}]")
        column[2].set_ylim(1e-19, 1e-13)
    legend_below(figure, axes[2, 0].get_lines())
    figure.suptitle("Lifting optimum: closed form (lines), recursion (dots), and what is between them")
    co.plot.save_figure(figure, file)


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments("sensitivities.agreement", __doc__, argv)
    solution = co.solve(problem, co.BSpline(20 if args.quick else 80))
    t = np.linspace(0, solution.duration, 41)
    sample = solution.at(t)
    exact = closed_form(sample.q, sample.qd, sample.qdd)
    numbers: dict[str, float] = {}
    found: dict[str, co.dynamics.TorqueSensitivities] = {}
    for name, recursion in RECURSIONS.items():
        evaluator = co.Evaluator(problem.model, sensitivities=recursion, loads=problem.loads)
        found[name] = evaluator.sensitivities(sample.q, sample.qd, sample.qdd)
        for block, values in exact.items():
            numbers[f"max_error.{name}.{block}"] = float(np.abs(getattr(found[name], block) - values).max())
    draw(t, exact, found, args.figure)
    rows = [Row(key, value, 0.0, "closed form, 41 instants") for key, value in numbers.items()]
    print(table("Sensitivities along the lifting optimum, recursion minus closed form", rows))
    return finish(args, numbers, solution)


if __name__ == "__main__":
    main()
