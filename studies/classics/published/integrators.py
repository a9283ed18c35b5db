"""One and two integrators with linear or nearly linear equations, most of them with closed forms."""

from __future__ import annotations

from math import inf, pi
from typing import Any

import casadi as ca

import colloc as co
from colloc.studies.classics import points, states
from colloc.studies.classics.published.statement import Statement
from colloc.studies.classics.states import NOTHING


def one(rate: Any, cost: co.problem.Cost, *conditions: Any, duration: Any = 1.0, u: Any = (-inf, inf), **given: Any):
    """A problem of one state x with a rate, and of a control u within limits."""
    unknowns = [co.Unknown("u", lower=u[0], upper=u[1]), co.State("x", rate=rate, **given)]
    return co.Problem(NOTHING, duration, cost, conditions, unknowns)


def two(
    cost: co.problem.Cost, start: Any, *conditions: Any, duration: Any = 1.0, u: Any = (-inf, inf), rate: Any = None
) -> co.Problem:
    """A problem of two states x with a start and a rate, by default (x2, u), and of a control u within limits."""
    double = rate or (lambda now: [now.x[1], now.u])
    unknowns = [co.Unknown("u", lower=u[0], upper=u[1]), co.State("x", 2, rate=double)]
    return co.Problem(NOTHING, duration, cost, [co.initial(states={"x": start}), *conditions], unknowns)


def ends(first: Any, last: Any) -> list[Any]:
    """Start and end of the state x."""
    return [co.initial(states={"x": first}), co.final(states={"x": last})]


def half_square(now: co.problem.Instant) -> ca.SX:
    """Half the square of the control."""
    return now.u**2 / 2


REST = co.final(states={"x": (0.0, 0.0)})
FROM_BEHIND = (-1.0, 0.0)


def half_tanh() -> co.Problem:
    """A linear equation and a quadratic cost with a product of state and control: tanh(1) / 2."""
    cost = co.integral(lambda now: 0.625 * now.x**2 + now.x * now.u / 2 + now.u**2 / 2)
    return one(lambda now: now.x / 2 + now.u, cost, co.initial(states={"x": 1.0}))


def fuel(rate: Any, start: Any, end: Any, most: float, size: int) -> co.Problem:
    """The least integral of abs(u) = plus + minus, where u = plus - minus and abs(u) <= most."""
    unknowns = [co.Unknown(sign, lower=0.0, upper=most) for sign in ("plus", "minus")]
    cost = co.integral(lambda now: now.plus + now.minus)
    return co.Problem(NOTHING, 1.0, cost, ends(start, end), [*unknowns, co.State("x", size, rate=rate)])


def double_fuel() -> co.Problem:
    """Two integrators from (-1, 0) to rest with the least fuel, abs(u) <= 5."""
    return fuel(lambda now: [now.x[1], now.plus - now.minus], FROM_BEHIND, (0.0, 0.0), 5.0, 2)


def exponential_fuel() -> co.Problem:
    """x' = -x + u from -1 to 0 with the least fuel, abs(u) <= 1."""
    return fuel(lambda now: -now.x + now.plus - now.minus, -1.0, 0.0, 1.0, 1)


def energy_and_distance() -> co.Problem:
    """Two integrators from rest that go far with little energy: half of each."""
    cost = co.integral(half_square) - 0.5 * co.final_cost(lambda now: now.x[0])
    return two(cost, (0.0, 0.0))


def decaying(now: co.problem.Instant) -> ca.SX:
    """The rate -x + u."""
    return -now.x + now.u


def driven(now: co.problem.Instant) -> ca.SX:
    """The rate u."""
    return now.u


def moving_target() -> co.Problem:
    """A target that moves away at speed 1 from 10, in any time."""
    target = co.at(1.0, lambda now: now.x - now.t - 10.0, equals=0.0, name="target")
    start = co.initial(states={"x": 0.0})
    return one(driven, co.integral(half_square), start, target, duration=co.Free(0.1, 100.0))


def bolza() -> co.Problem:
    """Time, state and control, from 0 to 1."""
    cost = co.duration() + co.integral(lambda now: (now.x**2 + now.u**2) / 2)
    return one(driven, cost, *ends(0.0, 1.0), duration=co.Free(0.01, 100.0))


def bolza_scaled() -> co.Problem:
    """Time and control, from 0 to 1 where x' = T u with the duration T."""
    cost = co.duration() + co.integral(half_square)
    return one(lambda now: now.duration * now.u, cost, *ends(0.0, 1.0), duration=co.Free(0.1, 100.0), lower=0.0)


def mixed() -> co.Problem:
    """As far as x + u <= 0 allows, from -1."""
    limit = co.path(lambda now: now.x + now.u, upper=0.0, name="mixed")
    return one(driven, co.integral(lambda now: -now.u), co.initial(states={"x": -1.0}), limit, u=(0.0, inf))


def turnpike() -> co.Problem:
    """As near zero as abs(u) <= 1 allows for most of two seconds."""
    return one(driven, co.integral(lambda now: now.x**2), *ends(1.0, 0.5), duration=2.0, u=(-1.0, 1.0))


def nonautonomous() -> co.Problem:
    """Above a parabola of time, by a control that costs less the later it works."""
    above = co.path(lambda now: now.x + (now.t - 2) ** 2, lower=1.0, name="parabola")
    cost = co.integral(lambda now: ca.exp(-now.t) * now.u)
    return one(driven, cost, co.initial(states={"x": 0.0}), above, duration=3.0, u=(0.0, 3.0))


def aly_chan() -> co.Problem:
    """Aly and Chan (1973): a cost that is not convex, on an arc that is singular all along."""
    cost = co.integral(lambda now: (now.x[1] ** 2 - now.x[0] ** 2) / 2)
    return two(cost, (0.0, 1.0), duration=pi / 2, u=(-1.0, 1.0))


def locatelli(condition: Any) -> co.Problem:
    """Locatelli (2001): two integrators from rest, with the least energy to a condition at the end."""
    return two(co.integral(half_square), (0.0, 0.0), condition)


def interior_point() -> co.Phases:
    """A state that passes 0.9 at 0.75 s, in two phases: 1 to 0.9 to 0.75."""
    cost = co.integral(lambda now: now.x**2 + now.u**2)
    before = one(driven, cost, *ends(1.0, 0.9), duration=0.75, u=(-1.0, 1.0))
    after = one(driven, cost, co.final(states={"x": 0.75}), duration=0.25, u=(-1.0, 1.0))
    return co.Phases({"before": before, "after": after})


def oscillator() -> co.Problem:
    """An oscillator calmed within 5 s, by a quadratic cost."""
    cost = co.integral(lambda now: (ca.sumsqr(now.x) + now.u**2) / 2)
    return two(cost, (0.0, 1.0), duration=5.0, rate=lambda now: [now.x[1], now.u - now.x[0]])


INTEGRATORS = {
    "lqr_half_tanh": Statement(half_tanh),
    "double_integrator_energy": Statement(lambda: two(co.integral(half_square), FROM_BEHIND, REST)),
    "double_integrator_energy_bounded": Statement(
        lambda: two(co.integral(half_square), FROM_BEHIND, REST, u=(-5.0, 5.0))
    ),
    "double_integrator_fuel": Statement(double_fuel),
    "double_integrator_energy_distance": Statement(energy_and_distance),
    "double_integrator_state_limit": Statement(lambda: states.bryson_denham(1 / 9)),
    "beam": Statement(lambda: states.bryson_denham(0.1), factor=2.0),
    "simple_exponential_fuel": Statement(exponential_fuel),
    "simple_exponential_energy": Statement(lambda: one(decaying, co.integral(half_square), *ends(-1.0, 0.0))),
    "simple_exponential_time": Statement(
        lambda: one(decaying, co.duration(), *ends(-1.0, 0.0), duration=co.Free(0.01, 100.0), u=(-1.0, 1.0))
    ),
    "integrator_moving_target": Statement(moving_target),
    "integrator_bolza_free_tf": Statement(bolza),
    "bolza_free_tf": Statement(bolza_scaled),
    "mixed_constraint": Statement(mixed),
    "nonsmooth_turnpike": Statement(turnpike),
    "state_and_control_nonautonomous": Statement(nonautonomous),
    "aly_chan": Statement(aly_chan),
    "minimum_time_double_integrator_unit": Statement(points.double_integrator, factor=5.0),
    "locatelli_free_vf": Statement(lambda: locatelli(co.at(1.0, lambda now: now.x[0], equals=1.0))),
    "locatelli_target_set": Statement(lambda: locatelli(co.at(1.0, lambda now: now.x[0] - 2 * now.x[1], equals=1.0))),
    "miser_interior_point": Statement(interior_point),
    "lqr_riccati_2d": Statement(oscillator),
}
