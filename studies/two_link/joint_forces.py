"""What do the joints of the fastest swing carry, and what does it cost to spare one?

Internal joint forces along the time optimum of Barman (2020, section 4.1), whose text on figure 4.3 says that the first
link carries the higher force until both merge; their sensitivities (equations 3.72 to 3.91) along it; and the same
problem with the force in the elbow limited.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import casadi as ca
import numpy as np

import colloc as co
from colloc.plot.figure import new_figure
from colloc.plot.style import INK, MUTED, body_joint_styles, dress, styled
from colloc.studies.reporting import Row, arguments, finish, table
from colloc.studies.two_link.time_optimal import EXACT, problem

LIMIT = 15.0  # N
spared = replace(
    problem,
    subject_to=[
        *problem.subject_to,
        # Squared, a force that vanishes has a slope, too.
        co.path(lambda now: ca.sumsqr(now.reaction("elbow").force), upper=LIMIT**2, name="elbow force", unit="N2"),
    ],
)
CURVE = co.BSpline(20)
SAMPLES = 2001


def forces(solution: co.Solution) -> tuple[np.ndarray, np.ndarray]:
    """Times and norms of the joint forces, ndarray, shape (SAMPLES,) and (SAMPLES, 2) [N]."""
    t = np.linspace(0, solution.duration, SAMPLES)
    return t, np.linalg.norm(solution.reactions(t).force, axis=2)


def sensitivities(solution: co.Solution) -> tuple[np.ndarray, dict[str, float]]:
    """Derivatives of the elbow's force by the accelerations along a motion, and how right and how fast they are.

    Returns
    -------
    ndarray, shape (SAMPLES, 2) [N s2]
        Of its norm.
    dict of str to float
    """
    sample = solution.at(np.linspace(0, solution.duration, SAMPLES))
    state = sample.q, sample.qd, sample.qdd
    compiled, plain = (co.Evaluator(problem.model, compile=compile) for compile in (True, False))
    numbers, found = {}, compiled.reaction_sensitivities(*state)
    for name, evaluator in (("compiled", compiled), ("interpreted", plain)):
        evaluator.reaction_sensitivities(*state)  # made on first use
        begin = time.perf_counter()
        for _ in range(5):
            evaluator.reaction_sensitivities(*state)
        numbers[f"sensitivities.us_per_sample.{name}"] = (time.perf_counter() - begin) / 5 / SAMPLES * 1e6
    numbers["sensitivities.error"] = max(
        _error(compiled, state, block, joint, slope[..., joint])
        for block, slope in enumerate(found.force)
        for joint in range(problem.model.n)
    )
    elbow = found.reactions.force[:, 1]
    return np.einsum("kc,kcm->km", elbow, found.force.dqdd[:, 1]) / np.linalg.norm(elbow, axis=1)[:, None], numbers


def _error(evaluator: co.Evaluator, state: Sequence[np.ndarray], block: int, joint: int, slope: np.ndarray) -> float:
    """Largest difference of a force's derivative from central differences, relative to the largest entry of it."""
    step, sides = 1e-5, []
    for sign in (1, -1):
        moved = [array.copy() for array in state]
        moved[block][:, joint] += sign * step
        sides.append(evaluator.reactions(*moved).force)
    return float(np.abs((sides[0] - sides[1]) / (2 * step) - slope).max() / max(1.0, np.abs(slope).max()))


@styled
def draw(fastest: co.Solution, gentle: co.Solution, slopes: np.ndarray, file: str) -> None:
    """Joint forces of both motions, torques of both, and sensitivities."""
    figure = new_figure(figsize=(12.0, 3.8))
    axes = figure.subplots(1, 3)
    joints, own = problem.model.joint_names, body_joint_styles(problem.model)
    for solution, line, label in (
        (fastest, "-", ""),
        (gentle, (0, (2, 1.5)), f", with at most {LIMIT:g} N in the elbow"),
    ):
        t, norms = forces(solution)
        tau = solution.at(t).tau
        for k, name in enumerate(joints):
            axes[0].plot(t, norms[:, k], color=own[k].color, linestyle=line, label=name + label)
            axes[1].plot(t, tau[:, k], color=own[k].color, linestyle=line)
    axes[0].axhline(LIMIT, color=MUTED, linewidth=0.8)
    for k, name in enumerate(joints):
        axes[2].plot(forces(fastest)[0], slopes[:, k], color=own[k].color, label=f"by that of the {name}")
    axes[2].axhline(0, color=INK, linewidth=0.6)
    axes[2].set_title("elbow's force by accelerations", loc="left")
    axes[2].legend(frameon=False)
    for ax, label in zip(axes, ("joint force [N]", "torque [N m]", "[N s$^2$/rad]"), strict=True):
        dress(ax, "t [s]", label)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
    co.plot.save_figure(figure, file)


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments("two_link.joint_forces", __doc__, argv, quick="to 1e-3")
    tol = 1e-3 if args.quick else 1e-4
    fastest, gentle = (co.solve(stated, CURVE, tol=tol, compile=False, progress=False) for stated in (problem, spared))
    (_, free), (_, limited) = forces(fastest), forces(gentle)
    slopes, numbers = sensitivities(fastest)
    numbers |= {
        "T": fastest.duration,
        "T.limited": gentle.duration,
        "solved": float(fastest.success and gentle.success),
        "peak.shoulder": float(free[:, 0].max()),
        "peak.elbow": float(free[:, 1].max()),
        "peak.elbow.limited": float(limited[:, 1].max()),
        "share.shoulder_lower": float((free[:, 0] < free[:, 1]).mean()),
    }
    rows = [
        Row("T [s]", fastest.duration, EXACT["T"], "maximum principle"),
        Row(f"T with at most {LIMIT:g} N in the elbow [s]", gentle.duration),
        Row("largest force in the shoulder [N]", numbers["peak.shoulder"]),
        Row("largest force in the elbow [N]", numbers["peak.elbow"]),
        Row("the same, limited [N]", numbers["peak.elbow.limited"], LIMIT, "the limit"),
        Row("sensitivities against central differences, relative", numbers["sensitivities.error"]),
        Row("sensitivities, us a sample, compiled", numbers["sensitivities.us_per_sample.compiled"]),
        Row("sensitivities, us a sample, not compiled", numbers["sensitivities.us_per_sample.interpreted"]),
    ]
    share = 100 * numbers["share.shoulder_lower"]
    notes = [
        f"  during {share:.0f} % of the motion the shoulder carries less than the elbow, more in two peaks only;",
        "  Barman (2020, section 4.1): the first link has the higher force before they merge around the optimal time",
    ]
    print(table(args.question, rows, notes))
    draw(fastest, gentle, slopes, args.figure)
    return finish(args, numbers, gentle)


if __name__ == "__main__":
    main()
