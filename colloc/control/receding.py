"""A controller that solves a problem again at every tick, from the measured state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from colloc.control.horizon import (
    MEASURED,
    Plan,
    durations_of,
    from_measured_state,
    values_of,
)
from colloc.control.native import NativeSchedule, NativeStep, Settings
from colloc.control.schedule import ELAPSED, Schedule
from colloc.problem import Phases, Problem
from colloc.problem.ordered import check_one_cost
from colloc.solution import PhasesSolution
from colloc.solution.first_plan import first_plan
from colloc.solver import Status
from colloc.support.checks import (
    InputError,
    count,
    finite_number,
    float_array,
    instance,
    not_negative,
    spelt,
    unknown_name,
)
from colloc.support.display import short
from colloc.support.lazy import cached_property

_PRICE = 100.0  # of the excess of a limit by its natural size, in scales of the cost
_BARRIER, _TOLERANCE, _ITERATIONS = 0.1, 1e-8, 25  # of a quadratic program
_SMALL = 1e-6  # change of the plan, in natural sizes, below which no further step is made
_GAP, _EXCESS = 1e-3, 1e-2  # residuals of equations, and excess of limits, of a plan that is trusted
_LOST = 0.1  # residual of equations of a plan that is given up
_NEVER = 1e100
_FOREVER = 1e9  # s
_MOST_TICKS = 1e15
_SOLVED, _TOO_MANY, _INDEFINITE, _NOT_FINITE, _LATE, _NO_NUMBERS = range(6)


@dataclass(frozen=True, eq=False)
class Tick:
    """The answer of a controller at one tick.

    Parameters
    ----------
    tau : ndarray, shape (n,) [N m, N]
        Torques to be held for one tick: those of the plan in the middle of the tick, within the limits of joints and
        `bounds`. Where parts such as muscles or springs drive a joint, theirs are among them.
    gains : ndarray, shape (n, state)
        Derivatives of `tau` by the measured state: q, qd, then `State` unknowns; of joints that depend on others by the
        independent ones, of a quaternion by small turns, after the other positions. Joints that equal bounds hold in
        place have no columns.
    trusted : bool
        Whether the plan meets its equations to 1e-3 of their natural sizes, and its limits to 1e-2, but for those that
        the measured state exceeds.
    message : str
        The reason why it is not trusted; empty if it is.
    steps, iterations : int
        Steps of the plan, and iterations of their quadratic programs.
    gap, excess : float
        Largest residual of an equation, and largest excess of a limit, relative to natural sizes; NaN without a step.
    change : float
        Largest change of the plan in the last step, relative to natural sizes: below about 1e-3 the plan is optimal.
        NaN without a step.
    cost : float
        Of the plan; NaN without a step.
    seconds, processor : float
        Of the steps, by the clock and of the processor; without arguments and results of Python, about 0.2 ms.
    x, parameters : ndarray
        Decision vector of the plan, and its parameters.
    first : Solution or PhasesSolution
        The first plan, which has the program.

    Examples
    --------
    >>> still = co.integral(lambda now: 1e-3 * ca.sumsqr(now.tau) + ca.sumsqr(now.q))
    >>> hold = co.Problem(two_link(9.81), 0.5, still, [co.initial(q=0.0, qd=0.0)])
    >>> controller = co.control.receding(hold, co.BSpline(10), tick=0.02)
    >>> tick = controller(q=(0.1, 0.0), qd=(0.0, 0.0))
    >>> tick.trusted, tick.plan.at(0.5).q.shape
    (True, (2,))
    """

    tau: np.ndarray
    gains: np.ndarray
    trusted: bool
    message: str
    steps: int
    iterations: int
    gap: float
    excess: float
    change: float
    cost: float
    seconds: float
    processor: float
    x: np.ndarray
    parameters: np.ndarray
    first: Plan

    def __repr__(self) -> str:
        word = "trusted" if self.trusted else f"not trusted: {self.message}"
        return f"Tick({word}; steps: {self.steps}, iterations: {self.iterations}, {1e3 * self.seconds:.2f} ms)"

    def state(self, t: float) -> tuple[np.ndarray, np.ndarray]:
        """Planned positions and velocities at a time after this tick, shapes (n_q,) and (n,).

        Quicker than `plan.at`, where velocities are the rates of positions and no joint depends on others.

        Parameters
        ----------
        t : float [s]
            From 0 to the end of the plan.

        Raises
        ------
        InputError
            For other times.
        """
        motions, spans = self.first.nlp.motions, [float(self.x[entry]) for entry in durations_of(self.first)]
        left = not_negative("t", t, at_most=sum(spans))
        k = int(np.searchsorted(np.cumsum(spans)[:-1], left, side="right"))
        problem, grid = motions[k].problem, motions[k].grid
        if problem.coordinates is not None or not problem.model.has_plain_velocities:
            now = self.plan.at(left)
            return np.asarray(now.q), np.asarray(now.qd)
        s = np.clip([(left - sum(spans[:k])) / spans[k]], 0.0, 1.0)
        points = self.x[grid.layout["q"] - grid.layout.offset + motions[k].part.start]
        return tuple(values_of(grid.basis, s, order)[0] @ points / spans[k] ** order for order in (0, 1))

    @cached_property
    def plan(self) -> Plan:
        """The plan, from this tick on. It is no optimum to differentiate: its status is an iteration limit."""
        first = self.first.outcome
        multipliers = {kind: np.full(values.size, np.nan) for kind, values in first.multipliers.items()}
        outcome = replace(
            first, x=self.x, multipliers=multipliers, status=Status.ITERATION_LIMIT, message="the plan of a tick",
            history={}, iterations=self.iterations,
        )  # fmt: skip
        return replace(self.first, outcome=outcome, parameters=self.parameters)


class _HorizonProgram(NamedTuple):
    """The program of a problem, or of the horizon that begins in a phase."""

    plan: Plan
    native: NativeStep
    chosen: tuple[np.ndarray, np.ndarray]  # masks of rows and variables that the measured state does not determine
    places: dict[str, slice]  # of parameters
    durations: np.ndarray  # entries of x

    @classmethod
    def of(cls, plan: Plan, tick: float, price: float) -> _HorizonProgram:
        native = NativeStep(plan, tick, price)
        rows, variables = native.determined
        return cls(plan, native, (~rows, ~variables), plan.problem.parameter_places, durations_of(plan))


class Receding:
    """A controller that improves its plan at every tick; made by `receding`.

    Attributes
    ----------
    first : Solution or PhasesSolution
        The first plan.
    plans : list
        The first plans from the start of every phase; else the first plan alone.
    schedule : Schedule or None
        The phases that are repeated.
    tick : float [s]
    settings : Settings
        Of its steps in C.
    price : float
        As in `receding`.

    Examples
    --------
    >>> still = co.integral(lambda now: 1e-3 * ca.sumsqr(now.tau) + ca.sumsqr(now.q))
    >>> hold = co.Problem(two_link(9.81), 0.5, still, [co.initial(q=0.0, qd=0.0)])
    >>> controller = co.control.receding(hold, co.BSpline(10), tick=0.02)
    >>> controller.first.status
    <Status.SOLVED: 'solved'>
    """

    def __init__(
        self, plans: Sequence[Plan], tick: float, settings: Settings, price: float, schedule: Schedule | None = None
    ):
        self.first, self.plans, self.schedule = plans[0], list(plans), schedule
        self.tick, self.settings, self.price = tick, settings, price
        self._programs = [_HorizonProgram.of(plan, tick, price) for plan in plans]
        natives = [program.native for program in self._programs]
        self._native = None if schedule is None else NativeSchedule(schedule, plans, natives)
        self._count = 0  # ticks since the schedule began
        self._now = np.nan  # time of the last call

    def __repr__(self) -> str:
        model = self.first.nlp.motions[0].problem.model
        return f"Receding: {model.name}, tick of {short(1e3 * self.tick)} ms, {self.first.nlp.spy()}"

    def restart(self) -> None:
        """Begin again with the first plan. Parameters keep their values."""
        known = self._program.native.memory["p"][: self._own_parameters].copy()
        for program in self._programs:
            program.native.restart()
            program.native.memory["p"][: known.size] = known
        if self._native is not None:
            self._native.restart()
        self._count, self._now = 0, np.nan

    @property
    def _own_parameters(self) -> int:
        """Number of entries of the user's parameters, which come first."""
        places = self._program.places
        return places.get(ELAPSED, places[MEASURED]).start

    def __call__(self, q: Any, qd: Any, *, t: float | None = None, **values: Any) -> Tick:
        """Torques for the measured state.

        Parameters
        ----------
        q, qd : shape (n_q,), (n,) [rad, m], [rad/s, m/s]
            Of joints that depend on others only the independent ones are read.
        t : float, optional [s]
            Time of the measurement: the plan moves on by the whole ticks since the last call. By default by one. A
            schedule of phases begins at zero.
        **values
            Parameters of the problem by name, which keep their values until they are changed, and measured `State`
            unknowns, which are by default those that the last plan has at this time.

        Returns
        -------
        Tick
            If numbers are not finite, or no step can be made, torques are those of the last plan, moved on. The next
            tick then begins with a plan that stays where it is, or in phases with the first plan.

        Raises
        ------
        InputError
            For unknown names and wrong shapes.
        """
        last, ticks = self._now, self._ticks(t)
        if self._native is not None:
            self._native.move(ticks)
            ticks = 0
        native = self._program.native
        try:
            state, parameters = self._arguments(q, qd, values, ticks)
        except InputError:
            self._now = last  # as if there had been no call
            raise
        if self._native is None:
            result = native.tick(self.settings, ticks, state, parameters)
        else:
            result = self._native.tick(self.settings, state, parameters)
        tau, gains = native.memory["tau"].copy(), native.memory["gains"].reshape(native.memory["tau"].size, -1).copy()
        message = self._doubt(result)
        none = np.nan, np.nan, np.nan, np.nan
        numbers = (result.gap, result.excess, result.change, result.cost) if result.steps else none
        plan = native.memory["x"].copy(), native.memory["p"].copy(), self._program.plan
        effort, seconds = (result.steps, result.iterations), (result.seconds, result.processor)
        return Tick(tau, gains, not message, message, *effort, *numbers, *seconds, *plan)

    @property
    def _program(self) -> _HorizonProgram:
        return self._programs[0 if self._native is None else self._native.phase]

    def _ticks(self, t: float | None) -> int:
        """Number of ticks since the last call, or to its place in the schedule, and the time of this one."""
        last = self._now
        self._now = (0.0 if np.isnan(last) else last + self.tick) if t is None else finite_number("t", t)
        if self._now < last:
            now, self._now = self._now, last
            raise InputError(f"t must not go back: it was {short(last)} s, got {short(now)} s; restart() begins again")
        if self.schedule is not None:
            if self._now < 0:
                now, self._now = self._now, last
                raise InputError(f"t must not be negative, as the schedule begins at zero, got {short(now)} s")
            ticks = max(round(min(self._now / self.tick, _MOST_TICKS)) - self._count, 0)
            self._count += ticks
            return ticks
        beyond = int(self.first.duration / self.tick) + 1
        return 0 if np.isnan(last) else round(min((self._now - last) / self.tick, beyond))

    def _arguments(self, q: Any, qd: Any, values: Mapping[str, Any], ticks: int) -> tuple[np.ndarray, np.ndarray]:
        """The measured state, so many ticks after the plan in memory, and all parameters."""
        program = self._program
        motion, memory = program.plan.nlp.motions[0], program.native.memory
        model, p, layout = motion.problem.model, memory["p"].copy(), motion.grid.layout
        parts = [float_array("q", q, (model.n_q,)), float_array("qd", qd, (model.n,))]
        place, states = 0, {state.name: state.size for state in motion.problem.states}
        planned = np.zeros(0)
        if states:
            s = min(ticks * self.tick / memory["x"][program.durations[0]], 1.0)
            planned = (
                values_of(motion.grid.splines["states"], np.array([s]), 0)[0]
                @ memory["x"][layout["states"] - layout.offset]
            )
        for name, size in states.items():
            value = values.get(name, planned[place : place + size])
            parts.append(_column(name, value, size))
            place += size
        for name, value in values.items():
            if name in states:
                continue
            if name not in program.places or name in (MEASURED, ELAPSED):
                own = [other for other in program.places if other not in (MEASURED, ELAPSED)]
                raise unknown_name("parameter or state", name, [*own, *states])
            part = program.places[name]
            p[part] = _column(name, value, part.stop - part.start)
        return np.concatenate(parts), p

    def _doubt(self, result: Any) -> str:
        """The reason why a plan is not trusted, or nothing."""
        if not result.steps or result.status == _LATE:
            turns = result.status == _NO_NUMBERS and self._program.plan.nlp.motions[0].problem.model.balls
            return _REASONS[result.status] + (", or a quaternion is not of length one" if turns else "")
        if result.gap > _GAP:
            return f"equations are off by {result.gap:.2g} of their natural size"
        if result.excess > _EXCESS and (exceeded := self._exceeded()):
            return exceeded
        return _REASONS[result.status]

    def _exceeded(self) -> str:
        """The limit that is exceeded most, but for those that the measured state exceeds."""
        program = self._program
        nlp, x, g = program.plan.nlp, program.native.memory["x"], program.native.memory["g"]
        (lower, upper), (in_rows, in_variables) = nlp.bounds_g, program.chosen
        beyond = np.maximum(g - upper, lower - g) / program.plan.outcome.scale.rows  # pyright: ignore[reportOptionalMemberAccess]
        beyond = np.where(in_rows & (lower < upper), beyond, 0.0)
        outside = np.maximum(x - nlp.upper, nlp.lower - x) / nlp.scale_x
        outside = np.where(in_variables, outside, 0.0)
        most = max(float(beyond.max(initial=0.0)), float(outside.max(initial=0.0)))
        if most <= _EXCESS:
            return ""
        of_variable = outside.max(initial=0.0) == most
        name = nlp.variable_name(int(outside.argmax()), x) if of_variable else nlp.row_name(int(beyond.argmax()), x)
        return f"limits are exceeded by {most:.2g} of their natural size: {name}"


def _column(name: str, value: Any, size: int) -> np.ndarray:
    """Numbers, shape (size,); a single one has shape (1,)."""
    return float_array(name, np.atleast_1d(float_array(name, value)), (size,))


_REASONS = {
    _SOLVED: "",
    _TOO_MANY: "a quadratic program has not converged",
    _INDEFINITE: "no step: the cost has no minimum nearby",
    _NOT_FINITE: "no step: a function is not finite",
    _LATE: "the deadline came before the last step",
    _NO_NUMBERS: "the state or a parameter is not finite",
}


@spelt
def receding(
    problem: Problem | Phases,
    curve: Any = None,
    *,
    tick: float,
    guess: Any = None,
    parameters: Mapping[str, Any] | None = None,
    steps: int = 1,
    deadline: float | None = None,
    price: float = _PRICE,
) -> Receding:
    """A controller that solves a problem again at every tick, from the measured state.

    The problem is stated as for `solve`, over the horizon. Values that it states at the start are replaced by the
    measured state. At every tick the last plan is moved on, and improved by one or a few steps of sequential quadratic
    programming, without Python. An active-set method solves a quadratic program in which at most about a hundred limits
    hold; others take a primal-dual method, and several times as long. Limits of the problem may be exceeded at a high
    price, since reality may put a state outside; the answer says so. Equations at the start that the state determines,
    such as those of a foot that stays, are left out there. The first plan is that of one run of `Ipopt`.

    Phases are a schedule that is repeated: the last one is followed by the first, by the link that is stated between
    them. The horizon has the rest of the present phase, all others, and the present one again as far as it has gone.
    Costs and constraints see the time of their phase. Constraints at the start of a phase do not hold in the first part
    of the horizon, nor those at its end in the last, nor its final cost. Torques are those of the middle of the tick as
    a phase begins, and of the start of the tick as it ends.

    Parameters
    ----------
    problem : Problem or Phases
        Of fixed durations, those of phases whole ticks. Goals that move are parameters. Values that the first of the
        phases states at its start are those of the first plan.
    curve : Transcription, optional
        As in `solve`.
    tick : float [s]
        Time between two calls.
    guess : optional
        As in `solve`, such as a solution of the problem.
    parameters : mapping of str to value, optional
        As in `solve`; the controller can change them.
    steps : int
        Most steps at a tick.
    deadline : float, optional [s]
        Time after which a tick returns the last whole step.
    price : float
        Of the excess of a limit by its natural size, in scales of the cost: limits are met where it is larger than
        their multipliers.

    Returns
    -------
    Receding

    Raises
    ------
    InputError
        For a problem without joints, a free duration, a tick that is not shorter than the horizon, accelerations or
        torques of `initial`, costs in order of importance, a cost that no variable changes, and a first plan that does
        not exist. For phases with constraints at other times than their start and end or all along, with loads or rates
        of states that depend on the time, and costs and functions across phases.
    CompileError
        Without a C compiler, where the library did not come as a wheel with compiled code.

    See Also
    --------
    time_varying_lqr : Feedback around one motion.

    Examples
    --------
    >>> goal = co.Parameter("goal", (1.0, 0.5))
    >>> near = co.integral(lambda now: 1e-3 * ca.sumsqr(now.tau) + ca.sumsqr(now.q - now.goal))
    >>> limits = co.bounds(tau=(-20.0, 20.0), qd=(-3.0, 3.0))
    >>> reach = co.Problem(two_link(9.81), 0.5, near, [co.initial(q=0.0, qd=0.0), limits], parameters=[goal])
    >>> controller = co.control.receding(reach, co.BSpline(10), tick=0.02)
    >>> tick = controller(q=(0.0, 0.1), qd=(0.0, 0.0), goal=(0.9, 0.5))
    >>> tick.tau.shape, tick.gains.shape, tick.trusted
    ((2,), (2, 4), True)
    """
    tick = finite_number("tick", tick, positive=True)
    steps = count("steps", steps, at_least=1)
    late = _FOREVER if deadline is None else finite_number("deadline", deadline, positive=True)
    price = finite_number("price", price, positive=True)
    lost = _NEVER if isinstance(problem, Phases) else _LOST
    settings = Settings(_SMALL, _BARRIER, _TOLERANCE, late, lost, steps, _ITERATIONS)
    instance("problem", problem, Problem | Phases)
    check_one_cost(problem)
    if not problem.in_sequence:
        raise InputError("cases are independent in time: a controller needs a Problem, or Phases one after another")
    if not all(phase.model.n for phase in problem.phases.values()):
        raise InputError(
            "a controller returns torques of joints, and the problem has none: give it a model with joints"
        )
    if isinstance(problem, Phases):
        schedule = Schedule(problem, tick)
        plans = _plans_of_phases(schedule, curve, guess, parameters)
        return Receding(plans, tick, settings, price, schedule)
    horizon = problem.horizon
    if horizon.lower < horizon.upper:
        raise InputError("the duration of a horizon must be fixed: give a number of seconds")
    if tick >= horizon.lower:
        raise InputError(f"tick must be shorter than the horizon of {short(horizon.lower)} s, got {short(tick)} s")
    measured = from_measured_state(problem, tick / 2 / horizon.lower)
    return Receding([_checked(first_plan(measured, curve, guess, parameters))], tick, settings, price)


def _checked(first: Plan) -> Plan:
    if not first.outcome.status.name == "SOLVED":
        raise InputError(
            f"no first plan: {first.outcome.status}; look at co.solve(problem, curve), and state values at the start "
            "by co.initial"
        )
    if first.outcome.scale is None or first.outcome.scale.anchor is not None:
        raise InputError("no variable changes the cost: a receding horizon needs one, such as the effort")
    return first


def _plans_of_phases(schedule: Schedule, curve: Any, guess: Any, parameters: Mapping[str, Any] | None) -> list[Plan]:
    """First plans from the start of every phase; later ones begin in the state that the first one has there."""
    plans: list[Any] = []
    for k, name in enumerate(schedule.names):
        pieces, state = schedule.pieces(k), None
        if plans:
            start = plans[0][name].at(0.0)
            values = [start.q, start.qd, *(start.signals[s.name] for s in schedule.cycle.phases[name].states)]
            state = np.concatenate([np.ravel(value) for value in values])
        curves = {piece: curve[phase] for piece, phase in pieces.items()} if isinstance(curve, Mapping) else curve
        by_phase = isinstance(guess, PhasesSolution) or (
            isinstance(guess, Mapping) and guess.keys() == schedule.cycle.phases.keys()
        )
        near = {piece: guess[phase] for piece, phase in pieces.items()} if by_phase else guess
        durations = dict(zip(pieces, schedule.durations(k, 0).tolist(), strict=True))
        horizon = schedule.horizon(k, state)
        plans.append(_checked(first_plan(horizon, curves, near, parameters, durations)))
    return plans
