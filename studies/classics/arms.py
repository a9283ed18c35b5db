"""Classic problems of arms and pendulums."""

from __future__ import annotations

from math import pi
from typing import Any

import casadi as ca

import colloc as co
from colloc.models.acrobot import acrobot
from colloc.models.cart_pole import cart_pole
from colloc.models.chains.serial import planar_chain
from colloc.models.manutec_r3 import TORQUE_PER_VOLT, manutec_r3
from colloc.models.two_link import two_link
from colloc.problem import Bounds
from colloc.studies.classics.classic import Classic

CONVERGED = "converged independently"


def two_bars(a: float, b: float, c: float) -> co.Model:
    """A planar arm by the constants of its mass matrix, which determine its motion where there is no gravity.

        M = [a + 2 b cos q2, c + b cos q2; c + b cos q2, c]   [kg m2]

    Of all arms with these constants, the one whose second link is a particle and whose first is 1 m long.
    """
    mass, far = b**2 / c, c / b
    rod = a - c - mass  # what is left for the first link; positive where the mass matrix is positive definite
    link = co.revolute(axis=(0, 0, 1)), co.revolute(axis=(0, 0, 1), placement=co.placement((1.0, 0, 0)))
    return co.Model(
        bodies=[
            co.Body("shoulder", link[0], mass=1.0, inertia=(0, rod, rod)),
            co.Body("elbow", link[1], "shoulder", mass, (far, 0, 0)),
        ],
        gravity=(0.0, 0.0, 0.0),
        name="two bars",
    )


def fastest(model: co.Model, start: Any, end: Any, guess: float, *limits: Bounds) -> co.Problem:
    """The fastest motion from rest to rest within the model's limits and others.

    Parameters
    ----------
    model : Model
    start, end : shape (n,) [rad]
    guess : float [s]
        Of the duration, which may be a fifth to five times as long.
    limits : bounds
    """
    ends = [co.initial(q=start, qd=0.0), co.final(q=end, qd=0.0)]
    return co.Problem(model, co.Free(guess / 5, 5 * guess, guess), co.duration(), [*ends, *limits])


def easiest(model: co.Model, start: Any, end: Any, duration: float, *limits: Bounds) -> co.Problem:
    """The motion from rest to rest with the least integral of squared torques; parameters as in `fastest`."""
    ends = [co.initial(q=start, qd=0.0), co.final(q=end, qd=0.0)]
    return co.Problem(model, duration, co.integral(lambda now: ca.sumsqr(now.tau), "effort"), [*ends, *limits])


def willigenburg() -> co.Problem:
    """The arm of van Willigenburg and Loop (1991), without friction.

    Bent either way, the arm turns faster; where it hardly bends, 1.3956 s are a local optimum (fine splines agree).
    """
    torques = co.bounds(tau={"shoulder": (-25.0, 25.0), "elbow": (-9.0, 9.0)})
    return fastest(two_bars(5.775, 1.35, 0.815), (0.0, 0.0), (1.5, 0.0), 1.0, torques)


def luus() -> co.Problem:
    """Two equal rods with their mass once more at the tip: Weinreb and Bryson (1985), as in Luus (2000)."""
    return fastest(two_bars(11 / 3, 3 / 2, 4 / 3), (0.0, 0.5), (0.522, 0.5), 3.0, co.bounds(tau=(-1.0, 1.0)))


def xiang() -> co.Problem:
    """The arm of Xiang, Arora and Abdel-Malek (2009), example 1."""
    return fastest(two_link(), (0.0, -2.0), (1.0, -1.0), 1.0, co.bounds(tau=(-10.0, 10.0)))


def hanging_chain() -> co.Problem:
    """Two rods turned by a radian from hanging in 2 s: their weight can swing them there, which few meshes see."""
    return easiest(planar_chain(2), (-pi / 2, 0.0), (1 - pi / 2, 0.0), 2.0)


def kelly() -> co.Problem:
    """The cart-pole swing-up of Kelly (2017), section 6."""
    limits = co.bounds(q={"cart": (-2.0, 2.0)}, tau={"cart": (-20.0, 20.0), "pole": (0.0, 0.0)})
    return easiest(cart_pole(), (0.0, 0.0), (1.0, pi), 2.0, limits)


def spong() -> co.Problem:
    """The acrobot of Spong (1995) stood on its head in 2 s."""
    return easiest(acrobot(), (0.0, 0.0), (pi, 0.0), 2.0, co.bounds(tau={"shoulder": (0.0, 0.0)}))


START, END = (0.0, -1.5, 0.0), (1.0, -1.95, 1.0)  # rad, of the Manutec r3


def manutec_energy() -> co.Problem:
    """The sum of squared voltages over 0.53 s: von Stryk and Schlemmer (1994)."""

    def voltages(now: co.problem.Instant) -> ca.SX:
        return ca.sumsqr(now.tau / ca.DM(TORQUE_PER_VOLT))

    ends = [co.initial(q=START, qd=0.0), co.final(q=END, qd=0.0)]
    return co.Problem(manutec_r3(), 0.53, co.integral(voltages), ends)


ARMS = {
    "two_link": Classic(xiang, 0.391854539516, "maximum principle, solved indirectly"),
    "willigenburg": Classic(willigenburg, 1.222817, CONVERGED, others=(1.38097, 1.3956)),
    "luus": Classic(luus, 2.982279, CONVERGED, others=(3.2084,)),
    "hanging_chain": Classic(hanging_chain, 0.19891, CONVERGED),
    "cart_pole": Classic(kelly, 57.94478, CONVERGED, others=(58.80767,)),
    "acrobot": Classic(spong, 175.28654, "three transcriptions agree"),
    "manutec_energy": Classic(manutec_energy, 20.404247, f"{CONVERGED} (20.4042: PSOPT)"),
    "manutec_time": Classic(lambda: fastest(manutec_r3(), START, END, 0.6), 0.4951890, CONVERGED),
    "manutec_time_torque_only": Classic(
        lambda: fastest(manutec_r3(torque_only=True), START, END, 0.6), 0.4455178, CONVERGED
    ),
}
