"""How high does a human jump, planar and with 55 degrees of freedom, and does the flight obey ballistics?

A countermovement jump with arm swing, as high as can be, from standing still to rest, as four phases
(`colloc.studies.jumping.phases`) with free durations but for the first: on flat feet, on the balls, in the air, and on
flat feet again, with a rigid impact between the last two. Segments are de Leva's (1996), torques at the speeds of the
joints those of Anderson, Madigan and Nussbaum (2007). Searches start from postures of a jump, and from random ones
about them.

Of 20 random starts 19 end in the same jump: down on flat feet with the arms swinging back, up over the balls with the
arms swinging forward, 0.30 m with the centre of mass above its height when standing. The flight lasts as long as
ballistics says to 3e-7, its momenta are kept to 1.1e-5 of the upward one, and the force that the ground must not have
is at most 0.15 % of body weight. People jump with more power: the ground does 2.3 kW at most on the centre of mass,
where Harman, Rosenstein, Frykman and Rosenstein (1990), "The effects of arms and countermovement on vertical jumping",
Med. Sci. Sports Exerc. 22, measured more than 3 kW; muscles here gain nothing from being stretched. With the arms held
still the flight is lower: they add 36 % to its height, as much as the 38 % that Vaverka et al. (2016), "Effect of an
arm swing on countermovement vertical jump performance in elite volleyball players", J. Hum. Kinet. 53, measured.

The same problem of the 55-DOF human, both sides as one (`colloc.models.human.symmetric`), with a spine of three joints
and arms that swing to the side as well: 0.35 m and 2.6 kW, in flight momenta to 4.4e-5 and forces to 0.4 % of body
weight. How fast a spine can bend is our estimate.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np

import colloc as co
from colloc.models.human.human import Human
from colloc.models.human.human55 import FROZEN, human55
from colloc.models.human.jumper2d import jumper2d
from colloc.models.human.stance import VERTICAL
from colloc.models.human.symmetric import symmetric
from colloc.studies.jumping.figures import draw, film
from colloc.studies.jumping.phases import GROUND, Jump
from colloc.studies.reporting import Option, Row, arguments, finish, table
from colloc.transcription import Keyframes

LANDING = (0, 0.03, 0.06, 0.1, 0.15, 0.22, 0.3, 0.4, 0.5, 0.65, 0.8, 1)
COARSE = {
    "push": co.BSpline(8, degree=4, continuity=1),
    "toes": co.BSpline(9, degree=4, continuity=1),
    "flight": co.BSpline(12, degree=4, continuity=1),
    "landing": co.BSpline(breakpoints=LANDING, degree=4, continuity=1),
}
OFF = (0, 0.14, 0.28, 0.42, 0.55, 0.67, 0.78, 0.88, 0.95, 1)
FLYING = (0, 0.04, 0.1, 0.18, 0.28, 0.4, 0.52, 0.64, 0.76, 0.88, 1)
FINE = COARSE | {
    "toes": co.BSpline(breakpoints=OFF, degree=5, continuity=1),
    "flight": co.BSpline(breakpoints=FLYING, degree=5, continuity=1),
}
# MUMPS's own ordering takes twice as long for so many rows.
IPOPT: dict[str, Any] = {"mu_strategy": "adaptive", "mumps_pivot_order": 0, "max_iter": 400}
HUMAN_IPOPT = IPOPT | {"max_soc": 0, "tol": 1e-6}
SPREAD = 0.3  # rad, of the joints' angles in random starts
SAME = 1e-4  # of the cost
OPTIONS = (
    Option("starts", 20, "number of random starts", least=0),
    Option("mass", None, "kg, by default that of the mean man", above=0.0),
    Option("height", None, "m, by default that of the mean man", above=0.0),
)


def spatial(stature: float | None, mass: float | None) -> Human:
    """The 55-DOF human that jumps: both sides as one, on feet that do not bend, with hands and forearms held.

    Twelve joints move, three of them of the spine: pelvis 3, leg 3, spine 3, shoulder 2, elbow 1.
    """
    human = human55(stature, mass).frozen(dict.fromkeys(FROZEN, 0.0))
    return symmetric(human).frozen(dict.fromkeys(("toe_extension", "shoulder_rotation", "forearm_pronation"), 0.0))


def start(jump: Jump, rng: np.random.Generator | None = None) -> dict[str, Keyframes]:
    """Postures to start from, with noise in all joints of the body if a generator is given."""
    inner = np.array([name not in GROUND for name in jump.model.joint_names])

    def shaken(posture: np.ndarray) -> np.ndarray:
        return posture if rng is None else posture + SPREAD * inner * rng.standard_normal(posture.size)

    return {phase: co.keyframes({s: shaken(q) for s, q in own.items()}) for phase, own in jump.guess().items()}


def solved(
    nlp: co.transcription.PhasesNLP, guess: dict[str, Keyframes], ipopt: Mapping[str, Any] = IPOPT
) -> co.solution.PhasesSolution:
    """The jump found from a start."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.refinement.SolutionWarning)  # the table says it
        return co.solve(nlp, guess=guess, solver=co.Ipopt(**ipopt), raise_on_failure=False, progress=False)


def measured(jump: Jump, solution: co.solution.PhasesSolution) -> dict[str, float]:
    """Height, forces, and what the flight keeps."""
    mass, g = jump.human.mass, jump.weight / jump.human.mass
    flight, toes = solution["flight"], solution["toes"]
    t = np.linspace(0, flight.duration, 401)

    def momenta(now: co.problem.Instant) -> tuple[ca.SX, ca.SX, ca.SX]:
        p = co.dynamics.momentum(now.model, now.q, now.qd)
        return p.linear, p.centroidal[0], co.dynamics.center_of_mass(now.model, now.q)

    linear, angular, centre = flight.evaluate(momenta, t)
    fallen = linear[:, 1] + mass * g * t
    speed = linear[0, 1] / mass
    drift = [fallen, linear[:, 2], np.ravel(angular) / jump.human.stature]  # angular as that of a mass on its rim
    lost = max(np.abs(values - values[0]).max() for values in drift) / abs(linear[0, 1])
    fall = centre[0, 1] - centre[-1, 1]
    ballistic = (speed + np.sqrt(speed**2 + 2 * g * fall)) / g
    standing = solution["push"].evaluate(lambda now: co.dynamics.center_of_mass(now.model, now.q)[1], [0.0])
    apex = centre[0, 1] + speed**2 / (2 * g)
    on_balls = np.linspace(0, toes.duration, 401)
    force, rising = toes.evaluate(lambda now: (now.tau[jump.joint(VERTICAL)], jump.rising_speed(now)), on_balls)
    return {
        "height": float(apex - standing[0]),
        "height.above_take_off": float(apex - centre[0, 1]),
        "take_off_speed": float(speed),
        "flight_time": flight.duration,
        "flight_time.error": float(abs(flight.duration / ballistic - 1)),
        "momentum_error": float(lost),
        "violation": max(v.amount / jump.weight if v.unit in ("N", "N m") else v.relative for v in solution.violations),
        "error": float(solution.error),
        "peak_force": float(force.max() / jump.weight),
        "peak_power": float((force * rising).max()),
        "contact_time": solution["push"].duration + toes.duration,
        "solved": float(solution.success),
        "iterations": float(solution.iterations),
    }


def found_in_time(
    jump: Jump, who: str, *, quick: bool
) -> tuple[co.transcription.PhasesNLP, co.solution.PhasesSolution, dict[str, float]]:
    """Program and jump with its numbers and the seconds that they took, compiling included where the cache has none."""
    begin = time.perf_counter()
    nlp = co.transcribe(jump.sequence, COARSE if quick else FINE, compile=not quick)
    best = solved(nlp, start(jump), IPOPT if who == "planar" else HUMAN_IPOPT)
    seconds = time.perf_counter() - begin
    numbers = {f"{who}.{key}": value for key, value in measured(jump, best).items()}
    return nlp, best, numbers | {f"{who}.seconds": seconds, f"{who}.status": float(best.success)}


def tabulated(who: str, numbers: Mapping[str, float]) -> list[Row]:
    """Numbers of one jumper as rows."""
    labels = {
        "height": "rise of the centre of mass above standing [m]",
        "height.above_take_off": "    above take-off [m]",
        "take_off_speed": "take-off speed [m/s]",
        "flight_time": "flight [s]",
        "flight_time.error": "    relative difference from ballistics",
        "momentum_error": "momentum lost in flight, relative",
        "peak_force": "peak force over body weight",
        "peak_power": "peak power of the ground on the centre of mass [W]",
        "violation": "largest violation, forces over body weight",
        "seconds": "seconds",
    }
    return [
        Row(f"{who}: {label}" if label[0] != " " else label, numbers[f"{who}.{key}"]) for key, label in labels.items()
    ]


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments(
        "jumping.jump",
        __doc__,
        argv,
        quick="coarser splines, no random starts",
        options=OPTIONS,
    )
    jump, rng = Jump(jumper2d(args.height, args.mass)), np.random.default_rng(0)
    nlp, best, numbers = found_in_time(jump, "planar", quick=args.quick)
    found, notes = {"planar human": (jump, best)}, []
    begin = time.perf_counter()
    others = [solved(nlp, start(jump, rng)) for _ in range(0 if args.quick else args.starts)]
    alike = [run.success and abs(run.cost - best.cost) < SAME * abs(best.cost) for run in others]
    if others:
        numbers |= {"planar.starts": float(len(others)), "planar.starts.same": float(sum(alike))}
        numbers["planar.starts.seconds"] = (time.perf_counter() - begin) / len(others)
    if not args.quick:
        still = Jump(jump.jumper.frozen({"shoulder_flexion": 0.0, "elbow_flexion": 0.0}))
        without = measured(still, solved(co.transcribe(still.sequence, FINE), start(still)))
        numbers |= {f"planar.still_arms.{key}": without[key] for key in ("height", "height.above_take_off", "solved")}
        gain = numbers["planar.height.above_take_off"] / without["height.above_take_off"] - 1
        numbers["planar.arms_gain"] = gain
        human = Jump(spatial(args.height, args.mass))
        _, leap, own = found_in_time(human, "human", quick=False)
        found["55-DOF human"], numbers = (human, leap), numbers | own
        notes.append(f"  55-DOF human: {leap.status}, {leap.iterations} iterations")
    rows = [row for who in ("planar", "human") if f"{who}.height" in numbers for row in tabulated(who, numbers)]
    if "planar.arms_gain" in numbers:
        source = "volleyball players, Vaverka et al. (2016)"
        rows.append(
            Row("planar: gained by the arms above take-off, relative", numbers["planar.arms_gain"], 0.38, source)
        )
    same = f"{sum(alike)} of {len(others)} random starts end there too"
    notes.append(f"  planar: {best.status}, {best.iterations} iterations; {same}")
    print(table(args.question, rows, notes))
    draw(found, args.figure)
    return finish(args, numbers, film(jump, best))


if __name__ == "__main__":
    main()
