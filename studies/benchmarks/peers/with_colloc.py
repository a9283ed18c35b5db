"""The problems in colloc, on a grid of its own choice, which it refines, or on a given one."""

from __future__ import annotations

from typing import Any

TOLERANCES = (None, 1e-4, 1e-5)  # one that the library chooses, and finer ones
FINEST = len(TOLERANCES)


def chebyshev(count: int) -> Any:
    """Chebyshev points of [-1, 1], where torques are handed over: they are no polynomials."""
    import numpy as np

    return np.cos(np.pi * (np.arange(count)[::-1] + 0.5) / count)


def reach(arm: Any, effort: int, curve: Any = None) -> dict[str, Any]:
    """From rest to rest, on a curve or refined until the tolerance is met."""
    if curve is None and arm.intervals:
        return {"unfit": "a grid of its own"}
    tol = TOLERANCES[effort] if curve is None else None
    # [reach
    import casadi as ca
    import numpy as np

    import colloc as co

    model = co.formats.from_urdf(arm.urdf, gravity=arm.gravity).model
    torque, position, speed = (np.array(limit) for limit in (arm.torque, arm.position, arm.speed))
    free = arm.duration is None
    problem = co.Problem(
        model,
        co.Free(arm.guess / 10, arm.guess * 5, arm.guess) if free else arm.duration,
        co.duration() if free else co.integral(lambda now: ca.sumsqr(now.tau)),
        [
            co.initial(q=arm.start, qd=0.0),
            co.final(q=arm.end, qd=0.0),
            co.bounds(tau=(-torque, torque), q=(-position, position), qd=(-speed, speed)),
        ],
    )
    solution = co.solve(problem, curve, progress=False, tol=tol)
    # reach]
    edges = solution.mesh_times
    inside = chebyshev(9)
    at = edges[:-1, None] + (inside + 1) / 2 * np.diff(edges)[:, None]
    return {
        "edges": edges.tolist(),
        "inside": inside.tolist(),
        "torque": solution.at(at.ravel()).tau.reshape(*at.shape, -1).tolist(),
    } | said(solution)


def hop(task: Any, effort: int, curve: Any = None) -> dict[str, Any]:
    """Three phases; see `Hop`."""
    tol = TOLERANCES[effort] if curve is None else None
    # [hop
    import colloc as co

    leg = co.Model(
        [
            co.Body("foot", co.prismatic((0, 1, 0)), mass=task.foot),  # what moves this joint is the ground
            co.Body("trunk", co.prismatic((0, 1, 0), limits=co.Limits(position=task.leg)), "foot", mass=task.trunk),
        ],
        markers={"sole": ("foot", (0, 0, 0))},
    )
    force = co.integral(lambda now: now.tau[1] ** 2)
    standing = co.bounds(q={"foot": (0, 0)}, tau={"foot": (0, float("inf"))})
    flying = co.bounds(q={"foot": (0, float("inf"))}, tau={"foot": (0, 0)})
    high = co.at(0.5, lambda now: now.marker("sole").position[1], lower=task.height)
    rest = {"q": (0, task.rest), "qd": 0}
    phases = {
        "push": co.Problem(leg, co.Free(0.1, 1.0), force, [co.initial(**rest), standing]),
        "flight": co.Problem(leg, co.Free(0.1, 1.0), force, [flying, high, co.final(q={"foot": 0.0})]),
        "landing": co.Problem(leg, co.Free(0.1, 1.0), force, [standing, co.final(**rest)]),
    }
    impact = co.impact("flight", "landing", {"sole": "y"})
    blow = co.final_cost(lambda phases: phases["landing"].start.impulse[0] ** 2)
    problem = co.Phases(phases, [impact], minimize=task.weight * blow, duration=task.duration)
    solution = co.solve(problem, curve, progress=False, tol=tol)
    # hop]
    inside = chebyshev(9)
    parts = []
    for name in phases:
        edges = solution[name].mesh_times
        at = edges[:-1, None] + (inside + 1) / 2 * (edges[1:] - edges[:-1])[:, None]
        torque = solution[name].at(at.ravel()).tau[:, 1].reshape(*at.shape, 1)
        parts.append({"edges": (edges - edges[0]).tolist(), "inside": inside.tolist(), "torque": torque.tolist()})
    return {
        "phases": parts,
    } | said(solution)


def rise(task: Any, effort: int, curve: Any = None) -> dict[str, Any]:
    """By motors and muscles; see `Rise`."""
    tol = TOLERANCES[effort] if curve is None else None
    # [rise
    import casadi as ca
    import numpy as np

    import colloc as co

    model = co.formats.from_urdf(task.urdf, gravity=task.gravity).model
    muscles = []
    for strand in task.muscles:
        length, joints = np.array(strand["length"]), [model.joint_names[k] for k in strand["joints"]]
        powers = np.argwhere(length)[:, : len(joints)]
        scale = np.zeros(len(joints)), np.ones(len(joints))
        path = co.muscles.LengthPolynomial(tuple(joints), powers, length[length != 0], *scale, 0.0, 0.0)
        numbers = [strand[key] for key in ("force", "fiber", "tendon", "pennation")]
        times = {"activation_time": strand["rise"], "deactivation_time": strand["fall"]}
        curves = co.muscles.OPENSIM.with_active(width=strand["width"]).with_passive(strain=strand["strain"] or None)
        muscles.append(co.muscles.Muscle(strand["name"], path, *numbers, **times, curves=curves))
    motors = dict(zip(model.joint_names, task.motors, strict=True))
    start = {"q": task.start, "qd": 0.0}
    if muscles:
        driven = co.muscles.Muscles(
            model, muscles, activation="explicit", sharpness=0.1, lower=task.least, reserves=motors
        )
        parts, rows = [driven], []
        start["states"] = {"activation": task.least}
        effort_of = co.integral(lambda now: ca.sumsqr(now.excitation) + ca.sumsqr(now.reserve))
    else:
        size = np.array(task.motors)
        parts, rows = [], [co.bounds(tau=(-size, size))]
        effort_of = co.integral(lambda now: ca.sumsqr(now.tau / size))
    within = co.bounds(q=(task.lower, task.upper))
    problem = co.Problem(
        model,
        task.duration,
        effort_of,
        [co.initial(**start), co.final(q=task.end, qd=0.0), within, *rows],
        parts=parts,
    )
    solution = co.solve(problem, curve, progress=False, tol=tol)
    # rise]
    edges, inside = solution.mesh_times, chebyshev(9)
    at = (edges[:-1, None] + (inside + 1) / 2 * np.diff(edges)[:, None]).ravel()
    now = solution.at(at)
    signals = np.hstack([now.excitation, now.reserve]) if muscles else now.tau / task.motors
    ends = solution.at(edges)
    state = np.hstack([ends.q, ends.qd, *([ends.activation] if muscles else [])])
    return {
        "edges": edges.tolist(),
        "inside": inside.tolist(),
        "torque": signals.reshape(edges.size - 1, inside.size, -1).tolist(),
        "state": state.tolist(),
    } | said(solution)


def step(task: Any, effort: int, curve: Any = None) -> dict[str, Any]:
    """From strike to strike; see `Step`."""
    tol = TOLERANCES[effort] if curve is None else None
    # [step
    import casadi as ca
    import numpy as np

    import colloc as co

    chain, loose = (co.formats.from_urdf(file, gravity=task.gravity).model for file in (task.urdf, task.loose))
    model = co.Model(chain.bodies, chain.gravity, markers={"foot": (chain.bodies[-1].name, task.foot)})
    swap = np.array(task.swap)

    def strike(start, end):
        """Momenta of the joints of the chain that begins where the foot strikes, which goes from its speed to rest."""
        mass = co.dynamics.mass_matrix(loose, ca.vertcat(0, 0, start.q))
        return (mass @ ca.vertcat(-end.marker("foot").velocity[:2], start.qd - swap @ end.qd))[2:]

    problem = co.Problem(
        model,
        task.duration,
        co.integral(lambda now: ca.sumsqr(now.tau)),
        [
            co.boundary(lambda start, end: start.q - swap @ end.q, equals=0),
            co.boundary(strike, equals=0),
            co.at(1.0, lambda now: now.marker("foot").position[:2], equals=(task.length, 0)),
            co.at(0.0, lambda now: now.marker("foot").velocity[1], lower=0),
            co.at(1.0, lambda now: now.marker("foot").velocity[1], upper=0),
        ],
    )
    solution = co.solve(problem, curve, guess=co.line(task.start, task.end), progress=False, tol=tol)
    # step]
    edges, inside = solution.mesh_times, chebyshev(9)
    at = edges[:-1, None] + (inside + 1) / 2 * np.diff(edges)[:, None]
    begin = solution.at(0.0)
    return {
        "edges": edges.tolist(),
        "inside": inside.tolist(),
        "torque": solution.at(at.ravel()).tau.reshape(*at.shape, -1).tolist(),
        "state": np.concatenate([begin.q, begin.qd]).tolist(),
    } | said(solution)


def walk(task: Any, effort: int, curve: Any = None) -> dict[str, Any]:
    """Half a stride by muscles; see `Walk`."""
    tol = 1e-2 if curve is None and task.speed is None else None  # followed on stiff balls: in place of 1e-3
    # [walk
    import casadi as ca
    import numpy as np

    import colloc as co

    model = co.formats.from_urdf(task.urdf, gravity=task.gravity).model
    balls = []
    for k, ball in enumerate(task.balls):
        law = {"stiffness": ball["stiffness"], "dissipation": ball["dissipation"], "name": f"ball{k}"}
        law |= {f"{kind}_friction": ball["friction"] for kind in ("static", "dynamic")}
        law |= {"viscous_friction": ball["viscous"], "transition_velocity": ball["transition"]}
        balls.append(co.problem.ContactSphere(f"link{ball['link']}", ball["center"], ball["radius"], **law))
    muscles = []
    for strand in task.muscles:
        length, joints = np.array(strand["length"]), [model.joint_names[k] for k in strand["joints"]]
        powers = np.argwhere(length)[:, : len(joints)]
        scale = np.zeros(len(joints)), np.ones(len(joints))
        path = co.muscles.LengthPolynomial(tuple(joints), powers, length[length != 0], *scale, 0.0, 0.0)
        numbers = [strand[key] for key in ("force", "fiber", "tendon", "pennation")]
        muscles.append(co.muscles.Muscle(strand["name"], path, *numbers))
    motors = {joint: size for joint, size in zip(model.joint_names, task.motors, strict=True) if size}
    driven = co.muscles.Muscles(model, muscles, activation="explicit", sharpness=0.1, lower=task.least, reserves=motors)
    size, mirror, other = ca.DM(list(motors.values())), list(task.mirror), list(task.other)
    if task.speed is None:
        duration, rows = task.t[-1], []
        squares = co.integral(lambda now: task.weight * (ca.sumsqr(now.excitation) + ca.sumsqr(size * now.reserve)))
        walk = np.hstack([task.q, task.qd])
        near = co.track(task.t, walk, lambda now: ca.vertcat(now.q, now.qd), weight=task.weight, degree=5)
        cost = near + squares
    else:
        duration = co.Free(*task.durations, guess=task.t[-1])
        rows = [co.boundary(lambda start, end: (end.q - start.q)[0] - task.speed * end.duration, equals=0)]

        def cubes(now):
            signals = ca.vertcat(now.excitation, size * now.reserve)
            return task.weight * ca.sum1(ca.fabs(signals) ** 3) / (task.speed * now.duration)

        cost = co.integral(cubes)
    problem = co.Problem(
        model,
        duration,
        cost,
        [
            *rows,
            co.boundary(lambda start, end: (end.q - start.q[mirror])[1:], equals=0),  # but for the way
            co.boundary(lambda start, end: end.qd - start.qd[mirror], equals=0),
            co.boundary(lambda start, end: end.activation - start.activation[other], equals=0),
            co.bounds(q=(task.lower, task.upper)),
        ],
        parts=[driven, *balls],
    )
    some = [*range(0, len(task.t) - 1, 4), len(task.t) - 1]
    guess = co.keyframes({task.t[k] / task.t[-1]: task.q[k] for k in some})
    solution = co.solve(problem, curve, guess=guess, progress=False, tol=tol)
    # walk]
    return handed_over(solution, task.motors)


def stand(task: Any, effort: int, curve: Any = None) -> dict[str, Any]:
    """A posture at rest, as a motion without speed; see `Stand`."""
    # [stand
    import casadi as ca
    import numpy as np

    import colloc as co

    free = {f"joint{k}": None for k in range(len(task.links))}  # of the sum of motors and stops
    model = co.formats.from_urdf(task.urdf, gravity=task.gravity, limits={"torque": free}).model
    low, high, rest = np.array(task.low), np.array(task.high), 1e-6

    def ground(now, link, place):
        depth = -now.point(link, place).position[1]
        push = task.stiffness * (depth + ca.sqrt(depth**2 + task.depth**2)) / 2 + task.bias * depth
        return ca.vertcat(0, push, 0)

    def bent(x):
        return (x + ca.sqrt(x**2 + task.width**2)) / 2

    def motors(now):
        return now.tau[3:] + task.stop * (bent(now.q[3:] - high[3:]) - bent(low[3:] - now.q[3:]))

    problem = co.Problem(
        model,
        1.0,
        co.integral(lambda now: ca.sumsqr(motors(now)) / 6),
        [
            co.initial(q={"joint0": 0.0}, qd=0.0),
            co.bounds(qd=(-rest, rest), qdd=(-rest, rest)),
            co.at(0.5, lambda now: now.tau[:3], equals=0),
            co.at(0.5, motors, lower=-task.motor, upper=task.motor),
            co.at(0.5, lambda now: now.q, lower=low - task.beyond, upper=high + task.beyond),
        ],
        loads=[
            co.Load(f"link{k}", lambda now, k=k, at=at: ground(now, f"link{k}", at), point=at) for k, at in task.points
        ],
    )
    solution = co.solve(problem, curve, guess=co.keyframes({0: task.guess, 1: task.guess}), progress=False)
    # stand]
    now = solution.at([0.5])
    q = now.q[0]
    stops = task.stop * (bent(ca.DM(q[3:] - high[3:])) - bent(ca.DM(low[3:] - q[3:])))
    torque = now.tau[0, 3:] + np.array(stops).ravel()
    return {"posture": q.tolist(), "torque": torque.tolist()} | said(solution)


def handed_over(solution: Any, motors: Any) -> dict[str, Any]:
    """Signals of a motion by muscles between the ends of its intervals, and its states there."""
    import numpy as np

    edges, inside = solution.mesh_times, chebyshev(9)
    at = (edges[:-1, None] + (inside + 1) / 2 * np.diff(edges)[:, None]).ravel()
    now, ends = solution.at(at), solution.at(edges)
    reserve = np.zeros((at.size, len(motors)))
    reserve[:, np.array(motors) > 0] = now.reserve
    signals = np.hstack([now.excitation, reserve])
    return {
        "edges": edges.tolist(),
        "inside": inside.tolist(),
        "torque": signals.reshape(edges.size - 1, inside.size, -1).tolist(),
        "state": np.hstack([ends.q, ends.qd, ends.activation]).tolist(),
        "cost": float(solution.cost),
        "iterations": int(solution.iterations),
        "solved": solution.status.name == "SOLVED",
        "status": solution.status.name,
    }


def goddard(task: Any, effort: int, curve: Any = None) -> dict[str, Any]:
    """As high as the fuel takes it; see `Goddard`."""
    tol = TOLERANCES[effort] if curve is None else None
    # [goddard
    import casadi as ca

    import colloc as co

    def drag(now):
        return task.drag * now.v**2 * ca.exp(-now.h / task.scale)

    problem = co.Problem(
        co.Model.empty(),
        co.Free(*task.durations, guess=task.guess),
        -1.0 * co.final_cost(lambda now: now.h),
        [co.initial(states={"h": 0.0, "v": 0.0, "m": task.mass}), co.final(states={"m": task.empty})],
        unknowns=[
            co.Unknown("thrust", lower=0.0, upper=task.thrust, guess=task.thrust / 2),
            co.State("h", rate=lambda now: now.v, lower=0.0, upper=2e4, guess=5e3),
            co.State("v", rate=lambda now: (now.thrust - drag(now)) / now.m - task.gravity, lower=-1e2, upper=2e3),
            co.State("m", rate=lambda now: -now.thrust / task.exhaust, lower=task.empty, upper=task.mass),
        ],
    )
    solution = co.solve(problem, curve, progress=False, tol=tol)
    # goddard]
    edges, inside = solution.mesh_times, chebyshev(9)
    at = edges[:-1, None] + (inside + 1) / 2 * (edges[1:] - edges[:-1])[:, None]
    thrust = solution.at(at.ravel()).thrust.reshape(*at.shape, 1)
    return {"edges": edges.tolist(), "inside": inside.tolist(), "torque": thrust.tolist()} | said(solution)


def alp_rider(task: Any, effort: int, curve: Any = None) -> dict[str, Any]:
    """Outside of four peaks; see `AlpRider`."""
    tol = TOLERANCES[effort] if curve is None else None
    # [alp_rider
    import casadi as ca

    import colloc as co

    A, B = ca.DM(task.matrix), ca.DM(task.control)

    def above(now):
        peaks = sum(high * ca.exp(-sharp * (now.t - at) ** 2) for high, at, sharp in task.peaks)
        return ca.sumsqr(now.x) - peaks

    problem = co.Problem(
        co.Model.empty(),
        task.duration,
        co.integral(lambda now: 100 * ca.sumsqr(now.x) + 0.01 * ca.sumsqr(now.u)),
        [
            co.initial(states={"x": task.start}),
            co.final(states={"x": task.end}),
            co.path(above, lower=task.floor, scale=1.0),
        ],
        unknowns=[co.Unknown("u", 2), co.State("x", 4, rate=lambda now: A @ now.x + B @ now.u)],
    )
    solution = co.solve(problem, curve, progress=False, tol=tol)
    # alp_rider]
    edges, inside = solution.mesh_times, chebyshev(9)
    at = edges[:-1, None] + (inside + 1) / 2 * (edges[1:] - edges[:-1])[:, None]
    return {
        "edges": edges.tolist(),
        "inside": inside.tolist(),
        "torque": solution.at(at.ravel()).u.reshape(*at.shape, 2).tolist(),
        "state": solution.at(edges).x.tolist(),
    } | said(solution)


def slide(task: Any, effort: int, curve: Any = None) -> dict[str, Any]:
    """A slide with dry friction, whose corner is rounded; see `Slide`."""
    tol = TOLERANCES[effort] if curve is None else None
    # [slide
    import casadi as ca

    import colloc as co

    slow = 1e-3 * task.way / task.duration  # speed up to which friction grows

    def rates(now):
        place, speed, far, rate, current = ca.vertsplit(now.x)
        force = task.spring * (far - place) + task.constant * current - task.friction * ca.tanh(speed / slow)
        voltage = now.u - task.constant * speed - task.resistance * current
        pull = task.spring * (place - far)
        return [speed, force / task.slide, rate, pull / task.load, voltage / task.inductance]

    most = [2 * task.way, 4 * task.way / task.duration] * 2 + [task.voltage / task.resistance]
    problem = co.Problem(
        co.Model.empty(),
        task.duration,
        co.integral(lambda now: now.u**2),
        [co.initial(states={"x": 0.0}), co.final(states={"x": (task.way, 0.0, task.way, 0.0, 0.0)})],
        unknowns=[
            co.Unknown("u", lower=-task.voltage, upper=task.voltage),
            co.State("x", 5, rate=rates, lower=[-size for size in most], upper=most),
        ],
    )
    solution = co.solve(problem, curve, progress=False, tol=tol)
    # slide]
    edges, inside = solution.mesh_times, chebyshev(9)
    at = edges[:-1, None] + (inside + 1) / 2 * (edges[1:] - edges[:-1])[:, None]
    return {
        "edges": edges.tolist(),
        "inside": inside.tolist(),
        "torque": solution.at(at.ravel()).u.reshape(*at.shape, 1).tolist(),
    } | said(solution)


def delta_iii(task: Any, effort: int, curve: Any = None) -> dict[str, Any]:
    """Four phases to an orbit; see `DeltaIII`."""
    tol = TOLERANCES[effort] if curve is None else None
    # [delta_iii
    import casadi as ca
    import numpy as np

    import colloc as co

    def flight(k, duration, *conditions):
        def rate(now):
            distance = ca.norm_2(now.r)
            wind = now.v - task.turn * ca.vertcat(-now.r[1], now.r[0], 0.0)
            speed = ca.sqrt(ca.sumsqr(wind) + 1e-6)  # at rest in the air at the launch
            drag = -task.drag * ca.exp((task.radius - distance) / task.scale) * speed * wind
            pull = -task.gravity * now.r / distance**3
            return pull + (task.force[k] * now.u + drag) / getattr(now, f"m{k}")

        least = task.payload if k == 3 else task.mass[k] - task.flow[k] * task.durations[k]
        return co.Problem(
            co.Model.empty(),
            duration,
            subject_to=[
                co.initial(states={f"m{k}": task.mass[k]}),
                co.path(lambda now: ca.sumsqr(now.u), equals=1.0),
                co.path(lambda now: ca.norm_2(now.r) / task.radius, lower=1.0),
                *conditions,
            ],
            unknowns=[
                co.Unknown("u", 3, lower=-1.1, upper=1.1, guess=(0.0, 1.0, 0.0)),
                co.State("r", 3, rate=lambda now: now.v, lower=-2 * task.radius, upper=2 * task.radius),
                co.State("v", 3, rate=rate, lower=-1e4, upper=1e4),
                co.State(f"m{k}", rate=lambda now: -task.flow[k], lower=least - 10, upper=task.mass[k] + 10),
            ],
        )

    def elements(now):
        r, v = now.r, now.v
        momentum = ca.cross(r, v)
        node = ca.vertcat(-momentum[1], momentum[0], 0.0)
        eccentricity = ca.cross(v, momentum) / task.gravity - r / ca.norm_2(r)
        n, e = ca.norm_2(node), ca.norm_2(eccentricity)
        return ca.vertcat(
            1 / (2 / ca.norm_2(r) - ca.sumsqr(v) / task.gravity),
            e,
            ca.acos(momentum[2] / ca.norm_2(momentum)),
            2 * np.pi - ca.acos(node[0] / n),
            ca.acos(ca.dot(node, eccentricity) / (n * e)),
        )

    orbit = co.at(1.0, elements, equals=task.orbit, scale=(task.radius, 1.0, 1.0, 1.0, 1.0))
    phases = {
        "six": flight(0, task.durations[0], co.initial(states={"r": task.site, "v": task.speed})),
        "three": flight(1, task.durations[1]),
        "first": flight(2, task.durations[2]),
        "second": flight(3, co.Free(1.0, task.durations[3], guess=task.durations[3]), orbit),
    }
    problem = co.Phases(phases, minimize=-1.0 * co.final_cost(lambda ends: ends["second"].end.m3))
    site, far = (
        {"r": lambda _t, r=r: np.array(r), "v": lambda _t, v=v: np.array(v)}
        for r, v in ((task.site, task.speed), task.perigee)
    )
    guess = {"six": site, "three": site, "first": far, "second": far}
    solution = co.solve(problem, curve, guess=guess, progress=False, tol=tol)
    # delta_iii]
    inside, parts = chebyshev(9), []
    for name in phases:
        edges = solution[name].mesh_times
        at = edges[:-1, None] + (inside + 1) / 2 * (edges[1:] - edges[:-1])[:, None]
        direction = solution[name].at(at.ravel()).u.reshape(*at.shape, 3)
        parts.append({"edges": edges.tolist(), "inside": inside.tolist(), "torque": direction.tolist()})
    return {"phases": parts} | said(solution)


def said(solution: Any) -> dict[str, Any]:
    """Its word for its answer."""
    return {
        "cost": float(solution.cost),
        "iterations": int(solution.iterations),
        "solved": solution.status.name == "SOLVED",
        "status": solution.status.name,
    }


def inverse_dynamics(body: Any, effort: int) -> dict[str, Any]:
    """Torques and all first derivatives of a batch of samples."""
    # [inverse_dynamics
    import numpy as np

    import colloc as co

    model = co.formats.from_urdf(body.urdf, gravity=body.gravity).model
    evaluator = co.Evaluator(model, compile=co.kernels.Compile(threads=1))
    motion = [np.array(samples) for samples in (body.q, body.qd, body.qdd)]
    # inverse_dynamics]
    return {
        "calls": {
            "torque": (lambda: evaluator.torque(*motion), len(body.q)),
            "derivatives": (lambda: evaluator.sensitivities(*motion), len(body.q)),
        },
        "values": evaluator.torque(*motion)[0].tolist(),
        "names": list(model.joint_names),
    }
