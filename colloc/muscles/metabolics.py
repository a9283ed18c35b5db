"""Metabolic rate of muscles (Bhargava et al. 2004, J. Biomech. 37), smooth.

Heat of activation, of maintenance and of shortening, and mechanical work, per muscle. Hyperbolic tangents replace the
corners of the model, and heat of maintenance grows with the fiber's length (Falisse et al. 2019, J. R. Soc. Interface
16), whereas the original falls again beyond the optimal length.
"""

from __future__ import annotations

from typing import NamedTuple

import casadi as ca
import numpy as np

from colloc.muscles.fibers import Fibers, Numbers

_DENSITY = 1059.7  # kg/m3
_SHARPNESS = 10.0  # of the corner between shortening and lengthening [s/m]
CORNERS = 10.0  # sharpness of corners of powers [1/W], as in OpenSim and PredSim
_LEAST = 1.0  # W/kg of heat
_ACTIVATION = 40.0, 133.0  # W/kg, slow and fast fibers
_MAINTENANCE = 74.0, 111.0  # W/kg


class MetabolicRate(NamedTuple):
    """Metabolic power of each muscle, SX, each shape (m,) [W].

    Parameters
    ----------
    activation, maintenance, shortening : SX
        Heat rates; that of shortening is raised where the total would be negative.
    work : SX
        Mechanical power of the contractile fibers, positive as they shorten.
    total : SX
        The sum, with at least 1 W of heat for each kilogram of muscle.

    See Also
    --------
    Muscles.metabolic_rate

    Examples
    --------
    >>> flexor = co.muscles.Muscle("flexor", lambda now: 0.4 - 0.03 * now.q[1], 900.0, 0.15, 0.22)
    >>> arm = co.muscles.Muscles(two_link(), [flexor], reserves={"shoulder": 50.0, "elbow": 50.0})
    >>> least_energy = co.integral(lambda now: ca.sum1(arm.metabolic_rate(now).total))  # J
    >>> arm.masses.round(3)  # kg, each of which needs 1 W at rest
    array([0.572])
    """

    activation: ca.SX
    maintenance: ca.SX
    shortening: ca.SX
    work: ca.SX
    total: ca.SX


def muscle_masses(numbers: Numbers) -> ca.SX:
    """Masses, SX, shape (m,) [kg], from the volume of optimal fibers; specific tension gives the cross-section."""
    return numbers.force * numbers.fiber * _DENSITY / numbers.column("specific_tension")


def metabolic_rate(numbers: Numbers, fibers: Fibers, excitation: ca.SX, sharpness: float = CORNERS) -> MetabolicRate:
    """Metabolic rate of fibers in a state, SX, each shape (m,) [W]; sharpness [1/W] of corners of powers."""
    mass, slow = muscle_masses(numbers), numbers.column("slow_fraction")
    slow_excited = slow * ca.sin(np.pi / 2 * excitation)
    fast_excited = (1 - slow) * (1 - ca.cos(np.pi / 2 * excitation))
    activation = mass * (_ACTIVATION[0] * slow_excited + _ACTIVATION[1] * fast_excited)
    stretch = fibers.length / numbers.fiber
    maintenance = mass * stretch * (_MAINTENANCE[0] * slow_excited + _MAINTENANCE[1] * fast_excited)

    lengthening = _step(_SHARPNESS * fibers.velocity)
    isometric = numbers.force * fibers.activation * numbers.curve("active_force", stretch)
    slope = (1 - lengthening) * (0.16 * isometric + 0.18 * fibers.force) + lengthening * 0.157 * fibers.force
    shortening = -slope * fibers.velocity
    work = -(1 - lengthening) * fibers.active_force * fibers.velocity
    missing = -(activation + maintenance + shortening + work)
    shortening = shortening + _step(sharpness * missing) * missing

    above = activation + maintenance + shortening - _LEAST * mass
    heat = _LEAST * mass + _step(sharpness * above) * above
    return MetabolicRate(activation, maintenance, shortening, work, heat + work)


def _step(x: ca.SX) -> ca.SX:
    """0 where x is negative, 1 where it is positive, smooth."""
    return 0.5 + 0.5 * ca.tanh(x)
