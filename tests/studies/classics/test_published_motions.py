"""Published optima of rockets, bodies, orbits and fits: ingredients and optima against closed forms and other means."""

from math import atan2, cos, log, radians, sin, sqrt
from typing import Any

import casadi as ca
import numpy as np
import pytest
from scipy.linalg import expm
from scipy.optimize import brentq, least_squares

import colloc as co
from colloc.studies.classics.published import STATEMENTS, bodies, fits, flights, orbits, oscillators
from colloc.studies.classics.published.statement import published


def test_fuller_costs_the_sum_of_a_geometric_series():
    # From (0, 1) full brake to the curve x = C v^2, then arcs that shrink by A (Zelikin and Borisov 1994).
    bend = sqrt((sqrt(33) - 1) / 24)
    speed, shrink = 1 / sqrt(1 + 2 * bend), sqrt((1 + 2 * bend) / (1 - 2 * bend))
    first = (np.polynomial.Polynomial([0, 1, -0.5]) ** 2).integ()(1 + speed)
    arc = (np.polynomial.Polynomial([bend, -1, 0.5]) ** 2).integ()(1 + 1 / shrink)
    cost = first + arc * speed**5 / (1 - shrink**-5)
    assert STATEMENTS["fuller"].optimum == pytest.approx(cost, rel=1e-12)
    assert co.solve(oscillators.fuller(), tol=1e-6).cost == pytest.approx(cost, rel=1e-6)


def test_the_cheapest_landing_falls_and_then_brakes():
    exhaust, thrust = 2.349, 1.227
    k = thrust / exhaust

    def braked(fall: float) -> tuple[float, float]:
        """Height at rest, and the duration of the braking, after a fall."""
        v, h = -0.783 - fall, 1 - 0.783 * fall - fall**2 / 2
        time: Any = brentq(lambda t: v - t - exhaust * log(1 - k * t), 0.0, 0.999 / k)
        rise = exhaust / k * ((1 - k * time) * log(1 - k * time) + k * time)
        return h + v * time - time**2 / 2 + rise, time

    fall: Any = brentq(lambda t: braked(t)[0], 0.0, 0.8)
    mass = 1 - k * braked(fall)[1]
    assert STATEMENTS["moon_landing_dymos"].optimum == pytest.approx(mass, rel=1e-11)
    assert co.solve(flights.moon_landing_dymos(), tol=1e-6).cost == pytest.approx(-mass, rel=1e-6)


def test_the_spiral_takes_more_than_hohmanns_transfer():
    # The cheapest change of speed between circles whose radii differ by less than 11.94 (Hohmann 1925).
    change = sqrt(2 * 6 / 7) - 1 + (1 - sqrt(2 / 7)) / sqrt(6)
    optimum = STATEMENTS["low_thrust_spiral_dymos"].optimum
    assert optimum is not None
    assert 228 < change / 1e-3 < optimum


def test_a_straight_swimmer_moves_as_its_moments_say():
    # Force and moment of the fluid across rods from -2 to 2, one of which turns about its joint at 1.
    still = bodies.swimming(ca.SX.zeros(2), ca.SX([0.0, 1.0]))
    assert np.array(ca.evalf(still)).ravel() == pytest.approx([0.0, -0.5 / 4, -(5 / 6) / (16 / 3)])


def test_a_swimmer_that_is_mirrored_moves_mirrored():
    bends, rates = ca.SX([0.3, -0.8]), ca.SX([0.7, 0.2])
    one, other = (np.array(ca.evalf(bodies.swimming(s * bends, s * rates))).ravel() for s in (1, -1))
    assert other == pytest.approx([one[0], -one[1], -one[2]])


def test_gravity_of_oblateness_is_the_gradient_of_its_potential():
    place = ca.SX.sym("place", 3)
    r = ca.norm_2(place)
    s = place[2] / r
    legendre = {2: (3 * s**2 - 1) / 2, 3: (5 * s**3 - 3 * s) / 2, 4: (35 * s**4 - 30 * s**2 + 3) / 8}
    potential = (
        -orbits.MU / r * sum(size * (orbits.EARTH / r) ** k * legendre[k] for k, size in orbits.HARMONICS.items())
    )
    gradient = ca.Function("gradient", [place], [ca.gradient(potential, place)])
    where = orbits.EARTH * np.array([0.6, -0.7, 0.9])
    outward, along = where / np.linalg.norm(where), np.cross([0.3, 0.2, -0.5], where)
    along /= np.linalg.norm(along)
    frame = np.array([outward, along, np.cross(outward, along)])
    push = orbits.harmonics(ca.SX(outward[2]), ca.SX(frame[:, 2]), ca.SX(np.linalg.norm(where)))
    assert np.array(ca.evalf(push)).ravel() == pytest.approx(frame @ np.array(gradient(where)).ravel(), rel=1e-12)


def test_equinoctial_elements_move_as_newton_says():
    elements, angle = ca.SX.sym("elements", 5), ca.SX.sym("angle")
    p, f, g, h, k = ca.vertsplit(elements)
    q, s2, a2 = 1 + f * ca.cos(angle) + g * ca.sin(angle), 1 + h**2 + k**2, h**2 - k**2
    sine, cosine = ca.sin(angle), ca.cos(angle)
    place = ca.vertcat(
        (1 + a2) * cosine + 2 * h * k * sine, (1 - a2) * sine + 2 * h * k * cosine, 2 * (h * sine - k * cosine)
    ) * (p / q / s2)  # fmt: skip
    velocity = ca.jacobian(place, angle) * ca.sqrt(orbits.MU * p) * (q / p) ** 2  # on Kepler's orbit
    outward = place / ca.norm_2(place)
    across = ca.cross(place, velocity) / ca.norm_2(ca.cross(place, velocity))
    frame = ca.horzcat(outward, ca.cross(across, outward), across)
    push, all_six = ca.DM([0.3, -0.7, 0.4]), ca.vertcat(elements, angle)
    rates = orbits.orbital(elements, angle, ca.SX(push))
    total = push + orbits.harmonics(outward[2], frame[2, :].T, ca.norm_2(place))
    forward = velocity / ca.norm_2(velocity) - frame @ orbits.ahead(elements, angle)
    pairs = (
        (ca.jacobian(place, all_six) @ rates, velocity),
        (ca.jacobian(velocity, all_six) @ rates, frame @ total - orbits.MU * place / ca.norm_2(place) ** 3),
        (forward, ca.SX(3, 1)),
    )
    here = ca.DM([2.5e7, 0.3, -0.2, -0.25, 0.4, 5.0])
    for ours, newtons in pairs:
        values = [np.array(value).ravel() for value in ca.Function("both", [all_six], [ours, newtons])(here)]
        assert values[0] == pytest.approx(values[1], rel=1e-11, abs=1e-11)


def test_the_missile_takes_as_long_as_published():
    solution = co.solve(flights.missile_terrain())
    assert solution.success
    assert solution.cost == pytest.approx(published()["missile_terrain"].optimum, abs=0.05)


def test_the_geodesic_is_vincentys():
    # Vincenty (1975) in reduced latitudes, by which the ends are stated.
    wide, high = 6384.0, 6353.0
    f, (u1, u2), far = 1 - high / wide, (radians(40.6413), radians(51.4700)), radians(73.7781 - 0.4543)
    turn = far
    for _ in range(50):
        sine = sqrt((cos(u2) * sin(turn)) ** 2 + (cos(u1) * sin(u2) - sin(u1) * cos(u2) * cos(turn)) ** 2)
        cosine = sin(u1) * sin(u2) + cos(u1) * cos(u2) * cos(turn)
        arc = atan2(sine, cosine)
        alpha = cos(u1) * cos(u2) * sin(turn) / sine
        middle = cosine - 2 * sin(u1) * sin(u2) / (1 - alpha**2)
        c = f / 16 * (1 - alpha**2) * (4 + f * (4 - 3 * (1 - alpha**2)))
        turn = far + (1 - c) * f * alpha * (arc + c * sine * (middle + c * cosine * (2 * middle**2 - 1)))
    u = (1 - alpha**2) * (wide**2 - high**2) / high**2
    a = 1 + u / 16384 * (4096 + u * (u * (320 - 175 * u) - 768))
    b = u / 1024 * (256 + u * (u * (74 - 47 * u) - 128))
    last = b / 6 * middle * (4 * sine**2 - 3) * (4 * middle**2 - 3)
    way = high * a * (arc - b * sine * (middle + b / 4 * (cosine * (2 * middle**2 - 1) - last)))
    assert co.solve(orbits.geodesic()).cost == pytest.approx(way, rel=1e-6)


def test_pinene_is_fitted_as_by_exponentials_of_its_matrix():
    times, *columns = np.loadtxt(fits.DATA / "pinene.csv", delimiter=",", skiprows=1).T

    def misses(p: np.ndarray) -> np.ndarray:
        matrix = np.zeros((5, 5))
        matrix[[0, 1, 2], 0] = -(p[0] + p[1]), p[0], p[1]
        matrix[[2, 3, 4], 2] = -(p[2] + p[3]), p[2], p[3]
        matrix[[2, 4], 4] = p[4], -p[4]
        start = np.array([100.0, 0, 0, 0, 0])
        return np.ravel([expm(1e-4 * t * matrix) @ start - z for t, z in zip(times, np.array(columns).T, strict=True)])

    fitted = least_squares(misses, np.ones(5), xtol=1e-13, ftol=1e-13)
    assert co.solve(fits.pinene(), tol=1e-6).cost == pytest.approx(2 * fitted.cost, rel=1e-7)
