"""True effect of controls on states that obey differential equations: Goddard's rocket, the alp rider, a launcher; and
of torques on a body at rest.

Equations are written out by hand, and integrated by SciPy; forces at rest are Pinocchio's. Nothing of colloc is used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.polynomial import chebyshev

from colloc.studies.benchmarks.peers.truth import Truth, pieces

LOOKS = 5  # times on a piece at which limits are looked at
RTOL = 1e-10
Rate = Callable[[float, np.ndarray, np.ndarray], np.ndarray]


def followed(rate: Rate, part: Mapping[str, Any], state: np.ndarray, sizes: np.ndarray) -> tuple[np.ndarray, ...]:
    """Times, states and controls at some times of every piece, and the sum of jumps.

    Parameters
    ----------
    rate : callable
        Rates of time, states and controls.
    part : mapping
        `edges`, `inside` and `torque` as of a `Reach`, in whose place controls are; and, where small errors grow fast,
        `state` at the edges, at which every piece then begins.
    state : ndarray, shape (n,)
        At the begin.
    sizes : ndarray, shape (n,)
        In which jumps and tolerances are measured.
    """
    from scipy.integrate import solve_ivp

    count = np.shape(part["torque"])[2]
    resets = np.array(part["state"], float) if "state" in part else None
    t, states, controls, jumps = [], [], [], 0.0
    for k, (begin, end, coefficients) in enumerate(pieces(part, np.ones(count))):
        if resets is not None:
            jumps += float(np.abs((resets[k] - state) / sizes).max())
            state = resets[k]

        def slope(t: float, y: np.ndarray, begin: float = begin, end: float = end, c: np.ndarray = coefficients) -> Any:
            return rate(t, y, np.asarray(chebyshev.chebval(2 * (t - begin) / (end - begin) - 1, c)))

        looks = np.linspace(begin, end, LOOKS)
        run = solve_ivp(slope, (begin, end), state, "DOP853", looks, rtol=RTOL, atol=1e-3 * RTOL * sizes)
        if not run.success:
            return looks, np.full((1, state.size), np.inf), np.zeros((1, count)), np.array(np.inf)
        state = run.y[:, -1]
        t.append(looks)
        states.append(run.y.T)
        controls.append(chebyshev.chebval(np.linspace(-1, 1, LOOKS), coefficients).T)
    if resets is not None:
        jumps += float(np.abs((resets[-1] - state) / sizes).max())
    return np.concatenate(t), np.concatenate(states), np.concatenate(controls), np.array(jumps)


def judged_goddard(problem: Mapping[str, Any], answer: Mapping[str, Any]) -> Truth:
    """Effect of the thrust of a `Goddard`.

    Parameters
    ----------
    problem : mapping
        A `Goddard`.
    answer : mapping
        As that of a `Reach`, with the thrust for a torque.
    """
    thrust, exhaust, empty = (problem[name] for name in ("thrust", "exhaust", "empty"))

    def rate(t: float, x: np.ndarray, u: np.ndarray) -> np.ndarray:
        drag = problem["drag"] * x[1] ** 2 * np.exp(-x[0] / problem["scale"])
        return np.array([x[1], (u[0] - drag) / x[2] - problem["gravity"], -u[0] / exhaust])

    sizes = np.array([2e4, 1e3, 1.0])
    _, x, u, _ = followed(rate, answer, np.array([0.0, 0.0, problem["mass"]]), sizes)
    over = [u[:, 0] / thrust - 1, -u[:, 0] / thrust, 1 - x[:, 2] / empty]
    shortest, longest = problem["durations"]
    duration = answer["edges"][-1]
    miss = max(abs(x[-1, 2] - empty) / empty, duration / longest - 1, 1 - duration / shortest, 0.0)
    return Truth(float(miss), max(0.0, *(float(values.max()) for values in over)), -float(x[-1, 0]))


def judged_alp_rider(problem: Mapping[str, Any], answer: Mapping[str, Any]) -> Truth:
    """Effect of the controls of an `AlpRider`, interval by interval: an error grows by a factor of e**40 in 20 s.

    Parameters
    ----------
    problem : mapping
        An `AlpRider`.
    answer : mapping
        As that of a `Reach`, with the controls for torques, and the `state` at every edge.
    """
    matrix, control = np.array(problem["matrix"], float), np.array(problem["control"], float)

    def rate(t: float, y: np.ndarray, u: np.ndarray) -> np.ndarray:
        x = y[:4]
        return np.append(matrix @ x + control @ u, 100 * x @ x + 0.01 * u @ u)

    def terrain(t: np.ndarray) -> np.ndarray:
        peaks = [high * np.exp(-sharp * (t - at) ** 2) for high, at, sharp in problem["peaks"]]
        return np.sum([np.full_like(t, problem["floor"]), *peaks], axis=0)

    states, cost, jumps = np.array(answer["state"], float), 0.0, 0.0
    jumps = max(np.abs(states[0] - problem["start"]).max(), np.abs(states[-1] - problem["end"]).max())
    overstep = 0.0
    for k, (begin, after) in enumerate(pairwise(states)):
        part = {"edges": answer["edges"][k : k + 2], "inside": answer["inside"], "torque": answer["torque"][k : k + 1]}
        t, y, _, _ = followed(rate, part, np.append(begin, 0.0), np.array([1, 1, 1, 1, 1e3]))
        x = y[:, :4]
        jumps += float(np.abs(x[-1] - after).max())
        cost += float(y[-1, 4])
        overstep = max(
            overstep, float((1 - (x * x).sum(axis=1) / terrain(t)).max()) if np.isfinite(x).all() else np.inf
        )
    duration = abs(answer["edges"][-1] / problem["duration"] - 1)
    return Truth(float(jumps + duration), overstep, cost)


def judged_slide(problem: Mapping[str, Any], answer: Mapping[str, Any]) -> Truth:
    """Effect of the voltage of a `Slide`, whose friction sticks and slips as Coulomb says.

    Parameters
    ----------
    problem : mapping
        A `Slide`.
    answer : mapping
        As that of a `Reach`, with the voltage for a torque. `miss` is in shares of the way, and of the mean speed.
    """
    from scipy.integrate import solve_ivp

    spring, friction, constant, most = (problem[name] for name in ("spring", "friction", "constant", "voltage"))

    def drive(x: np.ndarray) -> float:
        return float(spring * (x[2] - x[0]) + constant * x[4])

    def rate(t: float, x: np.ndarray, sign: float, piece: tuple[float, float, np.ndarray]) -> np.ndarray:
        begin, end, coefficients = piece
        u = float(np.ravel(chebyshev.chebval(2 * (t - begin) / (end - begin) - 1, coefficients))[0])
        a = 0.0 if sign == 0 else (drive(x) - sign * friction) / problem["slide"]
        pull = spring * (x[0] - x[2]) / problem["load"]
        current = (u - constant * x[1] - problem["resistance"] * x[4]) / problem["inductance"]
        return np.array([x[1], a, x[3], pull, current, u * u])

    def turned(t: float, x: np.ndarray, sign: float, piece: Any) -> float:
        """Falls through zero when a slip ends, or friction no longer holds."""
        return sign * x[1] if sign else friction - abs(drive(x))

    turned.terminal, turned.direction = True, -1  # pyright: ignore[reportFunctionMemberAccess]
    x, sign, overstep = np.zeros(6), 0.0, 0.0
    for piece in pieces(answer, np.ones(1)):
        t, end, coefficients = piece
        overstep = max(
            overstep, float(np.abs(chebyshev.chebval(np.linspace(-1, 1, LOOKS), coefficients)).max()) / most - 1
        )
        for _ in range(100):  # of sticks and slips in a piece
            run = solve_ivp(rate, (t, end), x, "DOP853", events=turned, args=(sign, piece), rtol=1e-9, atol=1e-12)
            t, x = run.t[-1], run.y[:, -1]
            if run.status != 1:
                break
            if sign:
                x[1] = 0.0
            held = abs(drive(x)) < friction * (1 - 1e-9)
            sign = 0.0 if sign and held else float(np.sign(drive(x)))
    mean = problem["way"] / problem["duration"]
    sizes = np.array([problem["way"], mean, problem["way"], mean, most / problem["resistance"]])
    wanted = np.array([problem["way"], 0.0, problem["way"], 0.0, 0.0])
    miss = np.abs((x[:5] - wanted) / sizes).max()
    return Truth(float(miss), max(0.0, overstep), float(x[5]))


def judged_delta_iii(problem: Mapping[str, Any], answer: Mapping[str, Any]) -> Truth:
    """Effect of the directions of the thrust of a `DeltaIII`, from the launch on.

    Parameters
    ----------
    problem : mapping
        A `DeltaIII`.
    answer : mapping
        `phases`, each as the answer of a `Reach` with the directions for torques. To `miss` counts how far the elements
        of the orbit are from those asked for, of the semimajor axis its share; to `overstep` how far the length of a
        direction is from one, and how deep the rocket is in the earth, over its radius.
    """
    radius, turn, pull = (problem[name] for name in ("radius", "turn", "gravity"))
    state = np.array([*problem["site"], *problem["speed"], 0.0])
    sizes = np.array([*[radius] * 3, *[1e4] * 3, 1e5])
    overstep, miss = 0.0, 0.0
    for k, part in enumerate(answer["phases"]):
        force, flow = problem["force"][k], problem["flow"][k]
        state[6] = problem["mass"][k]

        def rate(t: float, x: np.ndarray, u: np.ndarray, force: float = force, flow: float = flow) -> np.ndarray:
            r, v = x[:3], x[3:6]
            distance = np.linalg.norm(r)
            wind = v - turn * np.array([-r[1], r[0], 0.0])
            density = np.exp((radius - distance) / problem["scale"])
            drag = -problem["drag"] * density * np.linalg.norm(wind) * wind
            return np.concatenate([v, -pull * r / distance**3 + (force * u + drag) / x[6], [-flow]])

        _, x, u, _ = followed(rate, part, state, sizes)
        over = np.abs(np.linalg.norm(u, axis=1) - 1), 1 - np.linalg.norm(x[:, :3], axis=1) / radius
        overstep = max(overstep, *(float(values.max()) for values in over))
        lasted, least = part["edges"][-1] - part["edges"][0], problem["durations"][k]
        miss = max(miss, abs(lasted / least - 1) if k < 3 else lasted / least - 1)
        state = x[-1]
    wanted = np.array(problem["orbit"])
    off = (elements(state[:3], state[3:6], pull) - wanted) / np.array([wanted[0], 1, 1, 1, 1])
    overstep = max(overstep, 1 - state[6] / problem["payload"])
    return Truth(float(max(miss, np.abs(off).max())), overstep, -float(state[6]))


def judged_stand(problem: Mapping[str, Any], answer: Mapping[str, Any]) -> Truth:
    """Effect of the torques of a `Stand` by Pinocchio: how far the body is from rest.

    Parameters
    ----------
    problem : mapping
        A `Stand`, and the path of its URDF file.
    answer : mapping
        Its `posture`, and the `torque` of every motor. `miss` is the largest acceleration over gravity, with that of
        an angle in gravities a metre.
    """
    import pinocchio

    pin: Any = pinocchio  # has no type stubs
    world = pin.buildModelFromUrdf(problem["urdf"])
    world.gravity.linear = np.array(problem["gravity"], float)
    data, q, torque = world.createData(), np.array(answer["posture"], float), np.array(answer["torque"], float)
    low, high = (np.array(problem[name], float) for name in ("low", "high"))
    over, under = ((x + np.hypot(x, problem["width"])) / 2 for x in (q[3:] - high[3:], low[3:] - q[3:]))
    total = np.concatenate([np.zeros(3), torque - problem["stop"] * (over - under)])
    pin.computeJointJacobians(world, data, q)
    for link, place in problem["points"]:
        joint = data.oMi[link + 1]  # after the world
        arm = joint.rotation @ np.array(place, float)
        depth = -float((joint.translation + arm)[1])
        push = problem["stiffness"] * (depth + np.hypot(depth, problem["depth"])) / 2 + problem["bias"] * depth
        jacobian = pin.getJointJacobian(world, data, link + 1, pin.LOCAL_WORLD_ALIGNED)
        total += (jacobian[1] + jacobian[5] * arm[0]) * push
    accelerations = pin.aba(world, data, q, np.zeros(q.size), total)
    miss = np.abs(accelerations).max() / np.linalg.norm(problem["gravity"])
    beyond = problem["beyond"] / (high - low)
    over = [
        np.abs(torque) / problem["motor"] - 1,
        (q - high) / (high - low) - beyond,
        (low - q) / (high - low) - beyond,
    ]
    return Truth(float(miss), max(0.0, *(float(values.max()) for values in over)), float(np.mean(torque**2)))


def elements(r: np.ndarray, v: np.ndarray, gravity: float) -> np.ndarray:
    """Semimajor axis, eccentricity, inclination, ascending node and argument of the perigee, angles of a full turn."""
    momentum, distance = np.cross(r, v), np.linalg.norm(r)
    pole = momentum / np.linalg.norm(momentum)
    node = np.cross([0, 0, 1], pole) / np.linalg.norm(np.cross([0, 0, 1], pole))
    eccentric = np.cross(v, momentum) / gravity - r / distance
    argument = np.arctan2(np.cross(node, eccentric) @ pole, node @ eccentric)
    return np.array(
        [
            1 / (2 / distance - v @ v / gravity),
            np.linalg.norm(eccentric),
            np.arccos(pole[2]),
            np.arctan2(node[1], node[0]) % (2 * np.pi),
            argument % (2 * np.pi),
        ]
    )
