"""A leg's stride of a walker by muscles, on whom no contact is stated: from heel strike on, beside measured curves.

A stride is given as arrays of samples by name, of even or of Gauss times: coordinates "q" [rad, m], "activation",
"force" [body weight] and "heat" [W].
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import colloc as co
from colloc.plot.style import FADE, dress
from colloc.studies.walking.report.norms import bands

STANDS = 0.05  # of body weight: a foot that carries more is on the ground
REST = 1.2  # W/kg
ANGLES = {"hip": "hip_flexion_r", "knee": "knee_angle_r", "ankle": "ankle_angle_r"}
CURVES = (*ANGLES, "vertical", "fore_aft")
SAMPLES = 400  # of a stride
PERCENT = np.linspace(0.0, 100.0, SAMPLES, endpoint=False)


def half_times(duration: float) -> np.ndarray:
    """Even times of half a stride that lasts so long, of which both halves make `PERCENT`."""
    return np.linspace(0.0, duration, SAMPLES // 2, endpoint=False)


def gauss_times(duration: float) -> tuple[np.ndarray, np.ndarray]:
    """Gauss times of half a stride, and the share that each has of a stride of two such halves."""
    nodes, weights = np.polynomial.legendre.leggauss(SAMPLES // 2)
    return duration * (nodes + 1) / 2, np.tile(weights / 4, 2)


def gait(
    whole: Mapping[str, np.ndarray], share: np.ndarray, bend: np.ndarray, duration: float, mass: float, speed: float
) -> dict[str, float]:
    """Measured values of people who walk, of a stride at Gauss times; `bend` is that of the knee [rad]."""
    upward, forward = whole["force"][:, 1], whole["force"][:, 0]
    return {
        "strides_per_second": 1 / (2 * duration),
        "step_length": speed * duration,  # m
        "stance": float(100 * share @ (upward > STANDS)),  # % of the stride
        "peak_force": float(upward.max()),  # of body weight
        "braking": float(-forward.min()),
        "propulsion": float(forward.max()),
        "knee_flexion": float(np.degrees(bend.max())),  # degrees
        "cost_of_transport": float((share @ whole["heat"] + REST * mass) / mass / speed),  # J/kg/m, with rest
        "mean_force": float(2 * share @ upward),  # of body weight, both feet: 1 if physics holds
    }


def simulated(solution: co.Solution) -> dict[str, float]:
    """How far joints [rad, m] and states, which what drives the muscles moves forward, end from the solution's.

    On every interval from the solution's own state at its start, at most; and joints and states of the whole motion.
    """
    check = co.verify(solution, tolerance=1e-8)
    return {"simulated": check.local_error, "simulated.whole": check.forward_error}


def from_strike(whole: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The same stride at even times, from heel strike on."""
    strike = first_contact(whole["force"][:, 1])
    return {name: np.roll(values, -strike, axis=0) for name, values in whole.items()}


def first_contact(upward: np.ndarray) -> int:
    """Where a foot that was up for longest comes down: the sample of heel strike in a stride."""
    down = upward > STANDS
    strikes = np.flatnonzero(down & ~np.roll(down, 1))
    swings = [int(np.argmax(np.roll(down[::-1], strike))) for strike in strikes]  # samples off the ground before it
    return int(strikes[np.argmax(swings)]) if strikes.size else 0


def leg_curves(whole: Mapping[str, np.ndarray], joints: Sequence[str], knee: float) -> dict[str, np.ndarray]:
    """Angles [degrees] and forces [body weight] of a leg as Winter has them; `knee` is the sign of a bent one."""
    curves = {name: np.degrees(whole["q"][:, joints.index(joint)]) for name, joint in ANGLES.items()}
    curves["knee"] *= knee
    return curves | {"vertical": whole["force"][:, 1], "fore_aft": whole["force"][:, 0]}


def distances(curves: Mapping[str, np.ndarray]) -> dict[str, float]:
    """How far curves from heel strike on are from Winter's means, in the mean square."""
    return {f"rms.{name}": bands()[name].rms(PERCENT, curve) for name, curve in curves.items()}


def draw_curves(axes: Sequence[Any], walks: Sequence[tuple[str, str, Mapping[str, np.ndarray]]]) -> None:
    """Curves of walks, each a colour, a name and its curves from heel strike on, on five axes with Winter's bands."""
    for ax, name in zip(axes, CURVES, strict=True):
        band = bands()[name].closed()
        ax.fill_between(band.percent, band.mean - band.sd, band.mean + band.sd, color=FADE(0.25), linewidth=0)
        for color, label, curves in walks:
            ax.plot(PERCENT, curves[name], color=color, linewidth=1.2, label=label)
        ax.set_title(f"{name.replace('_', '-')} {'[degrees]' if name in ANGLES else '/ weight'}", fontsize=9)
        dress(ax, "", "")
