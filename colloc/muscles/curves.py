"""Curves of muscle and tendon as smooth functions (De Groote et al. 2016, Ann. Biomed. Eng. 44, equations 1 to 6).

All are elementwise functions of SX, DM or floats. Lengths of fibers are in optimal fiber lengths, those of tendons in
slack lengths, forces in maximal isometric forces, velocities in maximal shortening velocities, positive as the fiber
lengthens.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import exp, inf, log
from typing import Any

import casadi as ca

from colloc.support.arguments import elementwise, validated
from colloc.support.checks import InputError, finite_number, spelt
from colloc.support.pickling import Portable


@spelt
@dataclass(frozen=True)
class MuscleCurves(Portable):
    """The four curves of a Hill muscle, by their constants.

    Parameters
    ----------
    active : three tuples (b1, b2, b3, b4)
        Heights, centers, widths and skewness of the three bells whose sum is the active force.
    velocity : (e1, e2, e3, e4)
        Of e1 asinh(e2 v + e3) + e4.
    passive : (growth, offset, scale)
        Of (exp(growth (l - 1)) - offset) / scale.
    tendon : (growth, factor, length, offset)
        Of factor exp(growth (l - length)) - offset.

    See Also
    --------
    PUBLISHED, OPENSIM

    Examples
    --------
    >>> curves = co.muscles.OPENSIM
    >>> round(curves.active_force(1.0), 6), round(curves.force_velocity(0.0), 6)
    (1.0, 1.0)
    """

    active: tuple[tuple[float, float, float, float], ...]
    velocity: tuple[float, float, float, float]
    passive: tuple[float, float, float]
    tendon: tuple[float, float, float, float]

    @validated(length=elementwise())
    def active_force(self, length: Any) -> Any:
        """Isometric force of the fully active fiber at a length.

        >>> round(co.muscles.OPENSIM.active_force(0.9), 6)
        0.937123
        """
        off = [(length - b2) / (b3 + b4 * length) for _, b2, b3, b4 in self.active]
        return sum(row[0] * ca.exp(-0.5 * x * x) for row, x in zip(self.active, off, strict=True))

    @validated(length=elementwise())
    def passive_force(self, length: Any) -> Any:
        """Force of the inactive fiber at a length.

        >>> round(co.muscles.OPENSIM.passive_force(1.2), 6)
        0.069401
        """
        growth, offset, scale = self.passive
        return (ca.exp(growth * (length - 1)) - offset) / scale

    @validated(velocity=elementwise())
    def force_velocity(self, velocity: Any) -> Any:
        """Factor of the active force at a velocity.

        >>> round(co.muscles.OPENSIM.force_velocity(-0.2), 6)
        0.544952
        """
        e1, e2, e3, e4 = self.velocity
        return e1 * ca.asinh(e2 * velocity + e3) + e4

    @validated(length=elementwise())
    def tendon_force(self, length: Any) -> Any:
        """Force of the tendon at a length.

        >>> round(co.muscles.OPENSIM.tendon_force(1.03), 6)
        0.399031
        """
        growth, factor, center, offset = self.tendon
        return factor * ca.exp(growth * (length - center)) - offset

    @validated(force=elementwise())
    def tendon_length(self, force: Any) -> Any:
        """Length of the tendon at a force above minus the curve's offset.

        >>> round(co.muscles.OPENSIM.tendon_length(1.0), 3)  # 4.9 % longer than slack
        1.049
        """
        growth, factor, center, offset = self.tendon
        return ca.log((force + offset) / factor) / growth + center

    @validated(force=elementwise())
    def tendon_stiffness(self, force: Any) -> Any:
        """Slope of the tendon's force by its length, at a force.

        >>> round(co.muscles.OPENSIM.tendon_stiffness(1.0), 1)
        43.9
        """
        growth, _, _, offset = self.tendon
        return growth * (force + offset)

    @validated(force=elementwise())
    def tendon_energy(self, force: Any) -> Any:
        """Integral of the tendon's force over its length, from zero force to a force, in F0 slack lengths.

        >>> round(co.muscles.OPENSIM.tendon_energy(1.0), 4)
        0.0175
        """
        growth, _, _, offset = self.tendon
        return force / growth - offset * ca.log((force + offset) / offset) / growth

    def with_active(self, *, width: float) -> MuscleCurves:
        """These curves with active force over a wider or narrower range of lengths about the optimal length.

        Parameters
        ----------
        width : float
            Factor of the range; OpenSim's `active_force_width_scale`.

        Examples
        --------
        >>> wide = co.muscles.OPENSIM.with_active(width=1.5)
        >>> bool(np.isclose(wide.active_force(1.3), co.muscles.OPENSIM.active_force(1.2)))
        True
        """
        width = finite_number("width of the active force", width, positive=True)
        bells = ((b1, width * b2 + 1 - width, width * b3 + (width - 1) * b4, b4) for b1, b2, b3, b4 in self.active)
        return replace(self, active=tuple(bells))  # at (length - 1) / width + 1

    def with_passive(self, *, strain: float | None) -> MuscleCurves:
        """These curves with a passive force that reaches the maximal isometric force at another strain.

        Parameters
        ----------
        strain : float or None
            Of the fiber beyond its optimal length, 0.6 for OpenSim's curves; None for no passive force.

        Examples
        --------
        >>> round(co.muscles.OPENSIM.with_passive(strain=0.7).passive_force(1.7), 6)
        1.0
        >>> co.muscles.OPENSIM.with_passive(strain=None).passive_force(1.7)
        0.0
        """
        if strain is None:
            return replace(self, passive=(1.0, 0.0, inf))
        growth = 4 / finite_number("strain of passive fibers", strain, positive=True)
        offset = exp(growth * (_SLACK - 1))
        return replace(self, passive=(growth, offset, exp(4.0) - offset))

    def with_tendon(self, *, strain: float | None = None, growth: float | None = None) -> MuscleCurves:
        """These curves with a tendon of another stiffness, and the same force at slack length.

        Parameters
        ----------
        strain : float
            At the maximal isometric force: 0.049 for OpenSim's curves.
        growth : float
            The exponent, in place of `strain`: 35 as published.

        Examples
        --------
        >>> compliant = co.muscles.OPENSIM.with_tendon(strain=0.1)
        >>> round(compliant.tendon_length(1.0), 6)
        1.1
        """
        if (strain is None) == (growth is None):
            raise InputError("with_tendon needs strain or growth, not both")
        before, factor, center, _ = self.tendon
        slack = float(self.tendon_force(1.0))
        if growth is None:
            strain, growth = finite_number("strain of the tendon", strain, positive=True), before
            for _ in range(
                _ROUNDS
            ):  # factor (exp(growth (1 + strain - center)) - exp(growth (1 - center))) = 1 - slack
                growth = log((1 - slack) / factor + exp(growth * (1 - center))) / (1 + strain - center)
        growth = finite_number("growth of the tendon", growth, positive=True)
        return replace(self, tendon=(growth, factor, center, factor * exp(growth * (1 - center)) - slack))


_SLACK = 0.2  # length of a fiber that passively pulls no more, in OpenSim
_ROUNDS = 30  # the first is enough where the center is 1; else each leaves a tenth of the error or less

#: As published, and as predictive simulations have used it since (Falisse et al. 2019, J. R. Soc. Interface 16).
PUBLISHED = MuscleCurves(
    active=(
        (0.8144834783430084, 1.0550334289705745, 0.16238457359957373, 0.06330344846546464),
        (0.43300498439264734, 0.7167754133977603, -0.029947116970695593, 0.20035684729618783),
        (0.1, 1.0, 0.3535533905932738, 0.0),
    ),
    velocity=(-0.31832343689912745, -8.14915604347525, -0.3741215086478631, 0.8856440599150038),
    passive=(4 / 0.6, 1 - 0.9951720500061686, 53.598150033144236),
    tendon=(35.0, 0.2, 0.995, 0.25),
)

#: As OpenSim's DeGrooteFregly2016Muscle has it: the curves meet their end points to rounding.
OPENSIM = MuscleCurves(
    active=((0.8150671134243542, *PUBLISHED.active[0][1:]), *PUBLISHED.active[1:]),
    velocity=(-0.3211346127989808, -8.149, -0.374, 0.8825327733249912),
    passive=(4 / 0.6, exp(4 / 0.6 * (0.2 - 1)), exp(4.0) - exp(4 / 0.6 * (0.2 - 1))),
    tendon=(log(1.2 / 0.2) / 0.049, 0.2, 1.0, 0.2),
)
