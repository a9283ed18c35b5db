"""Plot of a certificate: torques with their switching functions, and the Hamiltonian along the motion."""

from __future__ import annotations

from typing import Unpack

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from colloc.optimality import Certificate
from colloc.plot.figure import Size, figure, panels
from colloc.plot.style import BLUE, INK, MUTED, ORANGE, VERMILLION, dress, plain
from colloc.support.checks import InputError, instance

_PANELS = 4  # torques and signals, those with the largest gain
_ROOM = 1.15  # margin above the largest value


@figure
def certificate(
    certificate: Certificate,
    **size: Unpack[Size],
) -> Figure:
    """Torques and signals with their switching functions, the Hamiltonian, and its possible decrease.

    Where a switching function is positive, a smaller torque would cost less: the torque of an optimum is at its lower
    bound there, at its upper bound where the function is negative, and in between only where it is zero. At most four
    torques are drawn, those with the largest gain.

    Parameters
    ----------
    certificate : Certificate

    Raises
    ------
    InputError
        If `certificate` is not a Certificate, or has no costates.

    Examples
    --------
    >>> figure = co.plot.certificate(co.optimality.certify(solution))
    """
    instance("certificate", certificate, Certificate, "see co.optimality.certify")
    if not certificate.instants:
        raise InputError(f"certificate has no costates to draw: {certificate['minimum principle'].detail}")
    names = _drawn(certificate)
    page = panels(len(names) + 2, 1, (8.0, 1.7 * (len(names) + 2) + 0.4), heights=(3,) * len(names) + (2, 2), **size)
    axes = page.axes[:, 0]
    for ax, name in zip(axes, names, strict=False):
        _switching(ax, certificate, name)
    _hamiltonian(axes[-2], axes[-1], certificate)
    for ax in axes[:-1]:
        ax.tick_params(labelbottom=False)
    axes[-1].set_xlim(0, certificate.solution.duration)
    page.legend([
        Line2D([], [], color=BLUE, label="torque or signal"),
        Line2D([], [], color=VERMILLION, linewidth=1.4, label="switching function"),
        Line2D([], [], color=INK, label="Hamiltonian"),
        Line2D([], [], color=MUTED, linestyle="--", linewidth=1.2, label="at an optimum"),
        Line2D([], [], color=ORANGE, linewidth=5, alpha=0.5, label="gain"),
    ])  # fmt: skip
    return page.figure


def _drawn(certificate: Certificate) -> list[str]:
    """Names of the torques and signals with the largest contributions to the gain, in their order."""
    gains: dict[str, float] = {}
    for now in certificate.instants.values():
        for name, gain in now.gain_by.items():
            gains[name] = gains.get(name, 0.0) + abs(gain)
    largest = sorted(gains, key=lambda name: -gains[name])[:_PANELS]
    return [name for name in gains if name in largest]


def _switching(ax: Axes, certificate: Certificate, name: str) -> None:
    """A torque and its switching function, on separate axes with zero at the same height."""
    beside = ax.twinx()
    for phase, now in certificate.instants.items():
        if name in now.controls:
            t = certificate.solution.start_times[phase] + now.t
            ax.plot(t, now.controls[name], color=BLUE)
            beside.plot(t, now.switching[name], color=VERMILLION, linewidth=1.4)
    ax.axhline(0.0, color=MUTED, linewidth=0.8)
    dress(ax, ylabel=plain(name))
    dress(beside)
    beside.grid(visible=False)
    beside.spines["right"].set_visible(True)
    beside.spines["left"].set_visible(False)
    beside.set_ylabel("switching\nfunction", color=VERMILLION)
    for axis in (ax, beside):
        largest = max((np.abs(np.asarray(line.get_ydata(), dtype=float)).max() for line in axis.lines), default=0.0)
        axis.set_ylim(-_ROOM * (largest or 1.0), _ROOM * (largest or 1.0))


def _hamiltonian(ax: Axes, below: Axes, certificate: Certificate) -> None:
    """The Hamiltonian with its value at an optimum, and the gain below."""
    rate = certificate.solution.cost_scale / certificate.solution.duration
    for phase, now in certificate.instants.items():
        t = certificate.solution.start_times[phase] + now.t
        level = now.weights @ (now.hamiltonian - now.drift) / now.weights.sum()
        if not np.isnan(now.expected):
            level += now.expected - now.weights @ now.hamiltonian / now.weights.sum()
        ax.plot(t, (level + now.drift) / rate, color=MUTED, linestyle="--", linewidth=1.2)
        ax.plot(t, now.hamiltonian / rate, color=INK)
        below.fill_between(t, 0.0, np.maximum(now.gain, 0.0) / rate, color=ORANGE, alpha=0.5, linewidth=0.8)
    low, high = ax.get_ylim()
    middle, half = (low + high) / 2, max((high - low) / 2, 0.05)  # a constant is drawn as one
    ax.set_ylim(middle - half, middle + half)
    dress(ax, ylabel="Hamiltonian\n[cost per duration]")
    dress(below, "time [s]", "gain\n[cost per duration]")
    below.set_ylim(0.0, max(below.get_ylim()[1], 0.02))
