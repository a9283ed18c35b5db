"""Does the 55-DOF human walk like a person?

Chapter V of Barman (2020): one step of a human whose motion is predicted, not measured;
`colloc.studies.walking.problem` states it. Given are the segments, joint ranges and strength, the speed, the step
length and when the feet touch; the answer is a stride's joint angles, ground reactions and internal joint forces, laid
beside measured walking. Two objectives are minimised, the paper's integral of squared torques over their limits and one
with weights (`colloc.studies.walking.step.NATURAL`). These, the ranges of joints and `ROLLS_FROM` were chosen at 1.2
m/s with Winter's curves in sight, so that agreement there is fitted. Other speeds (`colloc.studies.walking.speeds`),
other bodies and loads are predicted with the same ones.

Causes of features, measured here at 1.2 m/s. With the paper's objective the vertical force has a peak of 1.37 body
weights at 15 % of the stride, and the knee bends by 96 degrees in swing; weights (cheap ankles and hips) and some
smoothness of the pelvis bring two peaks of 1.08 and 1.06 around a valley of 0.82. Ankles without stiffness stay at
their bound all through swing; `Step.rest` brings them within 6 degrees of Winter's mean in the mean square.

- With nineteen control points a joint the step is solved to 1e-2 between the nodes. With fourteen, whose torques take
  an ankle off its path by 0.06 rad, it costs 19 % more, and the knee bends late for swing, 12 degrees from Winter's
  mean in the mean square in place of 8; with 24 it costs 9 % less. The following results are from fourteen.
- Arms cost almost nothing: within wide ranges they fold by 139 degrees behind the back at 38 to 50 %, which saves 2 %
  of the cost. The ranges of walking (`colloc.models.human.human55.WALKING`) keep them beside the trunk, where (5.7)
  holds the wrists at their least distance; the hip comes to 7 degrees from Winter's mean with them, to 5 without.
- The fore-aft force follows how far the centre of pressure lies ahead of the centre of mass. Left free, the centre of
  pressure stays at the heel until 20 %, as that spares the ankle, under the centre of mass: a bump of 0.02 body
  weights forward there. Since its rear bound moves forward from `ROLLS_FROM` on, 5 % of the step instead of 35, the
  force there is -0.04 (Winter: -0.11).
- The knee bends by 17 degrees on loading, by 22 with fourteen control points (Winter: 22); that depends on its weight,
  too: 24 degrees at half of it, 18 at twice, with `ROLLS_FROM` at 10 %.
- Kinks of the vertical force at 10, 50 and 60 % are where the other foot leaves, strikes, and the foot itself leaves:
  the wrench of the trailing foot ends at zero, not with zero slope. There are no kinks at other knots, as quartic
  splines have smooth accelerations, but a ripple of 0.02 to 0.05 body weights between 17 and 45 %, which 24 control
  points do not remove. Quintic ones of ten pieces do not converge in 500 iterations.
- The medial force turns lateral in double support, to -0.03 body weights after strike and -0.09 before toe off. It
  stays: a tenfold weight on an even transfer between the feet (`Step.even`) leaves -0.04 and -0.05, so that it is not
  one foot pushing against the other for nothing but what the sideways motion of the body asks for.
- (5.6), which as printed keeps arm and opposite leg on the same side of shoulder and hip, may fall to -0.01 m2 here
  (`Step.apart`). Held at zero, arm and leg have to pass at the same instants. Arms then hang nearly still or swing
  widely by how the search went: it decides a hundredth of the cost.
- Hips extend further than Winter's, to 26 degrees in place of 11, within two of his standard deviations. All extremes
  of a single foot are; the force of both feet is not: 1.54 body weights after the strike, where the sum of Winter's
  means is 1.23 at most. Weights choose it: with four and ten times that of the pelvis' accelerations (`Step.smooth`) it
  is 1.37 and 1.29, but the first peak of a single foot 1.16 and 1.17; with ten times that of an even transfer it is
  1.32. Curves are not all along: the table says during which part of the stride each is further away, and the figure
  shows where.
- Some extremes are bounds of ranges that were chosen: the largest dorsiflexion in stance is the ankle's 12 degrees, for
  a quarter of the step. The table lists all of them. The centre of pressure stays behind the ball until the toes leave.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace

import casadi as ca
import numpy as np

import colloc as co
from colloc.models.human.human import Human
from colloc.models.human.human55 import human55, walking
from colloc.studies.reporting import Option, arguments, finish
from colloc.studies.walking import as_printed
from colloc.studies.walking.picture.animation import write_animation
from colloc.studies.walking.picture.figures import gait_figure
from colloc.studies.walking.report.comparison import comparison
from colloc.studies.walking.step import Step
from colloc.studies.walking.walk import POINTS, walk

OPTIONS = (
    Option("speed", 1.2, "m/s", above=0.0),
    Option("step-length", 0.6, "m", above=0.0),
    Option("control-points", POINTS, "number for every joint, best 9, 14 or 19, whose knots meet the phases", least=6),
    Option("mass", None, "kg, by default that of the mean man", above=0.0),
    Option("height", None, "m, by default that of the mean man", above=0.0),
    Option("load", 0.0, "mass of a backpack, kg", least=0.0),
    Option("as-printed", False, "the problem of the thesis as it is printed, colloc.studies.walking.as_printed"),
)
PACK = (0.30, 0.45, 0.18)  # m: width, height and depth of the backpack
PACK_BEHIND, PACK_BELOW = 0.20, 0.12  # m: its middle from the base of the neck


def unweighted(step: Step) -> Step:
    """The same step with the paper's objective: no weights, no smoothness, no ankles at rest."""
    return replace(step, weights={}, smooth=0.0, rest=0.0)


def loaded(human: Human, load: float) -> Human:
    """The human with a load [kg] in a backpack, a box of even density on the upper spine; `Human.mass` stays."""
    if load == 0:
        return human
    body, at = human.parts["spine4"], human.landmarks["cervix"]
    stand = ca.SX(ca.DM(human.standing))

    def place(body: str, point: tuple[float, float, float]) -> np.ndarray:
        return np.array(ca.DM(co.model.point_motion(human.model, body, point, q=stand).position)).ravel()

    axes = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    origin = place(body, (0.0, 0.0, 0.0))
    turn = np.column_stack([place(body, axis) - origin for axis in axes])  # link axes in the world
    middle = place(*at) - np.array([0.0, PACK_BELOW, PACK_BEHIND])
    sides = np.square(PACK)
    inertia = turn.T @ np.diag(load / 12 * (sides.sum() - sides)) @ turn
    pack = co.Body("backpack", co.fixed(), body, mass=load, com=turn.T @ (middle - origin), inertia=inertia)
    return replace(human, model=replace(human.model, bodies=[*human.model.bodies, pack]))


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments(
        "walking.gait", __doc__, argv, quick="only the weighted objective", options=OPTIONS, animation=(".html",)
    )
    if args.as_printed:  # with a figure of its own name
        words = sys.argv[1:] if argv is None else argv
        return as_printed.main([word for word in words if word != "--as-printed"])
    try:
        human = loaded(walking(human55(args.height, args.mass)), args.load)
        step = Step(human, speed=args.speed, length=args.step_length)
        reports, together = {"weighted objective": walk(step, args.control_points)}, None
        if not args.quick:
            reports["paper's objective"] = walk(unweighted(step), args.control_points)
            together = walk(replace(step, apart=0.0), args.control_points)
    except (co.SolveError, co.InputError) as error:
        sys.exit(f"no walk was found: {error}")
    for name, report in reports.items():
        print(f"{name}: {comparison(report).text()}")
        force, percent = report.both_feet
        print(
            f"  both feet together: {force:.2f} body weights at {percent:.0f} % (sum of Winter's means: 1.23 at 5 %)\n"
        )
    co.plot.save_figure(gait_figure(reports), args.figure, dpi=130)
    first, *rest = reports.values()
    numbers = first.numbers
    for report in rest:
        numbers |= {f"paper_objective.{name}": value for name, value in report.numbers.items()}
    if together is not None:
        numbers |= {f"arms_with_legs.{name}": value for name, value in together.numbers.items()}
        reach = f"wrists {together.arm_reach:.3f} m off the shoulders, fore and aft, in place of {first.arm_reach:.3f}"
        cost = f"cost {together.solution.cost:.5f} in place of {first.solution.cost:.5f}"
        print(f"weighted objective, (5.6) held at zero: {together.solution.status}, {cost}, {reach} m\n")
        numbers["finer_splines_save"] = saved = first.solution.error["cost"].total
        print(f"weighted objective: finer splines would cost less by about {saved:.0%}\n")
    return finish(args, numbers, lambda path, _: write_animation(reports["weighted objective"], path))


if __name__ == "__main__":
    main()
