"""True effect of a tool's torques: Pinocchio's dynamics of the file, integrated forward by SciPy.

Of a tool's answer nothing is taken but its torques, as polynomials between edges of time, which is how each tool holds
them. Nothing of colloc is used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial import chebyshev, polynomial

LOOKS = 5  # times on a piece at which limits are looked at
RTOL, ATOL = 1e-10, 1e-12
Rate = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


class Truth(NamedTuple):
    """Effect of torques.

    Parameters
    ----------
    miss : float
        Largest miss of the end posture [rad, m], or of its rest, as what a speed leads to in the whole duration.
    overstep : float
        Largest excess over a limit of torque, position or speed, over that limit.
    cost : float
        Integral of squared torques, or the duration [s].
    """

    miss: float
    overstep: float
    cost: float


def pieces(answer: Mapping[str, Any], driven: np.ndarray) -> list[tuple[float, float, np.ndarray]]:
    """Torques on every interval: its begin, its end, Chebyshev coefficients (count, n), zero where nothing drives."""
    inside, torque = np.array(answer["inside"]), np.array(answer["torque"], float) * driven
    basis = np.linalg.inv(chebyshev.chebvander(inside, inside.size - 1))
    edges = answer["edges"]
    return [(edges[k], edges[k + 1], basis @ torque[k]) for k in range(len(edges) - 1)]


def simulated(
    rate: Rate, parts: Sequence[tuple[float, float, np.ndarray]], q: np.ndarray, qd: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """States and torques at some times of every piece, shapes (times, 2 n) and (times, n), and the integral of squares.

    Parameters
    ----------
    rate : callable
        Accelerations of q, qd and torques.
    parts : sequence of (begin, end, coefficients)
    q, qd : ndarray, shape (n,)
        At the begin.
    """
    from scipy.integrate import solve_ivp

    n, state = q.size, np.concatenate([q, qd, [0.0]])
    states, torques = [], []
    for begin, end, coefficients in parts:

        def slope(t: float, y: np.ndarray, begin: float = begin, end: float = end, c: np.ndarray = coefficients) -> Any:
            tau = np.asarray(chebyshev.chebval(2 * (t - begin) / (end - begin) - 1, c))
            return np.concatenate([y[n : 2 * n], rate(y[:n], y[n : 2 * n], tau), [tau @ tau]])

        t = np.linspace(begin, end, LOOKS)
        run = solve_ivp(slope, (begin, end), state, "DOP853", t, rtol=RTOL, atol=ATOL)
        if not run.success:
            return np.full((1, 2 * n), np.inf), np.zeros((1, n)), np.array(np.inf)
        state = run.y[:, -1]
        states.append(run.y[: 2 * n].T)
        torques.append(chebyshev.chebval(np.linspace(-1, 1, LOOKS), coefficients).T)
    return np.concatenate(states), np.concatenate(torques), state[-1]


def forward_dynamics(problem: Mapping[str, Any]) -> Rate:
    """Accelerations of a problem's chain of links, by Pinocchio, which reads the file itself."""
    import pinocchio

    pin: Any = pinocchio  # has no type stubs
    world = pin.buildModelFromUrdf(problem["urdf"])
    world.gravity.linear = np.array(problem["gravity"], float)
    data = world.createData()
    return lambda q, qd, tau: pin.aba(world, data, q, qd, tau)


def judged(problem: Mapping[str, Any], answer: Mapping[str, Any], rate: Rate | None = None) -> Truth:
    """Effect of the torques of an answer.

    Parameters
    ----------
    problem : mapping
        A `Reach`, and the path of its URDF file.
    answer : mapping
        `edges` of time, shape (K + 1,), places `inside` every interval, in [-1, 1], shape (m,), and `torque` there,
        shape (K, m, n); between these it is the polynomial through them.
    rate : callable, optional
        Accelerations of q, qd and torques; those of the file by default.
    """
    limits = [np.array(problem[name], float) for name in ("torque", "position", "speed")]
    parts = pieces(answer, limits[0] > 0)
    start, end = (np.array(problem[name], float) for name in ("start", "end"))
    states, torques, effort = simulated(rate or forward_dynamics(problem), parts, start, np.zeros(start.size))
    n, duration = start.size, answer["edges"][-1]
    miss = max(np.abs(states[-1, :n] - end).max(), duration * np.abs(states[-1, n:]).max())
    used = [torques[:, limits[0] > 0], states[:, :n], states[:, n:]]
    limits[0] = limits[0][limits[0] > 0]
    overstep = max(float((np.abs(values) / limit).max()) - 1 for values, limit in zip(used, limits, strict=True))
    cost = duration if problem["duration"] is None else float(effort)
    return Truth(float(miss), max(0.0, overstep), cost)


def judged_step(problem: Mapping[str, Any], answer: Mapping[str, Any]) -> Truth:
    """Effect of the torques of an answer on a walker from the state that the tool has at the begin.

    To `miss` counts by how much the state after the strike is not that at the begin, with legs swapped, and by how much
    the foot misses its place; to `overstep` how deep it has been in the ground, over the length of the step.

    Parameters
    ----------
    problem : mapping
        A `Step`, and the paths of its URDF files.
    answer : mapping
        As that of a `Reach`; and `state`, coordinates and velocities at the begin.
    """
    import pinocchio

    pin: Any = pinocchio  # has no type stubs
    n, duration, swap = len(problem["links"]), answer["edges"][-1], np.array(problem["swap"], float)
    start = np.array(answer["state"], float)
    parts = pieces(answer, np.ones(n))
    states, _, effort = simulated(forward_dynamics(problem), parts, start[:n], start[n:])
    world = pin.buildModelFromUrdf(problem["loose"])
    data = world.createData()

    def foot(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Place of the swinging foot, and its Jacobian by the standing foot's way and the joints."""
        pin.computeJointJacobians(world, data, np.concatenate([[0.0, 0.0], q]))
        arm = data.oMi[n + 2].rotation @ problem["foot"]
        x, y, turn = pin.getJointJacobian(world, data, n + 2, pin.LOCAL_WORLD_ALIGNED)[[0, 1, 5]]
        return (data.oMi[n + 2].translation + arm)[:2], np.stack([x - turn * arm[1], y + turn * arm[0]])

    q, qd = states[-1, :n], states[-1, n:]
    place, jacobian = foot(q)
    mass = pin.crba(world, data, np.concatenate([[0.0, 0.0], q]))
    mass = np.triu(mass) + np.triu(mass, 1).T
    blow = np.block([[mass, -jacobian.T], [jacobian, np.zeros((2, 2))]])
    after = np.linalg.solve(blow, np.concatenate([mass[:, 2:] @ qd, np.zeros(2)]))[2 : n + 2]
    missed = (swap @ q - start[:n], duration * (swap @ after - start[n:]), place - [problem["length"], 0.0])
    depth = -min(foot(state[:n])[0][1] for state in states) / problem["length"]
    return Truth(float(max(np.abs(values).max() for values in missed)), max(0.0, float(depth)), float(effort))


def judged_rise(problem: Mapping[str, Any], answer: Mapping[str, Any]) -> Truth:
    """Effect of excitations of muscles and signals of motors: activations and fibers by formulas written out by hand.

    Standing up is unstable: near upright errors grow threefold in 50 ms, so that no torques but those of an exact grid
    lead to the end by themselves. Every interval is therefore simulated from the state that the tool has at its begin,
    and `miss` is the sum of the jumps to those at the ends of the intervals, and to start and end.

    Parameters
    ----------
    problem : mapping
        A `Rise`, and the path of its URDF file.
    answer : mapping
        As that of a `Reach`, `torque` with the excitations of all muscles and then the signals of the motors; and
        `state`, coordinates, velocities and activations, at every edge, or at every second one and so on.
    """
    aba, motors = forward_dynamics(problem), np.array(problem["motors"], float)
    strands, least = problem["muscles"], float(problem["least"])
    n, m = motors.size, len(strands)

    def rate(qa: np.ndarray, qad: np.ndarray, signals: np.ndarray) -> np.ndarray:
        """Accelerations of joints; activations ride along as speeds of positions that nobody looks at."""
        q, qd, a = qa[:n], qad[:n], qad[n:]
        tau = motors * signals[m:] + (pulled(strands, q, qd, a) if m else 0.0)
        return np.concatenate([aba(q, qd, tau), activating(strands, signals[:m], a)])

    parts, states = pieces(answer, np.ones(n + m)), np.array(answer["state"], float)
    count, duration = len(parts) // (len(states) - 1), answer["edges"][-1]
    rest = np.zeros(n + m)
    rest[n:] = least
    ends = [np.concatenate([np.array(problem[name], float), rest]) for name in ("start", "end")]
    sizes = np.concatenate([np.ones(n), np.full(n, duration), np.ones(m)])
    jumps = [np.abs(states[0] - ends[0]) * sizes, (np.abs(states[-1] - ends[1]) * sizes)[: 2 * n]]
    signals, q, cost = [], [], 0.0
    for k, (state, after) in enumerate(pairwise(states)):
        begin = np.concatenate([state[:n], np.zeros(m)])
        run, used, spent = simulated(rate, parts[k * count : (k + 1) * count], begin, state[n:])
        reached = np.concatenate([run[-1, :n], run[-1, n + m :]])
        jumps.append(np.abs(reached - after) * sizes)
        signals.append(used)
        q.append(run[:, :n])
        cost += float(spent)
    lower, upper = (np.array(problem[name], float) for name in ("lower", "upper"))
    floor, used, q = np.concatenate([np.full(m, least), np.full(n, -1.0)]), np.vstack(signals), np.vstack(q)
    over = [used - 1.0, floor - used, (q - upper) / (upper - lower), (lower - q) / (upper - lower)]
    return Truth(float(sum(jump.max() for jump in jumps)), max(0.0, *(float(values.max()) for values in over)), cost)


def judged_walk(problem: Mapping[str, Any], answer: Mapping[str, Any]) -> Truth:
    """Effect of excitations and the motor's signal on a walker on balls, interval by interval as of a rise.

    Parameters
    ----------
    problem : mapping
        A `Walk`, and the path of its URDF file.
    answer : mapping
        As that of a `Rise`. To `miss` counts by how much the end is not the mirror image of the start as well, and of
        a walk that is predicted the distance that it is off its speed; to `overstep` what it lasts too long or short.
    """
    from scipy.integrate import solve_ivp
    from scipy.interpolate import make_interp_spline

    walker, strands = Walker(problem), problem["muscles"]
    n, m, motors = len(problem["links"]), len(strands), np.array(problem["motors"], float)
    record = make_interp_spline(problem["t"], np.hstack([problem["q"], problem["qd"]]), k=5)
    predicted = problem["speed"] is not None
    parts, states = pieces(answer, np.ones(m + n)), np.array(answer["state"], float)
    count, duration, weight = len(parts) // (len(states) - 1), answer["edges"][-1], problem["weight"]
    sizes = np.concatenate([np.ones(n), np.full(n, duration), np.ones(m)])
    counterparts = np.concatenate(
        [problem["mirror"], n + np.array(problem["mirror"]), 2 * n + np.array(problem["other"])]
    )
    jumps = [(np.abs(states[-1] - states[0][counterparts]) * sizes)[1:]]
    signals, positions, cost = [], [], 0.0
    for k, (state, after) in enumerate(pairwise(states)):
        y = np.concatenate([state, [0.0]])
        for begin, end, coefficients in parts[k * count : (k + 1) * count]:

            def slope(
                t: float, y: np.ndarray, begin: float = begin, end: float = end, c: np.ndarray = coefficients
            ) -> Any:
                u = np.asarray(chebyshev.chebval(2 * (t - begin) / (end - begin) - 1, c))
                q, qd, a = y[:n], y[n : 2 * n], y[2 * n : -1]
                torque = motors * u[m:]
                qdd = walker.accelerations(q, qd, torque + pulled(strands, q, qd, a))
                if predicted:
                    spent = np.sum(np.abs(u[:m]) ** 3) + np.sum(np.abs(torque) ** 3)
                else:
                    spent = np.sum((y[: 2 * n] - record(t)) ** 2) + u[:m] @ u[:m] + torque @ torque
                return np.concatenate([qd, qdd, activating(strands, u[:m], a), [weight * spent]])

            looks, most = np.linspace(begin, end, LOOKS), (end - begin) / 4
            with np.errstate(over="ignore", invalid="ignore"):  # of rejected steps: muscles are stiff
                run = solve_ivp(slope, (begin, end), y, "DOP853", looks, rtol=1e-7, atol=1e-9, max_step=most)
            if not run.success:
                return Truth(np.inf, np.inf, np.inf)
            y = run.y[:, -1]
            signals.append(chebyshev.chebval(np.linspace(-1, 1, LOOKS), coefficients).T)
            positions.append(run.y[:n].T)
        jumps.append(np.abs(y[:-1] - after) * sizes)
        cost += float(y[-1])
    lower, upper = (np.array(problem[name], float) for name in ("lower", "upper"))
    floor, used, q = (
        np.concatenate([np.full(m, problem["least"]), np.full(n, -1.0)]),
        np.vstack(signals),
        np.vstack(positions),
    )
    over = [used - 1.0, floor - used, (q - upper) / (upper - lower), (lower - q) / (upper - lower)]
    if predicted:
        way, (shortest, longest) = float(states[-1, 0] - states[0, 0]), problem["durations"]
        jumps.append(np.array([abs(way - problem["speed"] * duration)]))
        over.append(np.array([duration - longest, shortest - duration]) / (longest - shortest))
        cost /= way
    return Truth(float(sum(jump.max() for jump in jumps)), max(0.0, *(float(values.max()) for values in over)), cost)


class Walker:
    """A tree of links by Pinocchio on balls by Hunt and Crossley's law as OpenSim has it, with a corner in friction."""

    def __init__(self, problem: Mapping[str, Any]):
        import pinocchio

        self.pin: Any = pinocchio  # has no type stubs
        self.world = self.pin.buildModelFromUrdf(problem["urdf"])
        self.world.gravity.linear = np.array(problem["gravity"], float)
        self.data, self.balls = self.world.createData(), problem["balls"]

    def accelerations(self, q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> np.ndarray:
        """Of the joints, with the ground's forces."""
        pin, total = self.pin, tau.copy()
        pin.computeJointJacobians(self.world, self.data, q)
        for ball in self.balls:
            joint = ball["link"] + 1  # after the world
            place = self.data.oMi[joint]
            center = place.rotation @ ball["center"]
            depth = ball["radius"] - (place.translation + center)[1]
            arm = center - [0.0, ball["radius"] - depth / 2, 0.0]
            jacobian = pin.getJointJacobian(self.world, self.data, joint, pin.LOCAL_WORLD_ALIGNED)
            x, y, turn = jacobian[0], jacobian[1], jacobian[5]
            along, up = x - turn * arm[1], y + turn * arm[0]
            normal, friction = pushed(ball, depth, float(along @ qd), float(up @ qd))
            total += along * friction + up * normal
        return pin.aba(self.world, self.data, q, qd, total)


def pushed(ball: Mapping[str, Any], depth: float, slip: float, rise: float) -> tuple[float, float]:
    """Upward and forward force of the ground on a ball."""
    small, R, c = 1e-5, ball["radius"], ball["dissipation"]
    stiffness = 0.5 * ball["stiffness"] ** (2 / 3)
    hertz = 4 / 3 * stiffness * np.sqrt(R * stiffness) * (depth**2 + small) ** 0.75
    hertz *= 0.5 + 0.5 * np.tanh(300 * depth)
    normal = hertz * (1 - 1.5 * c * rise) * (0.5 + 0.5 * np.tanh(50 * (2 / (3 * c) - rise)))
    speed = np.hypot(slip, np.sqrt(small))
    coefficient = min(speed / ball["transition"], 1.0) * ball["friction"] + ball["viscous"] * speed
    return float(normal), float(-normal * coefficient * slip / speed)


# De Groote et al. 2016, with the constants that OpenSim has.
BELLS = (
    (0.8150671134243542, 1.055033428970575, 0.162384573599574, 0.063303448465465),
    (0.433004984392647, 0.716775413397760, -0.029947116970696, 0.200356847296188),
    (0.1, 1.0, 0.353553390593274, 0.0),
)
VELOCITY = (-0.3211346127989808, -8.149, -0.374, 0.8825327733249912)
FASTEST, DAMPING = 10.0, 0.01  # optimal lengths a second; of the largest force at that speed


def activating(strands: Sequence[Mapping[str, Any]], e: np.ndarray, a: np.ndarray) -> np.ndarray:
    """Rates of activations."""
    rise, fall = (np.array([strand[key] for strand in strands]) for key in ("rise", "fall"))
    share, slowing = 0.5 * np.tanh(0.1 * (e - a)), 0.5 + 1.5 * a
    return ((share + 0.5) / (rise * slowing) + (0.5 - share) * slowing / fall) * (e - a)


def pulled(strands: Sequence[Mapping[str, Any]], q: np.ndarray, qd: np.ndarray, a: np.ndarray) -> np.ndarray:
    """Torques of muscles on rigid tendons."""
    tau = np.zeros(q.size)
    for strand, activation in zip(strands, a, strict=True):
        joints, powers = list(strand["joints"]), np.array(strand["length"])
        x1, x2 = [*q[joints].tolist(), 0.0][:2]
        length = float(polynomial.polyval2d(x1, x2, powers))
        by = (polynomial.polyder(powers, axis=k) for k in range(len(joints)))
        slopes = np.array([polynomial.polyval2d(x1, x2, slope) for slope in by])
        height, along = strand["fiber"] * np.sin(strand["pennation"]), length - strand["tendon"]
        fiber = np.hypot(along, height)
        cosine, x = along / fiber, fiber / strand["fiber"]
        v = slopes @ qd[joints] * cosine / (FASTEST * strand["fiber"])
        wide = 1 + (x - 1) / strand["width"]
        active = sum(b1 * np.exp(-0.5 * ((wide - b2) / (b3 + b4 * wide)) ** 2) for b1, b2, b3, b4 in BELLS)
        e1, e2, e3, e4 = VELOCITY
        faster = e1 * np.arcsinh(e2 * v + e3) + e4
        force = activation * active * faster + DAMPING * v
        if strand["strain"]:
            growth = 4 / strand["strain"]
            slack = np.exp(growth * (0.2 - 1))
            force += (np.exp(growth * (x - 1)) - slack) / (np.exp(4.0) - slack)
        tau[joints] -= strand["force"] * force * cosine * slopes
    return tau


def judged_hop(problem: Mapping[str, Any], answer: Mapping[str, Any]) -> Truth:
    """Effect of the forces of a `Hop`: push, flight and landing by Newton's law, written out by hand."""
    foot, trunk, gravity = (float(problem[name]) for name in ("foot", "trunk", "gravity"))

    def standing(q: np.ndarray, qd: np.ndarray, force: np.ndarray) -> np.ndarray:
        return force / trunk - gravity

    def flying(q: np.ndarray, qd: np.ndarray, force: np.ndarray) -> np.ndarray:
        """Of the foot and of the trunk, both over the ground."""
        push = float(force[0])
        return np.array([-push / foot - gravity, push / trunk - gravity])

    push, flight, landing = (pieces(part, np.ones(1)) for part in answer["phases"])
    first, first_force, first_cost = simulated(standing, push, np.array([problem["rest"]]), np.zeros(1))
    # A piece of a force drives two accelerations, and counts once in the cost.
    begin_q, begin_qd = np.array([0.0, first[-1, 0]]), np.array([0.0, first[-1, 1]])
    air, _, air_cost = simulated(flying, flight, begin_q, begin_qd)
    middle = flight[-1][1] / 2
    cut = [(a, min(b, middle), c, b) for a, b, c in flight if a < middle * (1 - 1e-9)]
    upper, *_ = simulated(flying, [_shortened(*piece) for piece in cut], begin_q, begin_qd)
    blow = -foot * air[-1, 2]
    last, last_force, last_cost = simulated(standing, landing, air[-1, 1:2], air[-1, 3:4])
    lengths = np.concatenate([first[:, 0], air[:, 1] - air[:, 0], last[:, 0]])
    ground = np.concatenate([first_force, last_force]) + foot * gravity
    low, high = problem["leg"]
    overstep = max(
        float((lengths - high).max()) / (high - low) * 2,
        float((low - lengths).max()) / (high - low) * 2,
        float(-ground.min()) / ((foot + trunk) * gravity),
        float(-air[:, 0].min()) / problem["height"],
        (problem["height"] - upper[-1, 0]) / problem["height"],
    )
    duration = sum(part["edges"][-1] for part in answer["phases"])
    miss = max(
        abs(last[-1, 0] - problem["rest"]),
        abs(last[-1, 1]) * problem["duration"],
        abs(air[-1, 0]),
        abs(duration - problem["duration"]),
    )
    cost = float(first_cost + air_cost + last_cost) + problem["weight"] * blow**2
    return Truth(float(miss), max(0.0, overstep), cost)


def _shortened(begin: float, end: float, coefficients: np.ndarray, whole: float) -> tuple[float, float, np.ndarray]:
    """The first part of a piece that lasts until `whole`, as a piece."""
    count = len(coefficients)
    points = chebyshev.chebpts1(count)
    at = begin + (points + 1) / 2 * (end - begin)
    values = np.atleast_2d(chebyshev.chebval(2 * (at - begin) / (whole - begin) - 1, coefficients)).T
    return begin, end, np.linalg.solve(chebyshev.chebvander(points, count - 1), values.reshape(count, -1))
