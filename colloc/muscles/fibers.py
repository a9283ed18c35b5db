"""State of fibers and tendons, from lengths and activations: with rigid tendons, or with compliant ones.

Everything is a column with an entry for each muscle.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import casadi as ca
import numpy as np

from colloc.muscles.curves import MuscleCurves
from colloc.muscles.muscle import Muscle


class Fibers(NamedTuple):
    """State of muscles at an instant, SX, each shape (m,).

    Lengths, velocities and forces are those of the fibers, along them, unless named after path or tendon.

    Parameters
    ----------
    activation : SX
    path_length, path_velocity : SX [m], [m/s]
        Of muscle and tendon together; velocities are positive as they lengthen.
    tendon_length, tendon_velocity : SX [m], [m/s]
    length, velocity : SX [m], [m/s]
    cosine : SX
        Of the pennation angle.
    active_force, passive_force, damping_force : SX [N]
    tendon_force : SX [N]
        Of a rigid tendon the component of the fibers' force along it; of a compliant one the state.

    See Also
    --------
    Muscles.fibers

    Examples
    --------
    >>> flexor = co.muscles.Muscle("flexor", lambda now: 0.4 - 0.03 * now.q[1], 900.0, 0.15, 0.22)
    >>> reserves = {"shoulder": 50.0, "elbow": 50.0}  # N m
    >>> arm = co.muscles.Muscles(two_link(), [flexor], activation="instantaneous", reserves=reserves)
    >>> effort = co.integral(lambda now: ca.sumsqr(now.activation) + ca.sumsqr(now.reserve))
    >>> ends = co.initial(q=(0.0, 0.2), qd=0.0), co.final(q=(0.0, 1.0), qd=0.0)
    >>> bend = co.Problem(arm.model, 0.5, effort, ends, parts=[arm])
    >>> bent = co.solve(bend, co.BSpline(20))
    >>> bent.evaluate(lambda now: arm.fibers(now).length, [0.0, 0.5]).round(3)  # m
    array([0.174, 0.15 ])
    """

    activation: ca.SX
    path_length: ca.SX
    path_velocity: ca.SX
    tendon_length: ca.SX
    tendon_velocity: ca.SX
    length: ca.SX
    velocity: ca.SX
    cosine: ca.SX
    active_force: ca.SX
    passive_force: ca.SX
    damping_force: ca.SX
    tendon_force: ca.SX

    @property
    def force(self) -> ca.SX:
        """Force of the whole fiber, along it [N]."""
        return self.active_force + self.passive_force + self.damping_force

    @property
    def fiber_power(self) -> ca.SX:
        """Power of the fibers' forces, positive as they shorten [W]."""
        return -self.force * self.velocity

    @property
    def tendon_power(self) -> ca.SX:
        """Power of the tendons' forces, positive as they shorten [W]."""
        return -self.tendon_force * self.tendon_velocity


class Numbers:
    """The numbers of several muscles in columns, and their curves."""

    def __init__(self, muscles: Sequence[Muscle]):
        self._muscles = muscles
        self.force, self.fiber, self.slack, self.pennation = (
            self.column(name)
            for name in ("max_isometric_force", "optimal_fiber_length", "tendon_slack_length", "pennation")
        )
        self.max_velocity = self.fiber * self.column("max_velocity")  # m/s

    def column(self, name: str) -> ca.SX:
        return ca.vertcat(*(ca.SX(getattr(muscle, name)) for muscle in self._muscles))

    def curve(self, name: str, values: ca.SX) -> ca.SX:
        """A curve of each muscle at its value."""
        alike: dict[MuscleCurves, list[int]] = {}  # muscles with the same curves share the calls
        for k, muscle in enumerate(self._muscles):
            alike.setdefault(muscle.curves, []).append(k)
        column = ca.vertcat(*(getattr(curves, name)(values[of_all]) for curves, of_all in alike.items()))
        places = [k for of_all in alike.values() for k in of_all]
        return column if len(alike) == 1 else column[np.argsort(places).tolist()]


def with_rigid_tendon(numbers: Numbers, activation: ca.SX, length: ca.SX, velocity: ca.SX) -> Fibers:
    """Tendons at slack length: the fibers follow the path, and their force is that of the tendon."""
    return _fibers(numbers, activation, (length, velocity), (numbers.slack, ca.SX(*length.shape)))


def with_compliant_tendon(
    numbers: Numbers, activation: ca.SX, length: ca.SX, velocity: ca.SX, tension: ca.SX, tension_rate: ca.SX
) -> Fibers:
    """Tendons stretched by their tension, in maximal isometric forces; fibers have the rest of the path.

    The two forces agree where `imbalance` is zero.
    """
    tendon = numbers.slack * numbers.curve("tendon_length", tension)
    tendon_velocity = numbers.slack * tension_rate / numbers.curve("tendon_stiffness", tension)
    return _fibers(numbers, activation, (length, velocity), (tendon, tendon_velocity), numbers.force * tension)


def imbalance(numbers: Numbers, fibers: Fibers) -> ca.SX:
    """Force of the fibers along the tendon less that of the tendon, in maximal isometric forces."""
    return (fibers.force * fibers.cosine - fibers.tendon_force) / numbers.force


def _fibers(
    numbers: Numbers,
    activation: ca.SX,
    path: tuple[ca.SX, ca.SX],
    tendon: tuple[ca.SX, ca.SX],
    tendon_force: ca.SX | None = None,
) -> Fibers:
    """The state from length and velocity of path and tendon; the tendon force is that of the fibers by default."""
    along, along_velocity = (of_path - of_tendon for of_path, of_tendon in zip(path, tendon, strict=True))
    length = ca.sqrt((numbers.fiber * ca.sin(numbers.pennation)) ** 2 + along**2)
    cosine = along / length
    velocity = along_velocity * cosine
    stretch, rate = length / numbers.fiber, velocity / numbers.max_velocity
    active = numbers.force * activation * numbers.curve("active_force", stretch) * numbers.curve("force_velocity", rate)
    passive = numbers.force * numbers.curve("passive_force", stretch)
    damping = numbers.force * numbers.column("damping") * rate
    if tendon_force is None:
        tendon_force = (active + passive + damping) * cosine
    return Fibers(activation, *path, *tendon, length, velocity, cosine, active, passive, damping, tendon_force)
