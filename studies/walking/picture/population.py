"""Figure of a population that walks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

import colloc as co
from colloc.plot.style import BLUE, GREEN, INK, ORANGE, dress, legend_below, styled
from colloc.studies.walking.picture.figures import PANELS, dress_stride
from colloc.studies.walking.report.norms import bands
from colloc.studies.walking.report.stride import COMPARED, Stride


@styled
def population_figure(
    found: co.sweeps.Sweep, walks: Mapping[float, Sequence[Stride]], transport: Mapping[float, np.ndarray]
) -> Figure:
    """Bands of people over a stride before the measured ones, and cost of transport over stature.

    Parameters
    ----------
    found : Sweep
        With the columns stature, sex and speed.
    walks, transport : mapping of speed [m/s] to the strides, and to the costs of transport, of all who walk
    """
    page = Figure(figsize=(12.0, 7.2), layout="constrained")
    axes = page.subplots(2, 3).ravel()
    speed = 1.2 if 1.2 in walks else next(iter(walks))
    strides = walks[speed]
    for ax, curve in zip(axes, COMPARED, strict=False):
        measured, ours = bands()[curve].closed(), np.array([own.curves[curve] for own in strides])
        _band(ax, measured.percent, measured.mean, measured.sd, ORANGE)
        _band(ax, strides[0].percent, ours.mean(axis=0), ours.std(axis=0), BLUE)
        dress_stride(ax, PANELS[curve])
    for own, marker in zip(transport, "os^", strict=False):
        good = (found["reason"] == "") & (found["speed"] == own)
        for sex, color in enumerate((INK, GREEN)):
            chosen = found["sex"][good] == sex
            costs = transport[own][chosen]
            axes[5].plot(found["stature"][good][chosen], costs, marker, color=color, markersize=3.5)
        mean = float(transport[own].mean())
        axes[5].annotate(
            f"{own:g} m/s", (1.0, mean), (4, 0), xycoords=("axes fraction", "data"), textcoords="offset points",
            va="center", annotation_clip=False,
        )  # fmt: skip
    dress(axes[5])
    axes[5].set_xlabel("stature [m]")
    axes[5].set_title("mechanical cost of transport", loc="left")
    handles = [
        Patch(facecolor=BLUE, alpha=0.4, label=f"predicted, {len(strides)} people at {speed:g} m/s, mean ± SD"),
        Patch(facecolor=ORANGE, alpha=0.25, label="Winter (1991), mean ± SD"),
        Line2D([], [], marker="o", linestyle="", color=INK, label="men"),
        Line2D([], [], marker="o", linestyle="", color=GREEN, label="women"),
    ]
    legend_below(page, handles)
    return page


def _band(ax: Axes, percent: np.ndarray, mean: np.ndarray, sd: np.ndarray, color: str) -> None:
    ax.fill_between(percent, mean - sd, mean + sd, color=color, alpha=0.3, linewidth=0)
    ax.plot(percent, mean, color=color)
