"""Torques of ligaments and other passive tissue that is not part of muscles (Anderson and Pandy 1999)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca

from colloc.support.checks import finite_number, spelt
from colloc.support.pickling import Portable


@spelt
@dataclass(frozen=True)
class PassiveTorque(Portable):
    """Two exponentials that keep a joint within its range, and a damper.

    K1 exp(K2 (q - upper)) + K3 exp(K4 (q - lower)) - damping qd

    Parameters
    ----------
    K1, K3 : float [N m]
        Torques at the two ends of the range, of opposite signs.
    K2, K4 : float [1/rad]
    lower, upper : float [rad]
    damping : float [N m s]

    See Also
    --------
    HUMAN_JOINTS, Muscles

    Examples
    --------
    >>> knee = co.muscles.HUMAN_JOINTS["knee"]
    >>> round(knee(0.13, 0.0), 2)  # N m, at its upper end
    -6.09
    """

    K1: float
    K2: float
    K3: float
    K4: float
    lower: float
    upper: float
    damping: float = 0.1

    def __post_init__(self):
        for name in ("K1", "K2", "K3", "K4", "lower", "upper", "damping"):
            value = finite_number(f"{name} of a passive torque", getattr(self, name))
            object.__setattr__(self, name, value)

    def __call__(self, q: Any, qd: Any) -> Any:
        """Torque on the joint [N m] at a coordinate [rad] and its velocity, SX, DM or floats."""
        upper, lower = self.K1 * ca.exp(self.K2 * (q - self.upper)), self.K3 * ca.exp(self.K4 * (q - self.lower))
        return upper + lower - self.damping * qd


#: Of the joints of a human, flexion of the knee negative, as used by Falisse et al. 2019 (J. R. Soc. Interface 16).
HUMAN_JOINTS = {
    "hip flexion": PassiveTorque(-2.44, 5.05, 1.51, -21.88, -0.6981, 1.81),
    "hip adduction": PassiveTorque(-0.03, 14.94, 0.03, -14.94, -0.5, 0.5),
    "hip rotation": PassiveTorque(-0.03, 14.94, 0.03, -14.94, -0.92, 0.92),
    "knee": PassiveTorque(-6.09, 33.94, 11.03, -11.33, -2.4, 0.13),
    "ankle": PassiveTorque(-2.03, 38.11, 0.18, -12.12, -0.74, 0.52),
    "subtalar": PassiveTorque(-60.21, 16.32, 60.21, -16.32, -0.65, 0.65),
    "toes": PassiveTorque(-0.9, 14.87, 0.18, -70.08, 0.0, 1.134464),
    "lumbar extension": PassiveTorque(-0.35, 30.72, 0.25, -20.36, -0.523599, 0.17),
    "lumbar bending": PassiveTorque(-0.25, 20.36, 0.25, -20.36, -0.349066, 0.349066),
    "lumbar rotation": PassiveTorque(-0.25, 20.36, 0.25, -20.36, -0.349066, 0.349066),
}
