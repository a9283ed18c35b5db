"""How accurate and how fast are the sensitivities of a 43-DOF human?

Figures 4 to 6 of Zhakatayev, Rogovchenko and Pätzold (2023): every joint follows q = sin(2 pi t) for 3 s, sampled every
10 ms. Analytic sensitivities against central differences.

The authors' numerical derivative of torque 18 by q14 has spikes where q14 = 0, which they attribute to numerator and
denominator vanishing together. A difference step proportional to the coordinate reproduces such spikes: at t = 0.5 s,
sin(2 pi t) is 1e-16, not zero, the step is 1e-21, and the difference of two equal torques is left. The torque itself
need not vanish (here it does not); a fixed step has no spikes. The authors' tool chooses its steps adaptively, so this
is an explanation that fits, not a proof of what happened in it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np
from matplotlib.axes import Axes

import colloc as co
from colloc.models.human43 import human43
from colloc.plot.figure import new_figure
from colloc.plot.style import MUTED, PALETTE, dress, styled
from colloc.studies.films import of_samples
from colloc.studies.reporting import Row, arguments, finish, table

RECURSIONS: dict[str, Callable] = {
    "composite": co.dynamics.composite_sensitivities,
    "newton_euler": co.dynamics.newton_euler_sensitivities,
    "lie": co.dynamics.lie_sensitivities,
    "lagrange": co.dynamics.lagrange_sensitivities,
    "ad": co.dynamics.by_differentiation(co.dynamics.newton_euler),
}
BLOCKS = ("dq", "dqd", "dqdd")
UNITS = {"dq": "N m/rad", "dqd": "N m s/rad", "dqdd": "N m s²/rad"}  # all of the joints below turn
# Torque and coordinate (numbered from 1) of the published figures, and the block each is drawn in.
FIGURE_4 = (("dq", 20, 5), ("dqd", 30, 25), ("dqdd", 42, 22))
SPIKY = (18, 14)
PUBLISHED_MS, PUBLISHED_NUMERICAL_S = 16.6, 2.62e5  # 301 samples, MATLAB on a notebook
STEP = float(np.finfo(float).eps) ** (1 / 3)


def trajectory() -> tuple[np.ndarray, list[np.ndarray]]:
    """Times, shape (301,), and the motion q, qd, qdd, each shape (301, 43)."""
    t = np.linspace(0, 3, 301)
    w = 2 * np.pi
    curves = (np.sin(w * t), w * np.cos(w * t), -(w**2) * np.sin(w * t))
    return t, [np.repeat(curve[:, None], 43, axis=1) for curve in curves]


def central_differences(evaluator: co.Evaluator, motion: list[np.ndarray], block: int, step: np.ndarray) -> np.ndarray:
    """Derivatives by central differences, shape (N, n, n), in one of q, qd, qdd with steps of shape (N, n)."""
    samples, n = motion[0].shape
    shift = np.einsum("km,mj->kmj", step, np.eye(n)).reshape(-1, n)
    sides = []
    for sign in (1, -1):
        moved = [np.repeat(part, n, axis=0) for part in motion]
        moved[block] = moved[block] + sign * shift
        sides.append(evaluator.torque(*moved).reshape(samples, n, n))
    width = (motion[block] + step) - (motion[block] - step)  # the step that rounding leaves
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.swapaxes((sides[0] - sides[1]) / width[:, :, None], 1, 2)


def timed(call: Callable[[], object], repeats: int) -> float:
    """Seconds of the fastest of several calls."""
    seconds = []
    for _ in range(repeats):
        begin = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - begin)
    return min(seconds)


def root_mean_squares(found: co.dynamics.TorqueSensitivities, fixed: list[np.ndarray]) -> dict[str, float]:
    """RMS differences of the sensitivities of figure 4 from central differences, in their own units."""
    numbers = {}
    for block, i, m in FIGURE_4:
        gap = (getattr(found, block) - fixed[BLOCKS.index(block)])[:, i - 1, m - 1]
        numbers[f"rms_error.{block}_{i}_{m}"] = float(np.sqrt(np.mean(gap**2)))
    return numbers


def instants(
    t: np.ndarray, motion: list[np.ndarray], found: co.dynamics.TorqueSensitivities, relative: np.ndarray
) -> dict[str, float]:
    """Spikes of the numerical derivative, and the torques of figures 5 and 6 where the coordinates vanish."""
    i, m = SPIKY
    at_zero = np.abs(motion[0][:, 0]) < 1e-12
    spikes = np.abs(relative - found.dq)[:, i - 1, m - 1]
    half = int(np.abs(t - 0.5).argmin())
    return {
        "spike.at_zeros_of_q": float(np.nanmax(spikes[at_zero & (motion[0][:, 0] != 0)])),
        "spike.elsewhere": float(np.nanmax(spikes[~at_zero])),
        "torque_18.where_q14_is_0": float(found.tau[half, 17]),
        "torque_20.where_q5_is_0": float(found.tau[half, 19]),
    }


@styled
def draw(
    t: np.ndarray, motion: list, found: co.dynamics.TorqueSensitivities, fixed: list, relative: np.ndarray, file: str
) -> None:
    """Published figures 4 (sensitivities, errors), 5 (spikes) and 6 (where they come from) on one page."""
    figure = new_figure(figsize=(13, 11))
    axes = figure.subplots(4, 3, sharex=True)
    for top, error, (block, i, m) in zip(axes[0], axes[1], FIGURE_4, strict=True):
        analytic, numeric = (x[:, i - 1, m - 1] for x in (getattr(found, block), fixed[BLOCKS.index(block)]))
        top.plot(t, analytic, color=PALETTE[0])
        dress(top, ylabel=f"{_name(block, i, m)} [{UNITS[block]}]")
        error.plot(t, analytic - numeric, color=PALETTE[1], linewidth=1)
        dress(error, ylabel=f"analytic − numerical [{UNITS[block]}]")
    _draw_spikes(axes[2], t, found, fixed, relative)
    for ax, (coordinate, m, i) in zip(axes[3], ((0, 14, 18), (0, 5, 20), (1, 25, 30)), strict=True):
        symbol = ("q", r"\dot q")[coordinate]
        curves = ((motion[coordinate][:, m - 1], rf"${symbol}_{{{m}}}$"), (found.tau[:, i - 1], rf"$\tau_{{{i}}}$"))
        for (curve, label), color in zip(curves, (MUTED, PALETTE[0]), strict=True):
            ax.plot(t, curve / np.abs(curve).max(), color=color, label=label)
        dress(ax, ylabel="over its largest value [1]")
        _legend(ax)
        ax.set_xlabel("time [s]")
    figure.suptitle("Torque sensitivities of the 43-DOF human, q = sin 2πt in every joint")
    co.plot.save_figure(figure, file, dpi=130)


def _draw_spikes(axes: Sequence[Axes], t: np.ndarray, found, fixed: list, relative: np.ndarray) -> None:
    i, m = SPIKY
    analytic = found.dq[:, i - 1, m - 1]
    first, second, third = axes
    first.plot(t, relative[:, i - 1, m - 1], color=PALETTE[1], linewidth=1, label="step ∝ |q|")
    first.plot(t, analytic, color=PALETTE[0], label="analytic")
    _legend(first)
    dress(first, ylabel=f"{_name('dq', i, m)} [{UNITS['dq']}]")
    for numeric, label, color in ((relative, "step ∝ |q|", PALETTE[1]), (fixed[0], "fixed step", PALETTE[2])):
        gap = np.abs(numeric[:, i - 1, m - 1] - analytic)
        second.semilogy(t, np.where(gap > 0, gap, np.nan), ".", color=color, markersize=4, label=label)
    _legend(second)
    dress(second, ylabel=f"|numerical − analytic| [{UNITS['dq']}]")
    for block, color in (("dqd", PALETTE[2]), ("dqdd", PALETTE[3])):
        label = f"{_name(block, i, m)} [{UNITS[block]}]"
        third.plot(t, getattr(found, block)[:, i - 1, m - 1], color=color, label=label)
    _legend(third)
    dress(third, ylabel="by rate and acceleration")


def _legend(ax: Axes) -> None:
    """A legend above the panel, where it covers no curve."""
    ax.legend(frameon=False, loc="lower right", bbox_to_anchor=(1.0, 0.98), ncols=2)


def _name(block: str, i: int, m: int) -> str:
    symbol = {"dq": "q", "dqd": r"\dot q", "dqdd": r"\ddot q"}[block]
    return rf"$\partial\tau_{{{i}}}/\partial {symbol}_{{{m}}}$"


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments("sensitivities.human43", __doc__, argv)
    t, motion = trajectory()
    if args.quick:
        t, motion = t[::2], [part[::2] for part in motion]
    model = human43()
    evaluators = {name: co.Evaluator(model, sensitivities=recursion) for name, recursion in RECURSIONS.items()}
    results = {name: evaluator.sensitivities(*motion) for name, evaluator in evaluators.items()}
    found, numbers = results["composite"], {}
    begin = time.perf_counter()
    fixed = [
        central_differences(evaluators["composite"], motion, b, np.full_like(t, STEP)[:, None] + 0 * motion[0])
        for b in range(3)
    ]
    numerical_seconds = time.perf_counter() - begin
    relative = central_differences(evaluators["composite"], motion, 0, STEP * np.abs(motion[0]))
    for b, block in enumerate(BLOCKS):
        size = np.abs(getattr(found, block)).max()
        numbers[f"max_error.central_differences.{block}"] = float(np.abs(fixed[b] - getattr(found, block)).max() / size)
        for name, other in results.items():
            if name != "composite":
                gap = np.abs(getattr(other, block) - getattr(found, block)).max()
                numbers[f"max_error.{name}.{block}"] = float(gap / size)
    for name, evaluator in evaluators.items():
        seconds = timed(lambda evaluator=evaluator: evaluator.sensitivities(*motion), 2 if args.quick else 5)
        numbers[f"us_per_sample.{name}"] = 1e6 * seconds / t.size
        numbers[f"operations.{name}"] = evaluator.operations
    numbers["us_per_sample.central_differences"] = 1e6 * numerical_seconds / t.size
    numbers |= root_mean_squares(found, fixed) | instants(t, motion, found, relative)
    machine = co.Evaluator(model, compile=True)
    numbers["us_per_sample.compiled"] = 1e6 * timed(lambda: machine.sensitivities(*motion), 20) / t.size
    rows = [Row(key, value) for key, value in numbers.items()]
    for name in ("composite", "compiled"):
        milliseconds = 0.301 * numbers[f"us_per_sample.{name}"]
        rows.append(Row(f"analytic, 301 samples, {name} [ms]", milliseconds, PUBLISHED_MS, "the paper's"))
    numerical = 301e-6 * numbers["us_per_sample.central_differences"]
    rows.append(Row("numerical, 301 samples [s]", numerical, PUBLISHED_NUMERICAL_S, "the paper's (adaptive)"))
    at = np.flatnonzero((np.abs(motion[0][:, 0]) < 1e-12) & (t > 0))
    times = ", ".join(f"{t[k]:g}" for k in at)
    notes = [
        f"  with a step in proportion to |q|, spikes at t = {times} s (the paper: 0.5 and 1 s)",
        "  figure 6: the paper has torque 18 zero where q14 is, and torque 20 not where q5 is; here it is the other",
        "  way round, for the centres of mass and inertias assumed: the paper prints none",
    ]
    print(table("43-DOF human, 301 samples: errors relative to the largest entry of each block", rows, notes))
    draw(t, motion, found, fixed, relative, args.figure)
    return finish(args, numbers, of_samples(model, t, motion[0], slow=3.0))


if __name__ == "__main__":
    main()
