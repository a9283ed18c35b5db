"""Problems that several tests solve."""

import casadi as ca

import colloc as co
from colloc.models.two_link import two_link


def time_optimal() -> co.Problem:
    """Xiang et al. (2009), example 1."""
    return co.Problem(
        two_link(),
        co.Free(0.1, 5.0, 1.0),
        co.duration(),
        [co.initial(q=(0.0, -2.0), qd=0.0), co.final(q=(1.0, -1.0), qd=0.0), co.bounds(tau=(-10.0, 10.0))],
    )


def effort(now: co.problem.Instant) -> ca.SX:
    """Squared actuation."""
    return ca.sumsqr(now.tau)


def everything() -> co.Problem:
    """One of everything that can stand in a problem, small enough to differentiate numerically."""
    wind = co.Unknown("wind", size=2, lower=-3.0, upper=3.0, guess=0.1)
    payload = co.Unknown("payload", lower=0.1, upper=2.0, guess=0.5, constant=True)
    gain = co.Parameter("gain", 1.5)
    com, inertia = (-0.2, 0.01, 0.0), (0.01, 0.1, 0.1)
    model = co.Model(
        [
            co.Body(
                "base",
                co.revolute(axis=(0, 0, 1), limits=co.Limits(position=(-3, 3))),
                mass=0.4,
                com=com,
                inertia=inertia,
            ),
            co.Body("hub", co.fixed(co.placement((0.3, 0, 0))), parent="base"),
            co.Body(
                "arm", co.dh_revolute(a=0.4, alpha=0.3), parent="hub", mass=payload.symbol, com=com, inertia=inertia
            ),
            co.Body("slide", co.prismatic(axis=(0, 1, 0)), parent="hub", mass=0.2),
        ]
    )
    return co.Problem(
        model,
        co.Free(0.2, 3.0, 0.8),
        0.5 * co.duration() + 0.1 * co.integral(effort) + co.integral(lambda now: ca.sumsqr(now.wind) * now.gain),
        [
            co.initial(q=(0.1, -1.0, 0.05), qd={"arm": 0.1}),
            co.final(q={"base": 0.9}, qd=0.0, tau={"slide": 0.0}),
            co.bounds(tau=(-20, 20), qd={"arm": (-9, 9)}, q={"slide": (-0.5, 0.6)}, qdd=(-300, 300)),
            co.path(lambda now: now.point("arm", (0, 0.1, 0)).position, upper=5.0, name="reach"),
            co.path(lambda now: now.tau[0] * now.qd[0], lower=-40, upper=60, during=(0.25, 0.75), name="power"),
            co.at(0.37, lambda now: now.point("arm").velocity[0] + now.wind[0], upper=8.0, name="passing"),
            co.boundary(lambda start, end: end.q[1] - start.q[1] + end.t - start.wind[1], lower=-2, upper=2),
        ],
        unknowns=[wind, payload],
        parameters=[gain],
        loads=[
            co.Load("arm", force=ca.vertcat(wind.symbol, gain.symbol), point=(0.0, 0.1, 0.0)),
            co.Load("slide", force=lambda now: -0.3 * now.gain * now.point("slide").velocity),  # drag
            co.Load("base", moment=lambda now: ca.vertcat(0, 0, ca.sin(3 * now.t) - 0.7 * now.q[0])),  # driven spring
        ],
    )
