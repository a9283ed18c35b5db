"""Joints whose coordinates follow those of others: gears, belts, the second finger of a gripper."""

from __future__ import annotations

from dataclasses import dataclass

from colloc.support.checks import finite_number, spelt, text
from colloc.support.pickling import Portable


@spelt
@dataclass(frozen=True)
class Coupling(Portable):
    """What a joint follows: its coordinate is ratio times that of another joint, plus an offset.

    Parameters
    ----------
    joint : str
        Name of the joint that leads, which follows none itself.
    ratio : float
        Per rad or m of the leader, in rad or m of the follower.
    offset : float [rad] or [m]
        Of the follower where the leader is at zero.

    Raises
    ------
    InputError
        For numbers that are not finite.

    See Also
    --------
    Model : Takes couplings by the names of the joints that follow.

    Examples
    --------
    >>> wheel = {"mass": 1.0, "inertia": (0.01, 0.01, 0.02)}
    >>> pinion = co.Body("pinion", co.revolute(), **wheel)
    >>> gear = co.Body("gear", co.revolute(placement=co.placement((0.3, 0.0, 0.0))), **wheel)
    >>> meshed = co.Model([pinion, gear], couplings={"gear": co.model.Coupling("pinion", ratio=-0.5)})
    >>> meshed.joint_names, co.Evaluator(meshed).mass_matrix([0.0])  # 0.02 + 0.5 ** 2 * 0.02
    (('pinion',), array([[0.025]]))
    """

    joint: str
    ratio: float = 1.0
    offset: float = 0.0

    def __post_init__(self):
        text("joint of a coupling", self.joint)
        for name in ("ratio", "offset"):
            object.__setattr__(self, name, finite_number(f"{name} of a coupling", getattr(self, name)))

    def __str__(self) -> str:
        offset = f" {'+' if self.offset > 0 else '-'} {abs(self.offset):.4g}" if self.offset else ""
        return f"{self.ratio:.4g} {self.joint}{offset}"
