"""Serial chains of any length, for studies of cost over the number of joints."""

from __future__ import annotations

from collections.abc import Sequence
from math import pi

import numpy as np

import colloc as co


def planar_chain(
    n: int,
    length: float = 0.4,
    mass: float = 0.5,
    *,
    centre: float = 0.5,
    inertia: float | None = None,
    gravity: Sequence[float] = (0.0, -9.81, 0.0),
) -> co.Model:
    """Chain of n equal links in the x-y plane, revolute joints about z; at q = 0 it lies along x.

    Parameters
    ----------
    n : int
    length : float [m]
        Length of every link.
    mass : float [kg]
        Mass of every link.
    centre : float
        Place of the centre of mass along the link: 0 at the joint, 1 at the far end.
    inertia : float [kg m2], optional
        About the centre of mass and about z; a slender uniform link by default. With `centre=1, inertia=0` the links
        are massless rods with point masses at their ends.
    gravity : shape (3,) [m/s2]

    Returns
    -------
    Model
        Bodies "link1" to "link<n>"; each body's frame sits at the far end of its link.
    """
    about_z = mass * length**2 / 12 if inertia is None else inertia
    link = {"mass": mass, "com": ((centre - 1) * length, 0, 0), "inertia": (0, about_z, about_z)}
    bodies = [
        co.Body(f"link{k}", co.dh_revolute(a=length), f"link{k - 1}" if k > 1 else None, **link)
        for k in range(1, n + 1)
    ]
    return co.Model(bodies, gravity=gravity, name=f"planar {n}-link chain")


def spatial_chain(n: int, gravity: Sequence[float] = (0.0, 0.0, -9.81)) -> co.Model:
    """Spatial chain of n revolute joints with alternating axes and no further structure.

    Standard Denavit-Hartenberg rows with alpha = pi/2, -pi/2, pi/2, ... Every other number is made from the fractional
    parts of k sqrt(p) for a prime p, which look random, lie in [0, 1) and need no generator: chains of different
    lengths have the same first links. Lengths are 0.05 to 0.35 m, masses 0.5 to 1.5 kg, and the inertia tensor is full:
    that of a cloud of mass with standard deviations of some centimetres along three skew directions.

    Parameters
    ----------
    n : int
    gravity : shape (3,) [m/s2]

    Returns
    -------
    Model
        Bodies "link1" to "link<n>".
    """
    bodies = [_spatial_link(k) for k in range(1, n + 1)]
    return co.Model(bodies, gravity=gravity, name=f"spatial {n}-link chain")


def _spatial_link(k: int) -> co.Body:
    u = np.modf(k * np.sqrt([2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41]))[0]
    a, d, theta, mass = 0.15 + 0.2 * u[0], 0.05 + 0.1 * u[1], 2 * pi * u[2] - pi, 0.5 + u[3]
    com = (-a * u[4], 0.1 * u[5] - 0.05, 0.1 * u[6] - 0.05)
    # Mean squares and products of the coordinates about the centre of mass, which any cloud of mass may have.
    spread = 0.05 * np.array([[1 + u[7], 0, 0], [u[8], 1 + u[9], 0], [u[10], u[11], 1 + u[12]]])
    second = spread @ spread.T
    return co.Body(
        f"link{k}",
        co.dh_revolute(theta, d, a, pi / 2 if k % 2 else -pi / 2),
        f"link{k - 1}" if k > 1 else None,
        mass,
        com,
        mass * (np.trace(second) * np.eye(3) - second),
    )
