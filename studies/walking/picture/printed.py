"""Figure of a step as printed beside our own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

import colloc as co
from colloc.plot.figure import new_figure
from colloc.plot.style import INK, dress, legend_below, styled
from colloc.studies.walking.picture.figures import LOOKS, draw_curves, handles
from colloc.studies.walking.printed import INSTANTS
from colloc.studies.walking.report.report import Report
from colloc.studies.walking.report.stride import Stride


@styled
def printed_figure(
    strides: Mapping[str, Report | Stride], creep: Mapping[str, tuple[np.ndarray, np.ndarray]], solution: co.Solution
) -> Figure:
    """Strides in front of Winter's band, the speed of feet that stand, and the cost of the step as printed.

    Parameters
    ----------
    strides : mapping of str to Report or Stride
        By their names in the legend.
    creep : mapping of str to (times of the step, speed [m/s])
        In the same order.
    solution : Solution
        Of the step as printed, the second of the strides.
    """
    figure = new_figure(figsize=(13.0, 10.6))
    grid = figure.add_gridspec(3, 3)
    draw_curves([figure.add_subplot(grid[k // 3, k % 3]) for k in range(6)], strides)
    slow, cost = figure.add_subplot(grid[2, :2]), figure.add_subplot(grid[2, 2])
    for look, (s, speed) in zip(LOOKS, creep.values(), strict=False):
        slow.plot(s, np.maximum(speed, 1e-5), **look)
    s, speed = list(creep.values())[1]
    at = np.linspace(0, 1, INSTANTS)
    slow.plot(at, np.interp(at, s, speed), "o", color=INK, markersize=4.5, label="instants of the constraints")
    slow.set_yscale("log")
    dress(slow, xlabel="time over that of the step", ylabel="speed of heel and ball [m/s]")
    slow.legend(loc="upper right", frameon=False)
    cost.plot(solution.history["cost"], **LOOKS[1])
    dress(cost, xlabel="iteration of the second stage", ylabel="effort (5.1)")
    legend_below(figure, cast("list[Line2D]", handles(strides)[:-1]))  # no arrows here
    return figure
