"""How IPOPT got there."""

from __future__ import annotations

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from colloc.errors import InputError
from colloc.plot.sampling import checked
from colloc.plot.style import BLUE, GREEN, INK, VERMILLION, dress, styled
from colloc.solution import Solution

_RESIDUALS = (
    ("inf_pr", "primal infeasibility", BLUE),
    ("inf_du", "dual infeasibility", VERMILLION),
    ("mu", "barrier parameter", GREEN),
)


@styled
def convergence(solution: Solution) -> Figure:
    """Cost, primal and dual infeasibility and barrier parameter at every iteration.

    As IPOPT reports them, in its scaled variables; a value of zero falls off the logarithmic axis.

    Parameters
    ----------
    solution : Solution

    Returns
    -------
    Figure

    Raises
    ------
    InputError
        For anything but a Solution, or one without a single iteration on record.
    """
    history = checked(solution).history
    if not history.get("obj"):
        raise InputError("solution has no iterations on record, there is no convergence to draw")
    figure, (above, below) = plt.subplots(2, 1, figsize=(8.0, 5.6), sharex=True, height_ratios=(2, 3))
    marker = {"marker": ".", "markersize": 5, "linewidth": 1.5}
    above.plot(range(len(history["obj"])), history["obj"], color=INK, **marker)
    dress(above, ylabel="cost")
    for key, label, color in _RESIDUALS:
        below.plot(range(len(history[key])), history[key], color=color, label=label, **marker)
    below.set_yscale("log", nonpositive="clip")
    dress(below, xlabel="iteration", ylabel="infeasibility and barrier")
    below.set_xlim(-0.5, max(len(history["obj"]), 2) - 0.5)
    below.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    below.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False)
    return figure
