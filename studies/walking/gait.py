"""Does the 55-DOF human walk like a person?

Chapter V of Barman (2020): one step of a human whose motion is predicted, not measured. Given are the segments, joint
ranges and strength, the speed, the step length and when the feet touch; out come joint angles, ground reactions and
internal joint forces of a stride, laid beside measured walking (studies/data). Two objectives are minimised, the
paper's integral of squared torques over their limits and one with weights (`studies.walking.step.NATURAL`); the weights
were chosen at 1.2 m/s with Winter's curves in sight, so that what agrees there is fitted. Other speeds
(`studies.walking.speeds`), other bodies and loads are predicted with the same weights.

What gives which feature, measured here. With the paper's objective the vertical force starts with a spike of 1.5 body
weights, and the knee bends by 81 degrees in swing; weights (cheap ankles and hips) and some smoothness of the pelvis
bring two peaks of 1.1 and 1.0 around a valley of 0.82. A heel that may rise only at 40 % of the stride instead of 30
gives 1.4 to 1.6 at 45 %. Ankles with no stiffness of their own stay at their bound all through swing: 9 degrees from
Winter's mean in the mean square, 6 with `Step.rest`. The knee bends by 16 degrees on loading, Winter's by 22, because
the leg has no tissue that gives way; it is 10 at 0.9 m/s and 24 at 1.5.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import casadi as ca
import numpy as np

import colloc as co
from colloc.display import Table
from colloc.io import check_writable
from colloc.transcription import Keyframes
from models.human.human import Human
from models.human.human55 import human55, walking
from studies.reporting import write_json
from studies.walking.picture.animation import write_animation
from studies.walking.picture.figures import gait_figure
from studies.walking.report.errors import PROMISED
from studies.walking.report.norms import Fact, fact
from studies.walking.report.report import Report
from studies.walking.step import Step

# Without second-order corrections the line search cycles less; multipliers of a first stage mean nothing in the second;
# with many nodes MUMPS orders these systems badly by its quasi-dense rows (110 ms an iteration, against 30).
IPOPT = {
    "constr_viol_tol": 1e-4, "max_soc": 0, "max_iter": 500, "warm_start_init_point": "no", "mumps_pivot_order": 0,
}  # fmt: skip
FIRST = {"constr_viol_tol": 1e-4, "tol": 1e-2, "max_iter": 300}
POINTS = 13  # control points of every joint: cubic splines of ten pieces, with knots where phases begin
DENSE = 4  # nodes of every piece
# The paper's six control points cannot keep the trailing foot still: its constraints hold at eleven times only.
COARSE, COARSE_NODES = 7, 11
COARSE_IPOPT = {"mu_strategy": "monotone", "mu_init": 1e-3}
ROUGHLY = 1e-3  # tolerance that Gauss-Newton is sure to meet; beyond, the exact Hessian goes on from there
COARSE_STEP = {"band": 0.010, "slip": 0.30, "rock": 0.03, "seamless": False}
LOOSE, LOOSE_STEP = 12, {"band": 0.002, "slip": 0.02, "rock": 0.005}  # up to so many control points
PACK = (0.30, 0.45, 0.18)  # m: width, height and depth of the backpack
PACK_BEHIND, PACK_BELOW = 0.20, 0.12  # m: its middle from the base of the neck
LABELS = {
    "vertical.peak_1": "vertical force, first peak [BW]",
    "vertical.valley": "vertical force, valley [BW]",
    "vertical.peak_2": "vertical force, second peak [BW]",
    "fore_aft.braking": "braking [BW]",
    "fore_aft.propulsion": "propulsion [BW]",
    "lateral.medial": "medial force [BW]",
    "hip.strike": "hip at strike [deg]",
    "hip.extension": "hip, extension [deg]",
    "hip.flexion": "hip, flexion in swing [deg]",
    "knee.strike": "knee at strike [deg]",
    "knee.loading": "knee, loading peak [deg]",
    "knee.stance": "knee, least flexion in stance [deg]",
    "knee.swing": "knee, swing peak [deg]",
    "ankle.loading": "ankle, plantarflexion on loading [deg]",
    "ankle.stance": "ankle, dorsiflexion in stance [deg]",
    "ankle.push_off": "ankle, push-off [deg]",
    "ankle_moment.push_off": "ankle moment, push-off [N m/kg]",
    "ankle_power.push_off": "ankle power, push-off [W/kg]",
}
OTHERS = (("Fukuchi 2018", "comfortable"), ("Bovi 2011", ""), ("Schwartz 2008", "free"), ("Falisse 2019", ""))


def walk(
    step: Step,
    points: int = POINTS,
    guess: Keyframes | co.Solution | None = None,
    stages: int = 2,
    compile: bool | None = True,
    tolerance: float = 1e-3,
) -> Report:
    """Solve a step, from standing still on the right foot or from another step, and measure the answer.

    Parameters
    ----------
    step : Step
    points : int
        Control points of every joint.
    guess : Keyframes or Solution, optional
        By default all joints at zero all the time, where the paper starts.
    stages : 1 or 2
        Whether a motion that keeps to the constraints is sought first, without forces. Another step is one already.
    compile : bool, optional
        As in `co.solve`.
    tolerance : float
        Of optimality, the paper's by default.

    Raises
    ------
    SolveError
        With the constraints that cannot be met together.
    """
    step, curve = posed(step, points)
    start = co.line(step.stance.standing, step.stance.standing) if guess is None else guess
    first = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.SolutionWarning)  # the table says it
        if stages == 2 and not isinstance(start, co.Solution):
            start = first = co.solve(step.motion_only(), curve, guess=start, compile=compile, ipopt=FIRST)
        problem, options = step.problem(), IPOPT | (COARSE_IPOPT if points <= COARSE else {})
        found = co.solve(
            problem,
            curve,
            guess=start,
            hessian=co.Hessian.GAUSS_NEWTON,
            compile=compile,
            ipopt=options | {"tol": max(tolerance, ROUGHLY)},
        )
        if tolerance < ROUGHLY:  # few iterations: no compiling
            found = co.solve(problem, curve, guess=found, compile=False, ipopt=IPOPT | {"tol": tolerance})
    return Report(step, found, first)


def posed(step: Step, points: int) -> tuple[Step, co.BSpline]:
    """The step as so many control points can walk it, and the splines."""
    if points <= COARSE:
        return replace(step, **COARSE_STEP), co.BSpline(points - 3, nodes=COARSE_NODES)
    looser = replace(step, **LOOSE_STEP) if points <= LOOSE else step
    return looser, co.BSpline(points - 3, nodes=DENSE * (points - 3) + 1)


def unweighted(step: Step) -> Step:
    """The same step with the paper's objective: no weights, no smoothness, no ankles at rest."""
    return replace(step, weights={}, smooth=0.0, rest=0.0)


def loaded(human: Human, load: float) -> Human:
    """The human with a backpack, a box of even density, on the upper spine; `Human.mass` remains that of the body."""
    if load == 0:
        return human
    body, at = human.parts["spine4"], human.landmarks["cervix"]
    stand = ca.SX(ca.DM(human.standing))

    def place(body: str, point: tuple[float, float, float]) -> np.ndarray:
        return np.array(ca.DM(co.point_motion(human.model, body, point, q=stand).position)).ravel()

    axes = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    origin = place(body, (0.0, 0.0, 0.0))
    turn = np.column_stack([place(body, axis) - origin for axis in axes])  # link axes in the world
    middle = place(*at) - np.array([0.0, PACK_BELOW, PACK_BEHIND])
    sides = np.square(PACK)
    inertia = turn.T @ np.diag(load / 12 * (sides.sum() - sides)) @ turn
    pack = co.Body("backpack", co.fixed(), body, mass=load, com=turn.T @ (middle - origin), inertia=inertia)
    return replace(human, model=replace(human.model, bodies=[*human.model.bodies, pack]))


def comparison(report: Report) -> Table:
    """Peaks beside published ones, distances from Winter's curves, and how exact all of it is."""
    rows = []
    for name, label in LABELS.items():
        ours, winter = report.peaks[name], fact(name, "Winter 1991")
        other = next((f for source, pace in OTHERS if (f := fact(name, source, pace))), None)
        off = f"{(ours.value - winter.value) / winter.sd:+.1f}" if winter else ""
        cells = (f"{ours.value:.3g}", f"{ours.percent:.0f}", _said(winter), off, _said(other))
        rows.append((label, *cells, other.source if other else ""))
    header = ("", "ours", "at %", "Winter 1991", "ours off, in SD", "another", "source")
    return Table(title(report.step), header, rows, notes(report))


def title(step: Step) -> str:
    """Of tables."""
    return f"Walking at {step.speed:g} m/s, steps of {step.length:.3g} m, {step.human.mass:.3g} kg"


def notes(report: Report) -> list[str]:
    """What holds, what does not, and what differs from measured walking, in words."""
    rms = ", ".join(
        f"{name} {value:.2f}{' deg' if value > 1 or name in ('hip', 'knee', 'ankle') else ' BW'}"
        for name, value in report.rms.items()
    )
    objectives = ", ".join(f"{name} {value:.5g}" for name, value in report.objectives.items())
    seconds = ", ".join(f"{name} {value:.2f}" for name, value in report.solution.seconds.items())
    return [
        f"  RMS distance from Winter's means: {rms}",
        f"  objectives: {objectives}",
        f"  {report.solution.status}, {report.solution.iterations} iterations; seconds: {seconds}",
        f"  virtual torques {report.virtual_torque:.1e}, sum of feet against the whole {report.wrench_sum_error:.1e}",
        *_errors(report),
        *_differences(report),
    ]


def _errors(report: Report) -> list[str]:
    lines = []
    for kind, (amount, row) in report.worst.items():
        limit = PROMISED.get(kind)
        verdict = "" if limit is None or amount <= limit else f", more than {limit:g}"
        if amount > 0:
            lines.append(f"  largest violation, {kind.replace('_', ' ')}: {amount:.2g} ({row}){verdict}")
    far, moment = report.outside
    return [
        *lines,
        f"  centre of pressure outside by {far:.1f} mm, by a moment of {moment:.2f} % of body weight times 1 m",
    ]


def _differences(report: Report) -> list[str]:
    """Events further than two standard deviations from Winter's mean, or more than a tenth of the stride off."""
    values, times = [], []
    for name, ours in report.peaks.items():
        if winter := fact(name, "Winter 1991"):
            off = (ours.value - winter.value) / winter.sd
            if abs(off) > 2:
                values.append(f"{name} {off:+.1f}")
            if abs(ours.percent - winter.percent) > 10:
                times.append(f"{name} at {ours.percent:.0f} % instead of {winter.percent:.0f} %")
    return [
        f"  unlike Winter's walkers, in their standard deviations: {', '.join(values) or 'nothing beyond 2'}",
        f"  out of time: {', '.join(times) or 'nothing by more than 10 %'}",
    ]


def _said(published: Fact | None) -> str:
    if published is None:
        return ""
    time = "" if np.isnan(published.percent) else f" @ {published.percent:.0f}"
    return f"{published.value:.3g} ± {published.sd:.2g}{time}"


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = _arguments(argv)
    try:
        human = loaded(walking(human55(args.height, args.mass)), args.load)
        step = Step(human, speed=args.speed, length=args.step_length)
        reports = {"weighted objective": walk(step, args.control_points)}
        if not args.quick:
            reports["paper's objective"] = walk(unweighted(step), args.control_points)
    except (co.SolveError, co.InputError) as error:
        sys.exit(f"no such walk: {error}")
    for name, report in reports.items():
        print(f"{name}: {comparison(report).text()}\n")
    gait_figure(reports).savefig(args.figure, dpi=130)
    print(f"  figure: {args.figure}")
    first, *rest = reports.values()
    if args.animation:
        write_animation(first, Path(args.animation))
        print(f"  animation: {args.animation}")
    numbers = first.numbers
    for report in rest:
        numbers |= {f"paper_objective.{name}": value for name, value in report.numbers.items()}
    write_json(args.json, numbers)
    return numbers


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", metavar="FILE", help="write the study's numbers as flat JSON")
    parser.add_argument("--figure", metavar="FILE", default="gait.png", help="the figure (default %(default)s)")
    parser.add_argument("--animation", metavar="FILE", default="gait.html", help="the page (default %(default)s)")
    parser.add_argument("--quick", action="store_true", help="only the weighted objective")
    parser.add_argument("--speed", metavar="V", type=float, default=1.2, help="m/s (default %(default)s)")
    parser.add_argument("--step-length", metavar="L", type=float, default=0.6, help="m (default %(default)s)")
    parser.add_argument(
        "--control-points",
        metavar="N",
        type=int,
        default=POINTS,
        help="of every joint, best 8, 13 or 18, whose knots meet the phases (%(default)s)",
    )
    parser.add_argument("--mass", metavar="M", type=float, help="kg (default that of the mean man)")
    parser.add_argument("--height", metavar="H", type=float, help="m (default that of the mean man)")
    parser.add_argument("--load", metavar="KG", type=float, default=0.0, help="of a backpack (default none)")
    args = parser.parse_args(argv)
    try:
        for path, suffixes in ((args.figure, (".png", ".pdf", ".svg")), (args.animation, (".html",))):
            check_writable(path, suffixes)
        if args.json:
            check_writable(args.json, (".json",))
    except co.InputError as error:
        parser.error(str(error))
    if args.control_points < 6:
        parser.error("--control-points must be at least 6")
    if min(args.speed, args.step_length) <= 0 or args.load < 0:
        parser.error("--speed and --step-length must be positive, --load not negative")
    return args


if __name__ == "__main__":
    main()
