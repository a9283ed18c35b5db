"""The cart and pole of Kelly's tutorial on trajectory optimisation.

M. Kelly, "An Introduction to Trajectory Optimization: How to Do Your Own Direct Collocation", SIAM Review 59 (2017),
section 6.
"""

from __future__ import annotations

import colloc as co

CART_MASS, POLE_MASS = 1.0, 0.3  # kg
POLE_LENGTH = 0.5  # m


def cart_pole(gravity: float = 9.81) -> co.Model:
    """A cart on a rail along x, and a massless pole with a particle at its end; it hangs at zero, stands at pi.

    Parameters
    ----------
    gravity : float [m/s2]
        Along -y.

    Returns
    -------
    Model
        Joints "cart" [m] and "pole" [rad]. The pole has no actuator: state it by
        ``bounds(tau={"pole": (0, 0)})``.
    """
    end = (0, -POLE_LENGTH, 0)
    return co.Model(
        bodies=[
            co.Body("cart", co.prismatic(axis=(1, 0, 0)), mass=CART_MASS),
            co.Body("pole", co.revolute(axis=(0, 0, 1)), "cart", mass=POLE_MASS, com=end, tip=end),
        ],
        gravity=(0.0, -gravity, 0.0),
        name="cart-pole",
    )
