"""Does PredSim's walk, by 92 muscles on compliant tendons and at the cost of its energy, come out of exact Hessians?

The problem of Falisse et al. 2022 (PLOS ONE 17) as PredSim states it: half a stride at 1.33 m/s, symmetric, feet that
are balls on the ground, muscles whose tendons' tensions and activations are states, motors in the arms that lag by 35
ms. The cost, over the distance, is the mean square of the muscles' metabolic rates (Bhargava et al. 2004), of
activations, of accelerations in their natural sizes, of the motors' commands, and of the torques of tissue at the
ends of the joints' ranges. Its published optimum is 339.99, after 895 iterations of L-BFGS and 5,630 s.

The human is a copy of Falisse_et_al_2022.osim, which comes with PredSim: ``--osim FILE``. Without it the
built-in human walks, at the same cost.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

import colloc as co
from colloc.plot.figure import new_figure
from colloc.plot.style import BLUE, ORANGE, dress, styled
from colloc.studies.reporting import Option, Row, arguments, finish, table
from colloc.studies.walking.by_muscles import halved
from colloc.studies.walking.human_by_muscles import APART, strip
from colloc.studies.walking.predsim_human import FILE, LAG, Walker, built_in, falisse, posture
from colloc.studies.walking.report.by_muscles import (
    ANGLES,
    PERCENT,
    distances,
    draw_curves,
    from_strike,
    gait,
    gauss_times,
    half_times,
    leg_curves,
    simulated,
)

SPEED = 1.33  # m/s
STEP = 0.55  # s, half a stride of the first guess
DEPTH = 0.012  # m, of the deepest ball in the first guess: as deep as a foot that stands
FREE = 6  # coordinates of the pelvis, which nothing holds
LEAST = 0.05  # activation
WEIGHTS = {  # of mean squares, in the cost
    "metabolic rates": 500.0,  # [W2], over the mass of the body [kg]
    "activations": 2000.0,
    "motors": 1e6,
    "accelerations": 5e4,  # in their natural sizes
    "tissue": 1000.0,  # [(N m)2]
    "rates": 1e-3,  # of activations and tensions [(100/s)2], and accelerations of the arms
}
PUBLISHED = {"metabolic rates": 165.15, "activations": 58.52, "motors": 29.34, "accelerations": 85.47, "tissue": 1.52}
GRIDS = ((12, 0), (24, 0), (24, 1))  # intervals, and degree of the rates of activations and of the motors' commands
ROUNDS = 4
SHOWN = (("soleus",), ("med_gas", "gasmed"), ("tib_ant", "tibant"), ("vas_lat", "vaslat"), ("glut_med1", "glmed1"))
RATE = 100.0  # 1/s, natural size of the rates of activations and tensions


class Walk(NamedTuple):
    """A problem with the human whose muscles solve it."""

    walker: Walker
    muscles: co.muscles.Muscles
    problem: co.Problem


class LaggingMotors(co.problem.Part):
    """Motors of joints, by size [N m], whose torque follows their commands."""

    name = "motor"

    def __init__(self, sizes: Mapping[str, float]):
        self.sizes, n = dict(sizes), len(sizes)
        command = co.Unknown("command", n, -1.0, 1.0)
        motor = co.State("motor", n, rate=lambda now: (now.command - now.motor) / LAG, lower=-1.0, upper=1.0)
        self.unknowns = (command, motor)

    def contribution(self) -> co.problem.Contribution:
        """Commands and torques of the motors, relative to their sizes."""
        return co.problem.Contribution(unknowns=self.unknowns)

    def torques(self, now: co.problem.Instant) -> dict[str, ca.SX]:
        """By joint."""
        return {joint: size * now.motor[k] for k, (joint, size) in enumerate(self.sizes.items())}


@dataclass(frozen=True)
class Tissue(co.problem.Part):
    """Tissue, springs and dampers at the joints of a walker."""

    walker: Walker
    name: str = "tissue"

    def torques(self, now: co.problem.Instant) -> dict[str, ca.SX]:
        """By joint, but for the pelvis."""
        walker, torques = self.walker, {}
        for k, joint in enumerate(walker.model.joint_names[FREE:], FREE):
            torques[joint] = -walker.springs.get(joint, 0.0) * now.q[k] - walker.dampers.get(joint, 0.0) * now.qd[k]
            if joint in walker.tissue:
                torques[joint] += walker.tissue[joint](now.q[k], 0.0)
        return torques


def walk(walker: Walker, speed: float = SPEED) -> Walk:
    """Half a stride at a mean speed [m/s]."""
    model, names = walker.model, walker.model.joint_names
    # Muscles leave the toes to their springs.
    held = [joint for joint in names[FREE:] if joint not in walker.motors and joint not in walker.springs]
    muscles = co.muscles.Muscles(model, walker.muscles, tendons="compliant", lower=LEAST, joints=held)
    driven = [names.index(joint) for joint in walker.motors]
    other, sign = walker.mirrored
    counterpart = {joint: k for k, joint in enumerate(walker.motors)}
    signs = sign[driven]
    motors_across = [counterpart[names[other[k]]] for k in driven]

    def motion(start: co.problem.Instant, end: co.problem.Instant) -> ca.SX:
        return ca.vertcat(
            (end.q - sign * start.q[other])[[k for k in range(model.n) if names[k] != "pelvis_tx"]],
            end.qd - sign * start.qd[other],
        )

    def inner(start: co.problem.Instant, end: co.problem.Instant) -> ca.SX:
        across = walker.across
        return ca.vertcat(
            end.activation - start.activation[across],
            end.tension - start.tension[across],
            end.motor - signs * start.motor[motors_across],
        )

    def apart(now: co.problem.Instant) -> ca.SX:
        between = [now.point(one).position - now.point(two).position for one, two in APART]
        return ca.vertcat(*(ca.sumsqr(distance[[0, 2]]) for distance in between))

    advance = names.index("pelvis_tx")
    rows = [
        co.initial(q={"pelvis_tx": 0.0}),
        co.boundary(lambda start, end: end.q[advance] - speed * end.duration, equals=0.0, unit="m", name="distance"),
        co.boundary(motion, equals=0.0, name="symmetry of the motion"),
        co.boundary(inner, equals=0.0, name="symmetry of muscles and motors"),
        co.path(apart, lower=np.square(list(APART.values())), scale=0.01, unit="m2", name="apart"),
    ]
    if walker.limits:
        rows.append(co.bounds(q=walker.limits))
    problem = co.Problem(
        model,
        co.Free(0.4, 0.7, guess=STEP),
        cost(walker, muscles, speed),
        rows,
        parts=[muscles, LaggingMotors(walker.motors), Tissue(walker), walker.contact],
    )
    return Walk(walker, muscles, problem)


def cost(walker: Walker, muscles: co.muscles.Muscles, speed: float) -> co.problem.Cost:
    """The published cost, a term for each of its parts."""
    names, mass = walker.model.joint_names, walker.mass
    arms = [k for k, joint in enumerate(names) if joint in walker.motors and not joint.startswith("lumbar")]
    rest = [k for k in range(len(names)) if k not in arms]

    def moved(now: co.problem.Instant, which: list[int]) -> ca.SX:
        return mean_square((now.qdd / walker.accelerations)[which])

    def tissue(now: co.problem.Instant) -> ca.SX:
        return ca.vertcat(*(torque(now.q[names.index(joint)], 0.0) for joint, torque in walker.tissue.items()))

    parts = {
        "metabolic rates": lambda now: mean_square(power(muscles, now)) / mass,
        "activations": lambda now: mean_square(now.activation),
        "motors": lambda now: mean_square(now.command),
        "accelerations": lambda now: moved(now, rest),
        "tissue": lambda now: mean_square(tissue(now)),
        "rates": lambda now: (
            mean_square(now.activation_rate / RATE) + mean_square(now.rate("tension") / RATE) + moved(now, arms)
        ),
    }

    def over_distance(name: str):
        return lambda now: WEIGHTS[name] * parts[name](now) / (speed * now.duration)

    first, *others = (co.integral(over_distance(name), name) for name in parts)
    return sum(others, start=first)


def power(muscles: co.muscles.Muscles, now: co.problem.Instant) -> ca.SX:
    """Metabolic rate of every muscle [W], whose damper is part of the contractile fiber, as published."""
    fibers = muscles.fibers(now)
    force = fibers.active_force + fibers.damping_force
    return muscles.metabolic_rate(now, fibers._replace(active_force=force, damping_force=ca.SX(*force.shape))).total


def mean_square(values: ca.SX) -> ca.SX:
    """Of the entries of a column."""
    return ca.sumsqr(values) / values.numel()


def recorded(walker: Walker, speed: float = SPEED, duration: float = STEP) -> co.transcription.Keyframes:
    """The first guess: a recorded walk at another speed, as deep in the ground as a foot that stands."""
    model, s = walker.model, np.linspace(0.0, 1.0, 21)
    q = np.hstack([ca.evalf(posture(walker, float(half))).full() for half in s / 2]).T
    for k, joint in enumerate(model.joint_names):
        lower, upper = walker.limits.get(joint, [ends[k] for ends in model.limits("position")])
        q[:, k] = np.clip(q[:, k], lower + 0.01 * (upper - lower), upper - 0.01 * (upper - lower))
    q[:, model.joint_names.index("pelvis_tx")] = speed * duration * s
    symbols = ca.SX.sym("q", model.n)
    places = [
        co.model.point_motion(model, ball.body, ball.center, q=symbols).position for ball in walker.contact.spheres
    ]
    depths = ca.vertcat(*(ball.radius - place[1] for ball, place in zip(walker.contact.spheres, places, strict=True)))
    depth = ca.Function("depth", [symbols], [ca.mmax(depths)])
    q[:, model.joint_names.index("pelvis_ty")] += [float(depth(row)) - DEPTH for row in q]
    return co.keyframes(dict(zip(s.tolist(), q, strict=True)))


def stride(made: Walk, solution: co.Solution, t: np.ndarray) -> dict[str, np.ndarray]:
    """Quantities of the right leg over a stride, by name: its half, then the mirror image of the left one's."""
    walker, now = made.walker, solution.at(t)
    other, sign = walker.mirrored
    weight = -walker.mass * walker.model.gravity[1]
    force = {}
    for side in "rl":
        feet = [ball for ball in walker.contact.spheres if str(ball.name).endswith(f"_{side}")]
        force[side] = solution.evaluate(lambda now, feet=feet: sum(ball.force(now) for ball in feet), t) / weight
    heat = solution.evaluate(lambda now: ca.sum1(power(made.muscles, now)), t)
    return {
        "q": np.vstack([now.q, sign * now.q[:, other]]),
        "activation": np.vstack([now.activation, now.activation[:, walker.across]]),
        "tension": np.vstack([now.tension, now.tension[:, walker.across]]),
        "force": np.vstack([force["r"], force["l"] * (1.0, 1.0, -1.0)]),
        "heat": np.concatenate([heat, heat]),
    }


def measures(made: Walk, solution: co.Solution, speed: float) -> dict[str, float]:
    """Quantities that are published for the walk, and measures of how well it is solved."""
    t, share = gauss_times(solution.duration)
    whole, walker = stride(made, solution, t), made.walker
    found = {
        "cost": solution.cost,
        "solved": float(solution.success),
        "error": float(solution.error.motion_error),
        "unknowns": float(solution.x.size),
        "rows": float(solution.nlp.n_g),
        "largest_activation": float(whole["activation"].max()),
    }
    bend = walker.knee * whole["q"][:, walker.model.joint_names.index(ANGLES["knee"])]
    found |= gait(whole, share, bend, solution.duration, walker.mass, speed)
    found |= {f"cost.{name.replace(' ', '_')}": value for name, value in solution.terms.items()}
    shown = from_strike(stride(made, solution, half_times(solution.duration)))
    return found | distances(leg_curves(shown, walker.model.joint_names, walker.knee))


@styled
def draw(made: Walk, solution: co.Solution, file: str) -> None:
    """The walker, angles and forces of a leg beside measured ones, and activations and tensions of five muscles."""
    figure = new_figure(figsize=(11.0, 9.0))
    top, curves, muscles = figure.subfigures(3, 1, height_ratios=(0.9, 0.8, 1.3), squeeze=False)[:, 0]
    ax = top.subplots()
    strip(ax, solution)
    ax.set_title(f"{made.walker.label}, {SPEED} m/s", fontsize=9)
    whole = from_strike(stride(made, solution, half_times(solution.duration)))
    found = leg_curves(whole, made.walker.model.joint_names, made.walker.knee)
    draw_curves(curves.subplots(1, 5), [(BLUE, made.walker.label, found)])
    shown = {"activation": whole["activation"], "tension / F0": whole["tension"]}
    rows = muscles.subplots(2, 5, sharex=True, sharey="row")
    for color, row, (what, values) in zip((BLUE, ORANGE), rows, shown.items(), strict=True):
        for ax, names in zip(row, SHOWN, strict=True):
            name = next(name for name in names if f"{name}_r" in made.muscles.names)
            ax.plot(PERCENT, values[:, made.muscles.names.index(f"{name}_r")], color=color)
            ax.set_title(name.replace("_", " "), fontsize=9)
            last = what != "activation" and ax is row[2]
            dress(ax, "% of the stride, from heel strike" if last else "", what if ax is row[0] else "")
    co.plot.save_figure(figure, file)


def solved(
    made: Walk, guess: Any, grids: Sequence[tuple[int, int]], rounds: int
) -> tuple[co.Solution, dict[str, float]]:
    """The walk on grids, one after the other, then on such as are halved where that is needed; with what it took."""
    options: dict[str, Any] = {
        # The estimate of the error of the cost takes a program of twice the size for every grid.
        "plan": [co.refinement.Solve(judge_cost=False)],
        # Some 300 iterations to the first walk, after which the other barrier would start again.
        "solver": co.Ipopt(max_iter=600, mu_strategy="monotone", tol=1e-7),
        "progress": False,
    }
    begin = time.perf_counter(), time.process_time()
    numbers: dict[str, float] = {"iterations": 0.0}

    def step(name: str, curve: co.curves.Transcription, start: Any) -> co.Solution:
        solution = co.solve(made.problem, curve, guess=start, **options)
        numbers["iterations"] += solution.iterations
        found = {"cost": solution.cost, "iterations": solution.iterations, "unknowns": solution.x.size}
        found |= {
            "error": solution.error.motion_error,
            "processor_seconds": time.process_time() - begin[1],
        }
        numbers.update({f"{name}.{key}": float(value) for key, value in found.items()})
        return solution

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.refinement.SolutionWarning)  # of grids to be made finer
        for count, degree in grids:
            curve = co.Radau(count, nodes="collocation", signal_degree=degree)
            guess = step(f"grid.{count}.{degree}", curve, guess)
        for k in range(1, rounds + 1):
            if guess.success:
                break
            guess = step(f"halved.{k}", halved(guess), guess)
    numbers |= {"seconds": time.perf_counter() - begin[0], "processor_seconds": time.process_time() - begin[1]}
    return guess, numbers


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    osim = Option("osim", "", f"your own copy of {FILE}, without which the built-in human walks")
    args = arguments("walking.predsim", __doc__, argv, quick="a coarse grid", options=[osim])
    made = walk(falisse(args.osim) if args.osim else built_in())
    grids, rounds = (GRIDS[:1], 0) if args.quick else (GRIDS, ROUNDS)
    solution, numbers = solved(made, recorded(made.walker), grids, rounds)
    numbers |= {"published_human": float(bool(args.osim))} | measures(made, solution, SPEED) | simulated(solution)
    published = "Falisse et al. 2022, by PredSim"
    rows = [
        Row("cost", numbers["cost"], 339.99, published),
        *(
            Row(f"cost of {name}", numbers[f"cost.{name.replace(' ', '_')}"], PUBLISHED[name], published)
            for name in PUBLISHED
        ),
        Row("strides a second [Hz]", numbers["strides_per_second"], 0.907, published),
        Row("stance [% of the stride]", numbers["stance"], 59.0, published),
        Row("greatest force of the ground [weight]", numbers["peak_force"], 1.19, published),
        Row("knee flexion [degrees]", numbers["knee_flexion"], 60.4, published),
        Row("cost of transport [J/kg/m]", numbers["cost_of_transport"], 4.20, published),
        Row("off by simulation, an interval", numbers["simulated"]),
    ]
    notes = [
        f"  {made.walker.label}: {numbers['unknowns']:.0f} unknowns, {numbers['iterations']:.0f} iterations and "
        f"{numbers['processor_seconds']:.0f} s of the processor in all (published: 895 and 5,630 s), "
        f"{solution.status.value}, error {numbers['error']:.1e}"
    ]
    print(table(args.question, rows, notes))
    draw(made, solution, args.figure)
    return finish(args, numbers, solution)


if __name__ == "__main__":
    main()
