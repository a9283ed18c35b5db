"""Does iLQR find what IPOPT finds when a planar robot of N links reaches for a point?

Links of 1 m and 1 kg in all, point masses at their ends, in the vertical and in the horizontal plane: from rest the tip
goes to a point in 1 s and stops, in explicit Euler steps (equation 111 of Calinon's "A practical guide to learning and
control problems in robotics"). The cost is half the sum of 1000 times the squared miss [m2], 10 times the squared final
rates, and the time integrals of the squared torques and of 0.3 times the squared rates. iLQR takes the forward dynamics
in closed form; IPOPT the same steps as inverse dynamics of the tree, all states as unknowns, with exact derivatives.
Both start from holding the posture against gravity. The robot of two links is also given iLQR in batch form: all
controls in one least-squares problem over S_u, the response of all states to all controls (equation 112), in place of
the recursion backward in time. The batch form has no feedback to follow the linear prediction with, so that the
iterates differ on the way.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from math import pi
from typing import NamedTuple

import casadi as ca
import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

import colloc as co
from colloc.models.chains import point_masses as pc
from colloc.models.chains.point_masses import PointMassChain
from colloc.plot.figure import new_figure
from colloc.plot.style import BLUE, FADE, MUTED, START, VERMILLION, dress, legend_below, styled
from colloc.studies.films import of_samples
from colloc.studies.reporting import Row, arguments, finish, table

LINKS = (2, 3, 5, 10)
BATCH_LINKS = 2  # S_u grows with the square of steps and links
PLANES = {"vertical": 9.81, "horizontal": 0.0}  # gravity [m/s2]
GOAL = (0.5, 0.5)  # m
KEY = [
    Line2D([], [], color=START, marker="o", markersize=2.5, label="start"),
    Line2D([], [], color=FADE(1.0), marker="o", markersize=2.5, label="end"),
    Line2D([], [], color=MUTED, linestyle=":", label="path of the tip"),
    Line2D([], [], color=VERMILLION, marker="x", linestyle="", markeredgewidth=2, label="goal"),
]
TIP, END, RATE, TORQUE = 1e3, 10.0, 0.3, 1.0  # weights of squares


@dataclass(frozen=True)
class Reach:
    """The problem of one robot: from rest the tip goes to the goal in 1 s and stops.

    Parameters
    ----------
    n : int
        Number of links.
    gravity : float [m/s2]
    steps : int
        Number of time steps of the motion.
    """

    n: int
    gravity: float
    steps: int = 200

    @property
    def chain(self) -> PointMassChain:
        """The robot, 1 m and 1 kg in all."""
        return PointMassChain([1 / self.n] * self.n, [1 / self.n] * self.n, self.gravity)

    @property
    def dt(self) -> float:
        """Time step [s]."""
        return 1 / self.steps

    @property
    def start(self) -> np.ndarray:
        """State at rest, hanging from the base and curled up evenly by 2 rad, shape (2 n,)."""
        return np.concatenate([[-pi / 2], np.full(self.n - 1, 2 / (self.n - 1)), np.zeros(self.n)])

    @property
    def hold(self) -> np.ndarray:
        """Torques that hold the start, the same at every step, shape (steps, n) [N m]."""
        gravity = pc.relative_terms(self.chain, self.start[: self.n])[2]
        return np.tile(gravity, (self.steps, 1))

    def objective(self) -> co.control.TrajectoryObjective:
        """Cost in the terms of iLQR."""
        n, model = self.n, self.chain.tree()
        rates = np.concatenate([np.zeros(n), np.ones(n)])
        return (
            co.control.output_cost(model, lambda now: now.point(f"link{n}").position[:2], GOAL, TIP)
            + co.control.state_cost(0.0, END * rates, steps=[-1])
            + co.control.state_cost(0.0, RATE * self.dt * rates)
            + co.control.control_cost(TORQUE * self.dt)
        )

    def ilqr(self, form: co.control.Form = co.control.Form.RECURSIVE) -> co.control.IlqrResult:
        """The optimum by iLQR."""
        system = pc.discretised(self.chain, self.dt)
        return co.control.ilqr(system, self.objective(), self.start, self.hold, form=form)


class Optimum(NamedTuple):
    """An optimum by IPOPT: cost, whether IPOPT vouches for it, iterations, wall time [s]."""

    cost: float
    solved: bool
    iterations: int
    seconds: float


def by_ipopt(reach: Reach) -> Optimum:
    """The optimum by IPOPT: states and torques of all steps are unknowns, the steps rows of inverse dynamics."""
    n, steps, dt, model = reach.n, reach.steps, reach.dt, reach.chain.tree()
    q, qd, qdd = (ca.SX.sym(name, n) for name in ("q", "qd", "qdd"))
    torque = ca.Function("torque", [q, qd, qdd], [co.dynamics.newton_euler(model, q, qd, qdd)])
    tip = ca.Function("tip", [q], [co.model.point_motion(model, f"link{n}", q=q).position[:2]])
    x, tau = ca.MX.sym("x", 2 * n, steps + 1), ca.MX.sym("tau", n, steps)
    q, qd = x[:n, :], x[n:, :]
    needed = torque.map(steps)(q[:, :-1], qd[:, :-1], (qd[:, 1:] - qd[:, :-1]) / dt)
    g = ca.veccat(q[:, 1:] - q[:, :-1] - dt * qd[:, :-1], needed - tau)
    f = TIP * ca.sumsqr(tip(q[:, -1]) - ca.DM(GOAL)) + END * ca.sumsqr(qd[:, -1])
    f += dt * (RATE * ca.sumsqr(qd) + TORQUE * ca.sumsqr(tau))
    options = {"print_time": False, "ipopt": {"print_level": 0, "sb": "yes", "tol": 1e-10}}
    solver = ca.nlpsol("solver", "ipopt", {"x": ca.veccat(x, tau), "f": f / 2, "g": g}, options)
    guess = np.concatenate([np.tile(reach.start, steps + 1), reach.hold.ravel()])
    bound = np.full(guess.size, np.inf)
    lower, upper = -bound, bound.copy()
    lower[: 2 * n] = upper[: 2 * n] = reach.start
    begin = time.perf_counter()
    found = solver(x0=guess, lbx=lower, ubx=upper, lbg=0, ubg=0)
    seconds, stats = time.perf_counter() - begin, solver.stats()
    return Optimum(float(found["f"]), bool(stats["success"]), int(stats["iter_count"]), seconds)


def draw_motion(ax: Axes, reach: Reach, trajectory: co.control.IlqrResult) -> None:
    """Postures from the start (light) to the end (dark), the path of the tip, the goal."""
    q = pc.absolute(trajectory.x[:, : reach.n])
    length = 1 / reach.n
    for k in np.linspace(0, reach.steps, 9 if reach.n <= 3 else 5).astype(int):  # long chains would hide each other
        corners = np.cumsum(length * np.vstack([np.zeros(2), np.column_stack([np.cos(q[k]), np.sin(q[k])])]), axis=0)
        color = START if k == 0 else FADE(k / reach.steps)
        ax.plot(*corners.T, "o-", color=color, linewidth=1.4, markersize=2.5)
    ax.plot(*pc.tip(reach.chain, q).T, ":", color=MUTED, linewidth=1.2)
    ax.plot(*GOAL, "x", color=VERMILLION, markersize=8, markeredgewidth=2, zorder=5)
    dress(ax)
    ax.set_aspect("equal")
    ax.set_xlim(-0.35, 0.8)
    ax.set_ylim(-0.65, 0.6)


@styled
def draw(
    trajectories: dict[tuple[int, str], tuple[Reach, co.control.IlqrResult, Optimum]],
    batches: dict[tuple[int, str], co.control.IlqrResult],
    file: str,
) -> None:
    """Motions of every robot in both planes, and the distance of every iteration of iLQR from the optimum."""
    links = sorted({n for n, _ in trajectories})
    figure = new_figure(figsize=(2.9 * len(links), 9.0))
    axes = figure.subplots(3, len(links), squeeze=False)
    for column, n in enumerate(links):
        for row, (plane, color) in enumerate(zip(PLANES, (BLUE, VERMILLION), strict=True)):
            reach, trajectory, found = trajectories[n, plane]
            draw_motion(axes[row, column], reach, trajectory)
            label = f"{plane} plane"
            axes[2, column].semilogy(above(trajectory, found), ".-", color=color, linewidth=1.2, label=label)
            if batch := batches.get((n, plane)):
                hollow = {"linestyle": ":", "marker": "o", "markersize": 6, "markerfacecolor": "none", "linewidth": 1.2}
                axes[2, column].semilogy(above(batch, found), color=color, **hollow, label=f"{label}, batch")
        axes[0, column].set_title(f"{n} links")
        dress(axes[2, column], "iteration")
        axes[2, column].set_ylim(1e-12, 3e3)
        axes[2, column].xaxis.set_major_locator(MaxNLocator(6, integer=True))
    for row, plane in enumerate(PLANES):
        axes[row, 0].set_ylabel(f"{plane} plane, y [m]")
    for ax in axes[1]:
        ax.set_xlabel("x [m]")
    axes[2, 0].set_ylabel("cost above IPOPT's")
    legend_below(figure, [*KEY, *axes[2, 0].get_lines()])
    co.plot.save_figure(figure, file)


def above(trajectory: co.control.IlqrResult, found: Optimum) -> np.ndarray:
    """Cost of every iterate above IPOPT's; none where it is as low, which a logarithmic axis cannot show."""
    gap = np.array(trajectory.history["cost"]) - found.cost
    return np.where(gap > 0, gap, np.nan)


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments("control.reaching", __doc__, argv)
    numbers: dict[str, float] = {}
    rows, notes, runs, batches = [], [], {}, {}
    for n in LINKS[:2] if args.quick else LINKS:
        for plane, gravity in PLANES.items():
            reach = Reach(n, gravity, 50 if args.quick else 200)
            trajectory, found = reach.ilqr(), by_ipopt(reach)
            runs[n, plane] = (reach, trajectory, found)
            key = f"{plane}.{n}"
            numbers |= {f"cost.ilqr.{key}": trajectory.cost, f"cost.ipopt.{key}": found.cost}
            numbers |= {f"iterations.ilqr.{key}": trajectory.iterations, f"iterations.ipopt.{key}": found.iterations}
            numbers |= {f"seconds.ilqr.{key}": trajectory.seconds, f"seconds.ipopt.{key}": found.seconds}
            numbers[f"solved.{key}"] = float(trajectory.success and found.solved)
            rows.append(Row(f"cost, {n} links, {plane} plane", trajectory.cost, found.cost, "IPOPT, inverse dynamics"))
            notes.append(
                f"  {n} links, {plane} plane: iLQR {trajectory.status}, {trajectory.iterations} iterations, "
                f"{trajectory.seconds:.2f} s; IPOPT {found.iterations} iterations, {found.seconds:.2f} s"
            )
            if n == BATCH_LINKS:
                batches[n, plane] = batch = reach.ilqr(co.control.Form.BATCH)
                numbers |= {f"cost.batch.{key}": batch.cost, f"iterations.batch.{key}": batch.iterations}
                numbers[f"seconds.batch.{key}"] = batch.seconds
                rows.append(Row("  the same, batch form", batch.cost, trajectory.cost, "iLQR, recursive"))
                notes.append(f"    batch form {batch.status}, {batch.iterations} iterations, {batch.seconds:.2f} s")
    numbers["cost.difference"] = max(abs(trajectory.cost - found.cost) for _, trajectory, found in runs.values())
    reach, trajectory, _ = runs[LINKS[1], "vertical"]
    print(table(args.question, rows, notes))
    draw(runs, batches, args.figure)
    t = reach.dt * np.arange(reach.steps + 1)
    return finish(args, numbers, of_samples(reach.chain.tree(), t, trajectory.x[:, : reach.n], slow=3.0))


if __name__ == "__main__":
    main()
