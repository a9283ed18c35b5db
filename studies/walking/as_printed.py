"""Has the walking problem of Barman (2020, chapter V) an answer as it is printed, and what is it worth?

`colloc.studies.walking.printed` states it and says what the text leaves open. A motion is sought first, with a constant
cost and all constraints, from all coordinates at zero; effort (5.1) is minimised from there, both to 1e-3. IPOPT
converges, in seconds where the thesis prints 34.10 s. The library's own status is "too coarse a grid": six cubic
control points hold the constraints at the instants and not between them, where feet creep, joints leave their ranges
and the centre of pressure its bounds by what the table says. The thesis counts 330 variables, of 55 joints of which it
freezes 17, and 1726 rows; ours are the 228 variables of the joints that move and 1100 rows, bounds on frozen joints not
among them.

Two conditions, found by relaxing one kind of constraint at a time by as little as a local search needs:

- The joints have their anatomical ranges. Within those of our own step (`colloc.models.human.human55.WALKING`) no
  motion is found, but one is if ranges alone widen by 4.4 degrees, or feet alone may creep by 3.6 mm/s more, or
  symmetry alone is off by 0.13 rad and rad/s. Relaxing any other kind alone led nowhere.
- The equations (5.4) of the feet hold at eleven instants, within 1e-3. At 21 instants no motion is found that meets
  them so closely, at eleven none within 1e-6: six cubic control points cannot keep a foot still, and between the
  instants it creeps.

The walk is crouched, the knee bent by 40 degrees in stance and 102 in swing, with two peaks of the vertical force. The
leading foot has nearly all of it from the strike on: the zero moment point does not wait between the feet. Our own step
has the foot that stands as its root, quartic splines of nineteen control points, a wrench of its own under each foot,
an upright pelvis, and weights fitted to measured walking; it is laid beside the printed one.

Why sharing by distance may well give the vertical force high peaks, an argument that nothing here measures. Each foot
carries its share along the line through the common zero moment point. While this lies between the feet, each ankle
carries its share of the weight on an arm of up to 0.3 m, where its dorsiflexors have 41 N m. A motion therefore rushes
the point across, the whole vertical force drops meanwhile, and single support compensates, as the mean over a
step is one. `Step(sharing=Sharing.DISTANCE)` states that problem, `Sharing.PARTITION` the same shares acting where
the feet are.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping, Sequence
from functools import partial

import casadi as ca
import numpy as np

import colloc as co
from colloc.models.human.human import Human
from colloc.models.human.human55 import FROZEN, human55, walking
from colloc.studies.reporting import arguments, finish
from colloc.studies.walking.picture.printed import printed_figure
from colloc.studies.walking.printed import CONTROL_POINTS, IPOPT, curve, effort, printed
from colloc.studies.walking.relaxation import relaxations
from colloc.studies.walking.report.printed import creep, crept, stride, violations
from colloc.studies.walking.report.report import Report
from colloc.studies.walking.report.stride import DIRECTIONS, Stride
from colloc.studies.walking.step import Step
from colloc.studies.walking.walk import walk
from colloc.support.display import Table
from colloc.transcription import Keyframes

THESIS = {"variables": "330", "rows": "1726", "seconds": "34.10"}
MORE = 21  # instants, of which feet cannot keep to all
SHOWN = ("vertical.peak_1", "vertical.valley", "vertical.peak_2", "fore_aft.braking", "fore_aft.propulsion",
         "knee.loading", "knee.swing")  # fmt: skip


def anatomical() -> Human:
    """The human with its frozen joints, in the wide ranges of its table."""
    return human55().frozen(dict.fromkeys(FROZEN, 0.0))


def solved(step: Step) -> tuple[co.Solution, co.Solution]:
    """A motion that keeps to all constraints, from zero, and the one of least effort that is found from there."""
    zero = np.zeros(step.human.model.n)
    constant = co.integral(lambda now: ca.SX(1.0), name="constant")
    first = _solve(printed(step, constant), co.line(zero, zero), co.solver.Hessian.EXACT)
    least = co.integral(partial(effort, step), name="effort")
    return first, _solve(printed(step, least), first, co.solver.Hessian.GAUSS_NEWTON)


def _solve(problem: co.Problem, guess: Keyframes | co.Solution, hessian: co.solver.Hessian) -> co.Solution:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.refinement.SolutionWarning)  # the table says it
        return co.solve(
            problem,
            curve(),
            guess=guess,
            solver=co.Ipopt(hessian=hessian, **IPOPT),
            plan=[co.refinement.Solve(between="nodes")],
        )


def measured(step: Step, first: co.Solution, second: co.Solution) -> dict[str, float]:
    """Numbers of the step as printed."""
    seen = stride(step, second)
    found = {
        "converged": float(all(stage.outcome.status is co.solver.Status.SOLVED for stage in (first, second))),
        "solved": float(second.success), "variables": float(CONTROL_POINTS * step.human.model.n),
        "variables.with_frozen": float(CONTROL_POINTS * len(human55().model.joint_names)),
        "rows": float(second.nlp.n_g), "cost": second.cost, "creep_m_per_s": float(creep(step.human, second)[1].max()),
        "creep_mm": 1e3 * crept(step.human, second),
    }  # fmt: skip
    for name, stage in (("first_stage", first), ("second_stage", second)):
        found |= {f"seconds.{name}": stage.seconds["solve"], f"iterations.{name}": float(stage.iterations)}
    found["seconds"] = found["seconds.first_stage"] + found["seconds.second_stage"]
    found |= {f"violation.{kind.replace(' ', '_')}": amount for kind, amount in violations(step, second).items()}
    found["beyond_ranges_deg"] = float(np.degrees(found["violation.joint_angles"]))
    found |= seen.distance_numbers
    at_instants = violations(step, second, 1)
    found["violation.at_instants"] = max(at_instants.values())
    found |= {f"peaks.{name}": peak.value for name, peak in seen.peaks.items()}
    return found | {f"rms_vs_winter.{name}": value for name, value in seen.rms.items()}


def laid_beside(numbers: Mapping[str, float], seen: Stride, second: co.Solution, ours: Report) -> Table:
    """The step as printed, our own, and what the thesis says of its own."""
    own, report, creeping = ours.solution, ours.numbers, creep(ours.step.stance, ours.solution)[1].max()
    first = ours.first
    assert first is not None
    kept = own.nlp.n_x - 1  # the duration is given
    seconds = first.seconds["solve"] + own.seconds["solve"]
    rows = [
        ("variables (with those of frozen joints)",
         f"{numbers['variables']:.0f} ({numbers['variables.with_frozen']:.0f})", f"{kept}", THESIS["variables"]),
        ("rows of constraints", f"{numbers['rows']:.0f}", f"{own.nlp.n_g}", THESIS["rows"]),
        ("iterations of both stages",
         f"{numbers['iterations.first_stage']:.0f} + {numbers['iterations.second_stage']:.0f}",
         f"{first.iterations} + {own.iterations}", ""),
        ("seconds of both stages, once compiled", f"{numbers['seconds']:.2f}", f"{seconds:.2f}", THESIS["seconds"]),
        ("effort (5.1)", f"{numbers['cost']:.4f}", f"{ours.objectives['paper']:.4f}", ""),
        ("the library's status", str(second.status), str(own.status), ""),
        ("fastest heel or ball on the ground [m/s]", f"{numbers['creep_m_per_s']:.3f}", f"{creeping:.3f}", ""),
        ("heel or ball creeps by [mm]", f"{numbers['creep_mm']:.1f}", f"{1e3 * crept(ours.step.stance, own):.1f}", ""),
        ("joints beyond their ranges by [deg]", f"{numbers['beyond_ranges_deg']:.1f}",
         f"{report['violation.angle_deg']:.2f}", ""),
        ("centre of pressure beyond its bounds [% BW m]", f"{100 * numbers['violation.zero_moment_point']:.2f}",
         f"{ours.outside.moment:.2f}", ""),
        *((name.replace(".", ", ").replace("_", " "), f"{seen.peaks[name].value:.3g} @ {seen.peaks[name].percent:.0f}",
           f"{ours.peaks[name].value:.3g} @ {ours.peaks[name].percent:.0f}", "double peak" if "peak" in name else "")
          for name in SHOWN),
        *((f"beyond 2 SD of Winter's {name} [% of {'stance' if name in DIRECTIONS else 'the stride'}]",
           f"{far.beyond:.0f}", f"{ours.distances[name].beyond:.0f}", "")
          for name, far in seen.distances.items()),
        *((f"RMS to Winter, {name}", f"{value:.3g}", f"{report[f'rms_vs_winter.{name}']:.3g}", "")
          for name, value in seen.rms.items()),
    ]  # fmt: skip
    return Table("Walking as printed beside our own; forces over body weight, angles in degrees @ % of the stride",
                 ("", "as printed", "ours", "Barman 2020"), rows)  # fmt: skip


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments("walking.as_printed", __doc__, argv, quick="without the search for the least relaxations")
    step = Step(anatomical())
    try:
        first, second = solved(step)
        ours = walk(Step(walking(human55())))
    except co.SolveError as error:
        sys.exit(f"no walk was found: {error}")
    numbers, seen = measured(step, first, second), stride(step, second)
    print(laid_beside(numbers, seen, second, ours).text())
    if not args.quick:
        narrow = relaxations(Step(walking(human55())), first)
        finer = relaxations(step, first, MORE, ["contact velocity"])
        numbers |= {f"infeasible_by.walking_ranges.{name}": amount for name, amount in narrow.items()}
        numbers |= {f"infeasible_by.instants_{MORE}.{name}": amount for name, amount in finer.items()}
        print("  in the ranges of our own step feasible by one of: " + _said(narrow))
        print(f"  at {MORE} instants feasible by: {_said(finer)}")
    creeping = {"ours": creep(ours.step.stance, ours.solution), "as printed": creep(step.human, second)}
    co.plot.save_figure(printed_figure({"ours": ours, "as printed": seen}, creeping, second), args.figure, dpi=130)
    return finish(args, numbers, second)


def _said(found: Mapping[str, float]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {amount:.3g}" for name, amount in found.items())


if __name__ == "__main__":
    main()
