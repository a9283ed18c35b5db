"""Which descent method finds the lifting motion of least torque for a two-link arm in the fewest steps?

Case study A of Lee, Kim, Park, Kim and Bobrow (2005): a planar two-link arm under gravity, half the integral of
tau' tau, nine control points a joint on a cubic spline, modified Newton, BFGS and steepest descent until ||gradient||
is below 1e-2; here IPOPT too. Position, velocity and acceleration are given at both ends (section V), which leaves
three points a joint.

The paper prints neither the arm nor the poses nor the duration, so that its cost of 314.069 cannot be met. Chosen here:
two uniform slender links of 1 m and 1 kg, lifted in 1 s from hanging straight down to upper arm horizontal, forearm
upright, at rest at both ends, from a guess that moves both joints uniformly. Gradient and Hessian are recursive (Lie
group formulation, the paper's equations 56 and 60).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import pi

import casadi as ca

import colloc as co
from colloc.models.chains.serial import planar_chain
from colloc.plot.figure import new_figure
from colloc.plot.iterations import draw_descents
from colloc.plot.motion import draw_motion
from colloc.plot.style import legend_below, styled
from colloc.studies.descents.comparison import Comparison, Published, compare
from colloc.studies.reporting import arguments, finish

problem = co.Problem(
    model=planar_chain(2, length=1.0, mass=1.0),
    duration=1.0,  # s
    minimize=0.5 * co.integral(lambda now: ca.sumsqr(now.tau), name="squared torque"),
    subject_to=[
        co.initial(q=(-pi / 2, 0.0), qd=0.0, qdd=0.0),  # rad, rad/s, rad/s2
        co.final(q=(0.0, pi / 2), qd=0.0, qdd=0.0),
    ],
)
CURVE = co.BSpline(intervals=6)  # nine control points a joint
# On a Pentium II of 392 MHz. Steepest descent and BFGS were stopped by hand; all three printed a cost of 314.069.
PUBLISHED = {
    "newton": Published("13", "1100"),
    "bfgs": Published("45+", "1270"),
    "steepest_descent": Published("229+", ""),
}


@styled
def draw(movement: co.descent.Movement, found: Comparison, file: str) -> None:
    """The movement before and after, and the path of every method to it."""
    before = movement.solution(
        co.descent.modified_newton(movement.objective, movement.start(), co.descent.Stop(iterations=0))
    )
    after = movement.solution(found.tight["newton"])
    figure = new_figure(figsize=(16.0, 6.4))
    left, right = figure.subfigures(1, 2, squeeze=False, width_ratios=(1, 1.15))[0]
    handles = []
    for place, solution, title in ((121, before, "initial"), (122, after, "optimised")):
        handles = draw_motion(left, place, solution, 9)
        ax = left.axes[-1]
        ax.set_title(f"{title}: {solution.cost:.1f} N²m²s")
        ax.set_aspect("equal", adjustable="box")
        ax.set(xlim=(-0.65, 1.95), ylim=(-2.15, 1.2))
        ax.label_outer()
    legend_below(left, handles)
    legend_below(right, draw_descents(right.subplots(2, 2, sharex="col", sharey="row"), list(found.runs.values())))
    co.plot.save_figure(figure, file)


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments("descents.two_link", __doc__, argv)
    movement = co.descent.Movement(co.transcribe(problem, CURVE, co.dynamics.lie, co.dynamics.lie_sensitivities))
    found = compare(movement.objective, movement.start(), repeats=1 if args.quick else 20)
    solved = co.solve(
        problem, CURVE, plan=[co.refinement.Solve(tol=1.0)]
    )  # the best of the paper's splines, not of all motions
    numbers = found.numbers | {"optimum.solve": solved.cost}
    print(found.table(args.question, PUBLISHED))
    print(f"  co.solve on the same spline: {solved.cost:.8f}; cost of the guess: {numbers['cost.start']:.6f}")
    draw(movement, found, args.figure)
    return finish(args, numbers, movement.solution(found.tight["newton"]))


if __name__ == "__main__":
    main()
