"""When do the limits of an optimum begin and cease to hold, and are its costates those of the maximum principle?

Six classics, each first on twenty intervals that do not know when anything switches, then refined at its switches: two
arms from bound to bound, one of them industrial with limits on velocities as well, a particle that touches a wall, a
rocket and a mixture of catalysts on singular arcs, and a slide on which nothing switches. Costates are compared with
closed forms where there are some. For the
others they are what costates are by their meaning, how the least cost changes with where the motion starts: differences
of optima that are solved again.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np
from matplotlib.lines import Line2D

import colloc as co
from colloc.plot.figure import new_figure
from colloc.plot.style import INK, MUTED, PALETTE, dress, legend_below, styled
from colloc.studies.classics.arms import ARMS, START
from colloc.studies.classics.points import bryson_denham
from colloc.studies.classics.states import brachistochrone, goddard
from colloc.studies.reporting import arguments, finish
from colloc.studies.two_link.time_optimal import problem as two_link
from colloc.support.display import Table

Motion = co.solution.PhasesSolution
Reference = Callable[[Motion, np.ndarray], np.ndarray]  # costates at times, shape (N, n); NaN where it says nothing
CURVE = co.BSpline(20)
ROOM = 1 / 9  # m, from the particle to its wall
GRAVITY, WAY, DROP = 9.80665, 10.0, 5.0  # m/s2, m, of the slide
STEP = 2e-4  # of natural sizes, by which starts are moved


@dataclass(frozen=True)
class Case:
    """A problem, and what is known of its costates.

    Parameters
    ----------
    label : str
    problem : Problem
    known : callable
        Costates by other means.
    means : str
        These means.
    curve : BSpline or Radau
        Of the rough motion.
    """

    label: str
    problem: co.Problem
    known: Reference
    means: str
    curve: co.BSpline | co.Radau = CURVE


@dataclass(frozen=True)
class Answer:
    """A motion in arcs, and how right it is.

    Parameters
    ----------
    motion : PhasesSolution
    t : ndarray, shape (N,) [s]
    costates, known : ndarray, shape (N, n)
    hamiltonian : float
        Largest deviation from a constant, relative to the cost.
    off : float [s]
        Largest distance of a switch from the zero of its switching function; NaN where nothing jumps.
    seconds : float
        Of the processor, for the rough motion and the one in arcs.
    """

    motion: Motion
    t: np.ndarray
    costates: np.ndarray
    known: np.ndarray
    hamiltonian: float
    off: float
    seconds: float

    @property
    def sizes(self) -> np.ndarray:
        """The largest value of every costate, shape (n,)."""
        return np.maximum(np.abs(self.costates).max(axis=0), 1e-12)

    @property
    def miss(self) -> float:
        """The largest difference of a costate from what is known, relative to its largest value."""
        return float(np.nanmax(np.abs(self.costates - self.known) / self.sizes))


def catalyst() -> co.Problem:
    """Jackson (1968): two catalysts along a tube, mixed for the most product: one, a singular mixture, the other."""

    def rate(now: co.problem.Instant) -> list[ca.SX]:
        forward = now.u * (10 * now.x[1] - now.x[0])
        return [forward, -forward - (1 - now.u) * now.x[1]]

    return co.Problem(
        model=co.Model.empty(),
        duration=1.0,
        minimize=co.final_cost(lambda now: now.x[0] + now.x[1] - 1),
        subject_to=[co.initial(states={"x": (1.0, 0.0)})],
        unknowns=[co.Unknown("u", lower=0.0, upper=1.0, guess=0.5), co.State("x", 2, rate=rate, guess=(0.5, 0.05))],
    )


def in_arcs(problem: co.Problem, curve: co.BSpline | co.Radau = CURVE) -> Motion:
    """A motion refined at its switches, from one on a grid that does not know of them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.refinement.SolutionWarning)  # twenty intervals are coarse, on purpose
        rough = co.solve(problem, curve, plan=[co.refinement.Solve(between="nodes")], progress=False)
    answer = co.refine(rough, at="switches", progress=False)
    assert isinstance(answer, Motion)
    return answer


def by_differences(
    problem: co.Problem, start: Sequence[float], sizes: Sequence[float], curve: co.BSpline | co.Radau = CURVE
) -> Reference:
    """Costates at the start: differences of the least cost between motions that begin a little to either side.

    Parameters
    ----------
    problem : Problem
        Its first condition says where it begins.
    start, sizes : shape (n,)
        There, in positions and velocities or in the states, and natural sizes of these.
    curve : BSpline or Radau
    """
    states = [u for u in problem.unknowns if isinstance(u, co.State)]

    def least(z: np.ndarray) -> float:
        if states:
            begin = co.initial(states={state.name: value for state, value in zip(states, z.tolist(), strict=True)})
        else:
            begin = co.initial(q=z[: z.size // 2], qd=z[z.size // 2 :])
        return in_arcs(replace(problem, subject_to=[begin, *problem.subject_to[1:]], unknowns=roomy), curve).cost

    # A quantity that begins at a bound needs room on its other side.
    roomy = [
        replace(u, lower=np.subtract(u.lower, size), upper=np.add(u.upper, size)) if isinstance(u, co.State) else u
        for u, size in zip(problem.unknowns, [0.0, *sizes], strict=False)
    ]

    def known(_: Motion, t: np.ndarray) -> np.ndarray:
        costates = np.full((t.size, len(start)), np.nan)
        for k, size in enumerate(sizes):
            step = STEP * size * np.eye(len(start))[k]
            costates[0, k] = (least(start + step) - least(start - step)) / (2 * STEP * size)
        return costates

    return known


def at_the_wall(_: Motion, t: np.ndarray) -> np.ndarray:
    """Bryson, Denham and Dreyfus (1963), with a wall 1/9 m away: nothing is known of the position's while it holds."""
    position = np.where(np.abs(t - 0.5) < 0.17, np.nan, 18 * np.sign(0.5 - t))
    return np.column_stack([position, 6 * np.where(t < 1 / 3, 1 - 3 * t, np.where(t > 2 / 3, 3 * t - 2, 0.0))])


def on_the_cycloid(_: Motion, t: np.ndarray) -> np.ndarray:
    """From the angle that the circle has rolled: what stationarity asks for where the speed at the end is free."""
    angle = ca.SX.sym("angle")
    excess = (angle - ca.sin(angle)) / (1 - ca.cos(angle)) - WAY / DROP
    (last,) = _root(angle, excess, [np.pi])
    radius = DROP / (1 - np.cos(last))
    along = -0.5 / np.sqrt(GRAVITY * radius)
    down = -along / np.tan(last / 2)
    half = t * np.sqrt(GRAVITY / radius) / 2
    by_speed = 2 * np.sqrt(radius / GRAVITY) * (along * np.cos(half) + down * np.sin(half))
    return np.column_stack([np.full(t.size, along), np.full(t.size, down), by_speed])


def in_the_tube(_: Motion, t: np.ndarray) -> np.ndarray:
    """Products of exponentials, as all is linear for a given mixture; the best times and mixture by a search."""

    first, second, u = (ca.SX.sym(name) for name in ("first", "second", "u"))
    yields = _flow(0.0, 1 - second) @ _flow(u, second - first) @ _flow(1.0, first)
    unknown = ca.vertcat(first, second, u)
    first, second, u = _root(unknown, ca.gradient(yields[0, 0] + yields[1, 0], unknown), [0.15, 0.7, 0.25])
    parts = [(1.0, 0.0, first), (u, first, second), (0.0, second, 1.0)]

    def to_end(now: float) -> np.ndarray:
        lam = np.ones(2)
        for mixture, start, end in reversed(parts):
            lam = lam @ np.array(ca.DM(_flow(mixture, max(0.0, end - max(now, start)))))
        return lam

    return np.array([to_end(now) for now in t.tolist()])


def _flow(u: ca.SX | float, T: ca.SX | float) -> ca.SX:
    """Exponential of T times the two rates' matrix for a mixture u, by its trace and determinant, SX, shape (2, 2)."""
    rates = ca.vertcat(ca.horzcat(-u, 10 * u), ca.horzcat(u, -10 * u - (1 - u)))
    middle = -(1 + 10 * u) / 2
    apart = ca.sqrt(middle**2 - u * (1 - u))
    shifted = (rates - middle * ca.DM.eye(2)) * ca.sinh(apart * T) / apart
    return ca.SX(ca.exp(middle * T) * (ca.cosh(apart * T) * ca.DM.eye(2) + shifted))


def _root(unknown: ca.SX, residual: ca.SX, near: Sequence[float]) -> list[float]:
    """Where a residual vanishes, by Newton's method from nearby."""
    solve = ca.rootfinder("root", "newton", {"x": unknown, "g": residual}, {"abstol": 1e-14})
    return np.array(solve(x0=near)["x"]).ravel().tolist()


def cases(quick: bool) -> list[Case]:
    """The problems; quickly without those whose optima take long to solve again."""
    slow = co.Radau(20)
    industrial = ARMS["manutec_time"].problem()
    some = [
        Case(
            "two links",
            two_link,
            by_differences(two_link, (0.0, -2.0, 0.0, 0.0), (1.0, 1.0, 10.0, 10.0)),
            "differences",
        ),
        Case("wall", bryson_denham(ROOM), at_the_wall, "closed form"),
        Case("slide", brachistochrone(), on_the_cycloid, "closed form", slow),
        Case("catalysts", catalyst(), in_the_tube, "closed form"),
    ]
    if quick:
        return some
    rocket = by_differences(goddard(), (0.0, 0.0, 3.0), (1e3, 100.0, 0.1))
    robot = by_differences(industrial, (*START, 0.0, 0.0, 0.0), (1.0, 1.0, 1.0, 10.0, 10.0, 10.0), slow)
    return [
        *some,
        Case("rocket", goddard(), rocket, "differences"),
        Case("Manutec r3", industrial, robot, "differences", slow),
    ]


def answered(case: Case) -> Answer:
    """The motion of a case, and how right it is."""
    begin = time.process_time()
    motion = in_arcs(case.problem, case.curve)
    seconds = time.process_time() - begin
    along = co.optimality.costates(motion)
    t = np.concatenate([motion.start_times[name] + part.t for name, part in along.items()])
    costates = np.concatenate([part.all for part in along.values()])
    hamiltonian = co.optimality.certify(motion)["Hamiltonian, constant"].value
    off = [arc.off for arc in co.optimality.arcs(motion) if not np.isnan(arc.off)]
    return Answer(motion, t, costates, case.known(motion, t), hamiltonian, max(off, default=np.nan), seconds)


def names(motion: Motion) -> list[str]:
    """Quantities of the costates, in their order."""
    problem = motion.problem.phases["arc 1"]
    joints = problem.model.joint_names
    components = [
        f"{u.name}{k + 1}" if u.size > 1 else u.name
        for u in problem.unknowns
        if isinstance(u, co.State)
        for k in range(u.size)
    ]
    return [*joints, *(f"{joint}, speed" for joint in joints), *components]


@styled
def draw(answers: dict[str, Answer], file: str) -> None:
    """Costates over time, each over its largest value, with what is known of them, arc by arc."""
    rows = (len(answers) + 1) // 2
    figure = new_figure(figsize=(9.0, 1.0 + 2.4 * rows))
    panels = figure.subplots(rows, 2).ravel()
    for ax, (label, answer) in zip(panels, answers.items(), strict=True):
        for switch in list(answer.motion.start_times.values())[1:]:
            ax.axvline(switch, color=MUTED, linewidth=0.8)
        seen = np.linspace(0, answer.t.size - 1, 25).round().astype(int)
        for k, (name, size) in enumerate(zip(names(answer.motion), answer.sizes, strict=True)):
            ax.plot(answer.t, answer.costates[:, k] / size, color=PALETTE[k % len(PALETTE)], label=name)
            at = seen[np.isfinite(answer.known[seen, k])]
            look = {"color": INK, "markerfacecolor": "none", "markersize": 4.5, "clip_on": False}
            ax.plot(answer.t[at], answer.known[at, k] / size, "o", **look)
        ax.set_title(label, fontsize=10)
        dress(ax, xlabel="time [s]", ylabel="costate / its largest")
        many = {"ncols": 2, "loc": "lower center", "bbox_to_anchor": (0.5, 0.08)} if len(answer.sizes) > 4 else {}
        ax.legend(fontsize=7, **many)
    circles = Line2D([], [], color=INK, marker="o", markerfacecolor="none", linestyle="", label="by other means")
    switches = Line2D([], [], color=MUTED, linewidth=0.8, label="a limit begins or ceases to hold")
    legend_below(figure, [circles, switches])
    co.plot.save_figure(figure, file)


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments("classics.switches", __doc__, argv, quick="without the rocket and the industrial arm")
    numbers: dict[str, float] = {}
    rows, answers = [], {}
    for case in cases(args.quick):
        answer = answers[case.label] = answered(case)
        count = len(answer.motion.phases)
        off = "" if np.isnan(answer.off) else f"{answer.off:.1e}"
        cells = (f"{answer.motion.cost:.12g}", str(count), f"{answer.miss:.1e}", case.means)
        rows.append((case.label, *cells, f"{answer.hamiltonian:.1e}", off, f"{answer.seconds:.1f}"))
        name = case.label.replace(" ", "_")
        numbers |= {
            f"{name}.cost": answer.motion.cost,
            f"{name}.arcs": float(count),
            f"{name}.costates": answer.miss,
            f"{name}.hamiltonian": answer.hamiltonian,
            f"{name}.seconds": answer.seconds,
        }
        if off:
            numbers[f"{name}.off"] = answer.off
    header = ("", "cost", "arcs", "costates off by", "from", "Hamiltonian off by", "switches off by [s]", "s")
    print(Table(args.question, header, rows).text())
    draw(answers, args.figure)
    return finish(args, numbers, answers["two links"].motion)


if __name__ == "__main__":
    main()
